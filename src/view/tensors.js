// tensors.js - tensors in their own shape: what the chosen step and program
// read and write there, what all programs do, and what nobody touches.
import { CONTESTED, READ, WRITTEN, contentsOf, countsOf, coverOf, eachElement,
  elementText, extremes, homeOf, indexAt, indexOf, isRead, isWrite, lanesIn, numberText, percentText, pidText,
  placeOf, pluralText, stepsOf } from './data.js';
import { cellAt, cells, colours, h, hatch, heat, heatBar, outline,
  programColour, replace, wrapped } from './draw.js';

const MODES = [['touched', 'Touched'], ['values', 'Values'],
  ['writer', 'Writers']];

// By place in memory: what a list of accesses does there.
function marksOf(accesses, tensor, elements) {
  const marks = new Uint8Array(elements);
  for (const access of accesses) {
    if (access.tensor !== tensor) continue;
    const mark = (isRead(access) ? READ : 0) | (isWrite(access) ? WRITTEN : 0);
    eachElement(access, (at) => { marks[at] |= mark; });
  }
  return marks;
}

// Of the chosen step: null if it does not touch the tensor.
function marksOfStep(view, number) {
  const step = stepsOf(view.launch, view.program)[view.step];
  const accesses = ((step && step.accesses) || []).filter(
    (a) => a.tensor === number);
  return accesses.length ? marksOf(accesses, number,
    view.launch.tensors[number].elements) : null;
}

const programMarks = new Map();

// The same of all steps of a program, kept for the newest one.
function marksOfProgram(view, tensor) {
  const key = `${view.number}/${view.program}/${tensor}`;
  if (!programMarks.has(key)) {
    if (programMarks.size > 16) programMarks.clear();
    const all = stepsOf(view.launch, view.program)
      .flatMap((s) => s.accesses || []);
    programMarks.set(key, marksOf(all, tensor,
      view.launch.tensors[tensor].elements));
  }
  return programMarks.get(key);
}

// ---- slices ----------------------------------------------------------------

// The index along each leading axis that the step touches first.
function sliceTouched(tensor, marks) {
  const leading = tensor.shape.slice(0, -2).map(() => 0);
  if (!marks || !leading.length) return leading;
  const { index } = indexAt(tensor, marks.findIndex((m) => m),
    true);
  return index.slice(0, leading.length);
}

function sliceInputs(view, number, slice) {
  const tensor = view.launch.tensors[number];
  return slice.map((value, k) => h('label', { class: 'slice' },
    `axis ${k}: ${value} of ${tensor.shape[k]}`, h('input', {
      type: 'range', min: 0, max: tensor.shape[k] - 1, value,
      id: `slice-${number}-${k}`, oninput: (e) => {
        const next = [...slice];
        next[k] = Number(e.target.value);
        view.go({ slices: { ...view.slices, [number]: next },
          focus: `slice-${number}-${k}` });
      },
    })));
}

// {rows, columns, index(row, column), place(row, column)} of what is drawn; a
// place is where an element stands in memory, -1 where there is none.
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
    return { rows, columns, index, place };
  }
  const corner = placeOf(tensor, [...slice, 0, 0]);
  const [down, across] = tensor.strides.slice(-2);
  return {
    place: (row, column) => corner + row * down + column * across,
    rows: shape[rank - 2], columns: shape[rank - 1],
    index: (row, column) => [...slice, row, column],
  };
}

// ---- colours ---------------------------------------------------------------

function paintTouched(c, x, y, s, look, colour) {
  const { step, program, flags } = look;
  const solid = [null, colour.read, colour.write, colour.both];
  const soft = [null, colour['read-soft'], colour['write-soft'],
    colour['both-soft']];
  const all = flags & (READ | WRITTEN);
  if (!step && !program && !all) {
    hatch(c, x, y, s, colour.quiet);
  } else {
    c.fillStyle = step ? solid[step] : soft[program || all];
    if (!step && !program) c.globalAlpha = 0.45;
    c.fillRect(x, y, s, s);
    c.globalAlpha = 1;
  }
  if (flags & CONTESTED) {
    outline(c, x, y, s, colour.contested, Math.max(1, Math.min(2, s / 4)));
  }
}

const extremesIn = (values) => extremes(values.length, (i) => values[i]);

function painter(view, number, mode) {
  const { launch } = view;
  const cover = coverOf(launch, number), colour = colours();
  const step = marksOfStep(view, number);
  const program = marksOfProgram(view, number);
  const values = contentsOf(launch, number);
  const [low, high] = mode === 'values' ? extremesIn(values) : [0, 0];
  return (c, x, y, s, at) => {
    const marked = step ? step[at] : 0;
    if (mode === 'touched') {
      paintTouched(c, x, y, s, { step: marked, program: program[at],
        flags: cover ? cover.flags[at] : 0 }, colour);
      return;
    }
    if (mode === 'writer') {
      const who = cover.writer[at];
      if (who < 0) return hatch(c, x, y, s, colour.quiet);
      c.fillStyle = programColour(who);
    } else {
      const v = values[at];
      c.fillStyle = typeof v === 'number'
        ? heat(high > low ? (v - low) / (high - low) : 0.5) : colour.contested;
    }
    c.fillRect(x, y, s, s);
    if (marked) {
      outline(c, x, y, s, marked & WRITTEN ? colour.write : colour.read,
        Math.max(1, Math.min(2, s / 4)));
    }
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
  if (mode !== 'touched') return null;
  const item = (name, text) => h('span', {}, h('i', { class: name }), text);
  return h('p', { class: 'legend quiet' }, item('read', 'read by this step'),
    item('write', 'written by it'), item('read-soft', 'read'),
    item('write-soft', 'written'), item('contested', 'by several programs'),
    item('never', 'by nobody'));
}

function drawTensor(view, number, place) {
  const { launch } = view;
  const tensor = launch.tensors[number], cover = coverOf(launch, number);
  const marks = marksOfStep(view, number);
  const has = { touched: true,
    values: !!contentsOf(launch, number),
    writer: !!(cover && cover.writer) };
  const mode = has[view.mode] ? view.mode : 'touched';
  const slice = view.slices[number] || sliceTouched(tensor, marks);
  const width = place;
  const table = tableOfTensor(tensor, slice, width);
  const paint = painter(view, number, mode);
  const empty = !lanesIn(tensor.shape);
  const { canvas, size } = cells(empty ? 1 : table.rows, empty ? 1
    : table.columns, { width, height: 300, largest: 18 },
  (c, x, y, s, row, column) => {
    const at = empty ? -1 : table.place(row, column);
    if (at >= 0) paint(c, x, y, s, at);
  });
  canvas.setAttribute('role', 'img');
  canvas.setAttribute('aria-label', `${tensor.name}, ` +
    `${tensor.type}[${tensor.shape.join(', ')}]`);
  canvas.addEventListener('click', (e) => {
    const [row, column] = cellAt(e, size);
    const index = table.index(row, column);
    if (index) view.go({ element: { tensor: number, index } });
  });
  const values = contentsOf(launch, number);
  const range = mode === 'values' ? extremesIn(values).map(numberText) : null;
  return h('article', {
    class: `tensor${marks ? ' now' : ''}`, 'data-tensor': tensor.name,
  },
  h('h3', {}, h('b', {}, tensor.name), ' ',
    h('code', {}, `${tensor.type}[${tensor.shape.join(', ')}]`)),
  h('p', { class: 'quiet' }, `strides ${tensor.strides.join(', ') || 'none'}` +
    ` · at ${tensor.address}`),
  slice.length ? h('div', {}, sliceInputs(view, number, slice)) : null,
  h('div', { class: 'scroll' }, canvas),
  range ? heatBar(...range) : null,
  detail(view, number), countsText(view, number));
}

export function drawTensors(view, place) {
  const numbers = view.launch.tensors.map((t, i) => t ? i : -1)
    .filter((i) => i >= 0);
  const width = view.widths.tensor;
  replace(place, h('h2', {}, 'Tensors'),
    h('div', { class: 'choice', role: 'group', 'aria-label':
      'What tensors show' }, MODES.map(([key, label]) => h('button', {
      'aria-pressed': String(view.mode === key), 'data-mode': key,
      onclick: () => view.go({ mode: key }),
    }, label))), legend(view.mode),
    numbers.length ? h('div', { class: 'tensors' },
      numbers.map((i) => drawTensor(view, i, width)))
      : h('p', { class: 'quiet' }, 'The launch has no tensors.'));
}
