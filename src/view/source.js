// source.js - the kernel's text: what each line costs, what was found there,
// and where the chosen step is.
import { bytesText, countText, percentText, stepsOf, sum,
  timeText } from './data.js';
import { h, replace } from './draw.js';

// The step of the program that a click on a line leads to: the next one there,
// or the first.
function stepAt(view, source, line) {
  const steps = stepsOf(view.launch, view.program);
  const there = (s) => sourceOf(view.launch, s) === source &&
    s.line <= line && line <= (s.last || s.line);
  const next = steps.findIndex((s, i) => i > view.step && there(s));
  return next >= 0 ? next : steps.findIndex(there);
}

export function sourceOf(launch, step) {
  const f = launch.functions.find((x) => x.id === step.function);
  return f ? f.source : 0;
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

function drawLine(view, source, line, text, all, current) {
  const cost = costOf(view.launch, source, line);
  const part = cost && all ? cost.nanoseconds / all : 0;
  const here = current && source === current.source &&
    line >= current.line && line <= current.last;
  const step = stepAt(view, source, line);
  const found = view.launch.findings.filter((f) => f.line === line &&
    f.file === view.launch.sources[source].file);
  return [h('button', {
    class: `line${here ? ' here' : ''}${found.length ? ' found' : ''}`,
    'data-line': line, disabled: step < 0, title: lineTitle(cost),
    'aria-current': here ? 'step' : undefined,
    onclick: () => view.go({ step }),
  }, h('span', { class: 'no' }, String(line)),
  h('span', { class: 'time', style: `--part:${part}` },
    part >= 0.005 ? percentText(part, 1) : ''),
  h('span', { class: 'moved' }, cost && cost.read + cost.written
    ? bytesText(cost.read + cost.written) : ''),
  h('code', {}, text || ' ')), ...found.map(findingText)];
}

export function drawSource(view, place) {
  const { launch } = view;
  const steps = stepsOf(launch, view.program);
  const step = steps[view.step];
  const current = step && {
    source: sourceOf(launch, step), line: step.line,
    last: step.last || step.line,
  };
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
        all, current)))));
  const here = place.querySelector('.here');
  if (here && view.moved) here.scrollIntoView({ block: 'nearest' });
}
