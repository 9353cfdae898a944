// timeline.js - the launches of a script: how long each took, what was found,
// and which tensors lead from one to the next.
import { bytesText, data, percentText, pluralText, sum,
  timeText } from './data.js';
import { h, replace } from './draw.js';

const touches = (tensor, key) => !!(tensor[key] && tensor[key].length);

// {memory: [{name, launch: {read, written}}]}, in the order of first use.
function flows() {
  const rows = new Map();
  data.launches.forEach((launch, i) => launch.tensors.forEach((tensor) => {
    if (!tensor) return;
    const home = tensor.shares === undefined ? tensor
      : launch.tensors[tensor.shares];
    const key = home.from;
    if (!rows.has(key)) rows.set(key, { names: new Set(), by: [] });
    const row = rows.get(key);
    row.names.add(tensor.name);
    row.by[i] = { read: touches(home, 'read'), written: touches(home,
      'written'), known: home.read !== undefined };
  }));
  return [...rows.values()];
}

function useText(use) {
  if (!use) return ['', 'not used'];
  if (!use.known) return ['·', 'used'];
  if (use.read && use.written) return ['RW', 'read and written'];
  if (use.written) return ['W', 'written'];
  return use.read ? ['R', 'read'] : ['–', 'neither read nor written'];
}

function bar(view, launch, i, all) {
  const part = launch.seconds / (all || 1);
  const found = launch.findings.length;
  const moved = sum(launch.cost.read) + sum(launch.cost.written);
  const text = `${launch.kernel} (${launch.grid.join(', ')})`;
  return h('button', {
    class: `launch${i === view.number ? ' here' : ''}${found ? ' found' : ''}`,
    'aria-current': i === view.number ? 'true' : undefined,
    'data-launch': i, onclick: () => view.go({ number: i }),
    style: `--part:${part}`,
  }, h('span', { class: 'no' }, `${i + 1}`), h('span', { class: 'name' }, text),
  h('span', { class: 'quiet' }, [timeText(launch.seconds * 1e9),
    percentText(part, 1), bytesText(moved),
    found && pluralText(found, 'finding'),
    launch.status !== 'complete' && launch.status].filter(Boolean)
    .join(' · ')));
}

function flowTable(view, rows) {
  return h('div', { class: 'scroll' }, h('table', { class: 'flows' },
    h('caption', {}, 'Tensors that flow between launches'),
    h('thead', {}, h('tr', {}, h('th', { scope: 'col' }, 'memory'),
      data.launches.map((l, i) => h('th', { scope: 'col', title: l.kernel },
        String(i + 1))))),
    h('tbody', {}, rows.map((row) => h('tr', {},
      h('th', { scope: 'row' }, [...row.names].join(', ')),
      data.launches.map((_, i) => {
        const [text, title] = useText(row.by[i]);
        return h('td', { title, class: text === 'R' ? 'reads'
          : text.includes('W') ? 'writes' : '' }, text);
      }))))));
}

const MANY = 6, NARROW = 600;

// The launches, folded where there are many and the window is narrow.
function list(view, all) {
  const bars = h('div', { class: 'launches' },
    data.launches.map((l, i) => bar(view, l, i, all)));
  const { length } = data.launches;
  if (length <= MANY || window.innerWidth >= NARROW) return bars;
  return h('details', {}, h('summary', {},
    `${view.number + 1} of ${length}: ${view.launch.kernel}`), bars);
}

export function drawTimeline(view, place) {
  const many = data.launches.length > 1;
  place.hidden = !many;
  if (!many) return;
  const all = sum(data.launches.map((l) => l.seconds));
  const shared = flows().filter((row) => row.by.filter(Boolean).length > 1);
  replace(place, h('h2', {}, 'Launches'),
    list(view, all),
    shared.length ? flowTable(view, shared) : null,
    data.skipped ? h('p', { class: 'quiet' },
      `${pluralText(data.skipped, 'further launch', 'further launches')} did ` +
      'not fit: --launch selects one, --page-size makes room.') : null);
}
