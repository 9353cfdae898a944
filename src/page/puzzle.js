// puzzle.js - a puzzle: its task, and whether it is solved; and the page that
// leads to those of all puzzles.
import { data } from './data.js';
import { h, replace } from './draw.js';

// Paragraphs flow, what is indented stays as it is.
const taskText = (text) => text.split('\n\n').map((part) =>
  part.startsWith(' ') ? h('pre', { class: 'scroll' }, part)
    : h('p', {}, part));

const stateText = (solved) => solved
  ? h('span', { class: 'good' }, 'solved')
  : h('span', { class: 'quiet' }, 'not yet solved');

const folded = (title, text, open) => h('details', { open },
  h('summary', {}, title), h('pre', { class: 'scroll' }, text));

export function drawPuzzle(_, place) {
  const { puzzle } = data, some = data.launches.length > 0;
  replace(place, h('h2', {}, `${puzzle.id}: ${puzzle.title}`),
    h('p', {}, stateText(puzzle.solved), puzzle.case
      ? h('span', { class: 'quiet' }, `, drawn for ${puzzle.case}`) : null),
    h('div', { class: 'task' }, taskText(puzzle.task)),
    puzzle.refused ? h('p', { class: 'warn' }, puzzle.refused) : null,
    folded('The same in NumPy', puzzle.reference, !some),
    some ? null : folded('The kernel', puzzle.source, true));
}

export function drawPuzzles(_, place) {
  const { puzzles } = data;
  const all = puzzles.tracks.flatMap((track) => track.puzzles);
  replace(place, h('h2', {}, puzzles.title), h('p', { class: 'quiet' },
    `${all.filter((p) => p.solved).length} of ${all.length} solved`),
  puzzles.tracks.map((track) => [h('h3', {}, h('b', {}, track.title)),
    h('ul', {}, track.puzzles.map((p) => h('li', {},
      h('a', { href: `${p.id}.html` }, `${p.id}: ${p.title}`), ' ',
      stateText(p.solved))))]));
}
