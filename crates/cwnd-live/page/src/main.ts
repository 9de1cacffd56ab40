// The page: asks for a run at every change, and draws what comes.

import { build, marked } from './controls';
import { column, empty, get, happened, instants, lines, recorded, set, spread, stateName, type Happened, type Line, type Recorded, type Results, type Settings } from './model';
import { Plots } from './plots';
import { Local } from './local';
import { type Answer, type Columns, type Engine, type Estimate, type Hello, type Listener, type Place, type Recording, type Table } from './protocol';
import { rate, short, span } from './quantity';
import { Server } from './server';
import { brief, chart } from './svg';
import { csv, download, largest, picture } from './take';
import { choose, theme as colours } from './theme';

const $ = <E extends HTMLElement>(selector: string): E => document.querySelector<E>(selector)!;
/** A screen on which the table of measures has its columns below each other. */
const phone = matchMedia('(max-width: 480px)');
const settings: Settings = { document: {}, apart: false, preset: '' };
const hidden = new Set<string>();
let hello: Hello | null = null;
let results: Results = empty(0);
/** What is coming, until its first curves replace what is shown. */
let coming: Results = empty(0);
let all: Line[] = [];
let events: Happened[] = [];
let recordings: Recorded[] = [];
let theme = colours();
/** `settings` are those it was asked with, as text; it is `answered` when the whole of its first seed is there. */
let asked = { id: 0, at: 0, moving: false, answered: true, settings: '' };
let again = false;
let pacing = false;
let row: number | null = null;
let dirty = { curves: false, measures: false };
/** Work of the main thread since the last frame, milliseconds. */
let busy = 0;

const plots = new Plots(() => theme, hidden, (at) => { if (at !== null && at !== row) show_row(at); });
const listener: Listener = { heard: (answer, columns) => work(() => handleAnswer(answer, columns)), lost: (why) => status(why, true) };
/** A page that stands by itself names its engine; another one is served by `cwnd live`. */
const own = document.querySelector<HTMLMetaElement>('meta[name="cwnd-engine"]');
const engine: Engine = own ? new Local(listener, 'worker.js', own.content) : new Server(listener);
if (own) {
  // Reports are made by a server.
  $('#take form').remove();
  if ('serviceWorker' in navigator && isSecureContext) navigator.serviceWorker.register('offline.js').catch(() => undefined);
}

function work(body: () => void): void {
  const from = performance.now();
  body();
  busy += performance.now() - from;
}

// ---------------------------------------------------------------- asking

/** Something has changed. While a control is being moved, one seed is enough, and one request at a time. */
function changed(moving: boolean): void {
  follow();
  if (pacing) return pull_or_restart(moving);
  if (moving && !asked.answered && performance.now() - asked.at < 250) {
    again = true;
    return;
  }
  ask(moving);
}

/** Titles and captions are of what is shown: with other algorithms it is another scenario than the one it began as. */
function follow(): void {
  const preset = hello?.presets.find(({ id }) => id === settings.preset);
  if (!preset) return lesson();
  const algorithms = (document: Table) => JSON.stringify(((document['flow'] ?? []) as Table[]).map((group) => group['algorithm']));
  if (algorithms(preset.document) !== algorithms(settings.document)) {
    if (settings.document['title'] === preset.document['title']) delete settings.document['title'];
    settings.preset = '';
  }
  lesson();
}

/** The preset of this title, of which [`follow`] sees whether it still is that preset. */
const preset_of = (document: Table) => hello?.presets.find((preset) => preset.document['title'] === document['title'])?.id ?? '';

/** The name of the scenario's file, which the command line has too. */
const file = () => `${settings.preset || 'live'}.toml`;
const named = (command: string) => command.replace(/\blive\.toml$/, file());

function ask(moving: boolean): void {
  again = false;
  const now = performance.now();
  const text = JSON.stringify([settings.document, settings.apart]);
  if (!moving && asked.moving && asked.settings === text) return finish(now);
  asked = { id: asked.id + 1, at: now, moving, answered: false, settings: text };
  const request: Table = { do: 'run', id: asked.id, document: settings.document, apart: settings.apart };
  if (moving) request['moving'] = true;
  if (engine.send(request)) status('running');
  waiting(true);
}

/** Whether a run can be stopped. One in real time ends with the real time. */
function waiting(on: boolean): void {
  $<HTMLButtonElement>('#end').disabled = !on || pacing;
}

function stop(): void {
  engine.send({ do: 'stop' });
  status(results.id === asked.id ? 'stopped' : 'stopped before its first curve');
  // The scenario was read, whatever came of it.
  texts();
  // What is still on its way is of no run any more.
  asked = { ...asked, id: asked.id + 1, moving: false, answered: true, settings: '' };
  again = false;
  waiting(false);
}

/** A control was released where it was asked for last: that run goes on with its other seeds. */
function finish(now: number): void {
  asked = { ...asked, at: now, moving: false };
  if (engine.send({ do: 'finish', id: asked.id })) status('running');
  waiting(true);
  if (pictured === asked.id) first_curve();
  texts_due = planes_due = dirty.measures = true;
  schedule();
  keepLink();
}

let paced_document = '';

/** A paced run has the rate as a schedule; everything else starts it anew. */
function pull_or_restart(moving: boolean): void {
  const text = String(get(settings.document, 'dumbbell.rate') ?? '');
  const rest = without_rate();
  // On a path with a schedule there is no place for another rate: the run begins anew.
  const own = get(settings.document, 'dumbbell.schedule') !== undefined;
  if (!own && rest === paced_document && rate.read(text) !== null) {
    if (!moving || performance.now() - asked.at > 100) {
      asked.at = performance.now();
      engine.send({ do: 'pull', rate: text });
    }
  } else if (!moving) pace();
}

function without_rate(): string {
  const copy = structuredClone(settings.document);
  set(copy, 'dumbbell.rate', undefined);
  return JSON.stringify(copy);
}

function pace(): void {
  paced_document = without_rate();
  asked = { id: asked.id + 1, at: performance.now(), moving: false, answered: false, settings: '' };
  engine.send({ do: 'pace', id: asked.id, document: settings.document, speed: speed() });
  coming = empty(asked.id);
  waiting(false);
  $('#hold').setAttribute('aria-pressed', 'false');
  status('running in real time');
}

function speed(): number {
  return 10 ** Number($<HTMLInputElement>('#speed').value);
}

/** What the address has that was opened last, of a run with these settings; its cursor until it is shown, and its recorded flows as they stand in it. */
let linked: { settings: string; cursor: number | null; digest: string | null; recordings: Recording[]; word: string } = { settings: '', cursor: null, digest: null, recordings: [], word: '' };
/** The address that is being opened. */
let opening = '';
/** Whether what is shown is what that address has. */
const unchanged = () => !pacing && linked.settings === JSON.stringify([settings.document, settings.apart]);
/** The end of the page's address, as this page has written it. */
let kept = '';

/** The address of the page has what is shown, and what to expect of it. */
function keepLink(cursor = false): void {
  if (!coming.address) return;
  const first = coming.runs[0];
  const at = cursor && row !== null ? `&at=${(shown_time()[row] ?? 0).toFixed(2)}s` : '';
  kept = coming.address + (unchanged() ? linked.word : '') + at + (first?.digest ? `&digest=${first.digest}` : '');
  history.replaceState(null, '', kept);
}

/** The first seed is there whole: the cursor of its address is set, and a digest of another version is not passed over. */
function arrive(digest: string): void {
  if (!asked.moving) keepLink();
  if (linked.settings === '' || linked.settings !== asked.settings) return;
  if (linked.cursor !== null) {
    const [t, cursor] = [shown_time(), linked.cursor];
    const after = t.findIndex((at) => at >= cursor);
    row = after < 0 ? t.length - 1 : after;
    linked.cursor = null;
    pointed = false;
  }
  if (linked.digest !== null && linked.digest !== digest) {
    message(`Another version made this link, and its numbers were others: there the first seed has the digest ${linked.digest}, here ${digest}.`);
  }
}

/** The recorded flows of an address as they stand in it, wherever they stand, and with its signs as such. */
function recorded_word(address: string): string {
  const [, word] = /[#&](recorded=[^&]*)/.exec(address.replaceAll('%26', '&').replaceAll(/%3d/gi, '=')) ?? [];
  return word ? `&${word}` : '';
}

function open_address(): void {
  opening = location.hash;
  engine.send({ do: 'open', id: (asked.id += 1), address: opening });
}

/** Shows what the page begins with. */
function begin(): void {
  const preset = hello?.presets[0];
  if (preset) load(preset.document, preset.apart, preset.id);
}

function load(document: Table, apart: boolean, preset: string): void {
  take(document, apart, preset);
  if (pacing) pace();
  else ask(false);
}

/** The scenario as it was taken, and as it is. */
let taken = '';
const settled = () => JSON.stringify([settings.document, settings.apart]);

/** Shows a scenario in the controls, and does not run it. */
function take(document: Table, apart: boolean, preset: string): void {
  settings.document = structuredClone(document);
  settings.apart = apart;
  settings.preset = preset;
  taken = settled();
  hidden.clear();
  // Its text is another one now.
  $('#toml').blur();
  lesson();
  if (hello) build($('#controls'), settings, hello, changed);
}

// ---------------------------------------------------------------- answers

function handleAnswer(answer: Answer, columns: Columns): void {
  if (answer.kind === 'hello') return handleHello(answer);
  if (answer.kind === 'document') {
    // Something else was chosen meanwhile.
    if (answer.id !== asked.id) return;
    message('');
    load(answer.document, answer.apart, preset_of(answer.document));
    linked = { settings: asked.settings, cursor: answer.cursor ?? null, digest: answer.digest ?? null, recordings: answer.recorded ?? [], word: recorded_word(opening) };
    return;
  }
  if (answer.kind === 'error' && (answer.id === undefined || answer.id >= asked.id)) return refuse(answer.message, answer.id === read_id, answer.place);
  if (answer.kind === 'error' || answer.id !== asked.id) return;
  switch (answer.kind) {
    case 'started':
      text_fault('');
      coming = { ...empty(answer.id), labels: answer.runs, seeds: answer.seeds, toml: answer.toml, address: answer.address, command: named(answer.command) };
      if (!asked.moving) keepLink();
      message('');
      break;
    case 'curves': {
      coming.runs[answer.run] = { description: answer, columns, operating: answer.operating ?? [], digest: answer.digest ?? '', measures: {}, groups: [], seeds: 0, warnings: [], whole: answer.whole };
      coming.responses.push(...(answer.responses ?? []).filter(({ algorithm }) => !coming.responses.some((known) => known.algorithm === algorithm)));
      if (answer.run !== 0 && results !== coming) break;
      results = coming;
      dirty.curves = true;
      if (!answer.whole) break;
      texts_due = true;
      if (answer.run === 0) arrive(answer.digest ?? '');
      asked.answered = true;
      if (again) setTimeout(() => { if (again) ask(true); });
      break;
    }
    case 'measures': {
      const run = coming.runs[answer.run];
      if (!run) break;
      Object.assign(run, { measures: answer.measures, groups: answer.groups, seeds: answer.seeds, warnings: answer.warnings ?? run.warnings });
      dirty.measures = true;
      if (!asked.moving) status(`seed ${answer.seeds} of ${coming.seeds}`);
      break;
    }
    case 'complete': {
      // The first seed alone, of a control that was released meanwhile: the others come.
      if (!asked.moving && answer.seeds < coming.seeds) break;
      status(`${answer.seeds === 1 ? 'one seed' : `${answer.seeds} seeds`} in ${Math.round(answer.ms)} ms`);
      if (answer.seeds >= coming.seeds) completed = answer.id;
      waiting(false);
      dirty.measures = true;
      break;
    }
    case 'more':
      grow(answer, columns);
      break;
    case 'pulled':
      Object.assign(coming, { toml: answer.toml, address: answer.address, command: named(answer.command) });
      texts_due = true;
      keepLink();
      break;
    case 'held':
      status('the run ended at 600 s');
      break;
  }
  if (dirty.curves || dirty.measures) schedule();
}

function handleHello(said: Hello): void {
  const first = hello === null;
  hello = said;
  document.title = 'cwnd live';
  const select = $<HTMLSelectElement>('#preset');
  if (first) {
    select.replaceChildren(...said.presets.map(({ id, document: { title } }) => new Option(String(title), id)), new Option('custom scenario', '', false, false));
    const preset = said.presets[0]!;
    take(preset.document, preset.apart, preset.id);
    if (location.hash.length > 1) open_address();
    else ask(false);
  } else if (pacing) pace();
  else {
    // A server that has been started again knows nothing of the run before.
    asked.moving = false;
    ask(false);
  }
}

/** New rows of a paced run. */
function grow(answer: Extract<Answer, { kind: 'more' }>, columns: Columns): void {
  const run = coming.runs[0];
  if (!run || answer.from === 0) {
    coming.runs[0] = { description: answer, columns, operating: [], digest: '', measures: {}, groups: [], seeds: 1, warnings: [], whole: false };
    // A frame before these rows drew the texts of the run before.
    texts_due = true;
  } else {
    for (const [name, values] of columns) {
      const before = run.columns.get(name) ?? new Float32Array(0);
      const keep = before.subarray(Math.max(0, before.length - MAX_ROWS), before.length);
      const joined = new Float32Array(keep.length + values.length);
      joined.set(keep);
      joined.set(values, keep.length);
      run.columns.set(name, joined);
    }
    run.description = { ...answer, rows: run.columns.get('t')!.length };
  }
  results = coming;
  row = null;
  dirty.curves = true;
}

// ---------------------------------------------------------------- drawing

let scheduled = false;

function schedule(): void {
  if (scheduled) return;
  scheduled = true;
  requestAnimationFrame(() => {
    scheduled = false;
    const from = performance.now();
    draw();
    // The plots are drawn in tasks of their own that were queued before this one.
    queueMicrotask(() => {
      busy += performance.now() - from;
      performance.measure('frame work', { start: performance.now() - busy, duration: busy });
      busy = 0;
      if (results.runs[0] && !dirty.curves) pictured = results.id;
      if (!asked.moving && pictured === asked.id) first_curve();
      document.documentElement.dataset['drawn'] = String(pictured);
      // The last run of which nothing is still to come or to be drawn.
      if (completed === asked.id && !asked.moving && !scheduled && shown !== asked.id) {
        shown = asked.id;
        performance.measure('complete', { start: asked.at, end: performance.now() });
        document.documentElement.dataset['shown'] = String(shown);
      }
    });
  });
}

/** Measures once per run how long its first curve took, which may be drawn before a control is released. */
function first_curve(): void {
  if (measured === asked.id) return;
  measured = asked.id;
  performance.measure('first curve', { start: asked.at, end: performance.now() });
}

/** The last run of which there is a picture, whose first curve was measured, that is complete, that is shown whole. */
let pictured = 0;
let measured = 0;
let completed = 0;
let shown = 0;

/** What the next frame draws first. Curves that change with each frame, as in real time, put off neither planes nor the table. */
let turn: 'curves' | 'planes' | 'table' = 'curves';

function draw(): void {
  const now = performance.now();
  const due = !(asked.moving || pacing) || now - rested >= REST_MS;
  if (dirty.curves && (turn === 'curves' || (turn === 'planes' && !due))) {
    all = lines(results);
    events = happened(results, all);
    const t = shown_time();
    const end = t[t.length - 1] ?? 1;
    const wide = span.read(String(settings.document['duration'] ?? '60s')) ?? 60;
    const whole = results.runs[0]?.description.end ?? end;
    recordings = unchanged() ? recorded(linked.recordings, t) : [];
    // Events are those of these curves, not of the part of them that was there before.
    texts_due ||= !pacing;
    plots.draw(results, all, events, recordings, pacing ? [Math.max(0, end - wide), Math.max(wide, end)] : [0, whole]);
    $<HTMLInputElement>('#time').max = String(Math.max(1, t.length - 1));
    // The rest is for the next picture, and while a control moves not for each.
    dirty = { curves: false, measures: true };
    planes_due = true;
    turn = 'planes';
    return schedule();
  }
  if (turn !== 'table' && !due) {
    clearTimeout(rest);
    rest = setTimeout(schedule, REST_MS - (now - rested));
    return;
  }
  rested = now;
  if (planes_due) {
    planes_due = false;
    const t = shown_time();
    show_row(row === null || row >= t.length ? t.length - 1 : row, row === null);
    if (!pointed) plots.point(row ?? 0);
    pointed = true;
    planes();
    turn = 'table';
    return schedule();
  }
  table();
  if (!asked.moving && texts_due) {
    texts_due = false;
    slow_parts();
  }
  dirty.measures = false;
  turn = 'curves';
  if (dirty.curves) schedule();
}

let planes_due = false;
/** The plots have the cursor that the address has. */
let pointed = true;
let texts_due = false;
let rested = 0;
let rest = 0;

/** What need not follow a control while it moves. */
function slow_parts(): void {
  texts();
  list_events();
}

/** The run that was asked for last, which may have been stopped before its first curve; the one that is shown until that one was read. */
const latest = (): Results => (coming.toml ? coming : results);

/** What the scenario is as text, as a command line, and by its digest. */
function texts(): void {
  const { command, runs, toml } = latest();
  $('#command').textContent = command;
  $('#digest').textContent = runs.map((run) => run?.digest ?? '').join(' ');
  const text = $<HTMLTextAreaElement>('#toml');
  if (document.activeElement !== text) text.value = toml;
}

function shown_time(): Float32Array {
  return instants(results) ?? new Float32Array(1);
}

/** The values of all flows at a row, and the cursor there. */
function show_row(at: number, free = false): void {
  if (!free) row = at;
  const t = shown_time();
  const time = $<HTMLInputElement>('#time');
  time.value = String(at);
  const now = t[Math.min(at, t.length - 1)] ?? 0;
  time.setAttribute('aria-valuetext', `${now.toFixed(2)} seconds`);
  const shown = spread(all, 12);
  const states = shown.some((line) => column(results, line, 'state'));
  const rows = shown.map((line) => {
    const value = (name: string, digits = 3) => {
      const one = column(results, line, name)?.[at];
      return one === undefined || !Number.isFinite(one) ? '–' : short(one, digits);
    };
    const state = column(results, line, 'state')?.[at];
    const cells = [value('window'), value('goodput'), value('rtt', 4), value('lost', 6), ...(states ? [state === undefined ? '' : stateName(line.info.algorithm, state)] : [])];
    return row_of(line.name, plots.colour(line), line.dash, cells);
  });
  rows.push(...recordings.map(({ name, dash, window, goodput }) => {
    const cells = [window, goodput].map((values) => (Number.isFinite(values[at]) ? short(values[at]!, 3) : '–'));
    return row_of(name, theme.text, dash, [...cells, '–', '–', ...(states ? [''] : [])]);
  }));
  const head = ['Window', 'Goodput, Mbit/s', 'RTT, ms', 'Lost', ...(states ? ['State'] : [])];
  const queue = results.runs.map((run) => run?.columns.get('queue')?.[at]).filter((one) => one !== undefined).map((one) => short(one, 4)).join(', ');
  $('#at').textContent = `${now.toFixed(2)} s`;
  $('#waiting').textContent = queue && `queue ${queue} packets`;
  const notes = [
    ...(all.length > shown.length ? [`${shown.length} of ${all.length} flows, equally many of each algorithm`] : []),
    ...(recordings.length > 0 ? ['Recorded flows ran elsewhere: this page draws them, and runs ours in their place.'] : []),
  ];
  const rest = notes.length > 0 ? `<tfoot>${notes.map((note) => `<tr><td colspan="${head.length + 1}">${note}</td></tr>`).join('')}</tfoot>` : '';
  $('#flows').innerHTML = `<thead><tr><th scope="col">Flow</th>${head.map((one) => `<th scope="col">${one}</th>`).join('')}</tr></thead><tbody>${rows.join('')}</tbody>${rest}`;
}

/** A row of the table of flows, whose button shows and hides the curves of that name. */
function row_of(name: string, colour: string, dash: number[], cells: string[]): string {
  const on = !hidden.has(name);
  const dashes = dash.length > 0 ? ` stroke-dasharray="${dash.join(' ')}"` : '';
  return `<tr${on ? '' : ' class="off"'}><th scope="row"><button type="button" aria-pressed="${on}" data-line="${escape(name)}"><svg width="26" height="10" aria-hidden="true"><path d="M1 5h24" stroke="${colour}" stroke-width="2.4"${dashes}/></svg>${escape(name)}</button></th>${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`;
}

/** The phase plane and the response function. */
function planes(): void {
  const curves: { x: Float32Array; y: Float32Array; colour: string }[] = [];
  const dots: { x: number; y: number; colour: string; title: string }[] = [];
  let most = 0;
  let names = ['', ''];
  let fair: [number, number] = [1, 1];
  results.runs.forEach((_, index) => {
    const pair = all.filter((line) => line.run === index && !hidden.has(line.name)).slice(0, 2);
    const [x, y] = pair.map((line) => column(results, line, 'goodput'));
    if (!x || !y || !pair[0] || !pair[1]) return;
    names = [pair[0].name, pair[1].name].map((name) => brief(name, LONGEST_NAME));
    if (results.runs.length > 1 || names[0] === names[1]) names = ['first flow', 'second flow'];
    if (pair[0].info.fair && pair[1].info.fair) fair = [pair[0].info.fair, pair[1].info.fair];
    const colour = results.runs.length > 1 ? plots.colour(pair[0]) : theme.link;
    curves.push({ x, y, colour });
    most = Math.max(most, largest(x), largest(y));
    const at = Math.min(row ?? x.length - 1, x.length - 1);
    dots.push({ x: x[at]!, y: y[at]!, colour, title: `${names.join(' and ')} at ${(shown_time()[at] ?? 0).toFixed(2)} s` });
  });
  const phase = $('#phase .plane');
  const size = (box: HTMLElement): [number, number] => [Math.max(240, box.clientWidth), box.clientWidth < 420 ? 260 : 300];
  if (curves.length === 0) phase.innerHTML = '<p class="note">Needs two flows on one path.</p>';
  else {
    const link = results.runs[0]?.columns.get('capacity');
    const capacity = link?.[Math.min(row ?? link.length - 1, link.length - 1)];
    const payload = 1460 / 1500;
    const line = capacity && Number.isFinite(capacity) ? capacity * payload : most;
    const end = Math.max(most, line) * 1.04;
    phase.innerHTML = chart({
      x: { label: `${names[0]} (Mbit/s)`, min: 0, max: end }, y: { label: `${names[1]} (Mbit/s)`, min: 0, max: end },
      curves: [
        { x: [0, (end * fair[0]) / Math.max(...fair)], y: [0, (end * fair[1]) / Math.max(...fair)], colour: theme.muted, dash: [3, 3], width: 1 },
        { x: [0, line], y: [line, 0], colour: theme.muted, dash: [3, 3], width: 1 },
        ...curves.map((curve) => ({ ...curve, width: 1.2, opacity: 0.75 })),
      ],
      dots, texts: [{ x: (end * 0.99 * fair[0]) / Math.max(...fair), y: (end * 0.9 * fair[1]) / Math.max(...fair), text: 'fair' }, { x: line * 0.97, y: line * 0.06, text: 'efficient' }],
    }, ...size(phase), theme);
  }
  if (asked.moving) return;
  const box = $('#response .plane');
  const points = all.flatMap((line) => {
    const { loss, window } = results.runs[line.run]?.operating[line.flow] ?? { loss: null, window: null };
    return loss && window && !hidden.has(line.name) ? [{ x: 100 * loss, y: window, colour: plots.colour(line), title: `${line.name}: ${short(window)} packets at a loss of ${short(100 * loss)} %`, hollow: !results.responses.some(({ algorithm }) => algorithm === line.info.algorithm) }] : [];
  });
  if (pacing || results.runs.some((run) => run && !run.whole)) {
    box.innerHTML = `<p class="note">${pacing ? 'A run in real time has no average window yet.' : 'Available once the first seed has ended.'}</p>`;
    return;
  }
  if (results.responses.length === 0 && points.length === 0) {
    box.innerHTML = '<p class="note">No closed form is known for these algorithms, and nothing was lost.</p>';
    return;
  }
  const inside = ([, w]: [number, number]) => w >= 1 && w <= 1e5;
  box.innerHTML = chart({
    x: { label: 'loss (%)', min: 10 ** -4.5, max: 10 ** 1.5, log: true }, y: { label: 'window (packets)', min: 1, max: 1e5, log: true },
    curves: results.responses.map(({ light, dark, points: list }) => {
      const kept = list.filter(inside);
      return { x: kept.map(([p]) => 100 * p), y: kept.map(([, w]) => w), colour: theme.dark ? dark : light };
    }),
    dots: points,
  }, ...size(box), theme);
}

function table(): void {
  if (!hello) return;
  const runs = results.runs.filter((run) => run !== undefined);
  const known = hello.measures.filter(({ key }) => runs.some((run) => run.measures[key]));
  // Until the new run has measures, those of the run before are shown as such.
  const stale = !pacing && known.length === 0;
  $('#measures').classList.toggle('stale', stale);
  if (stale && $('#measures').childElementCount > 0) $('#seeds').textContent = 'of the previous run';
  if (pacing || known.length === 0) {
    if (pacing) $('#sharing').hidden = true;
    if (pacing) $('#measures').innerHTML = '<tbody><tr><td>A run in real time has one seed, so it has no measures.</td></tr></tbody>';
    return;
  }
  const seeds = Math.min(...runs.map((run) => run.seeds));
  $('#seeds').textContent = seeds === 1 ? 'one seed' : seeds < ENOUGH_FOR_INTERVAL ? `mean of ${seeds} seeds (smallest to largest)`
    : `mean ± half the 95 % interval over ${seeds} seeds; (low to high) where the interval reaches a bound`;
  const cell = (estimate: Estimate | null | undefined, scale: number): string => {
    if (!estimate) return '–';
    const [mean, spread] = digits(estimate, scale);
    return `${mean}${spread === null ? '' : ` <span class="half">${spread}</span>`}`;
  };
  const titles = known.map(({ title, unit }) => titled(title, unit));
  const shown = results.runs.flatMap((run, index) => (run ? [{ label: escape(results.labels[index] || 'all flows'), cells: known.map(({ key, scale }) => cell(run.measures[key], scale)) }] : []));
  // On a narrow screen each measure has a row, for there are more of them than runs.
  $('#measures').innerHTML = phone.matches
    ? rows('Measure', shown.map(({ label }) => label), titles.map((title, nth) => [title, ...shown.map(({ cells }) => cells[nth]!)]))
    : rows('Run', titles, shown.map(({ label, cells }) => [label, ...cells]));
  const groups = results.runs.flatMap((run) => run?.groups ?? []);
  $('#sharing').hidden = groups.length === 0;
  const percent = (estimate: Estimate | null) => cell(estimate, 100);
  $('#shares').innerHTML = rows('Flows', [titled('share', '%'), titled('max-min share', '%')], groups.map(({ label, share, fair_share }) => [escape(label), percent(share), percent(fair_share)]));
  const cut = completed === results.id && results.labels.length > results.runs.length ? [`${results.runs.length} of ${results.labels.length} groups are run: a page shows no more of them alone`] : [];
  $('#warnings').replaceChildren(...[...cut, ...new Set(runs.flatMap((run) => run.warnings))].map((text) => {
    const item = document.createElement('li');
    item.append(...marked(text));
    return item;
  }));
}

/** A heading with its unit. */
function titled(title: string, unit: string): string {
  return `${escape(title)}${unit ? ` <small>${escape(unit)}</small>` : ''}`;
}

/** A table whose rows begin with what they are of; `corner` says so to those who hear it. */
function rows(corner: string, head: string[], body: string[][]): string {
  const cells = body.map(([first, ...rest]) => `<tr><th scope="row">${first}</th>${rest.map((one) => `<td>${one}</td>`).join('')}</tr>`);
  return `<thead><tr><th scope="col"><span class="hidden">${corner}</span></th>${head.map((one) => `<th scope="col">${one}</th>`).join('')}</tr></thead><tbody>${cells.join('')}</tbody>`;
}

/** Runs from which on an interval is shown, and not the smallest and the largest value: as in the tables of the command. */
const ENOUGH_FOR_INTERVAL = 5;

/**
 * A mean, and what is shown beside it: `± half`, or `(low to high)`. As in the tables of the command (`cwnd_run::measure::digits`): to two
 * digits of half the width, no more than five of the mean, and two digits of a number that would read as zero.
 */
function digits({ mean, ci95, n, low, high }: Estimate, scale: number): [string, string | null] {
  const whole = ci95 !== null && n >= ENOUGH_FOR_INTERVAL && low === mean - ci95 && high === mean + ci95;
  mean *= scale;
  if (ci95 === null) return [written(mean, decimals(mean, 4)), null];
  const half = whole ? scale * ci95 : (scale * (high - low)) / 2;
  const places = half > 0 ? Math.min(decimals(half, 2), decimals(mean, 5)) : decimals(mean, 4);
  if (!whole) return [written(mean, places), `(${written(low * scale, places)} to ${written(high * scale, places)})`];
  return [written(mean, places), `± ${reads_as_zero(mean, places) ? written(half, places) : half.toFixed(places)}`];
}

/** How many decimals show so many digits of `value`, six at most. */
function decimals(value: number, digits: number): number {
  return value === 0 ? 0 : Math.min(Math.max(digits - 1 - Math.floor(Math.log10(Math.abs(value))), 0), 6);
}

function reads_as_zero(value: number, places: number): boolean {
  return value !== 0 && Number(value.toFixed(places)) === 0;
}

function written(value: number, places: number): string {
  if (!reads_as_zero(value, places)) return value.toFixed(places);
  // Of the two digits that are shown: 9.99e-7 is 0.0000010.
  const rounded = value.toExponential(1);
  const exponent = Number(rounded.slice(rounded.indexOf('e') + 1));
  return exponent < -6 ? rounded : value.toFixed(1 - exponent);
}

function list_events(): void {
  const most = 300;
  $('#events summary').textContent = `Events (${events.length}${events.length > most ? `, the first ${most}` : ''})`;
  if (!$<HTMLDetailsElement>('#events').open) return;
  const rows = events.slice(0, most).map(({ t, line, text }) => `<tr><td>${t.toFixed(2)}</td><td class="words">${escape(all[line]!.name)}</td><td class="words">${escape(text)}</td></tr>`);
  $('#events table').innerHTML = `<thead><tr><th scope="col">s</th><th scope="col" class="words">Flow</th><th scope="col" class="words">Event</th></tr></thead><tbody>${rows.join('')}</tbody>`;
}
$('#events').addEventListener('toggle', list_events);

/** The name of the scenario, and of a preset its lesson. */
function lesson(): void {
  const preset = hello?.presets.find(({ id }) => id === settings.preset);
  const box = $('#lesson');
  const title = String((preset ?? settings).document['title'] ?? '');
  box.hidden = preset ? !preset.claim : !title;
  const altered = settled() !== (preset ? JSON.stringify([preset.document, preset.apart]) : taken);
  box.innerHTML = `<h2>${escape(title)}${altered ? ' <small>modified</small>' : ''}</h2>`;
  if (preset) {
    box.insertAdjacentHTML('beforeend', '<p></p><p><b>Look for</b> </p>');
    box.querySelector('p')!.append(...marked(preset.claim));
    box.querySelector('p:last-child')!.append(...marked(preset.look));
  }
  $<HTMLSelectElement>('#preset').value = preset?.id ?? '';
}

function status(text: string, bad = false): void {
  const one = $('#status');
  one.replaceChildren(...marked(text));
  one.classList.toggle('bad', bad);
}

function message(text: string): void {
  const box = $('#message');
  box.hidden = text === '';
  box.replaceChildren(...marked(text));
}

/** Says why something is not run. What was read has lines; what the controls make shows its key. */
function refuse(text: string, was_read: boolean, place?: Place): void {
  asked = { ...asked, answered: true, settings: '' };
  status('not run', true);
  waiting(false);
  const known = place && place.line > 0 ? place : undefined;
  const line = known ? excerpt(known) : { text: '', column: 1 };
  const where = was_read && known ? `line ${known.line}: ` : line.text.trim() && `${line.text.trim()}: `;
  const whole = where + shortened(text);
  message(whole);
  if (!was_read) return;
  text_fault(whole);
  if (!known) return;
  const field = $<HTMLTextAreaElement>('#toml');
  const pre = document.createElement('pre');
  const width = Math.min(known.width, Math.max(1, [...line.text].length - line.column + 1));
  pre.textContent = `${known.line} | ${line.text}\n${' '.repeat(String(known.line).length)} | ${' '.repeat(line.column - 1)}${'^'.repeat(width)}`;
  $('#toml-error').append(pre);
  const from = field.value.split('\n').slice(0, known.line - 1).reduce((sum, line) => sum + line.length + 1, 0) + known.column - 1;
  field.focus();
  field.setSelectionRange(from, from + known.width);
  field.scrollTop = Math.max(0, known.line - 4) * parseFloat(getComputedStyle(field).lineHeight);
}

/** The line of a place, of a long one the part around the column, with the column in what is left. */
function excerpt({ text, column }: Place): { text: string; column: number } {
  const letters = [...text];
  if (letters.length <= LONGEST_LINE) return { text, column };
  const from = Math.min(Math.max(column - LONGEST_LINE / 2, 0), letters.length - LONGEST_LINE);
  const [before, after] = [from > 0 ? '…' : '', from + LONGEST_LINE < letters.length ? '…' : ''];
  return { text: before + letters.slice(from, from + LONGEST_LINE).join('') + after, column: column - from + before.length };
}

/** The reason for a refusal, without the middle of a long one: it quotes what was given. */
function shortened(text: string): string {
  const letters = [...text];
  return letters.length <= LONGEST_REASON ? text : `${letters.slice(0, LONGEST_REASON / 2).join('')} … ${letters.slice(-LONGEST_REASON / 2).join('')}`;
}

/** Says what is wrong with the text of the scenario. */
function text_fault(text: string): void {
  $('#toml-error').textContent = text;
  $('#toml').setAttribute('aria-invalid', String(text !== ''));
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}

// ---------------------------------------------------------------- what people do

// On a narrow screen the controls are before the plots, and shut.
const narrow = matchMedia('(max-width: 900px)');
const fold = () => { $<HTMLDetailsElement>('#panel').open = !narrow.matches; };
fold();
narrow.addEventListener('change', fold);
phone.addEventListener('change', () => { dirty.measures = true; schedule(); });

$('#preset').addEventListener('change', ({ target }) => {
  const preset = hello?.presets.find(({ id }) => id === (target as HTMLSelectElement).value);
  if (preset) load(preset.document, preset.apart, preset.id);
});
// A slider that is back where it was has not changed, and yet what is shown is of one seed.
for (const kind of ['pointerup', 'keyup']) {
  $('#controls').addEventListener(kind, () => setTimeout(() => { if (asked.moving && !pacing) ask(false); }));
}
$('#controls').addEventListener('submit', (event) => event.preventDefault());
$<HTMLInputElement>('#time').addEventListener('input', ({ target }) => {
  show_row(Number((target as HTMLInputElement).value));
  plots.point(row ?? 0);
  planes();
});
$('#flows').addEventListener('click', ({ target }) => {
  const name = (target as HTMLElement).closest<HTMLElement>('[data-line]')?.dataset['line'];
  if (name === undefined) return;
  if (!hidden.delete(name)) hidden.add(name);
  dirty.curves = true;
  schedule();
  requestAnimationFrame(() => $(`[data-line="${CSS.escape(name)}"]`).focus());
});
$('#end').addEventListener('click', stop);
$('#pace').addEventListener('click', () => {
  pacing = !pacing;
  $('#pace').setAttribute('aria-pressed', String(pacing));
  $('#clock').hidden = !pacing;
  row = null;
  if (pacing) pace();
  else ask(false);
});
const speed_text = () => { $('#speed-text').textContent = `${short(speed(), 2)} × real time`; };
speed_text();
$('#speed').addEventListener('input', () => {
  speed_text();
  if ($('#hold').getAttribute('aria-pressed') === 'false') engine.send({ do: 'pull', speed: speed() });
});
$('#hold').addEventListener('click', () => {
  const held = $('#hold').getAttribute('aria-pressed') === 'false';
  $('#hold').setAttribute('aria-pressed', String(held));
  engine.send({ do: 'pull', speed: held ? 0 : speed() });
  status(held ? 'paused' : 'running in real time');
});
choose($('#theme'), () => {
  theme = colours();
  dirty = { curves: true, measures: true };
  schedule();
});
new ResizeObserver(() => { if (all.length > 0) { dirty.curves = true; schedule(); } }).observe($('#phase'));

let read_id = 0;

function read_toml(text: string): void {
  asked.id += 1;
  read_id = asked.id;
  engine.send({ do: 'read', id: asked.id, text });
  $<HTMLTextAreaElement>('#toml').value = text;
}
$('#apply').addEventListener('click', () => read_toml($<HTMLTextAreaElement>('#toml').value));
document.addEventListener('dragover', (event) => {
  event.preventDefault();
  document.body.classList.add('dropping');
});
document.addEventListener('dragleave', () => document.body.classList.remove('dropping'));
document.addEventListener('drop', (event) => {
  event.preventDefault();
  document.body.classList.remove('dropping');
  void event.dataTransfer?.files[0]?.text().then((text) => {
    $<HTMLDetailsElement>('#scenario').open = true;
    read_toml(text);
  });
});

async function copy(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    status('copied');
  } catch {
    message(text);
  }
}

$('#take').addEventListener('click', ({ target }) => {
  const what = (target as HTMLElement).dataset['take'];
  const name = settings.preset || 'live';
  const title = String(settings.document['title'] ?? 'cwnd live');
  if (what === 'link') {
    keepLink(true);
    void copy(location.href);
  } else if (what === 'command') void copy(latest().command);
  else if (what === 'toml') download(file(), latest().toml, 'application/toml');
  else if (what === 'csv') download(`${name}.csv`, csv(results, recordings), 'text/csv');
  else if (what === 'svg') download(`${name}.svg`, picture(results, recordings, title, plots.colour, theme), 'image/svg+xml');
  if (what) $<HTMLDetailsElement>('#take').open = false;
});
document.querySelector('#take form')?.addEventListener('submit', () => { $<HTMLInputElement>('#take [name=toml]').value = latest().toml; });
document.addEventListener('click', ({ target }) => { if (!(target as HTMLElement).closest('#take')) $<HTMLDetailsElement>('#take').open = false; });
document.addEventListener('keydown', ({ key }) => {
  const menu = $<HTMLDetailsElement>('#take');
  if (key === 'Escape' && menu.open) {
    menu.open = false;
    menu.querySelector('summary')?.focus();
  }
});
addEventListener('hashchange', () => {
  if (location.hash.length <= 1) begin();
  // After a refusal the address before it is not shown either.
  else if (location.hash !== kept || asked.settings === '') open_address();
});

/** Characters of a line, and of a reason, that a refusal shows. */
const LONGEST_LINE = 120;
const LONGEST_REASON = 800;
/** Letters of a name on an axis, which has 300 pixels on a phone. */
const LONGEST_NAME = 28;
/** Between two pictures of what is beside the curves, while these move. */
const REST_MS = 120;
/** Rows of a paced run that stay: ten minutes at 20 ms. */
const MAX_ROWS = 30_000;
