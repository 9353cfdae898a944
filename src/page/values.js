// values.js - steps of a program, and the blocks of the chosen one.
import { activeLanes, eachElement, elementText, extremes, indexAt, indexOf,
  isWrite, lanesIn, lanesOf, numberText, pluralText, rangeText,
  stepsOf } from './data.js';
import { cellAt, cells, colours, h, hatch, heat, outline, replace,
  wrapped } from './draw.js';

// ---- one block -------------------------------------------------------------

// Rows and columns in which lanes of a shape are drawn.
function tableOf(shape, width) {
  if (shape.length < 2) return wrapped(lanesIn(shape), width);
  const columns = shape[shape.length - 1];
  return [lanesIn(shape) / columns, columns];
}

// Of the lanes that are defined.
const extremesOfLanes = (lanes, on) =>
  extremes(lanes.n, (i) => on && !on[i] ? undefined : lanes.at(i));

// By lane of a value of a step: whether it is defined; null: all are.  A
// detector may have followed them; else only a load's own mask is known.
function definedLanes(step, number, access) {
  const list = (step.undefined || []).find(([value]) => value === number);
  if (!list) return access && access.undefined ? activeLanes(access) : null;
  const on = new Uint8Array(lanesIn(step.values[number].shape)).fill(1);
  for (let i = 1; i < list.length; i += 2) {
    on.fill(0, list[i], list[i] + list[i + 1]);
  }
  return on;
}

// The same of the lanes that are drawn.
function drawnLanes(value, on, lanes) {
  if (!on) return null;
  const drawn = new Uint8Array(lanes.n);
  for (let i = 0; i < lanes.n; i++) {
    const index = indexOf(i, lanes.shape);
    drawn[i] = on[index.reduce((x, k, axis) => x * value.shape[axis] +
      k * lanes.every[axis], 0)];
  }
  return drawn;
}

// Lanes as numbers, where there are few.
function numbers(lanes, rows, columns, on) {
  const cell = (i) => on && !on[i]
    ? h('td', { class: 'off', title: 'undefined' }, '?')
    : h('td', {}, numberText(lanes.at(i)));
  return h('div', { class: 'scroll' }, h('table', { class: 'numbers' },
    h('tbody', {}, Array.from({ length: rows }, (_, row) => h('tr', {},
      Array.from({ length: columns }, (__, column) => row * columns + column)
        .filter((i) => i < lanes.n).map(cell))))));
}

function laneText(value, lanes, i, on) {
  const index = indexOf(i, lanes.shape).map((x, k) => x * lanes.every[k]);
  const what = on && !on[i] ? 'undefined' : numberText(lanes.at(i));
  return `[${index.join(', ')}] = ${what}`;
}

// A block, of which some lanes may be undefined.  Marks rows or columns of a
// picture: {row} or {column}.
export function picture(value, defined, options = {}) {
  const lanes = lanesOf(value);
  const on = drawnLanes(value, defined, lanes);
  const [rows, columns] = tableOf(lanes.shape, options.width || 320);
  if (!lanes.known) return null;
  if (!options.drawn && lanes.n <= 32 && lanes.shape.length < 2) {
    const long = Array.from({ length: lanes.n }, (_, i) =>
      numberText(lanes.at(i))).some((text) => text.length > 5);
    const most = Math.min(lanes.n, long ? 4 : 8);
    return numbers(lanes, Math.ceil(lanes.n / most), most, on);
  }
  if (!options.drawn && lanes.n <= 64 && columns <= 8) {
    return numbers(lanes, rows, columns, on);
  }
  const [low, high] = extremesOfLanes(lanes, on);
  const colour = colours();
  const { canvas, size } = cells(rows, columns, {
    width: options.width || 320, height: options.height || 220, largest: 14,
  }, (c, x, y, s, row, column) => {
    const i = row * columns + column;
    if (i >= lanes.n) return;
    const v = lanes.at(i);
    if (on && !on[i]) return hatch(c, x, y, s, colour.contested);
    if (typeof v === 'string') {
      c.fillStyle = colour.contested;
    } else {
      c.fillStyle = heat(high > low ? (v - low) / (high - low) : 0.5);
    }
    c.fillRect(x, y, s, s);
    const [down, across] = lanes.every.length === 2 ? lanes.every : [1, 1];
    if (options.mark && options.mark(row * down, column * across)) {
      outline(c, x, y, s, colour.accent, Math.min(2, s / 2));
    }
  });
  canvas.setAttribute('role', 'img');
  canvas.setAttribute('aria-label',
    `${value.name || 'block'}, ${value.type}: ${rangeText(value)}`);
  const told = h('output', { class: 'quiet' }, options.told ||
    'Point at a lane to see it.');
  canvas.addEventListener('pointermove', (e) => {
    const [row, column] = cellAt(e, size);
    const i = row * columns + column;
    if (i >= 0 && i < lanes.n && column < columns) {
      told.textContent = laneText(value, lanes, i, on);
    }
  });
  if (options.pick) {
    canvas.style.cursor = 'crosshair';
    const [down, across] = lanes.every.length === 2 ? lanes.every : [1, 1];
    canvas.addEventListener('click', (e) => {
      const [row, column] = cellAt(e, size);
      options.pick(row * down, column * across);
    });
  }
  const sampled = lanes.every.some((k) => k > 1);
  return h('div', { class: 'picture' }, h('div', { class: 'scroll' }, canvas),
    told, sampled ? h('p', { class: 'quiet' },
      `One of every ${lanes.every.join(' × ')} lanes is drawn.`) : null);
}

// ---- a value as a card -----------------------------------------------------

function pointerText(view, value) {
  const tensor = view.launch.tensors[value.tensor];
  return tensor ? `elements of ${tensor.name}: ` : '';
}

function titleOf(value, access) {
  if (value.name) return value.name;
  if (!access) return 'value';
  return isWrite(access) ? 'stored' : 'loaded';
}

// The range of the lanes that are defined.
function definedText(value, defined) {
  if (defined && !value.shape) return 'undefined';
  const lanes = lanesOf(value), on = drawnLanes(value, defined, lanes);
  if (!on || !lanes.known) return rangeText(value);
  if (!on.includes(1)) return 'no lane is defined';
  const [low, high] = extremesOfLanes(lanes, on);
  return `${numberText(low)} to ${numberText(high)} where it is defined` +
    (value.every ? ', of the lanes drawn' : '');
}

function undefinedText(value, defined, access) {
  if (!defined || !value.shape) return null;
  return h('p', { class: 'quiet' }, access && access.undefined
    ? 'Hatched lanes are undefined: masked off, without other=.'
    : 'Hatched lanes are undefined: they were computed from such lanes.');
}

function card(view, step, i, access) {
  const value = step.values[i], defined = definedLanes(step, i, access);
  return h('article', { class: 'value' },
    h('h3', {}, h('b', {}, titleOf(value, access)), ' ',
      h('code', {}, value.type)),
    h('p', {}, pointerText(view, value), definedText(value, defined)),
    undefinedText(value, defined, access),
    value.shape ? picture(value, defined, { width: view.widths.value })
      : null);
}

// ---- operations ------------------------------------------------------------

// A product: left beside, right above the result; a click in the result marks
// what it is made of.
function drawProduct(view, step, op) {
  const [left, right] = op.from.map((i) => step.values[i]);
  const result = step.values[op.to];
  const picked = view.picked || [0, 0];
  const size = { width: Math.min(180, (view.widths.values - 60) / 2),
    height: 150, drawn: true };
  const name = (v, role) => h('figcaption', {}, h('b', {}, v.name || role), ' ',
    h('code', {}, v.type));
  const figure = (v, role, area, options) => h('figure', {
    style: `grid-area:${area}`,
  }, name(v, role), picture(v, definedLanes(step, step.values.indexOf(v)),
    { ...size, ...options }));
  return h('article', { class: 'value wide' },
    h('h3', {}, h('b', {}, 'dot'), ' operand by operand'),
    h('div', { class: 'product' },
      figure(right, 'right', 'right',
        { mark: (_, column) => column === picked[1] }),
      figure(left, 'left', 'left', { mark: (row) => row === picked[0] }),
      figure(result, 'result', 'result', {
        mark: (row, column) => row === picked[0] && column === picked[1],
        pick: (row, column) => view.go({ picked: [row, column] }),
        told: 'Click an element to see its row and column.',
      })), productText(left, right, result, picked));
}

// The terms of an element, where every lane is in the page.
function productText(left, right, result, [row, column]) {
  const [a, b, c] = [left, right, result].map(lanesOf);
  if ([a, b, c].some((x) => !x.known || x.every.some((i) => i > 1))) {
    return null;
  }
  const k = a.shape[1], n = b.shape[1];
  if (row >= c.shape[0] || column >= n) return null;
  const terms = Array.from({ length: Math.min(k, 4) }, (_, i) =>
    `${numberText(a.at(row * k + i))}·${numberText(b.at(i * n + column))}`);
  const rest = k > 4 ? ` + … ${k - 4} more` : '';
  return h('p', { class: 'quiet terms' },
    `[${row}, ${column}] = ${terms.join(' + ')}${rest} (+ what it had) = ` +
    numberText(c.at(row * n + column)));
}

// A reduction or scan: the block, and beside it what the axis becomes.
function drawAlong(view, step, op) {
  const from = op.from.map((i) => step.values[i]), to = step.values[op.to];
  if (!from.length || !from[0].shape) return null;
  const width = Math.min(260, view.widths.values - 40);
  const name = op.mode || op.op;
  return h('article', { class: 'value wide' },
    h('h3', {}, h('b', {}, name), ` along axis ${op.axis}`),
    h('div', { class: 'along' },
      h('figure', {}, h('figcaption', {}, h('b', {}, from[0].name || 'block'),
        ' ', h('code', {}, from[0].type)),
      picture(from[0], definedLanes(step, op.from[0]), { width, drawn: true })),
      h('span', { class: 'arrow', 'aria-hidden': 'true' }, '→'),
      h('figure', {}, h('figcaption', {}, h('b', {}, to.name || 'result'), ' ',
        h('code', {}, to.type)),
      to.shape ? picture(to, definedLanes(step, op.to), { width, drawn: true })
        : h('p', { class: 'scalar' },
          definedText(to, definedLanes(step, op.to))))));
}

function drawOperation(view, step, op) {
  if (op.op === 'dot' && op.from.length >= 2) {
    return drawProduct(view, step, op);
  }
  return op.axis === undefined ? null : drawAlong(view, step, op);
}

// ---- accesses in words -----------------------------------------------------

function accessText(view, access) {
  const tensor = view.launch.tensors[access.tensor];
  const n = lanesIn(access.shape);
  let active = 0, first = null, last = null;
  eachElement(access, (element) => {
    active++;
    first = first === null ? element : Math.min(first, element);
    last = Math.max(last ?? element, element);
  });
  const where = !tensor ? '' : !active ? ` nothing of ${tensor.name}`
    : ` ${place(tensor, first)} to ${place(tensor, last)}`;
  const off = n - active;
  return h('p', { class: 'access' },
    h('b', { class: isWrite(access) ? 'writes' : 'reads' }, access.op), where,
    access.step && access.step.length && active > 1
      ? `, step ${access.step.join(', ')}` : '',
    off ? `, ${pluralText(off, 'lane')} off` : '',
    access.left_out ? `, ${access.left_out} stretches more` : '');
}

// The element of a tensor at a place of its memory, by its index.
function place(tensor, at) {
  const { index, left } = indexAt(tensor, at);
  const inside = !left && index.every((x, k) => x >= 0 && x < tensor.shape[k]);
  return inside ? elementText(tensor, index) : `${tensor.name} + ${at}`;
}

// ---- the step --------------------------------------------------------------

export function loopText(step) {
  return step.loops.map(([line, trip, name, value]) => name
    ? `${name} = ${value}` : `trip ${trip} of line ${line}`).join(', ');
}

// The step of the same statement in another trip of its innermost loop.
export function otherTrip(view, by) {
  const steps = stepsOf(view.launch, view.program), now = steps[view.step];
  if (!now || !now.loops.length) return view.step;
  const { before, after } = tripsOf(steps);
  return (by < 0 ? before : after)[view.step];
}

const trips = new WeakMap();

// By step: the one before and the one after of the same statement; itself where
// there is none.
function tripsOf(steps) {
  if (trips.has(steps)) return trips.get(steps);
  const before = steps.map((_, i) => i), after = [...before];
  const newest = new Map();
  for (let i = 0; i < steps.length; i++) {
    const key = `${steps[i].function}:${steps[i].line}`;
    if (newest.has(key)) {
      before[i] = newest.get(key);
      after[before[i]] = i;
    }
    newest.set(key, i);
  }
  trips.set(steps, { before, after });
  return trips.get(steps);
}

function stepButtons(view, steps) {
  const now = steps[view.step];
  // with an id, a button that is drawn anew still has the focus
  const button = (text, label, title, change, off) => h('button', {
    class: text.length > 1 ? 'trip' : null, 'aria-label': label, title,
    disabled: off, id: label.toLowerCase().replace(' ', '-'),
    onclick: () => view.go(change),
  }, text);
  const last = steps.length - 1;
  return h('div', { class: 'row' },
    button('◀', 'Step back', 'Left', { step: view.step - 1 }, view.step <= 0),
    h('input', {
      type: 'range', min: 0, max: Math.max(last, 0), value: view.step,
      id: 'step', 'aria-label': 'Step', 'aria-valuetext': now
        ? `step ${view.step + 1}, line ${now.line}` : 'none',
      oninput: (e) => view.go({ step: Number(e.target.value), focus: 'step' }),
    }),
    button('▶', 'Step forward', 'Right', { step: view.step + 1 },
      view.step >= last),
    now && now.loops.length ? [
      button('trip −', 'Trip before', 'Shift and Left',
        { step: otherTrip(view, -1) }, otherTrip(view, -1) === view.step),
      button('trip +', 'Next trip', 'Shift and Right',
        { step: otherTrip(view, 1) }, otherTrip(view, 1) === view.step)]
      : []);
}

function stepText(view, steps) {
  const step = steps[view.step];
  if (!step) {
    return 'The steps of this program are not in the page: choose one with ' +
      '◀ or ▶ beside the slider of programs.';
  }
  const loops = loopText(step);
  const callers = (step.callers || []).map((l) => `line ${l}`).join(', ');
  return [`Step ${view.step + 1} of ${steps.length}: line ${step.line}`, loops,
    callers && `called from ${callers}`].filter(Boolean).join(' · ');
}

export function drawValues(view, place_) {
  const steps = stepsOf(view.launch, view.program);
  const step = steps[view.step];
  const dropped = view.launch.dropped[view.program];
  const values = (step && step.values) || [];
  const ops = (step && step.ops) || [];
  const accesses = (step && step.accesses) || [];
  const shown = new Set(ops.filter((o) => o.op === 'dot' ||
    o.axis !== undefined).flatMap((o) => [...o.from, o.to]));
  replace(place_, h('h2', {}, 'Values'), stepButtons(view, steps),
    h('p', { id: 'step-text', 'aria-live': 'polite' }, stepText(view, steps)),
    dropped ? h('p', { class: 'quiet' },
      `${pluralText(dropped, 'further step')} of this program did not fit: ` +
      '--page-size makes room for more.') : null,
    accesses.map((a) => accessText(view, a)),
    h('div', { class: 'values' },
      ops.map((o) => drawOperation(view, step, o)).filter(Boolean),
      values.map((v, i) => shown.has(i) ? null
        : card(view, step, i, accesses.find((a) => a.value === i)))
        .filter(Boolean)),
    step && !values.length && !accesses.length
      ? h('p', { class: 'quiet' }, 'This statement gives no value.') : null);
}
