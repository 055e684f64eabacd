'use strict';
// Everything is drawn already: this only moves in it.
(() => {
const DATA = JSON.parse(document.getElementById('data').textContent);
const find = id => document.getElementById(id);

function make(tag, attributes, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) node.setAttribute(name, value);
  for (const child of children) if (child !== null) node.append(child);
  return node;
}

// As render::HumanBytes: three significant figures; ties go to the even digit, as the program's do.
function fixed(value, digits) {
  const scaled = value * 10 ** digits, floor = Math.floor(scaled);
  if (scaled - floor !== 0.5) return value.toFixed(digits);
  return ((floor % 2 ? floor + 1 : floor) / 10 ** digits).toFixed(digits);
}
function bytes(count) {
  let value = Math.abs(count), unit = 0;
  if (value < 1024) return count + ' B';
  while (value >= 1023.5 && unit < 6) { value /= 1024; ++unit; }
  const digits = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'];
  return (count < 0 ? '-' : '') + fixed(value, digits) + ' ' + units[unit];
}

// A chart: a cursor that mouse and keys move, and the list of what lives there.
function chart(id, data) {
  const svg = find(id), panel = find(id + '-live');
  if (!svg || !panel) return;
  const cursor = svg.querySelector('line.cursor');
  let point = data.first;

  // Where a value of the axis is drawn, as chart.cc has it.
  function placeOf(at) {
    let low = 0, high = data.at.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (data.at[middle] <= at) low = middle + 1; else high = middle;
    }
    if (low === 0) return data.x[0] / 100000;
    if (low === data.at.length) return 1;
    const part = (at - data.at[low - 1]) / (data.at[low] - data.at[low - 1]);
    return (data.x[low - 1] + part * (data.x[low] - data.x[low - 1])) / 100000;
  }

  function shape(name, attributes) {
    const node = document.createElementNS(svg.namespaceURI, name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    return node;
  }

  function lifetime(sum, css) {
    const percent = part => (100 * part).toFixed(3) + '%';
    const from = placeOf(sum.from), here = percent(data.x[point] / 100000);
    const bar = shape('svg', {height: 10, 'aria-hidden': 'true'});
    bar.append(shape('line', {x1: 0, x2: '100%', y1: 5, y2: 5, class: 'grid'}),
      shape('rect', {x: percent(from), width: percent(Math.max(placeOf(sum.to) - from, 0.015)),
        y: 3, height: 4, class: css}),
      shape('line', {x1: here, x2: here, y1: 0, y2: 10, class: 'here'}));
    return make('td', {class: 'l'}, bar);
  }

  function list() {
    const at = data.at[point], sums = new Map();
    for (const [size, from, to, group] of data.live) {
      if (from > at || at >= to) continue;
      const sum = sums.get(group) || {group, size: 0, count: 0, from, to};
      sum.size += size;
      ++sum.count;
      sum.from = Math.min(sum.from, from);
      sum.to = Math.max(sum.to, to);
      sums.set(group, sum);
    }
    const order = [...sums.values()].sort((a, b) => b.size - a.size || a.group - b.group);
    const rows = [];
    let rest = data.total[point];
    for (const sum of order.slice(0, data.listed)) {
      const [css, name, what] = data.groups[sum.group];
      rest -= sum.size;
      rows.push(make('tr', {},
        make('td', {class: 'k'}, make('span', {class: 'sw ' + css})),
        make('td', {class: 'n'}, bytes(sum.size)),
        make('td', {class: 'w'},
          make('span', {class: 'mono'}, name ? `${sum.count} × ${name}` : String(sum.count)),
          what ? make('small', {}, what) : null),
        lifetime(sum, css)));
    }
    if (rest > 0) {
      rows.push(make('tr', {class: 'more'}, make('td'), make('td', {class: 'n'}, bytes(rest)),
        make('td', {class: 'w'}, 'the rest')));
    }
    const back = make('button', {class: 'btn', type: 'button'}, 'Back (P)');
    back.hidden = point === data.first;
    back.addEventListener('click', () => { go(data.first); svg.focus(); });
    panel.replaceChildren(
      make('h3', {}, make('span', {}, 'Live: ' + data.say[point]),
        make('span', {}, bytes(data.total[point]))),
      make('table', {class: 'live'}, make('tbody', {}, ...rows)), back);
  }

  function go(to) {
    point = Math.max(0, Math.min(data.at.length - 1, to));
    const x = data.x[point] / 1000 + '%';
    cursor.setAttribute('x1', x);
    cursor.setAttribute('x2', x);
    svg.setAttribute('aria-valuenow', point);
    svg.setAttribute('aria-valuetext', `${data.say[point]}: ${bytes(data.total[point])} live`);
    list();
  }

  // The last point that is not right of the pointer: what holds there.
  function under(event) {
    const box = svg.getBoundingClientRect();
    const x = (event.clientX - box.left) / box.width * 100000;
    let low = 0, high = data.x.length - 1;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if (data.x[middle] <= x) low = middle; else high = middle - 1;
    }
    return low;
  }

  svg.setAttribute('role', 'slider');
  svg.setAttribute('tabindex', '0');
  svg.setAttribute('aria-valuemin', '0');
  svg.setAttribute('aria-valuemax', data.at.length - 1);
  svg.setAttribute('aria-valuenow', point);
  svg.setAttribute('aria-valuetext', `${data.say[point]}: ${bytes(data.total[point])} live`);
  svg.addEventListener('pointerdown', event => {
    svg.setPointerCapture(event.pointerId);
    go(under(event));
  });
  svg.addEventListener('pointermove', event => { if (event.buttons) go(under(event)); });
  svg.addEventListener('keydown', event => {
    const far = Math.max(10, Math.round(data.at.length / 20));
    const to = {ArrowRight: point + 1, ArrowLeft: point - 1, ArrowUp: point + 1,
      ArrowDown: point - 1, PageUp: point + far, PageDown: point - far, Home: 0,
      End: data.at.length - 1, p: data.first, P: data.first}[event.key];
    if (to === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    go(to);
  });
}

// Remedies: what is ticked is put together. A pair that the program knows has its own figure; else
// it is between what both save and what the better of them saves.
function remedies() {
  const rows = [...document.querySelectorAll('.need .remedy')];
  const both = find('both');
  if (!both) return;
  const number = (row, name) => Number(row.dataset[name]);
  const percent = (size, row) =>
    (100 * Math.max(0, size) / number(row, 'highest')).toFixed(3) + '%';

  const keysOf = row => row.dataset.remedy ? row.dataset.remedy.split('+').sort() : [];

  function show() {
    const checked = rows.filter(row => row.querySelector('input').checked);
    // What is part of a ticked pair is counted with the pair.
    const ticked = checked.filter(row => !checked.some(other => other !== row &&
      keysOf(other).length > keysOf(row).length && keysOf(row).length > 0 &&
      keysOf(row).every(key => keysOf(other).includes(key))));
    for (const row of rows) row.classList.toggle('on', checked.includes(row));
    const total = number(rows[0], 'total'), capacity = number(rows[0], 'capacity');
    const all = ticked.flatMap(keysOf).sort().join('+');
    const known = ticked.length > 0 && rows.find(row => all && keysOf(row).join('+') === all);
    const needs = ticked.map(row => number(row, 'needs'));
    // What changes no need but the room: the larger pool.
    const room = ticked.some(row => row.dataset.fits === 'yes' && number(row, 'needs') === total);
    let high = Math.min(total, ...needs);
    let low = Math.max(0, total - needs.reduce((sum, n) => sum + total - n, 0));
    if (known) low = high = number(known, 'needs');
    const left = find('both-left'), fade = find('both-fade');
    left.setAttribute('width', percent(ticked.length ? low : 0, rows[0]));
    fade.setAttribute('x', percent(ticked.length ? low : 0, rows[0]));
    fade.setAttribute('width', percent(ticked.length ? total - low : 0, rows[0]));
    find('both-what').textContent = ticked.length
      ? ticked.map(row => row.querySelector('label b').textContent).join(' + ') : 'none ticked';
    find('both-num').textContent = !ticked.length ? '–'
      : low === high ? bytes(low) : `${bytes(low)} to ${bytes(high)}`;
    const fits = find('both-fits');
    let words = 'tick some', css = 'idle';
    if (ticked.length && room) [words, css] = ['✓ fits', 'yes'];
    else if (ticked.length === 1 || known) {
      const word = (known || ticked[0]).dataset.fits;
      [words, css] = {yes: ['✓ fits', 'yes'], likely: ['✓ likely fits', 'yes'],
        no: ['✕ not enough', 'no']}[word] || ['can’t tell whether it fits', 'idle'];
    } else if (ticked.length && capacity) {
      // One that fits alone fits with others, too.
      if (ticked.some(row => row.dataset.fits === 'yes')) [words, css] = ['✓ fits', 'yes'];
      else if (ticked.some(row => row.dataset.fits === 'likely'))
        [words, css] = ['✓ likely fits', 'yes'];
      else if (low > capacity) [words, css] = ['✕ not enough', 'no'];
      else [words, css] = ['may fit, if what they save adds up', 'idle'];
    }
    fits.textContent = words;
    fits.className = 'verdict ' + css;
    const keys = checked.map(row => row.dataset.remedy).filter(Boolean);
    try {
      history.replaceState(null, '', keys.length ? '#fix=' + keys.join(',') : location.pathname);
    } catch (error) { /* a browser that keeps local files apart */ }
  }

  both.hidden = false;
  const asked = (location.hash.match(/^#fix=(.*)$/) || ['', ''])[1].split(',');
  for (const row of rows) {
    const input = row.querySelector('input');
    input.hidden = false;
    input.checked = row.dataset.remedy !== '' && asked.includes(row.dataset.remedy);
    input.addEventListener('change', show);
  }
  show();
}

// For an issue: the verdict, and the report as text.
function copying() {
  const button = find('copy'), text = document.querySelector('#as-text pre');
  if (!button || !text) return;
  button.hidden = false;
  button.addEventListener('click', () => {
    const box = make('textarea', {'aria-hidden': 'true'});
    const fence = '`'.repeat(3);
    box.value = `**${find('verdict').textContent}** ${find('sentence').textContent}\n\n` +
      `${fence}text\n${text.textContent.trim()}\n${fence}\n`;
    document.body.append(box);
    box.select();
    const done = document.execCommand('copy');
    box.remove();
    button.focus();
    const words = button.textContent;
    button.textContent = done ? 'Copied' : 'Not allowed here';
    setTimeout(() => { button.textContent = words; }, 1600);
  });
}

for (const [id, data] of Object.entries(DATA)) chart(id, data);
if (document.querySelector('.need .remedy')) remedies();
copying();
})();
