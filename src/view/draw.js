// draw.js - elements, canvases and colours.

// An element: h('p', {class: 'x', onclick: f}, 'text', child, ...).
export function h(tag, attributes = {}, ...children) {
  const e = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith('on')) e.addEventListener(key.slice(2), value);
    else e.setAttribute(key, value === true ? '' : value);
  }
  e.append(...children.flat(Infinity).filter((c) => c ?? false));
  return e;
}

export function replace(parent, ...children) {
  parent.replaceChildren(...children.flat(Infinity).filter(Boolean));
}

// ---- colours ---------------------------------------------------------------

// Stops of cividis, which looks alike to people with any colour vision.
const CIVIDIS = [[0, 32, 76], [0, 52, 110], [52, 70, 108], [87, 93, 109],
  [112, 113, 115], [138, 134, 120], [166, 157, 117], [196, 182, 108],
  [228, 208, 91], [255, 234, 70]];

export function heat(x) {
  const at = Math.min(Math.max(x, 0), 1) * (CIVIDIS.length - 1);
  const k = Math.min(Math.floor(at), CIVIDIS.length - 2);
  const mix = CIVIDIS[k].map(
    (c, i) => Math.round(c + (CIVIDIS[k + 1][i] - c) * (at - k)));
  return `rgb(${mix.join()})`;
}

export function heatBar(low, high) {
  const stops = CIVIDIS.map((c) => `rgb(${c.join()})`).join();
  return h('div', { class: 'scale' }, h('span', {}, low),
    h('i', { style: `background:linear-gradient(to right,${stops})` }),
    h('span', {}, high));
}

// The colours of the style sheet, as they are now.
export function colours() {
  const style = getComputedStyle(document.documentElement);
  const names = ['paper', 'card', 'ink', 'quiet', 'line', 'accent', 'read',
    'write', 'both', 'contested', 'read-soft', 'write-soft', 'both-soft'];
  return Object.fromEntries(
    names.map((n) => [n, style.getPropertyValue(`--${n}`).trim()]));
}

// A hue for each program, neighbours far apart.
export const programColour = (program) =>
  `hsl(${(program * 137.5) % 360} 45% ${45 + (program % 3) * 10}%)`;

// ---- canvases --------------------------------------------------------------

// Cells of a table as large as fits: {canvas, cell}.  paint(context, x, y,
// size, row, column) draws one.
export function cells(rows, columns, options, paint) {
  const width = Math.max(60, options.width || 320);
  const largest = options.largest || 22;
  let size = Math.min(largest, width / columns, (options.height || 320) / rows);
  size = size >= 3 ? Math.floor(size) : size;
  const scale = window.devicePixelRatio || 1;
  const w = Math.max(1, columns * size), t = Math.max(1, rows * size);
  const canvas = h('canvas', {
    width: Math.ceil(w * scale), height: Math.ceil(t * scale),
    style: `width:${w}px;height:${t}px`,
  });
  const c = canvas.getContext('2d');
  c.scale(scale, scale);
  const gap = size >= 6 ? 1 : 0;
  // where a cell is smaller than a pixel, one cell of several is drawn
  const skip = Math.max(1, Math.floor(1 / (size * scale)));
  for (let row = 0; row < rows; row += skip) {
    for (let column = 0; column < columns; column += skip) {
      paint(c, column * size, row * size, Math.max(size * skip - gap, 0.5),
        row, column);
    }
  }
  return { canvas, size };
}

export function hatch(c, x, y, size, colour) {
  if (size < 4) {
    c.fillStyle = colour;
    c.globalAlpha = 0.35;
    c.fillRect(x, y, size, size);
    c.globalAlpha = 1;
    return;
  }
  c.save();
  c.beginPath();
  c.rect(x, y, size, size);
  c.clip();
  c.strokeStyle = colour;
  c.globalAlpha = 0.55;
  c.lineWidth = 1;
  c.beginPath();
  for (let d = -size; d < size; d += 4) {
    c.moveTo(x + d, y + size);
    c.lineTo(x + d + size, y);
  }
  c.stroke();
  c.restore();
}

export function outline(c, x, y, size, colour, width = 2) {
  c.strokeStyle = colour;
  c.lineWidth = width;
  c.strokeRect(x + width / 2, y + width / 2, size - width, size - width);
}

// The cell at a place of the pointer.
export function cellAt(event, size) {
  const box = event.currentTarget.getBoundingClientRect();
  return [Math.floor((event.clientY - box.top) / size),
    Math.floor((event.clientX - box.left) / size)];
}

// Rows and columns for a list of n things, rather wide than high.
export function wrapped(n, width) {
  if (n <= 32) return [1, Math.max(n, 1)];
  const most = width < 500 ? 32 : 64;
  let columns = most;
  while (n / columns > columns / 2 && columns < 2048) columns *= 2;
  return [Math.ceil(n / columns), columns];
}
