// layouts.js - which thread of the program holds which lane of a block, as the
// compiler spreads them.
import { indexOf, lanesIn, pluralText, stepsOf } from './data.js';
import { cellAt, cells, colours, h, heat, heatBar, outline,
  replace } from './draw.js';
import { sourceOf } from './source.js';
import { stageLines, stagesOf } from './stages.js';

// ---- what the stage says ---------------------------------------------------

const RESULT = /^ *(%[\w#]+)[^=]* = (\w+).* : <\[([\d, ]+)\], (.*?)>/;
const LINEAR = /#linear<\{register = (\[.*?\]), lane = (\[.*\]), warp = (\[.*\]), block/;

// A layout: what each bit of a register's, a lane's and a warp's number does to
// the index of the element; the indices along the axes are xor-ed.
function spreadOf({ text, at }) {
  const result = RESULT.exec(text), linear = LINEAR.exec(text);
  if (!at || !result || !linear) return null;
  const [register, lane, warp] = linear.slice(1).map((x) => JSON.parse(x));
  return { name: result[1], op: result[2], type: `${result[4]}[${result[3]}]`,
    shape: result[3].split(',').map(Number), register, lane, warp, ...at };
}

const found = new WeakMap();

// The layouts of a launch, by "source:line".
function layoutsBy(launch) {
  const stage = stagesOf(launch).find(({ name }) => name === 'layouts');
  if (!stage || stage.text === undefined) return new Map();
  if (!found.has(stage)) {
    const by = new Map();
    for (const line of stageLines(launch, stage)) {
      const layout = spreadOf(line);
      if (!layout) continue;
      const key = `${layout.source}:${layout.line}`;
      if (!by.has(key)) by.set(key, []);
      by.get(key).push(layout);
    }
    found.set(stage, by);
  }
  return found.get(stage);
}

// ---- who holds what --------------------------------------------------------

// The element, counted row by row, that each power of two leads to.
const basesOf = ({ shape }, list) => list.map((index) => index.reduce(
  (at, x, axis) => at * shape[axis] + x, 0));

const numberFrom = (bases, bits) => bases.reduce(
  (at, base, k) => bits >> k & 1 ? at ^ base : at, 0);

// By element its first holder: {warp, lane, register}, and how many there are.
function holdersOf(layout) {
  const [register, lane, warp] = [layout.register, layout.lane, layout.warp]
    .map((list) => basesOf(layout, list));
  const n = lanesIn(layout.shape), first = new Array(n);
  for (let w = 0; w < 1 << warp.length; w++) {
    for (let l = 0; l < 1 << lane.length; l++) {
      const thread = numberFrom(warp, w) ^ numberFrom(lane, l);
      for (let r = 0; r < 1 << register.length; r++) {
        const at = thread ^ numberFrom(register, r);
        first[at] = first[at] || { warp: w, lane: l, register: r };
      }
    }
  }
  const all = 1 << (warp.length + lane.length + register.length);
  return { first, copies: all / n };
}

const COLOURED = { warp: 'Warp', lane: 'Lane', register: 'Register' };

function holderText(layout, first, i) {
  const { warp, lane, register } = first[i];
  return `[${indexOf(i, layout.shape).join(', ')}]: warp ${warp}, lane ` +
    `${lane}, register ${register}`;
}

// The table; a click marks all elements of the thread that holds one.
function table(view, layout) {
  const { first, copies } = holdersOf(layout);
  const by = view.holder, columns = layout.shape[layout.shape.length - 1];
  const rows = first.length / columns, colour = colours();
  const most = Math.max(1, (1 << layout[by].length) - 1);
  const chosen = first[view.held] || null;
  const { canvas, size } = cells(rows, columns, {
    width: Math.min(560, view.widths.layouts), height: 320, largest: 18,
  }, (c, x, y, s, row, column) => {
    const holder = first[row * columns + column];
    c.fillStyle = heat(holder[by] / most);
    c.fillRect(x, y, s, s);
    if (chosen && holder.warp === chosen.warp && holder.lane === chosen.lane) {
      outline(c, x, y, s, colour.contested, Math.min(3, s / 2));
    }
  });
  const elementAt = (e) => {
    const [row, column] = cellAt(e, size), i = row * columns + column;
    return row >= 0 && column >= 0 && column < columns && i < first.length
      ? i : -1;
  };
  const told = h('output', { class: 'quiet' }, chosen
    ? holderText(layout, first, view.held)
    : 'Click an element to see all that its thread holds.');
  canvas.setAttribute('role', 'img');
  canvas.setAttribute('aria-label', `who holds ${layout.name}`);
  canvas.style.cursor = 'crosshair';
  canvas.addEventListener('pointermove', (e) => {
    const i = elementAt(e);
    if (i >= 0) told.textContent = holderText(layout, first, i);
  });
  canvas.addEventListener('click', (e) => {
    const i = elementAt(e);
    if (i >= 0) view.go({ held: i });
  });
  return [h('div', { class: 'scroll' }, canvas), told, heatBar(`${by} 0`,
    String((1 << layout[by].length) - 1)),
  h('p', { class: 'quiet' }, [
    pluralText(1 << layout.warp.length, 'warp'), '32 lanes',
    `${pluralText(1 << layout.register.length, 'register')} a lane`,
    copies > 1 && `every element is held ${copies} times; the first holder ` +
      'is drawn'].filter(Boolean).join(', '))];
}

// ---- drawing ---------------------------------------------------------------

export function drawLayouts(view, place) {
  const step = stepsOf(view.launch, view.program)[view.step];
  const here = step ? layoutsBy(view.launch).get(
    `${sourceOf(view.launch, step)}:${step.line}`) || [] : [];
  const layout = here[Math.min(view.block, here.length - 1)];
  place.hidden = !layout;
  if (!layout) return;
  const option = (text, pressed, change, id) => h('button', {
    'aria-pressed': String(pressed), id, onclick: () => view.go(change) }, text);
  replace(place, h('h2', {}, 'Layouts'),
    h('p', { class: 'quiet' }, 'Which thread holds which element on a GPU, ' +
      'as the compiler spreads the blocks of this line.'),
    h('div', { class: 'choice', role: 'group', 'aria-label': 'Block' },
      here.map((x, i) => option(`${x.op} ${x.name} ${x.type}`, x === layout,
        { block: i, held: -1 }, `block-${i}`))),
    h('div', { class: 'choice', role: 'group', 'aria-label': 'Coloured by' },
      Object.entries(COLOURED).map(([key, label]) => option(label,
        view.holder === key, { holder: key }, `holder-${key}`))),
    table(view, layout));
}
