// profile.js - where the time of all launches went: a graph of what is part of
// what, and the source, whose lines open and show their operations.
import { bytesText, countText, percentText, timeText } from './data.js';
import { h, replace } from './draw.js';

const seconds = (x) => timeText(x * 1e9);

// Parts of the width below which a frame is not drawn.
const LEAST_FRAME = 2e-4;

// ---- the graph -------------------------------------------------------------

// The nodes with depth, and left and width as parts of all.  Each comes after
// the one that it is part of, and after those that stand left of it.
function framesOf({ tree, total }) {
  const all = { kind: 'all', name: 'all operations', depth: 0, left: 0, width:
    1, end: 0, total_seconds: total.seconds };
  const frames = [];
  for (const node of tree) {
    const parent = node.parent === null ? all : frames[node.parent];
    const width = node.total_seconds / (total.seconds || 1);
    frames.push({ ...node, depth: parent.depth + 1, left: parent.end, width,
      end: parent.end });
    parent.end += width;
  }
  return [all, ...frames].filter((f) => f.width >= LEAST_FRAME);
}

function frameText(frame, all) {
  const name = frame.kind === 'line' ? `line ${frame.line}: ${frame.name}`
    : frame.kind === 'library' ? `tl.${frame.name}` : frame.name;
  return [`${name}${frame.type ? ` ${frame.type}` : ''}`,
    seconds(frame.total_seconds), percentText(frame.total_seconds, all)]
    .join(', ');
}

const LEGEND = [['function', 'kernel, function'], ['statement', 'line'],
  ['library', 'function of the language'], ['operation', 'operation']];

function flame(profile) {
  const frames = framesOf(profile), all = profile.total.seconds;
  const told = h('output', { class: 'quiet' },
    'Choose a frame to see it closer, the top one or Escape to see all.');
  // A frame, those that it is part of and those that are part of it fill the
  // width.
  const zoom = (to) => frames.forEach((f, i) => {
    const left = Math.max(f.left, to.left);
    const right = Math.min(f.left + f.width, to.left + to.width);
    const width = (right - left) / to.width;
    buttons[i].hidden = width < 1e-4;
    buttons[i].style.left = `${100 * (left - to.left) / to.width}%`;
    buttons[i].style.width = `${100 * width}%`;
  });
  const buttons = frames.map((f) => h('button', {
    class: f.kind === 'line' ? 'statement' : f.kind,
    title: frameText(f, all), style: `top:${25 * f.depth}px`,
    onclick: () => { zoom(f); told.textContent = frameText(f, all); },
  }, f.kind === 'line' ? `${f.line}: ${f.name}` : f.name));
  zoom(frames[0]);
  const rows = 1 + Math.max(...frames.map((f) => f.depth));
  return [h('div', {
    class: 'flame', style: `height:${25 * rows}px`,
    onkeydown: (e) => { if (e.key === 'Escape') buttons[0].click(); },
  }, buttons), told, h('p', { class: 'legend quiet' }, LEGEND.map(
    ([kind, text]) => h('span', {}, h('i', { class: kind }), text)))];
}

// ---- source ----------------------------------------------------------------

// The columns of a line: what they are called, and what they say of counts.
const COLUMNS = [
  ['calls', (c) => countText(c.calls)],
  ['moved', (c) => bytesText(c.bytes_read + c.bytes_written)],
  ['lanes off', (c) => percentText(c.lanes_off, c.lanes)],
  ['flops', (c) => countText(c.flops)],
  ['flop/B', (c) => c.intensity && c.intensity.toPrecision(3)],
  ['roof', (c) => c.of_ceiling && percentText(c.of_ceiling, 1)]];

const isNothing = (text) => !text || /^0( |$)/.test(text);

const countsSaid = (c) => COLUMNS.map(([name, text]) => [text(c), name])
  .filter(([text]) => !isNothing(text));

function operation(op) {
  const times = op.calls === 1 ? 'once' : `${countText(op.calls)} times`;
  const some = [op.in && `in tl.${op.in}`, seconds(op.seconds), times,
    ...countsSaid(op).slice(1).map(([text, name]) => `${text} ${name}`),
    op.lanes > op.calls &&
      `${countText(op.accesses_by_rows)} of ${countText(op.calls)} by rows`,
    op.blocks_not_written && 'no lanes written in ' +
      `${countText(op.blocks_not_written)} of ${countText(op.blocks)}`];
  return h('p', {}, h('b', {}, op.name), ' ', h('code', {}, op.type), ' ',
    h('span', { class: 'quiet' }, some.filter(Boolean).join(' · ')));
}

const numberOf = (n) => h('span', { class: 'no' }, String(n));
const codeOf = (text) => h('code', {}, text || ' ');

function costLine(n, text, cost, all) {
  if (!cost) {
    return h('div', { class: 'cost line' }, numberOf(n), h('span', {}),
      COLUMNS.map(() => h('span', { class: 'more' })), codeOf(text));
  }
  return h('details', {}, h('summary', { class: 'cost line' }, numberOf(n),
    h('span', { class: 'time', style:
      `--part:${cost.total_seconds / (all || 1)}` },
    `${seconds(cost.total_seconds)} · ` +
      percentText(cost.total_seconds, all)),
    COLUMNS.map(([, said]) => said(cost)).map((text) => h('span',
      { class: 'more' }, isNothing(text) ? '' : text)), codeOf(text)),
  cost.origin ? h('p', { class: 'quiet' }, `of ${cost.origin}`) : null,
  h('div', { class: 'operations' }, cost.operations.map(operation)));
}

function functionText(f) {
  const what = f.kernel
    ? `${countText(f.calls)} programs in ${countText(f.launches)} ` +
      `launch${f.launches === 1 ? '' : 'es'}`
    : `${countText(f.calls)} call${f.calls === 1 ? '' : 's'}`;
  return [`${f.file}:${f.line}`, seconds(f.seconds),
    f.total_seconds > f.seconds * 1.001 &&
      `with what it calls ${seconds(f.total_seconds)}`, what]
    .filter(Boolean).join(', ');
}

function drawFunction(f, all) {
  const cost = new Map(f.lines.map((l) => [l.line, l]));
  return h('section', { 'aria-label': f.name, class: 'card' },
    h('h2', {}, h('code', {}, f.name)),
    h('p', { class: 'quiet' }, functionText(f)),
    f.remarks.map((remark) => h('p', { class: 'quiet' }, remark)),
    h('div', { class: 'source' }, h('div', { class: 'cost line head' },
      h('span', {}, ''), h('span', { class: 'time' }, 'time'),
      COLUMNS.map(([name]) => h('span', { class: 'more' }, name)), h('span',
        {})), f.source.map((text, i) => costLine(f.line + i, text,
      cost.get(f.line + i), all))));
}

// ---- all of it -------------------------------------------------------------

const machineText = ({ ceilings }) => 'one core of this machine: ' +
  `${bytesText(ceilings.bytes_per_second)}/s, ` +
  `${countText(Math.round(ceilings.flops_per_second))}flop/s ` +
  `(${ceilings.cpu})`;

function factsOf(profile) {
  const { total } = profile;
  return [['launches', countText(profile.launches)],
    ['programs', countText(profile.programs)],
    ['time', seconds(profile.seconds)],
    ['in operations', seconds(total.seconds)],
    ['interrupted by the system', seconds(profile.paused_seconds)],
    ['operations', countText(total.calls)],
    ['moved', bytesText(total.bytes_read + total.bytes_written)],
    ['flops', countText(total.flops)],
    ['lanes off', percentText(total.lanes_off, total.lanes)]];
}

export function drawProfile({ data }, place) {
  const { profile } = data;
  replace(place, h('h2', {}, 'Where the time goes'), profile.launches
    ? [h('p', { class: 'quiet' }, machineText(profile)),
      h('dl', { class: 'facts' }, factsOf(profile).map(([name, text]) =>
        h('div', {}, h('dt', {}, name), h('dd', {}, text)))), flame(profile)]
    : h('p', {}, 'No kernel was launched.'));
  place.after(...profile.functions.map((f) => drawFunction(f,
    profile.total.seconds)));
}
