// grid.js - the programs of a launch as a map: what each costs.
import { METRICS, coverOf, findingsOf, keptPrograms, pidText, pluralText,
  programAt, programCount } from './data.js';
import { cellAt, cells, colours, h, heat, heatBar, madeLast, outline,
  replace, wrapped } from './draw.js';
import { wrongPlaces, wrongTensor } from './why.js';

// By program: elements that are wrong and that it wrote last.
const wrongOf = new Map();

function wrongBy(launch, program) {
  if (!wrongOf.size) {
    const number = wrongTensor(launch), cover = coverOf(launch, number);
    for (const at of wrongPlaces(launch.tensors[number])) {
      const who = cover && cover.writer ? cover.writer[at] : -1;
      wrongOf.set(who, (wrongOf.get(who) || 0) + 1);
    }
  }
  return wrongOf.get(program) || 0;
}

const WRONG = {
  key: 'wrong', label: 'Wrong', text: (x) => pluralText(x, 'wrong element'),
  of: wrongBy,
};

const metricsOf = (launch) => wrongTensor(launch) < 0 ? METRICS
  : [WRONG, ...METRICS];

// {rows, columns, at(row, column), of(index)} of the programs of a launch.
function layoutOf(launch, width) {
  const n = Math.ceil(programCount(launch) / launch.cost.every);
  const [x, y, z] = launch.grid;
  if (launch.cost.every > 1 || y * z === 1) {
    const [rows, columns] = wrapped(n, width);
    return { rows, columns, n };
  }
  return { rows: y * z, columns: x, n };
}

// From where to where colours go: to the greatest value, or to one below which
// nearly all lie, if a few are far greater.
function scaleOf(values) {
  const sorted = Float64Array.from(values).sort(), n = sorted.length;
  const low = sorted[0], greatest = sorted[n - 1];
  const most = sorted[Math.floor(0.97 * (n - 1))];
  const over = n >= 16 && most > low && greatest > 3 * most;
  return { low, high: over ? most : greatest, over };
}

function describe(view, metric) {
  const { launch, program } = view;
  const i = Math.floor(program / launch.cost.every);
  const found = findingsOf(launch, program).length;
  const kept = program in launch.steps;
  return [`program ${pidText(launch, program)}`, metric.text(
    metric.of(launch, i)), found && pluralText(found, 'finding'),
  !kept && 'its steps are not in this page'].filter(Boolean).join(' · ');
}

function metricButtons(view, metric) {
  return h('div', { class: 'choice', role: 'group', 'aria-label':
    'What the map shows' }, metricsOf(view.launch).map((m) => h('button', {
    'aria-pressed': String(m === metric), 'data-metric': m.key,
    onclick: () => view.go({ metric: m.key }),
  }, m.label)));
}

// The next program with steps in a direction.
export function nextKept(launch, program, by) {
  const kept = keptPrograms(launch);
  const list = by > 0 ? kept : kept.reverse();
  return list.find((p) => by > 0 ? p > program : p < program) ?? program;
}

function moved(view, columns, key) {
  const by = {
    ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns, ArrowDown: columns,
    Home: -Infinity, End: Infinity,
  }[key];
  if (by === undefined) return false;
  const last = programCount(view.launch) - 1;
  view.go({
    program: Math.min(Math.max(view.program + by, 0), last), focus: 'map',
  });
  return true;
}

// The map of a launch, without the program that is chosen.
function drawMap(view, metric, width) {
  const { launch } = view;
  const { rows, columns, n } = layoutOf(launch, width);
  const values = Array.from({ length: n }, (_, i) => metric.of(launch, i));
  const { low, high, over } = scaleOf(values);
  const colour = colours();
  const found = new Set(launch.findings.filter((f) => f.program).map((f) =>
    programAt(launch, f.program)));
  const { canvas, size } = cells(rows, columns, { width, height: 260,
    largest: 26 }, (c, x, y, s, row, column) => {
    const i = row * columns + column;
    if (i >= n) return;
    c.fillStyle = high > low ? heat((values[i] - low) / (high - low))
      : high ? heat(0.5) : colour.line;
    c.fillRect(x, y, s, s);
    if (found.has(i) && s > 3) outline(c, x, y, s, colour.contested, 2);
  });
  canvas.addEventListener('click', (e) => {
    const [row, column] = cellAt(e, size);
    const i = row * columns + column;
    if (i >= 0 && i < n) view.go({ program: i * launch.cost.every });
  });
  return { canvas, size, columns, low, high, over };
}

const mapMadeLast = madeLast();

export function drawGrid(view, place) {
  const { launch } = view;
  const metrics = metricsOf(launch);
  const metric = metrics.find((m) => m.key === view.metric) || metrics[0];
  const width = place.clientWidth - 32;
  const { canvas, size, columns, low, high, over } = mapMadeLast(
    [view.number, metric, width, colours()],
    () => drawMap(view, metric, width));
  const chosen = Math.floor(view.program / launch.cost.every);
  // where the chosen program stands, above the picture
  const [across, down] = size;
  const mark = h('i', { class: 'chosen', style:
    `left:${(chosen % columns) * across}px;` +
    `top:${Math.floor(chosen / columns) * down}px;` +
    `width:${Math.max(across, 5)}px;height:${Math.max(down, 5)}px` });
  const text = describe(view, metric);
  const map = h('div', {
    class: 'map', tabindex: 0, role: 'slider', id: 'map',
    'aria-label': 'Programs of the grid; arrow keys move',
    'aria-valuemin': 0, 'aria-valuemax': programCount(launch) - 1,
    'aria-valuenow': view.program, 'aria-valuetext': text,
    onkeydown: (e) => {
      if (!moved(view, columns, e.key)) return;
      e.preventDefault();
      e.stopPropagation();
    },
  }, h('div', { class: 'under' }, canvas, mark));
  const some = keptPrograms(launch).length, all = programCount(launch);
  const step = (by) => view.go({ program: nextKept(launch, view.program, by) });
  replace(place,
    h('h2', {}, 'Programs'),
    metricButtons(view, metric), map,
    high > low ? heatBar(metric.text(low),
      (over ? 'over ' : '') + metric.text(high))
      : h('p', { class: 'quiet' }, `all the same: ${metric.text(high)}`),
    h('div', { class: 'row' },
      h('button', { onclick: () => step(-1), 'aria-label':
        'Previous program with steps', title: '[' }, '◀'),
      h('input', {
        type: 'range', min: 0, max: all - 1, value: view.program,
        id: 'program', 'aria-label': 'Program',
        'aria-valuetext': pidText(launch, view.program),
        oninput: (e) => view.go({ program: Number(e.target.value),
          focus: 'program' }),
      }),
      h('button', { onclick: () => step(1), 'aria-label':
        'Next program with steps', title: ']' }, '▶')),
    h('p', { id: 'program-text', 'aria-live': 'polite' }, text),
    some < all ? h('p', { class: 'quiet' },
      `Steps of ${some} of ${pluralText(all, 'program')} are in this page.`)
      : null);
}
