// page.js - the page: what is chosen, how it is chosen, and who draws it.
import { bytesText, countText, data, keptPrograms, percentText, pluralText,
  programAt, programCount, stepsOf, sum, timeText } from './data.js';
import { colours, forgetColours, h, madeLast, replace,
  roomInCard } from './draw.js';
import { drawGrid, nextKept } from './grid.js';
import { drawLayouts } from './layouts.js';
import { drawProfile } from './profile.js';
import { drawPuzzle, drawPuzzles } from './puzzle.js';
import { drawSource, markSource } from './source.js';
import { drawStages, markStages } from './stages.js';
import { drawTensors } from './tensors.js';
import { drawTimeline } from './timeline.js';
import { drawValues, otherTrip } from './values.js';
import { drawWhy, wrongLaunch, wrongTensor } from './why.js';

// ---- what is chosen --------------------------------------------------------

// Of a learner's puzzle, what programs do says more than what is wrong.
const opensWrong = data.why && data.why.wrong && !data.puzzle;

const view = {
  number: 0, program: 0, step: 0, slices: {},
  metric: opensWrong ? 'wrong' : 'time',
  mode: opensWrong ? 'wrong' : 'touched',
  element: null, picked: null, moved: false, widths: {},
  // stages that are shown; the block whose layout is drawn, what colours stand
  // for there, and the element whose thread is marked
  stages: [], block: 0, holder: 'warp', held: -1,
  data,
  get launch() { return data.launches[this.number]; },
  go,
};

// Where a page opens: where the debugger stands, or at the first finding.
function firstProgram(launch) {
  if (launch.stands !== undefined) return launch.stands;
  if (wrongTensor(launch) >= 0 && data.why.program !== undefined) {
    return data.why.program;
  }
  const found = launch.findings.find((f) => f.program);
  if (found) return programAt(launch, found.program);
  return keptPrograms(launch)[0] || 0;
}

const firstStep = (launch) => launch.stands === undefined ? 0
  : Math.max(stepsOf(launch, launch.stands).length - 1, 0);

// A step of the same statement and trips in another program.
function alike(steps, old) {
  if (!old) return 0;
  const trips = (s) => s.loops.map((l) => l[1]).join();
  const same = (s) => s.line === old.line && s.function === old.function;
  const i = steps.findIndex((s) => same(s) && trips(s) === trips(old));
  return Math.max(i >= 0 ? i : steps.findIndex(same), 0);
}

// Chooses something else; what depends on it follows.
function go(change) {
  const old = stepsOf(view.launch, view.program)[view.step];
  const { focus, ...rest } = change;
  const elsewhere = 'number' in rest && rest.number !== view.number;
  Object.assign(view, rest);
  if (elsewhere) {
    Object.assign(view, { slices: {}, element: null,
      step: firstStep(view.launch), program: firstProgram(view.launch) });
  }
  view.program = Math.min(Math.max(view.program, 0),
    Math.max(programCount(view.launch) - 1, 0));
  const steps = stepsOf(view.launch, view.program);
  if ('program' in rest && !('step' in rest)) view.step = alike(steps, old);
  view.step = Math.min(Math.max(view.step, 0), Math.max(steps.length - 1, 0));
  if ('step' in rest || 'program' in rest || elsewhere) {
    Object.assign(view, { picked: null, block: 0, held: -1 });
  }
  view.moved = 'step' in rest;
  note();
  draw(focus);
}

// The address of the page says what is chosen, so that it can be passed on.
function note() {
  const text = `#launch=${view.number + 1}&program=${view.program}` +
    `&step=${view.step + 1}`;
  try {
    history.replaceState(null, '', text);
  } catch {
    // a page in a frame of its own may not
  }
}

function readAddress() {
  const said = new URLSearchParams(location.hash.slice(1));
  const number = Number(said.get('launch') || wrongLaunch() + 1) - 1;
  if (data.launches[number]) view.number = number;
  view.program = said.has('program') ? Number(said.get('program')) || 0
    : firstProgram(view.launch);
  view.step = said.has('step') ? Number(said.get('step')) - 1 || 0
    : firstStep(view.launch);
}

// ---- the frame -------------------------------------------------------------

const parts = {
  head: h('header', {}),
  launches: h('nav', { 'aria-label': 'Launches', class: 'card' }),
  programs: h('section', { 'aria-label': 'Programs', class: 'card' }),
  source: h('section', { 'aria-label': 'Source', class: 'card' }),
  values: h('section', { 'aria-label': 'Values', class: 'card' }),
  tensors: h('section', { 'aria-label': 'Tensors', class: 'card' }),
  layouts: h('section', { 'aria-label': 'Layouts', class: 'card' }),
  stages: h('section', { 'aria-label': 'Stages', class: 'card' }),
};

const KEYS = [['← →', 'step back, forward'],
  ['Shift ← →', 'the same statement in the trip before, after'],
  ['[ ]', 'program before, after, of those with steps'],
  ['Home End', 'first, last step'],
  ['n p', 'next launch, launch before'],
  ['arrows in the map', 'choose a program'], ['?', 'these keys']];

// Parts of the data that stand beside the launches, or alone.
const ASIDE = [
  { key: 'puzzles', label: 'Puzzles', drawPart: drawPuzzles,
    title: ({ puzzles }) => [puzzles.title] },
  { key: 'puzzle', label: 'Puzzle', drawPart: drawPuzzle,
    title: ({ puzzle }) => [puzzle.id, puzzle.title] },
  { key: 'why', label: 'Why', drawPart: drawWhy, title: () => ['tkdbg why'] },
  { key: 'profile', label: 'Profile', drawPart: drawProfile,
    title: ({ profile }) => ['tkdbg profile',
      profile.functions.length ? profile.functions[0].name : ''] },
];

const keys = h('dialog', { 'aria-label': 'Keys' }, h('h2', {}, 'Keys'),
  h('dl', {}, KEYS.map(([k, text]) => h('div', {}, h('dt', {},
    h('kbd', {}, k)), h('dd', {}, text)))),
  h('form', { method: 'dialog' }, h('button', {}, 'Close')));

// The rule that holds where the system is dark, or where the button says so.
const darkRule = [...document.styleSheets[0].cssRules].find(
  (r) => r.conditionText && r.conditionText.includes('dark'));

function recolour() {
  forgetColours();
  if (data.launches.length) draw();
}

function themeButton() {
  return h('button', {
    id: 'theme', 'aria-label': 'Dark or light', title: 'Dark or light',
    onclick: () => {
      const root = document.documentElement;
      const dark = getComputedStyle(root).getPropertyValue('--dark').trim();
      darkRule.media.mediaText = dark === '1' ? 'not all' : 'screen';
      recolour();
    },
  }, '◐');
}

function argumentText(launch) {
  return launch.arguments.map((a) => {
    if (a.tensor !== undefined) {
      const t = launch.tensors[a.tensor];
      return `${a.name}:\u00a0${t.type}[${t.shape.join(',\u00a0')}]`;
    }
    return `${a.name}\u00a0=\u00a0${a.constexpr ?? a.value ?? '?'}`;
  }).join(', ');
}

// A long name is broken after an underscore.
const breakable = (name) => name.split(/(?<=_)/).flatMap((part, i) =>
  i ? [h('wbr'), part] : [part]);

// The head of the page: its title, what else there is to say of it, more.
function drawTitle(name, more = '', ...rest) {
  document.title = `${name} · tkdbg`;
  replace(parts.head,
    h('div', { class: 'title' },
      h('h1', {}, breakable(name), h('span', { class: 'quiet' }, ` ${more}`)),
      h('div', { class: 'tools' }, data.launches.length
        ? h('button', { onclick: () => keys.showModal(), title: 'Keys',
          'aria-label': 'Keys' }, '?') : null, themeButton())), ...rest);
}

function drawHead() {
  const { launch } = view;
  const { cost } = launch, read = sum(cost.read), written = sum(cost.written);
  const facts = [['programs', countText(launch.programs)],
    ['time', timeText(launch.seconds * 1e9)],
    ['operations', countText(sum(cost.operations))],
    ['read', bytesText(read)], ['written', bytesText(written)],
    ['lanes off', percentText(sum(cost.off), sum(cost.lanes))],
    ['findings', String(launch.findings.length)]];
  drawTitle(launch.kernel, `grid (${launch.grid.join(', ')})`,
    launch.status === 'complete' ? null : h('p', { class: 'warn' },
      `The launch was ${launch.status} after ` +
      `${pluralText(launch.programs, 'program')}.`),
    h('p', { class: 'quiet arguments' }, argumentText(launch)),
    h('dl', { class: 'facts' }, facts.map(([name, text]) => h('div', {
      class: name === 'findings' && text !== '0' ? 'warn' : null,
    }, h('dt', {}, name), h('dd', {}, text)))));
}

// What draws a part, and what the part shows: it is drawn anew when some of
// that has changed.
const PARTS = [
  ['head', drawHead, (v) => [v.number]],
  ['launches', drawTimeline, (v) => [v.number]],
  ['programs', drawGrid, (v) => [v.number, v.program, v.metric, v.colours,
    v.widths.programs]],
  ['source', drawSource, (v) => [v.number]],
  ['values', drawValues, (v) => [v.number, v.program, v.step, v.picked,
    v.colours, v.widths.values]],
  ['tensors', drawTensors, (v) => [v.number, v.program, v.step, v.mode,
    v.slices, v.element, v.colours, v.widths.tensors]],
  ['layouts', drawLayouts, (v) => [v.number, v.program, v.step, v.block,
    v.holder, v.held, v.colours, v.widths.layouts]],
  ['stages', drawStages, (v) => [v.number, v.stages]],
].map(([name, drawPart, shows]) => ({ name, drawPart, shows,
  ifChanged: madeLast() }));

function draw(focus) {
  const held = focus || (document.activeElement && document.activeElement.id);
  view.colours = colours();
  view.widths = {
    programs: parts.programs.clientWidth,
    values: parts.values.clientWidth || 360,
    value: Math.min(roomInCard(parts.values), 360),
    tensors: parts.tensors.clientWidth,
    tensor: Math.min(roomInCard(parts.tensors), 420),
    layouts: (parts.tensors.clientWidth || 360) - 32,
  };
  for (const { name, drawPart, shows, ifChanged } of PARTS) {
    ifChanged(shows(view), () => drawPart(view, parts[name]));
  }
  markSource(view, parts.source);
  markStages(view, parts.stages);
  const next = held && document.getElementById(held);
  if (next) next.focus({ preventScroll: true });
}

// ---- keys ------------------------------------------------------------------

const isText = (e) => keys.open ||
  (e.target.matches && e.target.matches('input, select, textarea'));

const ACTIONS = {
  ArrowLeft: (e) => ({ step: e.shiftKey ? otherTrip(view, -1)
    : view.step - 1 }),
  ArrowRight: (e) => ({ step: e.shiftKey ? otherTrip(view, 1)
    : view.step + 1 }),
  Home: () => ({ step: 0 }),
  End: () => ({ step: Infinity }),
  '[': () => ({ program: nextKept(view.launch, view.program, -1) }),
  ']': () => ({ program: nextKept(view.launch, view.program, 1) }),
  n: () => ({ number: Math.min(view.number + 1, data.launches.length - 1) }),
  p: () => ({ number: Math.max(view.number - 1, 0) }),
};

function onKey(e) {
  if (isText(e) || e.ctrlKey || e.metaKey || e.altKey) return;
  if (e.key === '?') return keys.showModal();
  const action = ACTIONS[e.key];
  if (!action) return;
  e.preventDefault();
  go(action(e));
}

// ---- beginning -------------------------------------------------------------

function start() {
  const aside = ASIDE.filter(({ key }) => data[key]);
  const sections = aside.map(({ key, label }) => h('section', {
    'aria-label': label, class: 'card', id: key }));
  const some = data.launches.length > 0;
  document.body.append(parts.head, h('main', {},
    h('div', { class: 'aside' }, sections), some ? [parts.launches,
      h('div', { class: 'panels' }, parts.programs, parts.source, parts.values,
        parts.tensors), h('div', { class: 'compiled' }, parts.layouts,
        parts.stages)] : []),
  h('footer', { class: 'quiet' }, `tkdbg ${data.tkdbg}`), keys);
  if (some) {
    begin();
  } else {
    drawTitle(...aside.length ? aside[0].title(data)
      : ['No kernel was launched']);
  }
  aside.forEach(({ drawPart }, i) => drawPart(view, sections[i]));
}

// Paper is light: pictures are drawn anew for it.
function followPrinter() {
  let before = '';
  window.addEventListener('beforeprint', () => {
    before = darkRule.media.mediaText;
    darkRule.media.mediaText = 'not all';
    recolour();
  });
  window.addEventListener('afterprint', () => {
    darkRule.media.mediaText = before;
    recolour();
  });
}

// Shows what the address says, and from then on what is chosen.
function begin() {
  readAddress();
  go({});
  let width = window.innerWidth;
  window.addEventListener('resize', () => {
    if (window.innerWidth === width) return;
    width = window.innerWidth;
    draw();
  });
  window.addEventListener('hashchange', () => { readAddress(); go({}); });
  document.addEventListener('keydown', onKey);
  const dark = window.matchMedia('(prefers-color-scheme: dark)');
  dark.addEventListener('change', recolour);
  followPrinter();
}

start();
// For who tries pages: the data come later than the page's own 'load'.
document.dispatchEvent(new Event('drawn'));
