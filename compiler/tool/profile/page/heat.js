// heat.js - the page of `fsc profile --html`: the JSON of `fsc profile --json` and the source, as tables and heat.
'use strict';

const facts = JSON.parse(document.getElementById('facts').textContent);
const lines = new Map(facts.lines.map((l) => [l.line, l]));
const advice = facts.advice;
const at = (id) => document.getElementById(id);

function make(tag, text, more) {
  const e = document.createElement(tag);
  if (text !== undefined) e.textContent = text;
  return Object.assign(e, more);
}

function row(table, cells, tag = 'td') {
  const tr = table.appendChild(make('tr'));
  for (const c of cells) {
    const isNode = c instanceof Node;
    const td = tr.appendChild(make(tag, isNode ? undefined : c));
    if (isNode) td.append(c);
    else if (/^[-+]?[\d.]/.test(c)) td.className = 'n';
  }
  return tr;
}

const number = (n) => Number(n).toLocaleString('en', {maximumFractionDigits: 3});
const micro = (seconds) => `${(seconds * 1e6).toPrecision(3)} µs`;
const count = (name) => (l) => l[name];
const sum = (kinds, field) => (l) => kinds.reduce((n, k) => n + (l[k] ? l[k][field] : 0), 0);

// ---- The whole

function bar(share) {
  const b = make('span', undefined, {className: 'bar'});
  b.style.width = `${Math.max(1, 160 * share)}px`;
  return b;
}

function showParts() {
  const plural = (n, s) => `${number(n)} ${s}${n === 1 ? '' : 's'}`;
  at('kernel').textContent = facts.kernel;
  document.title = `${facts.kernel} - fsc profile`;
  at('what').textContent = `${facts.file.split('/').pop()}: ${plural(facts.programs, 'program')} in ` +
    `${plural(facts.blocks, 'block')} of ${facts.threads_per_block} threads, counted on emulated threads`;
  at('least').textContent = `On ${advice.card} at least ${micro(advice.least_seconds)}, by ${advice.binds}. ` +
    'Each part by itself:';
  for (const p of advice.parts) {
    row(at('parts'), [p.name, micro(p.seconds), bar(advice.least_seconds ? p.seconds / advice.least_seconds : 0)]);
  }
  if (!facts.measured) return;
  at('measured').hidden = false;
  row(at('measured'), ['', 'predicted', 'measured'], 'th');
  for (const m of facts.measured.rows) row(at('measured'), [m.name, m.predicted, m.measured]);
}

function lineLink(line) {
  return make('a', `line ${line}`, {href: `#L${line}`});
}

function showAdvice() {
  if (!advice.findings.length) at('advice').replaceWith(make('p', 'Nothing found.'));
  for (const f of advice.findings) {
    const li = at('advice').appendChild(make('li'));
    const gain = f.gain_seconds > 0 ? `up to ${micro(f.gain_seconds)}`
      : f.cost_seconds > 0 ? `${micro(f.cost_seconds)}, hidden behind ${advice.binds}`
        : 'how much is not known';
    li.append(make('b', f.title), ' ', make('span', gain, {className: f.gain_seconds > 0 ? 'gain' : 'why'}));
    for (const l of f.lines) li.append(' ', lineLink(l));
    li.append(make('div', f.text), make('div', f.why, {className: 'why'}), make('div', f.mend));
  }
}

function showBuffers() {
  row(at('buffers'), ['', 'bytes', 'read', 'written', 'by atomics', 'read once', 'written once'], 'th');
  for (const p of facts.params) {
    row(at('buffers'), [p.name, ...['bytes', 'read', 'written', 'changed', 'read_once', 'written_once']
      .map((k) => number(p[k]))]);
  }
}

// ---- What changed

function change(then, now, show) {
  const span = make('span', `${show(then)} → ${show(now)}`);
  if (now !== then) span.className = now < then ? 'less' : 'more';
  return span;
}

function showAgainst() {
  const a = facts.against;
  if (!a) return;
  at('against').hidden = false;
  at('since').append(`Against ${a.path}: at least `, change(a.least_seconds, advice.least_seconds, micro), '.');
  if (a.went.length) at('since').append(` No longer found: ${a.went.join(', ')}.`);
  if (a.came.length) at('since').append(` Newly found: ${a.came.join(', ')}.`);
  row(at('changes'), ['line', 'time', 'source'], 'th');
  for (const c of a.changes) {
    row(at('changes'), [c.line ? lineLink(c.line) : `gone (${c.line_then})`,
                        change(c.seconds_then, c.seconds, micro), make('code', c.text.trim())]);
  }
}

// ---- The source, by heat

const metrics = [
  ['time of the dearest part', (l) => Math.max(...l.seconds)],
  ['instructions', count('instructions')],
  ['sectors of global memory', sum(['load', 'store', 'atomic'], 'sectors')],
  ['wavefronts of shared memory', sum(['shared_load', 'shared_store'], 'wavefronts')],
  ['conflicts of banks', sum(['shared_load', 'shared_store'], 'bank_conflicts')],
  ['matrix instructions', count('matrix_instructions')],
  ['special functions', (l) => ['ex2', 'lg2', 'rcp', 'rsqrt', 'sqrt', 'div'].reduce((n, k) => n + l[k], 0)],
  ['shuffles', count('shuffles')],
  ['barriers', count('block_barriers')],
];

function what(l) {
  const said = [];
  for (const [kind, t] of Object.entries(l)) {
    if (!t || !t.requests) continue;
    said.push(`${kind.replace('_', ' ')}: ${number(t.requests)} requests of ${t.widest} bytes a lane, ` +
      (t.sectors !== undefined ? `${number(t.sectors)} sectors` :
        `${number(t.wavefronts)} wavefronts, ${number(t.bank_conflicts)} of them for conflicts of banks`) +
      (t.idle_lanes ? `; ${number(t.idle_lanes)} of ${number(t.idle_lanes + t.lanes)} lanes masked off` : ''));
  }
  const counted = Object.entries(l).filter(([k, v]) => typeof v === 'number' && v &&
    !['line', 'runs', 'matrix_work'].includes(k));
  said.push(counted.map(([k, v]) => `${k.replaceAll('_', ' ')} ${number(v)}`).join(', ') + ' (by threads)');
  for (const f of advice.findings.filter((f) => f.lines.includes(l.line))) said.push(`⚠ ${f.title}: ${f.text}`);
  return said.join('\n');
}

function toggle(tr, l) {
  const is_open = tr.classList.toggle('open');
  tr.setAttribute('aria-expanded', is_open);
  if (!is_open) {
    tr.nextSibling.remove();
    return;
  }
  const did = make('tr', undefined, {className: 'did'});
  did.append(make('td'), make('td'), make('td', what(l)));
  tr.after(did);
}

function sourceRow(no, text) {
  const tr = at('source').appendChild(make('tr', undefined, {id: `L${no}`}));
  tr.append(make('td', no || '', {className: 'no'}), make('td', '', {className: 'n'}),
            make('td', text, {className: 'code'}));
  const l = lines.get(no);
  if (!l) return;
  tr.className = 'line';
  tr.tabIndex = 0;
  tr.setAttribute('aria-expanded', 'false');
  tr.addEventListener('click', () => toggle(tr, l));
  tr.addEventListener('keydown', (e) => {
    if (e.key === 'Enter') toggle(tr, l);
  });
}

function heat() {
  const [name, of] = metrics[at('metric').value];
  const all = facts.lines.reduce((n, l) => n + of(l), 0);
  at('legend').textContent = all ? `shares of all ${name}` : `no ${name}`;
  for (const l of facts.lines) {
    const tr = at(`L${l.line}`);
    const share = all ? of(l) / all : 0;
    if (!tr) continue;
    tr.cells[1].textContent = share ? `${(100 * share).toFixed(1)} %` : '';
    tr.style.background = share ? `rgba(var(--heat), ${(0.06 + 0.6 * share).toFixed(3)})` : '';
  }
}

showParts();
showAdvice();
showAgainst();
showBuffers();
facts.source.replace(/\n$/, '').split('\n').forEach((text, i) => sourceRow(i + 1, text));
if (lines.has(0)) sourceRow(0, '(not of a line)');
metrics.forEach(([name], i) => at('metric').append(new Option(name, i)));
at('metric').addEventListener('change', heat);
heat();
