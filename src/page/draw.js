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

// A function (key, make) that gives what make() returns, and does not call it
// where each part of the key is what it was the last time.
export function madeLast() {
  let key = null, made = null;
  return (now, make) => {
    if (!key || now.some((part, i) => part !== key[i])) made = make();
    key = now;
    return made;
  };
}

// ---- colours ---------------------------------------------------------------

// Stops of cividis, which looks alike to people with any colour vision.
const CIVIDIS = [[0, 32, 76], [0, 52, 110], [52, 70, 108], [87, 93, 109],
  [112, 113, 115], [138, 134, 120], [166, 157, 117], [196, 182, 108],
  [228, 208, 91], [255, 234, 70]];

const LEVELS = Array.from({ length: 256 }, (_, level) => {
  const at = level / 255 * (CIVIDIS.length - 1);
  const k = Math.min(Math.floor(at), CIVIDIS.length - 2);
  const mix = CIVIDIS[k].map(
    (c, i) => Math.round(c + (CIVIDIS[k + 1][i] - c) * (at - k)));
  return `rgb(${mix.join()})`;
});

export const heat = (x) =>
  LEVELS[Math.round(255 * Math.min(Math.max(x, 0), 1))];

export function heatBar(low, high) {
  const stops = CIVIDIS.map((c) => `rgb(${c.join()})`).join();
  return h('div', { class: 'scale' }, h('span', {}, low),
    h('i', { style: `background:linear-gradient(to right,${stops})` }),
    h('span', {}, high));
}

// The colours of the style sheet, read once: to ask for them makes the browser
// work out the style of all that has been drawn since.
let known = null;

export function forgetColours() {
  known = null;
}

export function colours() {
  if (!known) known = coloursNow();
  return known;
}

function coloursNow() {
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

// [red, green, blue] of a colour as style sheets write it.
const parsed = new Map();
let probe = null;
function channels(colour) {
  if (!parsed.has(colour)) {
    probe = probe || h('canvas', { width: 1, height: 1 }).getContext('2d',
      { willReadFrequently: true });
    probe.fillStyle = colour;
    probe.fillRect(0, 0, 1, 1);
    parsed.set(colour, [...probe.getImageData(0, 0, 1, 1).data]);
  }
  return parsed.get(colour);
}

// Draws a pixel in place of a cell: the part of a canvas' context that paint
// functions use.
class Dots {
  constructor(context, columns, rows) {
    this.context = context;
    this.image = context.createImageData(columns, rows);
    this.pixels = new Uint32Array(this.image.data.buffer);
    this.ground = channels(colours().card);
    this.globalAlpha = 1;
    this.at = 0;
    // the pixel of the last colour, which is most often that of the next
    this.last = { colour: null, alpha: 0, pixel: 0 };
  }

  // The colour above the ground, as the four bytes that lie in the image.
  pixelOf(colour, alpha) {
    const mixed = channels(colour).slice(0, 3).map(
      (x, i) => Math.round(x * alpha + this.ground[i] * (1 - alpha)));
    return new Uint32Array(Uint8Array.of(...mixed, 255).buffer)[0];
  }

  put(colour) {
    const { last, globalAlpha: alpha } = this;
    if (last.colour !== colour || last.alpha !== alpha) {
      this.last = { colour, alpha, pixel: this.pixelOf(colour, alpha) };
    }
    this.pixels[this.at] = this.last.pixel;
  }

  fillRect() { this.put(this.fillStyle); }

  strokeRect() { this.put(this.strokeStyle); }

  done() { this.context.putImageData(this.image, 0, 0); }
}

const MOST_DOTS = 400; // along an axis

const areDots = (size) => Math.min(...size) < 3;

// An empty canvas for a table of cells smaller than three pixels, one dot for
// each of them, or for every so many.
function dotted(rows, columns, [wide, high]) {
  const down = Math.ceil(rows / MOST_DOTS);
  const across = Math.ceil(columns / MOST_DOTS);
  const width = Math.ceil(columns / across), height = Math.ceil(rows / down);
  const canvas = h('canvas', { width, height, style:
    `width:${columns * wide}px;height:${rows * high}px;` +
    'image-rendering:pixelated' });
  return { canvas, down, across, width, height };
}

// ... and for one of larger cells.
function squares(rows, columns, [side]) {
  const scale = window.devicePixelRatio || 1;
  const w = columns * side, t = rows * side;
  const canvas = h('canvas', {
    width: Math.ceil(w * scale), height: Math.ceil(t * scale),
    style: `width:${w}px;height:${t}px`,
  });
  canvas.getContext('2d').scale(scale, scale);
  return canvas;
}

const insideOf = (side) => side - (side >= 6 ? 1 : 0);

function dots(rows, columns, size, paint) {
  const { canvas, down, across, width, height } = dotted(rows, columns, size);
  const brush = new Dots(canvas.getContext('2d'), width, height);
  for (let row = 0; row < height; row++) {
    for (let column = 0; column < width; column++) {
      brush.at = row * width + column;
      paint(brush, 0, 0, 1, row * down, column * across);
    }
  }
  brush.done();
  return canvas;
}

const STRETCH = 12; // how much longer than high a small cell may be

// The size of a cell: square, unless the table is much higher than wide or the
// other way round.
function sizeOfCell(rows, columns, options) {
  const width = Math.max(60, options.width || 320);
  const height = options.height || 320, largest = options.largest || 22;
  const size = Math.min(largest, width / columns, height / rows);
  if (size >= 3) return [Math.floor(size), Math.floor(size)];
  const side = (room, n) => Math.min(largest, room / n, size * STRETCH);
  return [side(width, columns), side(height, rows)];
}

// Cells of a table as large as fits: {canvas, size}, size that of a cell in
// both directions.  paint(context, x, y, size, row, column) draws one.
export function cells(rows, columns, options, paint) {
  const size = sizeOfCell(rows, columns, options);
  if (areDots(size)) {
    return { canvas: dots(rows, columns, size, paint), size };
  }
  const [side] = size, inside = insideOf(side);
  const canvas = squares(rows, columns, size), c = canvas.getContext('2d');
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      paint(c, column * side, row * side, inside, row, column);
    }
  }
  return { canvas, size };
}

// A transparent picture that lies above one of cells(): some of its cells,
// [[row, column, ...]].  paint(context, x, y, size, cell) draws one.  A dot
// that stands for many cells is drawn if any of them is given.
export function overlay(rows, columns, size, some, paint) {
  if (areDots(size)) {
    const { canvas, down, across } = dotted(rows, columns, size);
    const c = canvas.getContext('2d');
    for (const cell of some) {
      paint(c, Math.floor(cell[1] / across), Math.floor(cell[0] / down), 1,
        cell);
    }
    return canvas;
  }
  const canvas = squares(rows, columns, size), c = canvas.getContext('2d');
  const [side] = size, inside = insideOf(side);
  for (const cell of some) {
    paint(c, cell[1] * side, cell[0] * side, inside, cell);
  }
  return canvas;
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

// The room inside a card, where a section has so many pixels: as many columns
// of cards as the style sheet makes.
export function roomInCard(section) {
  const style = getComputedStyle(section);
  const inside = section.clientWidth - parseFloat(style.paddingLeft) -
    parseFloat(style.paddingRight);
  const gap = 14, least = 300, edge = 26;
  const columns = Math.max(1, Math.floor((inside + gap) / (least + gap)));
  return (inside - gap * (columns - 1)) / columns - edge;
}

// The cell at a place of the pointer.
export function cellAt(event, [wide, high]) {
  const box = event.currentTarget.getBoundingClientRect();
  return [Math.floor((event.clientY - box.top) / high),
    Math.floor((event.clientX - box.left) / wide)];
}

// Rows and columns for a list of n things, rather wide than high.
export function wrapped(n, width) {
  if (n <= 32) return [1, Math.max(n, 1)];
  const most = width < 500 ? 32 : 64;
  let columns = most;
  while (n / columns > columns / 2 && columns < 2048) columns *= 2;
  return [Math.ceil(n / columns), columns];
}
