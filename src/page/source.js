// source.js - the kernel's text: what each line costs, what was found there,
// and where the chosen step is.
import { bytesText, countText, percentText, stepsOf, sum,
  timeText } from './data.js';
import { h, replace } from './draw.js';

const lineKey = (source, line) => `${source}:${line}`;

const indices = new WeakMap();

// The indices of a program's steps by line.  There may be thousands of steps,
// and each line asks for its own.
function stepsByLine(launch, steps) {
  if (indices.has(steps)) return indices.get(steps);
  const found = new Map();
  for (let i = 0; i < steps.length; i++) {
    const source = sourceOf(launch, steps[i]), { line, last } = steps[i];
    for (let k = line; k <= (last || line); k++) {
      const key = lineKey(source, k);
      if (!found.has(key)) found.set(key, []);
      found.get(key).push(i);
    }
  }
  indices.set(steps, found);
  return found;
}

// Of a list that ascends, the first that is greater than x; else its first.
function nextOf(list, x) {
  let low = 0, high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (list[middle] > x) high = middle;
    else low = middle + 1;
  }
  return list[low] ?? list[0];
}

const stepsAt = (view, source, line) => stepsByLine(view.launch,
  stepsOf(view.launch, view.program)).get(lineKey(source, line));

export function sourceOf(launch, step) {
  const f = launch.functions.find((x) => x.id === step.function);
  return f ? f.source : 0;
}

// The step of the chosen program that is next on a line of a file after another
// one, or the first; undefined: there is none.
export function stepAtLine(view, file, line, after = -1) {
  const source = view.launch.sources.findIndex((s) => s.file === file &&
    line >= s.first && line < s.first + s.lines.length);
  const there = source < 0 ? null : stepsAt(view, source, line);
  return there ? nextOf(there, after) : undefined;
}

function findingText(finding) {
  const where = finding.program ? ` in program (${finding.program.join(', ')})`
    : '';
  return h('div', { class: `finding ${finding.severity}`, role: 'note' },
    h('b', {}, `${finding.kind}${where}: `), finding.message,
    finding.help ? h('div', { class: 'quiet' }, finding.help) : null);
}

// Of the lines, what a reader looks for first: the part of the time.
function costOf(launch, source, line) {
  return launch.lines.find((l) => l.source === source && l.line === line);
}

function lineTitle(cost) {
  if (!cost) return undefined;
  return [timeText(cost.nanoseconds),
    `${countText(cost.operations)} operations`,
    cost.read && `${bytesText(cost.read)} read`,
    cost.written && `${bytesText(cost.written)} written`,
    cost.off && `${percentText(cost.off, cost.lanes)} of lanes off`,
    cost.flops && `${countText(cost.flops)} flops`].filter(Boolean).join(', ');
}

function drawLine(view, source, line, text, all) {
  const cost = costOf(view.launch, source, line);
  const part = cost && all ? cost.nanoseconds / all : 0;
  const found = view.launch.findings.filter((f) => f.line === line &&
    f.file === view.launch.sources[source].file);
  return [h('button', {
    class: `line${found.length ? ' found' : ''}`, 'data-source': source,
    'data-line': line, title: lineTitle(cost),
    // the next step there, or the first
    onclick: () => view.go({ step: nextOf(stepsAt(view, source, line),
      view.step) }),
  }, h('span', { class: 'no' }, String(line)),
  h('span', { class: 'time', style: `--part:${part}` },
    part >= 0.005 ? percentText(part, 1) : ''),
  h('span', { class: 'moved' }, cost && cost.read + cost.written
    ? bytesText(cost.read + cost.written) : ''),
  h('code', {}, text || ' ')), ...found.map(findingText)];
}

// Lines where the chosen program has no step lead nowhere.
function enableLines(view, place) {
  for (const line of place.querySelectorAll('button.line')) {
    const { source, line: number } = line.dataset;
    line.disabled = !stepsAt(view, source, number);
  }
}

// Marks the lines of the chosen step.
export function markSource(view, place) {
  enableLines(view, place);
  const step = stepsOf(view.launch, view.program)[view.step];
  for (const line of place.querySelectorAll('.here')) {
    line.classList.remove('here');
    line.removeAttribute('aria-current');
  }
  if (!step) return;
  const source = sourceOf(view.launch, step);
  const last = step.last || step.line;
  let first = null;
  for (let k = step.line; k <= last; k++) {
    const line = place.querySelector(
      `[data-source="${source}"][data-line="${k}"]`);
    if (!line) continue;
    line.classList.add('here');
    line.setAttribute('aria-current', 'step');
    first = first || line;
  }
  if (first && view.moved) first.scrollIntoView({ block: 'nearest' });
}

export function drawSource(view, place) {
  const { launch } = view;
  const all = sum(launch.lines.map((l) => l.nanoseconds));
  const elsewhere = launch.findings.filter((f) => !launch.sources.some((s) =>
    s.file === f.file && f.line >= s.first &&
    f.line < s.first + s.lines.length));
  replace(place, h('h2', {}, 'Source'),
    elsewhere.map(findingText),
    launch.sources.map((source, i) => h('div', { class: 'source' },
      h('p', { class: 'quiet file' }, source.file),
      h('div', { class: 'line head', 'aria-hidden': 'true' },
        h('span', { class: 'no' }, ''), h('span', { class: 'time' }, 'time'),
        h('span', { class: 'moved' }, 'moved'), h('span', {}, '')),
      source.lines.map((text, k) => drawLine(view, i, source.first + k, text,
        all)))));
}
