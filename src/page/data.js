// data.js - what the page knows: the launches, and what can be worked out of
// them.  docs/view.md describes the format.

// The bytes that an element holds in base 64.
function bytesIn(element) {
  const text = atob(element.textContent), bytes = new Uint8Array(text.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}

// Resolves to what src/base/deflate.c has made shorter.
const inflated = (bytes) => new Response(new Blob([bytes]).stream()
  .pipeThrough(new DecompressionStream('deflate-raw')));

export const data =
  await inflated(bytesIn(document.getElementById('data'))).json();

export const sum = (list) => list.reduce((a, b) => a + b, 0);

// ---- words -----------------------------------------------------------------

const PREFIXES = ['', 'k', 'M', 'G', 'T'];

// "1.24 M", in steps of a thousand.
function scaled(x) {
  let k = 0;
  while (Math.abs(x) >= 1000 && k < PREFIXES.length - 1) x /= 1000, k++;
  const text = Number.isInteger(x) || x >= 100 ? Math.round(x).toString()
    : x.toFixed(x >= 10 ? 1 : 2);
  return `${text} ${PREFIXES[k]}`;
}

// "12,345"; toLocaleString takes many milliseconds when it is first called.
const grouped = (x) => String(x).replace(/\B(?=(\d{3})+$)/g, ',');

export const countText = (x) => Number.isInteger(x) && Math.abs(x) < 1e6
  ? grouped(x) : scaled(x).trim();
export const bytesText = (x) => `${scaled(x)}B`;

export function timeText(nanoseconds) {
  const units = [[1e9, 's'], [1e6, 'ms'], [1e3, 'µs'], [0, 'ns']];
  const [unit, name] = units.find(([u]) => nanoseconds >= u);
  const x = nanoseconds / (unit || 1);
  return `${x >= 100 || !unit ? Math.round(x) : x.toPrecision(3)} ${name}`;
}

// "0 %" and "100 %" are nothing and everything.
export function percentText(part, all) {
  if (!part || !all) return '0 %';
  const x = 100 * part / all;
  if (x < 0.05) return '< 0.1 %';
  if (x < 100 && x >= 99.95) return '> 99.9 %';
  return `${x.toFixed(x < 10 || (x > 99 && x < 100) ? 1 : 0)} %`;
}

export function numberText(x) {
  if (typeof x === 'string') return x;
  if (Number.isInteger(x) && Math.abs(x) < 1e15) return String(x);
  const text = Math.abs(x) >= 1e6 || Math.abs(x) < 1e-4 ? x.toExponential(4)
    : String(Number(x.toPrecision(7)));
  return text.replace('e+', 'e');
}

export const pluralText = (n, one, many = `${one}s`) =>
  `${countText(n)} ${n === 1 ? one : many}`;

// ---- programs --------------------------------------------------------------

export function pidOf(launch, index) {
  const [x, y] = launch.grid;
  return [index % x, Math.floor(index / x) % y, Math.floor(index / (x * y))];
}

// ... and back.
export function programAt(launch, [x, y, z]) {
  return x + launch.grid[0] * (y + launch.grid[1] * z);
}

export const pidText = (launch, index) =>
  `(${pidOf(launch, index).join(', ')})`;

export const programCount = (launch) =>
  launch.grid[0] * launch.grid[1] * launch.grid[2];

export const keptPrograms = (launch) =>
  Object.keys(launch.steps).map(Number).sort((a, b) => a - b);

export function stepsOf(launch, program) {
  return launch.steps[program] || [];
}

const findings = new WeakMap();

export function findingsOf(launch, program) {
  if (!findings.has(launch)) {
    const by = new Map();
    for (const f of launch.findings) {
      if (!f.program) continue;
      const at = programAt(launch, f.program);
      if (!by.has(at)) by.set(at, []);
      by.get(at).push(f);
    }
    findings.set(launch, by);
  }
  return findings.get(launch).get(program) || [];
}

// What the map of programs can show.
export const METRICS = [
  {
    key: 'time', label: 'Time', text: timeText,
    of: (l, i) => l.cost.nanoseconds[i],
  }, {
    key: 'bytes', label: 'Bytes', text: bytesText,
    of: (l, i) => l.cost.read[i] + l.cost.written[i],
  }, {
    key: 'off', label: 'Lanes off', text: (x) => `${(100 * x).toFixed(1)} %`,
    of: (l, i) => l.cost.lanes[i] ? l.cost.off[i] / l.cost.lanes[i] : 0,
  }, {
    key: 'findings', label: 'Findings', text: (x) => pluralText(x, 'finding'),
    of: (l, i) => findingsOf(l, i).length,
  }, {
    key: 'order', label: 'Order', text: (x) => x ? `ran as no. ${x}` : 'no run',
    of: (l, i) => l.cost.begun ? l.cost.begun[i] : 0,
  },
];

// ---- values ----------------------------------------------------------------

export const lanesIn = (shape) => (shape || []).reduce((a, b) => a * b, 1);

// The index of a lane along each axis.
export function indexOf(lane, shape) {
  const index = [];
  for (let k = shape.length - 1; k >= 0; k--) {
    index.unshift(lane % shape[k]);
    lane = Math.floor(lane / shape[k]);
  }
  return index;
}

// The lanes of a value that the page has: {shape, at(i)}; every[k] says how
// many lanes of the block one of these stands for.
export function lanesOf(value) {
  const shape = value.shape || [];
  const every = value.every || shape.map(() => 1);
  const kept = shape.map((n, k) => Math.ceil(n / every[k]));
  let at = () => undefined;
  if ('all' in value) at = () => value.all;
  else if (value.step && value.base !== undefined) {
    at = (i) => indexOf(i, kept).reduce(
      (x, index, k) => x + index * value.step[k], Number(value.base));
  } else if (value.lo) {
    at = (i) => Number(indexOf(i, kept).every(
      (index, k) => index >= value.lo[k] && index < value.hi[k]));
  } else if (value.lanes) at = (i) => value.lanes[i];
  return { shape: kept, every, at, n: lanesIn(kept), known: 'all' in value ||
    value.base !== undefined || !!value.lo || !!value.lanes };
}

// The least and the greatest of n things that are numbers.
export function extremes(n, at) {
  let low = Infinity, high = -Infinity;
  for (let i = 0; i < n; i++) {
    const x = at(i);
    if (typeof x !== 'number') continue;
    low = Math.min(low, x);
    high = Math.max(high, x);
  }
  return low <= high ? [low, high] : [0, 0];
}

// The least and the greatest lane, as text; '' if nothing is known.
export function rangeText(value) {
  if ('all' in value) {
    return value.shape ? `all ${numberText(value.all)}` : numberText(value.all);
  }
  if (value.lo) {
    const n = value.lo.reduce((x, lo, k) => x * (value.hi[k] - lo), 1);
    return `${countText(n)} of ${countText(lanesIn(value.shape))} lanes are on`;
  }
  if (value.step && value.base !== undefined) {
    const last = value.shape.reduce(
      (x, n, k) => x + (n - 1) * value.step[k], Number(value.base));
    const steps = value.step.join(', ');
    return `${numberText(value.base)} to ${numberText(last)}, step ${steps}`;
  }
  if (value.min === undefined) return value.nan ? 'all NaN' : '';
  const odd = [value.nan && `${value.nan} NaN`,
    value.inf && `${value.inf} infinite`].filter(Boolean);
  return [`${numberText(value.min)} to ${numberText(value.max)}`, ...odd]
    .join(', ');
}

// ---- accesses --------------------------------------------------------------

// Calls visit(element, lane) for each active lane of an access.
export function eachElement(access, visit) {
  if (access.runs) {
    for (let i = 0; i < access.runs.length; i += 3) {
      const lane = access.runs[i], element = access.runs[i + 1];
      const n = access.runs[i + 2];
      for (let k = 0; k < n; k++) visit(element + k, lane + k);
    }
    return;
  }
  const { shape, step, lo, hi } = access;
  const walk = (axis, element, lane) => {
    if (axis === shape.length) return visit(element, lane);
    const from = lo ? lo[axis] : 0, to = hi ? hi[axis] : shape[axis];
    for (let i = from; i < to; i++) {
      walk(axis + 1, element + i * step[axis], lane * shape[axis] + i);
    }
  };
  walk(0, access.base, 0);
}

// By lane of a load: whether it is on; null: all are.
export function activeLanes(access) {
  const n = lanesIn(access.shape);
  const on = new Uint8Array(n);
  let active = 0;
  eachElement(access, (_, lane) => { on[lane] = 1; active++; });
  return active === n ? null : on;
}

export const isWrite = (access) => access.op !== 'load';
export const isRead = (access) => access.op !== 'store';

// ---- tensors ---------------------------------------------------------------

export const READ = 1, WRITTEN = 2, CONTESTED = 4;

// The tensor whose lists stand for another one's, since they share memory.
export function homeOf(launch, number) {
  const tensor = launch.tensors[number];
  return tensor.shares === undefined ? tensor : launch.tensors[tensor.shares];
}

// What a tensor's memory holds, if the page has it.
export const contentsOf = (launch, number) =>
  launch.tensors[number].values || homeOf(launch, number).values;

const covers = new Map();

// Sets a bit of the elements of a list of stretches; fresh: they have none yet.
function markStretches(flags, list, bit, fresh) {
  for (let i = 0; i < list.length; i += 2) {
    const end = list[i] + list[i + 1];
    if (fresh) flags.fill(bit, list[i], end);
    else for (let at = list[i]; at < end; at++) flags[at] |= bit;
  }
}

// {flags, writer}, by element; null: the tensor is not followed.
export function coverOf(launch, number) {
  const home = homeOf(launch, number);
  if (home.read === undefined) return null;
  if (covers.has(home)) return covers.get(home);
  const flags = new Uint8Array(home.elements);
  const writer = home.writer && new Int32Array(home.elements).fill(-1);
  const marks = [[home.read, READ], [home.written, WRITTEN],
    [home.contested, CONTESTED]];
  let fresh = true;
  for (const [list, bit] of marks) {
    if (!list || !list.length) continue;
    markStretches(flags, list, bit, fresh);
    fresh = false;
  }
  for (let i = 0; home.writer && i < home.writer.length; i += 3) {
    const from = home.writer[i], n = home.writer[i + 1];
    writer.fill(home.writer[i + 2], from, from + n);
  }
  const complete = marks.every(([list]) => list);
  const cover = { flags, writer, complete };
  covers.set(home, cover);
  return cover;
}

// Where an element of a tensor stands in its memory.
export const placeOf = (tensor, index) => index.reduce(
  (x, i, k) => x + i * tensor.strides[k], tensor.first);

const sortedAxes = new WeakMap();

// The axes that lead to other elements, the longest stride first.
function axesOf(tensor) {
  if (!sortedAxes.has(tensor)) {
    sortedAxes.set(tensor, tensor.strides.map((stride, k) => ({ stride, k }))
      .filter(({ stride }) => stride > 0)
      .sort((a, b) => b.stride - a.stride));
  }
  return sortedAxes.get(tensor);
}

// Whether each place of the memory is that of one element at most, which
// indexAt then finds.
export function hasOwnPlaces(tensor) {
  const axes = axesOf(tensor), { shape } = tensor;
  let reach = 0; // of the axes after this one
  for (const { stride, k } of [...axes].reverse()) {
    if (stride <= reach) return false;
    reach += stride * (shape[k] - 1);
  }
  return shape.every((n, k) => n === 1 || tensor.strides[k] > 0);
}

// The index along each axis of what stands at a place of the memory, and how
// far behind that element the place is; nearest: of the own elements of the
// tensor.
export function indexAt(tensor, at, nearest = false) {
  let left = at - tensor.first;
  const axes = axesOf(tensor);
  const index = tensor.shape.map(() => 0);
  for (const { stride, k } of axes) {
    index[k] = Math.floor(left / stride);
    if (nearest) index[k] = Math.min(index[k], tensor.shape[k] - 1);
    left -= index[k] * stride;
  }
  return { index, left };
}

export const elementText = (tensor, index) =>
  index.length ? `${tensor.name}[${index.join(', ')}]` : tensor.name;

// Calls visit(place) for the first element of each row of a tensor.
function eachRow(tensor, visit) {
  const { shape, strides } = tensor, last = shape.length - 1;
  const walk = (axis, at) => {
    if (axis >= last) return visit(at);
    for (let i = 0; i < shape[axis]; i++, at += strides[axis]) {
      walk(axis + 1, at);
    }
  };
  walk(0, tensor.first);
}

// Counts n elements, number i of the tensor and those after it, which stand in
// memory from `at` on.
function countRow(counts, flags, i, at, stride, n) {
  let { read, written, contested, open } = counts;
  for (const end = i + n; i < end; i++, at += stride) {
    const f = flags[at];
    if (f & READ) read++;
    if (f & CONTESTED) contested++;
    if (f & WRITTEN) {
      written++;
      if (open >= 0) counts.unwritten.push([open, i - 1]);
      open = -1;
    } else if (open < 0) open = i;
  }
  Object.assign(counts, { read, written, contested, open });
}

// Whether a tensor's elements are those of its memory, in their order.
function isWhole(tensor, home) {
  let n = 1;
  const inOrder = [...tensor.strides.keys()].reverse().every((k) => {
    const right = tensor.shape[k] === 1 || tensor.strides[k] === n;
    n *= tensor.shape[k];
    return right;
  });
  return inOrder && tensor.first === 0 && n === home.elements;
}

const sizeOf = (list) => (list || []).reduce(
  (n, x, i) => i % 2 ? n + x : n, 0);

// The same counts of stretches, which ascend and do not meet.
function countStretches(counts, { read, written, contested }, n) {
  let from = 0;
  for (let i = 0; written && i < written.length; i += 2) {
    if (written[i] > from) counts.unwritten.push([from, written[i] - 1]);
    from = written[i] + written[i + 1];
  }
  if (from < n) counts.unwritten.push([from, n - 1]);
  Object.assign(counts, { read: sizeOf(read), written: sizeOf(written),
    contested: sizeOf(contested) });
}

// Counts row by row.
function countRows(counts, tensor, flags, n) {
  const length = tensor.shape.at(-1) ?? 1, stride = tensor.strides.at(-1) ?? 0;
  let i = 0;
  eachRow(tensor, (at) => {
    countRow(counts, flags, i, at, stride, length);
    i += length;
  });
  if (counts.open >= 0) counts.unwritten.push([counts.open, n - 1]);
}

const counted = new Map();
const MOST_COUNTED = 1 << 22;

// How many of a tensor's own elements are read, written, contested, and the
// stretches of those that the launch never wrote: [first, last], row by row.
// null: it is not followed.
export function countsOf(launch, number) {
  const tensor = launch.tensors[number], cover = coverOf(launch, number);
  const n = lanesIn(tensor.shape);
  if (!cover || n > MOST_COUNTED) return null;
  if (counted.has(tensor)) return counted.get(tensor);
  // open: where a stretch began that has not ended
  const counts = { n, read: 0, written: 0, contested: 0, unwritten: [],
    open: -1 };
  const home = homeOf(launch, number);
  if (isWhole(tensor, home)) countStretches(counts, home, n);
  else countRows(counts, tensor, cover.flags, n);
  counted.set(tensor, counts);
  return counts;
}
