// The form: the scenario's keys as sliders, choices and fields.

import { get, set, type Settings } from './model';
import type { Algorithm, Hello, Json, Table } from './protocol';
import { plain, rate, readSpec, span, writeSpec } from './quantity';

interface Slider {
  path: string;
  label: string;
  help: string;
  unset: string;
  min: number;
  max: number;
  /** The left end is nothing: this text, or no key. */
  none?: string;
  kind: { read: (text: string) => number | null; write: (value: number) => string };
  /** Around the number in the text. */
  wrap?: (text: string) => string;
  unwrap?: (text: string) => string;
}

const PATH: Slider[] = [
  { path: 'dumbbell.rate', label: 'Rate', help: 'of the bottleneck', unset: '100mbit', min: 1e6, max: 1e9, kind: rate },
  { path: 'dumbbell.rtt', label: 'Round-trip time', help: 'without queueing', unset: '50ms', min: 1e-3, max: 0.5, kind: span },
  { path: 'dumbbell.loss', label: 'Random loss', help: 'a probability, or periodic:N', unset: '0', min: 1e-6, max: 0.1, none: '0', kind: plain },
  {
    path: 'dumbbell.impairments.reorder', label: 'Reordering', help: 'share of packets, and their extra delay', unset: '',
    min: 1e-4, max: 0.2, none: '', kind: plain, wrap: (text) => `${text}:10ms`, unwrap: (text) => text.split(':')[0] ?? '',
  },
];
const SIZE: Slider = {
  path: '', label: 'Queue size', help: 'bandwidth-delay products, or packets as 50p', unset: '1bdp', min: 0.05, max: 10, kind: plain,
  wrap: (text) => `${text}bdp`, unwrap: (text) => /^([\d.]+)bdp$/.exec(text)?.[1] ?? '',
};
const CROSS: Slider = {
  path: 'cbr.0.rate', label: 'Constant traffic', help: 'without congestion control', unset: '', min: 1e5, max: 1e9, none: '', kind: rate,
  wrap: (text) => `cbr:${text}`, unwrap: (text) => text.replace(/^cbr:/, ''),
};
const LOAD: Slider = {
  path: 'arrivals.0.load', label: 'Short flows', help: 'CUBIC flows of 30 packets on average, as a share of the rate', unset: '', min: 0.01, max: 0.9, none: '', kind: plain,
};
const TIME: Slider = { path: 'duration', label: 'Duration', help: 'simulated time', unset: '60s', min: 1, max: 120, kind: span };

export type Changed = (moving: boolean) => void;

/** Builds the form anew for the settings, which its controls change. */
export function build(form: HTMLFormElement, settings: Settings, hello: Hello, changed: Changed): void {
  const open = new Set([...form.querySelectorAll<HTMLDetailsElement>('details[open]')].map(({ id }) => id));
  const { document: scenario } = settings;
  const rebuild = () => { changed(false); build(form, settings, hello, changed); };
  const parts: HTMLElement[] = [];
  const dumbbell = 'dumbbell' in scenario;

  const flows = (scenario['flow'] ??= []) as Table[];
  const groups = flows.map((group, index) => flowGroup(group, index, flows, hello, changed, rebuild));
  const add = button('Add flows', () => { flows.push({ algorithm: 'reno' }); rebuild(); });
  const alone = check('Each group alone on the path', settings.apart, (on) => { settings.apart = on; changed(false); });
  parts.push(section('Algorithms', ...groups, row(add), ...(flows.length > 1 ? [alone] : [])));

  if (dumbbell) {
    parts.push(section('Path', ...PATH.slice(0, 2).map((one) => slider(scenario, one, changed)), queue(scenario, hello, changed, rebuild),
      ...PATH.slice(2).map((one) => slider(scenario, one, changed)), marks(scenario, flows, hello, changed), era(scenario, hello, changed)));
  } else {
    parts.push(section('Path', note('This path has more than one bottleneck: edit it as text, at the end of the page.'), era(scenario, hello, changed)));
  }
  const cross = details('cross', 'Other traffic', constant(scenario, changed), ...(dumbbell ? [short_flows(scenario, changed)] : []));
  parts.push(cross, section('Run', slider(scenario, TIME, changed),
    field('Warm-up', get(scenario, 'warmup'), 'half of the duration, at most 10s', (text) => { set(scenario, 'warmup', text); changed(false); }),
    number('Seeds', get(scenario, 'seeds') ?? 5, 1, 200, (value) => { set(scenario, 'seeds', value); changed(false); })));
  form.replaceChildren(...parts);
  form.querySelectorAll('details').forEach((one) => { if (open.has(one.id)) one.open = true; });
}

function flowGroup(group: Table, index: number, flows: Table[], hello: Hello, changed: Changed, rebuild: () => void): HTMLElement {
  const text = String(group['algorithm'] ?? '');
  const spec = readSpec(text);
  const known = hello.algorithms.find(({ known: { name } }) => name === spec.name);
  const box = element('fieldset', 'group');
  box.style.setProperty('--light', known?.light ?? 'gray');
  box.style.setProperty('--dark-tone', known?.dark ?? 'gray');
  const legend = element('legend', 'hidden');
  legend.textContent = `Flows ${index + 1}`;
  const select = document.createElement('select');
  select.setAttribute('aria-label', `Algorithm of flows ${index + 1}`);
  for (const [family, title] of [['core', 'From the five papers'], ['baseline', 'Baselines'], ['named', 'Others'], ['own', 'Custom']] as const) {
    const options = hello.algorithms.filter(({ known: one }) => one.family === family);
    const group = document.createElement('optgroup');
    group.label = title;
    group.append(...options.map(({ known: { name, title: what } }) => {
      const option = new Option(name, name, false, name === spec.name);
      option.title = what;
      return option;
    }));
    if (options.length > 0) select.append(group);
  }
  if (!known) select.append(new Option(spec.name, spec.name, false, true));
  select.addEventListener('change', () => { group['algorithm'] = select.value; rebuild(); });
  const head = element('div', 'head');
  const remove = button('×', () => { flows.splice(index, 1); rebuild(); });
  remove.setAttribute('aria-label', `Remove flows ${index + 1}`);
  remove.className = 'plain';
  const count = number('×', get(group, 'count') ?? 1, 1, 1000, (value) => { set(group, 'count', value === 1 ? undefined : value); changed(false); }, `Number of flows ${index + 1}`);
  head.append(select, count, ...(flows.length > 1 ? [remove] : []));
  const more = details(`flow-${index}`, known?.known.family === 'own' ? 'Times' : 'Parameters and times');
  // What makes a rule of one's own is always in sight.
  const own = known?.known.family === 'own';
  if (known && !own) more.append(note(`${known.known.title}. ${known.known.source}.`), ...parameters(group, spec.values, known, changed));
  for (const [key, label, hint] of [['start', 'Start', '0s'], ['stop', 'Stop', 'never'], ['extra_rtt', 'Extra RTT', '0ms'], ['size', 'Flow size', 'unlimited, or 1MB']] as const) {
    more.append(field(label, get(group, key), hint, (value) => { set(group, key, value); changed(false); }));
  }
  box.append(legend, head, ...(known && own ? [examples(group, hello, rebuild), ...parameters(group, spec.values, known, changed)] : []), more);
  return box;
}

/** A choice of rules, which are written into the group. */
function examples(group: Table, hello: Hello, rebuild: () => void): HTMLElement {
  const select = document.createElement('select');
  const now = hello.rules.findIndex(({ rule }) => rule === group['algorithm']);
  select.append(new Option('your own', ''), ...hello.rules.map(({ meaning }, nth) => new Option(meaning.replaceAll('`', ''), String(nth), false, nth === now)));
  select.addEventListener('change', () => { group['algorithm'] = hello.rules[Number(select.value || NaN)]?.rule ?? 'rule'; rebuild(); });
  const box = labelled('Example', select);
  box.classList.add('wide');
  return box;
}

function parameters(group: Table, values: [string, string][], { known }: Algorithm, changed: Changed): HTMLElement[] {
  const own = known.family === 'own';
  const fields = known.parameters.map(({ name, help, unit, default: usual, accepted }) => {
    const given = values.find(([key]) => key === name)?.[1];
    const box = field(name, given, usual, (text) => {
      const rest = values.filter(([key]) => key !== name);
      values.splice(0, values.length, ...rest, ...(text ? [[name, text] as [string, string]] : []));
      group['algorithm'] = writeSpec({ name: known.name, values });
      changed(false);
    });
    // Expressions are longer than numbers.
    box.classList.toggle('wide', own);
    box.append(small(`${help}${unit ? `, in ${unit}` : ''}${own ? '' : `; ${accepted}`}`));
    return box;
  });
  // All expressions are made of the same.
  return own && known.parameters[0] ? [...fields, note(`Each is an expression of ${known.parameters[0].accepted}.`)] : fields;
}

function queue(scenario: Table, hello: Hello, changed: Changed, rebuild: () => void): HTMLElement {
  const text = String(get(scenario, 'dumbbell.queue') ?? 'droptail:1bdp');
  const [discipline = 'droptail', rest = '1bdp'] = text.split(/:(.*)/s);
  const [size = '1bdp', ...options] = rest.split(',');
  const now = { discipline, size, options: options.join(',') };
  const names = hello.queues.map(({ name }) => name);
  const write = () => set(scenario, 'dumbbell.queue', `${now.discipline}:${now.size}${now.options ? `,${now.options}` : ''}`);
  const box = element('div', 'queue');
  const holder: Table = { size };
  box.append(
    choice('Queue', names.includes(discipline) ? names : [discipline, ...names], discipline, (value) => {
      now.discipline = value;
      now.options = '';
      write();
      rebuild();
    }),
    slider(holder, { ...SIZE, path: 'size' }, (moving) => { now.size = String(holder['size'] ?? '1bdp'); write(); changed(moving); }),
    ...(discipline === 'droptail' ? [] : [field('Queue options', now.options, 'none, or target=5ms,ecn=yes', (value) => { now.options = value; write(); changed(false); })]),
  );
  return box;
}

function marks(scenario: Table, flows: Table[], hello: Hello, changed: Changed): HTMLElement {
  const now = String(flows.find((group) => group['ecn'])?.['ecn'] ?? 'none');
  return choice('ECN', ['none', 'latch', 'per-packet'], now, (value) => {
    flows.forEach((group) => set(group, 'ecn', value === 'none' ? undefined : value));
    const queue = String(get(scenario, 'dumbbell.queue') ?? '');
    if (value !== 'none' && hello.queues.some(({ name, marks }) => marks && queue.startsWith(`${name}:`)) && !queue.includes('ecn=')) set(scenario, 'dumbbell.queue', `${queue},ecn=yes`);
    changed(false);
  }, 'ECN: a queue with ecn=yes marks packets instead of dropping them');
}

function era(scenario: Table, hello: Hello, changed: Changed): HTMLElement {
  return choice('Stack profile', hello.eras, String(get(scenario, 'era') ?? 'modern'), (value) => {
    set(scenario, 'era', value === 'modern' ? undefined : value);
    changed(false);
  }, 'behaviour of senders and receivers (era)');
}

function constant(scenario: Table, changed: Changed): HTMLElement {
  const holder: Table = { rate: (scenario['cbr'] as Table[] | undefined)?.[0]?.['rate'] };
  return slider(holder, { ...CROSS, path: 'rate' }, (moving) => {
    const list = (scenario['cbr'] ?? []) as Table[];
    const value = holder['rate'];
    if (value === undefined) list.shift();
    else list[0] = { ...(list[0] ?? {}), rate: value };
    if (list.length > 0) scenario['cbr'] = list;
    else delete scenario['cbr'];
    changed(moving);
  });
}

function short_flows(scenario: Table, changed: Changed): HTMLElement {
  const holder: Table = { load: (scenario['arrivals'] as Table[] | undefined)?.[0]?.['load'] };
  return slider(holder, { ...LOAD, path: 'load' }, (moving) => {
    const list = (scenario['arrivals'] ?? []) as Table[];
    const value = Number(holder['load']);
    if (!(value > 0)) list.shift();
    else list[0] = { algorithm: 'cubic', size: 'pareto:30p,shape=1.35', ...(list[0] ?? {}), load: value };
    if (list.length > 0) scenario['arrivals'] = list;
    else delete scenario['arrivals'];
    changed(moving);
  });
}

/** A slider beside a field with the text that it writes. */
function slider(table: Table, { path, label, help, unset, min, max, none, kind, wrap = (text) => text, unwrap = (text) => text }: Slider, changed: Changed): HTMLElement {
  const box = element('div', 'slider');
  const text = document.createElement('input');
  const range = document.createElement('input');
  const id = `c-${label.toLowerCase().replace(/\W+/g, '-')}`;
  Object.assign(range, { id, type: 'range', min: '0', max: '1000', step: '1' });
  Object.assign(text, { type: 'text', size: 9, spellcheck: false });
  text.setAttribute('aria-label', `${label} as text`);
  const [low, high] = [Math.log(min), Math.log(max)];
  const place = (value: string) => {
    const number = kind.read(unwrap(value));
    range.value = number === null || (none !== undefined && number === 0) ? '0'
      : String(Math.round(((Math.log(number) - low) / (high - low)) * (none === undefined ? 1000 : 980) + (none === undefined ? 0 : 20)));
    range.setAttribute('aria-valuetext', value || 'none');
  };
  const value = get(table, path);
  text.value = value === undefined ? unset : String(value);
  text.placeholder = none === '' ? 'none' : unset;
  place(text.value);
  const take = (moving: boolean) => { set(table, path, text.value.trim() || undefined); changed(moving); };
  const slide = (moving: boolean) => {
    const at = Number(range.value);
    if (none !== undefined && at < 10) text.value = none;
    else {
      const share = none === undefined ? at / 1000 : Math.max(0, at - 20) / 980;
      text.value = wrap(kind.write(Math.exp(low + share * (high - low))));
    }
    range.setAttribute('aria-valuetext', text.value || 'none');
    take(moving);
  };
  range.addEventListener('input', () => slide(true));
  range.addEventListener('change', () => slide(false));
  text.addEventListener('change', () => { place(text.value); take(false); });
  const name = document.createElement('label');
  name.htmlFor = id;
  name.textContent = label;
  name.title = help;
  box.append(name, text, range);
  return box;
}

function choice(label: string, options: string[], now: string, chosen: (value: string) => void, help = ''): HTMLElement {
  const select = document.createElement('select');
  select.append(...options.map((option) => new Option(option, option, false, option === now)));
  select.addEventListener('change', () => chosen(select.value));
  return labelled(label, select, help);
}

function field(label: string, value: Json | undefined, hint: string, changed: (text: string) => void): HTMLElement {
  const input = document.createElement('input');
  Object.assign(input, { type: 'text', value: value === undefined ? '' : String(value), placeholder: hint, size: 12, spellcheck: false });
  input.addEventListener('change', () => changed(input.value.trim()));
  return labelled(label, input);
}

function number(label: string, value: Json, min: number, max: number, changed: (value: number) => void, name = ''): HTMLElement {
  const input = document.createElement('input');
  Object.assign(input, { type: 'number', min: String(min), max: String(max), step: '1', value: String(value) });
  if (name) input.setAttribute('aria-label', name);
  input.addEventListener('change', () => changed(Math.min(max, Math.max(min, Math.round(Number(input.value)) || min))));
  return labelled(label, input);
}

function check(label: string, on: boolean, changed: (on: boolean) => void): HTMLElement {
  const input = document.createElement('input');
  Object.assign(input, { type: 'checkbox', checked: on });
  input.addEventListener('change', () => changed(input.checked));
  const box = document.createElement('label');
  box.className = 'check';
  box.append(input, label);
  return box;
}

function labelled(label: string, control: HTMLElement, help = ''): HTMLElement {
  const box = document.createElement('label');
  box.className = 'field';
  const name = document.createElement('span');
  name.textContent = label;
  if (help) box.title = help;
  box.append(name, control);
  return box;
}

function section(title: string, ...content: HTMLElement[]): HTMLElement {
  const box = element('fieldset', 'section');
  const legend = document.createElement('legend');
  legend.textContent = title;
  box.append(legend, ...content);
  return box;
}

function details(id: string, title: string, ...content: HTMLElement[]): HTMLDetailsElement {
  const box = document.createElement('details');
  box.id = id;
  const summary = document.createElement('summary');
  summary.textContent = title;
  box.append(summary, ...content);
  return box;
}

function button(label: string, pressed: () => void): HTMLButtonElement {
  const one = document.createElement('button');
  one.type = 'button';
  one.textContent = label;
  one.addEventListener('click', pressed);
  return one;
}

function row(...content: HTMLElement[]): HTMLElement {
  const box = element('div', 'row');
  box.append(...content);
  return box;
}

function note(text: string): HTMLElement {
  const one = element('p', 'note');
  one.append(...marked(text));
  return one;
}

function small(text: string): HTMLElement {
  const one = document.createElement('small');
  one.append(...marked(text));
  return one;
}

/** A text whose words between backticks are code. */
export function marked(text: string): (string | HTMLElement)[] {
  return text.split('`').map((part, nth) => {
    if (nth % 2 === 0) return part;
    const code = document.createElement('code');
    code.textContent = part;
    return code;
  });
}

function element(tag: string, name: string): HTMLElement {
  const one = document.createElement(tag);
  one.className = name;
  return one;
}
