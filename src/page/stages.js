// stages.js - what the compiler makes of the kernel, stage by stage, side by
// side; each line is linked to the line of the source that it was made of.
import { bytesText, data, stepsOf } from './data.js';
import { h, replace } from './draw.js';
import { sourceOf, stepAtLine } from './source.js';

const LABELS = { ttir: 'Typed form', layouts: 'Layouts', llir: 'LLVM',
  ptx: 'PTX', 'triton-ttir': 'Triton’s TTIR', 'triton-ttgir': 'Triton’s TTGIR',
  'triton-llir': 'Triton’s LLVM', 'triton-ptx': 'Triton’s PTX' };

// Launches of one program share the stages of the first.
export const stagesOf = (launch) => typeof launch.stages === 'number'
  ? data.launches[launch.stages].stages : launch.stages || [];

// ---- which line a line was made of -----------------------------------------

// The source of the launch that has a file's line; a compiler may write the
// file's name with its folder.
function sourceAt(launch, file, line) {
  const number = launch.sources.findIndex((s) => (s.file === file ||
    file.endsWith(`/${s.file}`)) && line >= s.first &&
    line < s.first + s.lines.length);
  return number < 0 ? null : { source: number, line };
}

const PLACE = /.* at (\d+):\d+-(?:\d+:)?\d+(?= \{$| \/\/|$)/;
const HEAD = /^ *(stmt|if|for|while|return) at /;

// The typed form: an instruction without a place has that of the statement
// around it.  What follows its functions is their source.
function formLines(launch, texts) {
  const files = new Map();
  let n = texts.findIndex((text) => /^source \d+ "/.test(text));
  if (n < 0) n = texts.length;
  for (const text of texts.slice(n)) {
    const [, number, file] = /^source (\d+) "(.*)" from/.exec(text) || [];
    if (number) files.set(number, file);
  }
  let file = '', around = [];
  return texts.slice(0, n).map((text) => {
    const depth = text.search(/\S|$/) / 2;
    const [, kind, number] = /^(library |)(?:kernel|func) @.* source (\d+)/
      .exec(text) || [];
    if (number) file = kind ? '' : files.get(number) || '';
    const said = PLACE.exec(text);
    around = around.slice(0, HEAD.test(text) || number ? depth : depth + 1);
    if (said && (HEAD.test(text) || number)) around[depth] = Number(said[1]);
    const line = said ? Number(said[1])
      : around.findLast((x) => x !== undefined);
    return { text, at: depth && line ? sourceAt(launch, file, line) : null };
  });
}

// LLVM's form: a line names its place by a number.
function llvmLines(launch, texts) {
  const facts = new Map();
  for (const text of texts) {
    const [, number, fact] = /^!(\d+) = (.*)/.exec(text) || [];
    if (number) facts.set(number, fact);
  }
  const numberOf = (fact, key) =>
    (new RegExp(`${key}: !(\\d+)`).exec(fact || '') || [])[1];
  const named = (fact, key) => facts.get(numberOf(fact, key));
  // that of what was called there, if that is of this source
  const placeOf = (name) => {
    const fact = facts.get(name);
    if (!fact) return null;
    const [, line] = /line: (\d+)/.exec(fact) || [];
    const [, file] = /filename: "(.*?)"/.exec(
      named(named(fact, 'scope'), 'file') || '') || [];
    return (line && file && sourceAt(launch, file, Number(line))) ||
      placeOf(numberOf(fact, 'inlinedAt'));
  };
  const places = new Map();
  const end = texts.findIndex((text) => text === '}');
  return texts.slice(0, end < 0 ? texts.length : end + 1).map((text) => {
    const [, number] = /!dbg !(\d+)$/.exec(text) || [];
    if (number && !places.has(number)) places.set(number, placeOf(number));
    return { text: text.replace(/, !dbg !\d+$/, ''),
      at: number ? places.get(number) : null };
  });
}

// PTX: a line before some others says of which place all of them are.  What is
// said for debuggers comes last.
function ptxLines(launch, texts) {
  const files = new Map(texts.map((text) =>
    /^\s*\.file\s+(\d+) "(.*)"/.exec(text)).filter(Boolean)
    .map(([, number, file]) => [number, file]));
  let now = null;
  const end = texts.findIndex((text) => /^\s*\.section\s/.test(text));
  return texts.slice(0, end < 0 ? texts.length : end).filter(Boolean).map((text) => {
    const [, number, line] = /^\s*\.loc\s+(\d+) (\d+)/.exec(text) || [];
    if (number) now = sourceAt(launch, files.get(number) || '', Number(line));
    return { text, at: /^\t[^.]/.test(text) ? now : null };
  }).filter(({ text }) => !/^\s*(\.loc|\/\/)/.test(text));
}

const LOC = /(?<=loc\()#loc\d*(?=\))/;
const PLACES = /#loc\d*|"[^"]*":\d+/g;

// Triton's IR, as MLIR prints it: a line names its place, which others of these
// may stand for; of a call, that of what is called is looked at first.
function mlirLines(launch, texts) {
  const facts = new Map();
  for (const text of texts) {
    const [, name, fact] = /^(#loc\d*) = loc\((.*)\)$/.exec(text) || [];
    if (name) facts.set(name, fact.match(PLACES) || []);
  }
  const known = new Map();
  const placeOf = (name) => {
    const [, file, line] = /^"(.*)":(\d+)$/.exec(name) || [];
    if (file) return sourceAt(launch, file, Number(line));
    if (!known.has(name)) {
      known.set(name, null); // should it lead to itself
      known.set(name, (facts.get(name) || []).reduce(
        (found, next) => found || placeOf(next), null));
    }
    return known.get(name);
  };
  return texts.filter((text) => text && !text.startsWith('#loc'))
    .map((text) => {
      const [name] = LOC.exec(text.slice(text.lastIndexOf('loc('))) || [];
      return { text: text.replace(/ loc\((?:#loc\d*|unknown)\)/g, ''),
        at: name && /^\s/.test(text) ? placeOf(name) : null };
    });
}

const READERS = { ttir: formLines, layouts: formLines, llir: llvmLines,
  ptx: ptxLines, 'triton-ttir': mlirLines, 'triton-ttgir': mlirLines,
  'triton-llir': llvmLines, 'triton-ptx': ptxLines };

const read = new WeakMap();

// The lines of a stage: {text, at: {source, line} or null}.
export function stageLines(launch, stage) {
  if (!read.has(stage)) {
    read.set(stage, READERS[stage.name](launch, stage.text.split('\n')));
  }
  return read.get(stage);
}

// ---- drawing ---------------------------------------------------------------

const keyOf = ({ source, line }) => `${source}:${line}`;

function absent(stage) {
  if (stage.left_out) {
    return `Its text of ${bytesText(stage.left_out)} did not fit: --page-size ` +
      `makes room, tkdbg compile --emit ${stage.name} prints it.`;
  }
  return `It cannot be made: ${stage.why || 'the compiler does not say why'}`;
}

// A click on a line goes to the next step of the line that it was made of.
function jump(view, event) {
  const line = event.target.closest('[data-at]');
  if (!line) return;
  const [source, number] = line.getAttribute('data-at').split(':').map(Number);
  const step = stepAtLine(view, view.launch.sources[source].file, number,
    view.step);
  if (step !== undefined) view.go({ step });
}

function column(view, stage) {
  const label = LABELS[stage.name];
  const body = stage.text === undefined
    ? h('p', { class: 'quiet' }, absent(stage))
    : h('pre', { class: 'code', tabindex: 0, role: 'region',
      'aria-label': label, onclick: (e) => jump(view, e) },
    stageLines(view.launch, stage).map(({ text, at }) => h('span', {
      'data-at': at && keyOf(at) }, `${text}\n`)));
  return h('article', { class: 'stage', 'data-stage': stage.name },
    h('h3', {}, h('b', {}, label)), body);
}

function choice(view, stage) {
  const on = view.stages.includes(stage.name);
  const { name } = stage;
  return h('button', {
    'aria-pressed': String(on), 'data-show': name, id: `stage-${name}`,
    onclick: () => view.go({ stages: on ? view.stages.filter((x) => x !== name)
      : [...view.stages, name] }),
  }, LABELS[name]);
}

export function drawStages(view, place) {
  const stages = stagesOf(view.launch);
  place.hidden = !stages.length;
  const shown = stages.filter(({ name }) => view.stages.includes(name));
  replace(place, h('h2', {}, 'Stages'),
    h('p', { class: 'quiet' }, 'What the compiler makes of the kernel for a ' +
      'GPU, side by side; a click on a line goes to the line of the source ' +
      'that it was made of.'),
    h('div', { class: 'choice', role: 'group', 'aria-label': 'Stages' },
      stages.map((stage) => choice(view, stage))),
    shown.length ? h('div', { class: 'stages' },
      shown.map((stage) => column(view, stage))) : null);
}

// Marks what the line of the chosen step has become.
export function markStages(view, place) {
  const step = stepsOf(view.launch, view.program)[view.step];
  for (const line of place.querySelectorAll('.here')) {
    line.classList.remove('here');
  }
  if (!step) return;
  const source = sourceOf(view.launch, step);
  for (const box of place.querySelectorAll('.code')) {
    let first = null;
    for (let k = step.line; k <= (step.last || step.line); k++) {
      for (const line of box.querySelectorAll(`[data-at="${source}:${k}"]`)) {
        line.classList.add('here');
        first = first || line;
      }
    }
    if (first) box.scrollTop = first.offsetTop - box.clientHeight / 3;
  }
}
