// tensors.js - tensors in their own shape: what the chosen step and program
// read and write there, what all programs do, and what nobody touches.
import { CONTESTED, READ, WRITTEN, contentsOf, countsOf, coverOf, eachElement,
  elementText, extremes, hasOwnPlaces, homeOf, indexAt, indexOf, isRead,
  isWrite, lanesIn, numberText, percentText, pidText, placeOf, pluralText,
  stepsOf } from './data.js';
import { cellAt, cells, colours, h, hatch, heat, heatBar, madeLast, outline,
  overlay, programColour, replace, wrapped } from './draw.js';
import { wrongPlaces, wrongTensor } from './why.js';

const WRONG_MODE = ['wrong', 'Wrong'];
const MODES = [['touched', 'Touched'], ['values', 'Values'],
  ['writer', 'Writers']];

const markOf = (access) =>
  (isRead(access) ? READ : 0) | (isWrite(access) ? WRITTEN : 0);

// By place in memory: what steps do in a tensor.  Places that lie together are
// a table, others a map.
class Marks {
  constructor(accesses) {
    let n = 0, last = -Infinity;
    this.first = Infinity;
    for (const access of accesses) {
      eachElement(access, (at) => {
        n++;
        if (at < this.first) this.first = at;
        if (at > last) last = at;
      });
    }
    this.n = n;
    const range = n ? last - this.first + 1 : 0;
    this.table = range <= 8 * n ? new Uint8Array(range) : null;
    this.map = new Map();
    for (const access of accesses) {
      const mark = markOf(access);
      eachElement(access, (at) => this.add(at, mark));
    }
  }

  add(at, mark) {
    if (this.table) this.table[at - this.first] |= mark;
    else this.map.set(at, this.map.get(at) | mark);
  }

  get(at) {
    return (this.table ? this.table[at - this.first] : this.map.get(at)) || 0;
  }

  each(visit) {
    if (!this.table) return this.map.forEach((mark, at) => visit(at, mark));
    this.table.forEach((mark, i) => mark && visit(this.first + i, mark));
  }
}

// null: they do nothing there.
function marksOf(steps, number) {
  const marks = new Marks(steps.flatMap((step) => (step.accesses || [])
    .filter((access) => access.tensor === number)));
  return marks.n ? marks : null;
}

const marksOfProgram = (view, number) =>
  marksOf(stepsOf(view.launch, view.program), number);

const marksOfStep = (view, number) => marksOf(
  stepsOf(view.launch, view.program).slice(view.step, view.step + 1), number);

// ---- slices ----------------------------------------------------------------

// The index along each leading axis that the step touches first.
function sliceTouched(tensor, marks) {
  const leading = tensor.shape.slice(0, -2).map(() => 0);
  if (!marks || !leading.length) return leading;
  const { index } = indexAt(tensor, marks.first, true);
  return index.slice(0, leading.length);
}

function sliceInputs(view, number, slice) {
  const tensor = view.launch.tensors[number];
  return slice.map((value, k) => tensor.shape[k] > 1 && h('label', {
    class: 'slice' }, `axis ${k}: ${value} of ${tensor.shape[k]}`, h('input', {
      type: 'range', min: 0, max: tensor.shape[k] - 1, value,
      id: `slice-${number}-${k}`, oninput: (e) => {
        const next = [...slice];
        next[k] = Number(e.target.value);
        view.go({ slices: { ...view.slices, [number]: next },
          focus: `slice-${number}-${k}` });
      },
    })));
}

// {rows, columns, index(row, column), place(row, column), cell(place)} of what
// is drawn; a place is where an element stands in memory, -1 where there is
// none; a cell is [row, column], null where an element is not drawn.
function tableOfTensor(tensor, slice, width) {
  const shape = tensor.shape, rank = shape.length;
  if (rank < 2) {
    const n = lanesIn(shape), [rows, columns] = wrapped(n, width);
    const index = (row, column) => {
      const i = row * columns + column;
      return i < n ? (rank ? [i] : []) : null;
    };
    const place = (row, column) => {
      const i = row * columns + column;
      return i < n ? tensor.first + (rank ? i * tensor.strides[0] : 0) : -1;
    };
    const cell = (at) => {
      const i = rank ? (at - tensor.first) / (tensor.strides[0] || 1) : 0;
      if (!Number.isInteger(i) || i < 0 || i >= n) return null;
      return [Math.floor(i / columns), i % columns];
    };
    return { rows, columns, index, place, cell };
  }
  const corner = placeOf(tensor, [...slice, 0, 0]);
  const [down, across] = tensor.strides.slice(-2);
  return {
    place: (row, column) => corner + row * down + column * across,
    rows: shape[rank - 2], columns: shape[rank - 1],
    index: (row, column) => [...slice, row, column],
    cell: (at) => {
      const { index, left } = indexAt(tensor, at);
      const drawn = !left && index.every((i, k) => k < rank - 2
        ? i === slice[k] : i >= 0 && i < shape[k]);
      return drawn ? index.slice(-2) : null;
    },
  };
}

// ---- colours ---------------------------------------------------------------

const frame = (c, x, y, s, colour) =>
  outline(c, x, y, s, colour, Math.max(1, Math.min(2, s / 4)));

const softOf = (colour) => [null, colour['read-soft'], colour['write-soft'],
  colour['both-soft']];

const solidOf = (colour) => [null, colour.read, colour.write, colour.both];

// What all programs do; soft: softOf(colour).
function paintTouched(c, x, y, s, flags, colour, soft) {
  const all = flags & (READ | WRITTEN);
  if (all) {
    c.fillStyle = soft[all];
    c.globalAlpha = 0.45;
    c.fillRect(x, y, s, s);
    c.globalAlpha = 1;
  } else hatch(c, x, y, s, colour.quiet);
  if (flags & CONTESTED) frame(c, x, y, s, colour.contested);
}

// Draws what the chosen program or step does, above that.
function paintAbove(view, number, fills) {
  const cover = coverOf(view.launch, number), colour = colours();
  const fill = fills(colour);
  return (c, x, y, s, [, , at, mark]) => {
    c.fillStyle = fill[mark];
    c.fillRect(x, y, s, s);
    if (cover && cover.flags[at] & CONTESTED && s > 1) {
      frame(c, x, y, s, colour.contested);
    }
  };
}

// ... in pictures whose colours say something else.
function paintFrames() {
  const colour = colours();
  return (c, x, y, s, [, , , mark]) =>
    frame(c, x, y, s, mark & WRITTEN ? colour.write : colour.read);
}

// The cells of a table whose elements have marks: [row, column, place, mark].
function cellsTouched(tensor, table, marks) {
  const touched = [];
  if (hasOwnPlaces(tensor)) {
    marks.each((at, mark) => {
      const cell = table.cell(at);
      if (cell) touched.push([cell[0], cell[1], at, mark]);
    });
    return touched;
  }
  for (let row = 0; row < table.rows; row++) {
    for (let column = 0; column < table.columns; column++) {
      const at = table.place(row, column), mark = marks.get(at);
      if (mark) touched.push([row, column, at, mark]);
    }
  }
  return touched;
}

const extremesIn = (values) => extremes(values.length, (i) => values[i]);

function painter(view, number, mode) {
  const { launch } = view;
  const cover = coverOf(launch, number), colour = colours();
  const values = contentsOf(launch, number);
  const [low, high] = mode === 'values' ? extremesIn(values) : [0, 0];
  const wrong = mode === 'wrong' && wrongPlaces(launch.tensors[number]);
  const soft = softOf(colour);
  return (c, x, y, s, at) => {
    if (mode === 'wrong') {
      c.fillStyle = wrong.has(at) ? colour.contested : colour['read-soft'];
    } else if (mode === 'touched') {
      return paintTouched(c, x, y, s, cover ? cover.flags[at] : 0, colour,
        soft);
    } else if (mode === 'writer') {
      const who = cover.writer[at];
      if (who < 0) return hatch(c, x, y, s, colour.quiet);
      c.fillStyle = programColour(who);
    } else {
      const v = values[at];
      c.fillStyle = typeof v === 'number'
        ? heat(high > low ? (v - low) / (high - low) : 0.5) : colour.contested;
    }
    c.fillRect(x, y, s, s);
  };
}

// ---- in words --------------------------------------------------------------

function stretchText(tensor, [first, last]) {
  const text = (i) => elementText(tensor, indexOf(i, tensor.shape));
  return first === last ? text(first) : `${text(first)} to ${text(last)}`;
}

function countsText(view, number) {
  const counts = countsOf(view.launch, number);
  const tensor = view.launch.tensors[number];
  const cover = coverOf(view.launch, number);
  if (!counts) {
    return [h('p', { class: 'quiet' }, 'Elements of this tensor are not ' +
      'followed: it is too large, or shares a part of its memory.')];
  }
  const written = counts.written > 0;
  const lines = [h('p', { class: 'counts' },
    `${percentText(counts.read, counts.n)} read, ` +
    `${percentText(counts.written, counts.n)} written`)];
  if (written && counts.written < counts.n) {
    const some = counts.unwritten.slice(0, 3).map((s) =>
      stretchText(tensor, s)).join('; ');
    lines.push(h('p', { class: 'warn' },
      `${pluralText(counts.n - counts.written, 'element')} never written: ` +
      `${some}${counts.unwritten.length > 3 ? '; …' : ''}`));
  }
  if (!written && counts.read < counts.n) {
    lines.push(h('p', { class: 'quiet' },
      `${pluralText(counts.n - counts.read, 'element')} never read`));
  }
  if (counts.contested) {
    lines.push(h('p', { class: 'warn' },
      `${pluralText(counts.contested, 'element')} written by more than one ` +
      `program${homeOf(view.launch, number).atomic ? ' (by atomic operations,' +
        ' at least in part)' : ''}`));
  }
  if (!cover.complete) {
    lines.push(h('p', { class: 'quiet' },
      'Some lists of elements were too long for the page.'));
  }
  return lines;
}

// What a click on an element shows.
function detail(view, number) {
  const picked = view.element;
  if (!picked || picked.tensor !== number) return null;
  const tensor = view.launch.tensors[number], cover = coverOf(view.launch,
    number);
  const at = placeOf(tensor, picked.index);
  const values = contentsOf(view.launch, number);
  const writer = cover && cover.writer ? cover.writer[at] : -1;
  const address = BigInt(tensor.from) + BigInt(at) * BigInt(tensor.bytes);
  const flags = cover ? cover.flags[at] : 0;
  const facts = [['element', elementText(tensor, picked.index)],
    ['address', `0x${address.toString(16)}`],
    ['value', values ? numberText(values[at]) : 'not in the page'],
    ['written by', !cover ? 'not known' : writer < 0 ? 'nobody'
      : `program ${pidText(view.launch, writer)}` +
      (flags & CONTESTED ? ', and others before' : '')],
    ['read', !cover ? 'not known' : flags & READ ? 'yes' : 'by nobody']];
  return h('div', { class: 'detail', role: 'status' },
    h('dl', {}, facts.map(([k, v]) => h('div', {}, h('dt', {}, k),
      h('dd', {}, v)))),
    writer >= 0 && writer !== view.program ? h('button', {
      onclick: () => view.go({ program: writer }),
    }, `Go to program ${pidText(view.launch, writer)}`) : null);
}

// ---- a tensor --------------------------------------------------------------

function legend(mode) {
  const item = (name, text) => h('span', {}, h('i', { class: name }), text);
  if (mode === 'wrong') {
    return h('p', { class: 'legend quiet' }, item('wrong', 'wrong'),
      item('read-soft', 'as expected'));
  }
  if (mode !== 'touched') return null;
  return h('p', { class: 'legend quiet' }, item('read', 'read by this step'),
    item('write', 'written by it'), item('read-soft', 'read'),
    item('write-soft', 'written'), item('contested', 'by several programs'),
    item('never', 'by nobody'));
}

// The picture of a tensor without what is chosen.
function drawGround(view, number, mode, table, width) {
  const empty = !lanesIn(view.launch.tensors[number].shape);
  const paint = painter(view, number, mode);
  const ground = cells(empty ? 1 : table.rows, empty ? 1 : table.columns,
    { width, height: 300, largest: 18 }, (c, x, y, s, row, column) => {
      const at = empty ? -1 : table.place(row, column);
      if (at >= 0) paint(c, x, y, s, at);
    });
  ground.canvas.addEventListener('click', (e) => {
    const [row, column] = cellAt(e, ground.size);
    const index = table.index(row, column);
    if (index) view.go({ element: { tensor: number, index } });
  });
  return ground;
}

// What lies above it: cells with marks.
function drawAbove(tensor, table, size, marks, paint) {
  const canvas = overlay(table.rows, table.columns, size,
    cellsTouched(tensor, table, marks), paint);
  canvas.classList.add('above');
  return canvas;
}

const layers = new Map(); // by tensor

// The canvases of a tensor, each kept until something changes that it shows:
// {canvas, above: those of the program and the step}.
function layersOf(view, number, { mode, slice, width, marks }) {
  if (!layers.has(number)) layers.set(number, [madeLast(), madeLast()]);
  const [ground, program] = layers.get(number);
  const tensor = view.launch.tensors[number];
  const table = tableOfTensor(tensor, slice, width);
  const key = [view.launch, mode, slice.join(), width, colours()];
  const { canvas, size } = ground(key,
    () => drawGround(view, number, mode, table, width));
  const above = (some, paint) => some && drawAbove(tensor, table, size, some,
    paint);
  const touched = mode === 'touched';
  const ofProgram = touched && program([...key, view.program], () => above(
    marksOfProgram(view, number), paintAbove(view, number, softOf)));
  const ofStep = above(marks, touched ? paintAbove(view, number, solidOf)
    : paintFrames());
  return { canvas, above: [ofProgram, ofStep] };
}

function drawTensor(view, number, width) {
  const { launch } = view;
  const tensor = launch.tensors[number], cover = coverOf(launch, number);
  const marks = marksOfStep(view, number);
  const has = { touched: true, wrong: number === wrongTensor(launch),
    values: !!contentsOf(launch, number),
    writer: !!(cover && cover.writer) };
  const mode = has[view.mode] ? view.mode : 'touched';
  const slice = view.slices[number] || sliceTouched(tensor, marks);
  const { canvas, above } = layersOf(view, number, { mode, slice, width,
    marks });
  canvas.setAttribute('role', 'img');
  canvas.setAttribute('aria-label', `${tensor.name}, ` +
    `${tensor.type}[${tensor.shape.join(', ')}]`);
  const range = mode === 'values'
    ? extremesIn(contentsOf(launch, number)).map(numberText) : null;
  return h('article', {
    class: `tensor${marks ? ' now' : ''}`, 'data-tensor': tensor.name,
  },
  h('h3', {}, h('b', {}, tensor.name), ' ',
    h('code', {}, `${tensor.type}[${tensor.shape.join(', ')}]`)),
  h('p', { class: 'quiet' }, `strides ${tensor.strides.join(', ') || 'none'}` +
    ` · at ${tensor.address}`),
  h('div', {}, sliceInputs(view, number, slice)),
  h('div', { class: 'scroll' }, h('div', { class: 'under' }, canvas, above)),
  range ? heatBar(...range) : null,
  detail(view, number), countsText(view, number));
}

export function drawTensors(view, place) {
  const numbers = view.launch.tensors.map((t, i) => t ? i : -1)
    .filter((i) => i >= 0);
  const width = view.widths.tensor;
  replace(place, h('h2', {}, 'Tensors'),
    h('div', { class: 'choice', role: 'group', 'aria-label':
      'What tensors show' }, (wrongTensor(view.launch) < 0 ? MODES
      : [WRONG_MODE, ...MODES]).map(([key, label]) => h('button', {
      'aria-pressed': String(view.mode === key), 'data-mode': key,
      onclick: () => view.go({ mode: key }),
    }, label))), legend(view.mode),
    numbers.length ? h('div', { class: 'tensors' },
      numbers.map((i) => drawTensor(view, i, width)))
      : h('p', { class: 'quiet' }, 'The launch has no tensors.'));
}
