// why.js - what is wrong with a tensor: its elements, changes that mend it, and
// the way of the first wrong value from the inputs to the element.
import { data, elementText, indexOf, placeOf, pluralText } from './data.js';
import { h, replace } from './draw.js';
import { stepAtLine } from './source.js';

// The number of the launch that has the wrong tensor.
export const wrongLaunch = () => (data.why && data.why.launch) || 0;

// The tensor of the launch that is wrong, -1: the page does not have it.
export const wrongTensor = (launch) => data.why && data.why.wrong &&
  launch === data.launches[wrongLaunch()]
  ? launch.tensors.findIndex((t) => t && t.name === data.why.tensor) : -1;

let places = null;

// Where the wrong elements stand in the memory of their tensor.
export function wrongPlaces(tensor) {
  if (places) return places;
  places = new Set();
  const { wrong } = data.why;
  for (let i = 0; i < wrong.length; i += 2) {
    for (let k = 0; k < wrong[i + 1]; k++) {
      places.add(placeOf(tensor, indexOf(wrong[i] + k, tensor.shape)));
    }
  }
  return places;
}

// ---- the slice -------------------------------------------------------------

// What steps say that are no value of the kernel's own.
const WORDS = {
  term: (s) => `${s.factors.map(([name, value]) => `${name || ''} ${value}`
    .trim()).join(' · ')}${s.value === undefined ? '' : ` = ${s.value}`}`,
  more: (s) => `${s.count} more terms`,
  trips: (s) => `after the trips: ${s.values.join(', ')}`,
  carried: (s) => `${s.name || 'the value'} after trip ${s.trip} = ${s.value}`,
  written: (s) => `written by program (${s.program.join(', ')})`,
  unknown: () => 'not known',
};

function valueOf(step) {
  if (WORDS[step.kind]) return WORDS[step.kind](step);
  const element = step.tensor === undefined ? ''
    : elementText({ name: step.tensor }, step.index || []);
  const lane = step.lane ? `[${step.lane.join(', ')}]` : '';
  const what = step.name ? `${step.name}${lane}` : step.source || step.kind;
  const from = { other: 'other=', undefined: 'masked off, undefined' };
  return [step.kind === 'again' ? `${what}, as above,` : what,
    step.value === undefined ? '' : `= ${step.value}`,
    step.memory && (element ? `of ${element}` : from[step.memory]),
    !step.memory && element].filter(Boolean).join(' ');
}

// Whether nothing leads to it: it came from outside of the kernel.
const isInput = (step) => step.kind === 'argument' || !!step.memory;

// A step with the steps that it was made of below it.
function node(view, steps, i) {
  const step = steps[i];
  const below = steps.map((s, k) => s.parent === i ? k : -1)
    .filter((k) => k >= 0).map((k) => node(view, steps, k));
  const go = () => goToLine(view, step.file, step.line);
  return h('li', {}, h('button', {
    class: isInput(step) ? 'input' : null, disabled: !step.line,
    title: step.line && `line ${step.line}: ${step.source || ''}`,
    onclick: go,
  }, step.role ? h('span', { class: 'quiet' }, `${step.role}: `) : null,
  h('code', {}, valueOf(step)), step.line
    ? h('span', { class: 'quiet' }, ` line ${step.line}`) : null),
  below.length ? h('ul', {}, below) : null);
}

function slice(view, { slice: steps, tensor, first }) {
  if (!steps) return null;
  const roots = steps.map((s, i) => s.parent < 0 ? i : -1)
    .filter((i) => i >= 0);
  return h('details', { open: true }, h('summary', {}, 'Where ',
    h('code', {}, elementText({ name: tensor }, first)),
    ' came from: each value, and below it what it was made of'),
  h('div', { class: 'scroll' }, h('ul', { class: 'tree' },
    roots.map((i) => node(view, steps, i)))));
}

// ---- going there -----------------------------------------------------------

const program = (view) => data.why.program ?? view.program;

// Chooses the statement of a line, in the program that wrote the first wrong
// element.
function goToLine(view, file, line) {
  if (!data.launches.length) return;
  if (view.number !== wrongLaunch()) view.go({ number: wrongLaunch() });
  view.go({ program: program(view) });
  const step = stepAtLine(view, file, line);
  if (step !== undefined) view.go({ step });
}

function goToElement(view, number) {
  view.go({ number: wrongLaunch() });
  view.go({ program: program(view), mode: 'wrong',
    element: { tensor: number, index: data.why.first } });
}

// ---- in words --------------------------------------------------------------

function wrongText(view) {
  const { why } = data;
  const number = data.launches.length ? wrongTensor(
    data.launches[wrongLaunch()]) : -1;
  if (!why.wrong) return null;
  const n = why.wrong.reduce((x, y, i) => i % 2 ? x + y : x, 0);
  const first = elementText({ name: why.tensor }, why.first);
  return h('p', { class: 'warn' }, `${pluralText(n, 'element')} of ` +
    `${why.tensor} ${n === 1 ? 'is' : 'are'} wrong. `, number < 0 ? first
    : h('button', { onclick: () => goToElement(view, number) }, first),
  ` is ${why.found}, expected ${why.expected}.`);
}

function suspects(view) {
  const some = data.why.suspects;
  return some.length ? [h('h3', {}, h('b', {}, 'Suspects')), h('ul', {
    class: 'suspects' }, some.map((s) => h('li', {}, h('button', {
    onclick: () => goToLine(view, s.file, s.line),
  }, `line ${s.line}`), ' ', s.text, s.origin ? h('p', { class: 'quiet' },
    `of ${s.origin}`) : null)))] : null;
}

// A text of the terminal.
const said = (lines) => lines.length ? h('details', { open:
  !data.launches.length }, h('summary', {}, 'In words'), h('pre', {
  class: 'scroll' }, lines.join('\n'))) : null;

export function drawWhy(view, place) {
  const { why } = data;
  replace(place, h('h2', {}, why.title), wrongText(view), suspects(view),
    slice(view, why), said(why.lines));
}
