// layouts.js - which thread of the program holds which lane of a block, and
// where it lies in shared memory, as the compiler chose it.
import { indexOf, lanesIn, pluralText, stepsOf } from './data.js';
import { cellAt, cells, colours, h, heat, heatBar, outline,
  replace } from './draw.js';
import { sourceOf } from './source.js';
import { stageLines, stagesOf } from './stages.js';

// ---- what the stage says ---------------------------------------------------

const RESULT = /^ *(%[\w#]+)[^=]* = (\w+).* : <\[([\d, ]+)\], (.*?)>/;
const LINEAR = /#linear<\{register = (\[.*?\]), lane = (\[.*\]), warp = (\[.*\]), block/;
const SHARED = new RegExp('// shared memory: <\\[([\\d, ]+)\\], (.*?)>, ' +
  'places = (\\[.*\\]), conflicts: write x(\\d+), read x(\\d+), in ' +
  'row-major order write x(\\d+), read x(\\d+)');

const shapeOf = (text) => text.split(',').map(Number);

// A layout: what each bit of a register's, a lane's and a warp's number does to
// the index of the element; the indices along the axes are xor-ed.
function spreadOf(text) {
  const result = RESULT.exec(text), linear = LINEAR.exec(text);
  if (!result || !linear) return null;
  const [register, lane, warp] = linear.slice(1).map((x) => JSON.parse(x));
  return { title: `${result[2]} ${result[1]} ${result[4]}[${result[3]}]`,
    shape: shapeOf(result[3]), register, lane, warp };
}

// Places in shared memory, by bit of the element's number, which are xor-ed.
function sharedOf(text) {
  const said = SHARED.exec(text);
  if (!said) return null;
  const [shape, type, places, ...conflicts] = said.slice(1);
  const bits = Number((/\d+/.exec(type) || [32])[0]);
  return { title: `shared memory: ${type}[${shape}]`, shape: shapeOf(shape),
    places: JSON.parse(places), bytes: Math.max(1,
      type.startsWith('pointer') ? 8 : bits / 8),
    conflicts: conflicts.map(Number) };
}

const found = new WeakMap();

// The blocks of a launch that have a layout or go through shared memory, by
// "source:line".  What is said of shared memory stands below its instruction.
function blocksBy(launch) {
  const stage = stagesOf(launch).find(({ name }) => name === 'layouts');
  if (!stage || stage.text === undefined) return new Map();
  if (!found.has(stage)) {
    const by = new Map();
    let place = null;
    for (const { text, at } of stageLines(launch, stage)) {
      if (!/^ *\/\//.test(text)) place = at;
      const block = sharedOf(text) || spreadOf(text);
      if (!block || !place) continue;
      const key = `${place.source}:${place.line}`;
      if (!by.has(key)) by.set(key, []);
      by.get(key).push(block);
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

// A table of a block's elements: levelOf(i), from 0 to 1, is what an element's
// colour says, alike(i) whether it is marked as the chosen one is, textOf(i)
// what is said of it.
function table(view, block, { levelOf, alike, textOf, hint }) {
  const columns = block.shape[block.shape.length - 1];
  const n = lanesIn(block.shape), colour = colours();
  const { canvas, size } = cells(n / columns, columns, {
    width: Math.min(560, view.widths.layouts), height: 320, largest: 18,
  }, (c, x, y, s, row, column) => {
    const i = row * columns + column;
    c.fillStyle = heat(levelOf(i));
    c.fillRect(x, y, s, s);
    if (view.held >= 0 && alike(i)) {
      outline(c, x, y, s, colour.contested, Math.min(3, s / 2));
    }
  });
  const elementAt = (e) => {
    const [row, column] = cellAt(e, size), i = row * columns + column;
    return row >= 0 && column >= 0 && column < columns && i < n ? i : -1;
  };
  const told = h('output', { class: 'quiet' },
    view.held >= 0 ? textOf(view.held) : hint);
  canvas.setAttribute('role', 'img');
  canvas.setAttribute('aria-label', block.title);
  canvas.style.cursor = 'crosshair';
  canvas.addEventListener('pointermove', (e) => {
    const i = elementAt(e);
    if (i >= 0) told.textContent = textOf(i);
  });
  canvas.addEventListener('click', (e) => {
    const i = elementAt(e);
    if (i >= 0) view.go({ held: i });
  });
  return [h('div', { class: 'scroll' }, canvas), told];
}

function drawHolders(view, layout) {
  const { first, copies } = holdersOf(layout), by = view.holder;
  const most = (1 << layout[by].length) - 1, chosen = first[view.held];
  return [h('div', { class: 'choice', role: 'group', 'aria-label':
    'Coloured by' }, Object.entries(COLOURED).map(([key, label]) => option(
    view, label, by === key, { holder: key }, `holder-${key}`))),
  table(view, layout, {
    levelOf: (i) => most ? first[i][by] / most : 0.5,
    alike: (i) => first[i].warp === chosen.warp &&
      first[i].lane === chosen.lane,
    textOf: (i) => holderText(layout, first, i),
    hint: 'Click an element to see all that its thread holds.',
  }), heatBar(`${by} 0`, String(most)), h('p', { class: 'quiet' }, [
    pluralText(1 << layout.warp.length, 'warp'), '32 lanes',
    `${pluralText(1 << layout.register.length, 'register')} a lane`,
    copies > 1 && `every element is held ${copies} times; the first holder ` +
      'is drawn'].filter(Boolean).join(', '))];
}

const BANKS = 32, BANK_BYTES = 4;

const timesText = (n) => n === 1 ? 'no longer' : `${n} times as long`;

const conflictText = (written, read) => written * read === 1
  ? 'without bank conflicts'
  : `with bank conflicts: to write takes a warp ${timesText(written)}, to ` +
    `read ${timesText(read)}`;

function drawShared(view, block) {
  const bits = block.places.length;
  const placeOf = (i) => numberFrom(block.places, i);
  const bankOf = (i) => Math.floor(placeOf(i) * block.bytes / BANK_BYTES) %
    BANKS;
  const [written, read, plainWritten, plainRead] = block.conflicts;
  const rounds = 1 << block.places.filter((place) => !place).length;
  return [h('p', {}, `Written and read ${conflictText(written, read)}. In ` +
    'row-major order it would be written and read ' +
    `${conflictText(plainWritten, plainRead)}.`),
  table(view, block, {
    levelOf: (i) => bankOf(i) / (BANKS - 1),
    alike: (i) => bankOf(i) === bankOf(view.held),
    textOf: (i) => `[${indexOf(i, block.shape).join(', ')}]: place ` +
      `${placeOf(i)}, bank ${bankOf(i)}`,
    hint: 'Click an element to see all that lie in its bank.',
  }), heatBar('bank 0', String(BANKS - 1)), rounds > 1 && bits
    ? h('p', { class: 'quiet' }, `It goes through in ${rounds} parts, one ` +
      'after the other.') : null];
}

// ---- drawing ---------------------------------------------------------------

const option = (view, text, pressed, change, id) => h('button', {
  'aria-pressed': String(pressed), id, onclick: () => view.go(change) }, text);

export function drawLayouts(view, place) {
  const step = stepsOf(view.launch, view.program)[view.step];
  const here = step ? blocksBy(view.launch).get(
    `${sourceOf(view.launch, step)}:${step.line}`) || [] : [];
  const block = here[Math.min(view.block, here.length - 1)];
  place.hidden = !block;
  if (!block) return;
  replace(place, h('h2', {}, 'Layouts'),
    h('p', { class: 'quiet' }, 'Which thread of a GPU holds which element of ' +
      'the blocks of this line, and where those lie that go through shared ' +
      'memory, as the compiler chose it.'),
    h('div', { class: 'choice', role: 'group', 'aria-label': 'Block' },
      here.map((x, i) => option(view, x.title, x === block,
        { block: i, held: -1 }, `block-${i}`))),
    block.places ? drawShared(view, block) : drawHolders(view, block));
}
