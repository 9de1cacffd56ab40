// The scenario on the page, and the data of its runs.

import type { Columns, Description, Estimate, FlowInfo, Group, Json, Recording, Response, Table } from './protocol';

/** A scenario with the keys of its TOML document, and how it is shown. */
export interface Settings { document: Table; apart: boolean; preset: string }

/** What came of one scenario. */
export interface Run {
  description: Description;
  columns: Columns;
  operating: { loss: number | null; window: number | null }[];
  /** Of the first seed; none before the whole of it is there. */
  digest: string;
  measures: Record<string, Estimate | null>;
  groups: Group[];
  seeds: number;
  warnings: string[];
  /** Whether all of its first seed is there. */
  whole: boolean;
}

/** A flow of a run, with how it is drawn. */
export interface Line {
  run: number;
  flow: number;
  name: string;
  info: FlowInfo;
  dash: number[];
}

export interface Results { id: number; labels: string[]; seeds: number; runs: (Run | undefined)[]; responses: Response[]; toml: string; command: string; address: string }

export const empty = (id: number): Results => ({ id, labels: [], seeds: 0, runs: [], responses: [], toml: '', command: '', address: '' });

/** The sampled instants: those of the run that has come furthest, while runs beside each other arrive in parts. */
export function instants(results: Results): Float32Array | undefined {
  const all = results.runs.flatMap((run) => run?.columns.get('t') ?? []);
  return all.reduce<Float32Array | undefined>((longest, t) => (longest && longest.length >= t.length ? longest : t), undefined);
}

/** The lines of all runs; those of colours that are near to each other differ by their dash. */
export function lines(results: Results): Line[] {
  const seen: string[] = [];
  return results.runs.flatMap((run, index) => (run?.description.flows ?? []).map((info, flow) => {
    const nth = seen.filter((colour) => near(colour, info.light)).length;
    seen.push(info.light);
    return { run: index, flow, name: info.name, info, dash: DASHES[nth % DASHES.length]! };
  }));
}

/** So many of the lines, the same number of each algorithm of each run as far as there are as many. */
export function spread(all: Line[], most: number): Line[] {
  const kind = ({ run, info }: Line) => `${run} ${info.algorithm}`;
  const kinds = new Set(all.map(kind)).size;
  const each = Math.max(1, Math.floor(most / Math.max(1, kinds)));
  const taken = new Map<string, number>();
  return all.length <= most ? all : all.filter((line) => {
    const count = (taken.get(kind(line)) ?? 0) + 1;
    taken.set(kind(line), count);
    return count <= each;
  });
}

/** Whether two colours, as #rrggbb, are hard to tell apart. */
function near(a: string, b: string): boolean {
  const [x, y] = [a, b].map((colour) => [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16)));
  return x!.reduce((sum, value, at) => sum + (value - y![at]!) ** 2, 0) < 80 ** 2;
}

export function column(results: Results, line: { run: number; flow: number }, name: string): Float32Array | undefined {
  return results.runs[line.run]?.columns.get(`${line.flow}.${name}`);
}

/** A recorded flow that is drawn, and how. */
export interface Recorded { name: string; dash: number[]; window: Float32Array; goodput: Float32Array }

/** The recorded flows at the instants of the runs: straight lines between their points, nothing where one is missing. */
export function recorded(all: Recording[], t: Float32Array): Recorded[] {
  return all.map(({ label, every, window, goodput }, nth) => {
    const at = (values: (number | null)[]) => t.map((now) => {
      const [place, last] = [now / every, values.length - 1];
      const [from, to] = [values[Math.floor(place)], values[Math.min(Math.ceil(place), last)]];
      return from == null || to == null ? NaN : from + (to - from) * (place - Math.floor(place));
    });
    const before = all.slice(0, nth).filter((one) => one.label === label).length;
    return { name: `recorded: ${label}${before > 0 ? ` (${before + 1})` : ''}`, dash: DASHES[(nth + 1) % DASHES.length]!, window: at(window), goodput: at(goodput) };
  });
}

/** Something that happened to a flow; after a loss, until when it retransmitted what was lost. */
export interface Happened { row: number; t: number; until: number; line: number; what: 'loss' | 'timeout' | 'cut' | 'state'; text: string }

/** Losses, timeouts, cuts and states, by time. Losses that follow each other closely are one. */
export function happened(results: Results, all: Line[]): Happened[] {
  const list: Happened[] = [];
  all.forEach((line, index) => {
    const t = results.runs[line.run]?.columns.get('t');
    const [lost, timeouts, window, state, again, rtt] = ['lost', 'timeouts', 'window', 'state', 'retransmitted', 'rtt'].map((name) => column(results, line, name));
    if (!t || !lost || !timeouts || !window) return;
    const gap = Math.max(1.5 * line.info.base_rtt * 1e-3, 2 * (t[1] ?? 0));
    let last = -Infinity;
    let recovery: Happened | null = null;
    /** The losses that are one, and how many packets they are. */
    let episode: { one: Happened; packets: number } | null = null;
    const close = () => {
      if (episode) episode.one.text = `loss of ${episode.packets} packet${episode.packets > 1 ? 's' : ''}`;
      episode = null;
    };
    for (let row = 1; row < t.length; row += 1) {
      const at = t[row]!;
      const push = (what: Happened['what'], text: string) => {
        const one = { row, t: at, until: at, line: index, what, text };
        list.push(one);
        return one;
      };
      if (timeouts[row]! > timeouts[row - 1]!) push('timeout', 'timeout');
      const dropped = lost[row]! - lost[row - 1]!;
      if (dropped > 0) {
        if (at - last > gap || !episode) {
          close();
          recovery = push('loss', '');
          episode = { one: recovery, packets: 0 };
        }
        episode.packets += dropped;
        last = at;
      } else if (!state && window[row]! < 0.93 * window[row - 1]! && at - last > gap) {
        push('cut', `cut from ${Math.round(window[row - 1]!)} to ${Math.round(window[row]!)} packets`);
        last = at;
      }
      // Recovery goes on while something is retransmitted, with no pause of more than a round trip and a half.
      if (recovery && again && again[row]! > again[row - 1]!) {
        const near = Math.max(gap, 1.5e-3 * (rtt?.[row] || 0));
        if (at - recovery.until <= near) recovery.until = at;
        else recovery = null;
      }
      if (state && state[row] !== state[row - 1]) push('state', stateName(line.info.algorithm, state[row]!));
    }
    close();
  });
  for (const one of list) if (one.until > one.t) one.text += `, retransmits until ${one.until.toFixed(2)} s`;
  return list.sort((a, b) => a.t - b.t);
}

export function stateName(algorithm: string, state: number): string {
  return (/^bbr(:|$)/.test(algorithm) ? BBR : BBR3)[state] ?? String(state);
}

/** The value at a path of keys. */
export function get(table: Json | undefined, path: string): Json | undefined {
  return path.split('.').reduce<Json | undefined>((at, key) => (at as Table | undefined)?.[key], table);
}

/** Sets it, or takes it away; tables on the way are made, and taken away when they are empty. */
export function set(table: Table, path: string, value: Json | undefined): void {
  const [key = '', ...rest] = path.split('.');
  if (rest.length === 0) {
    if (value === undefined || value === '') delete table[key];
    else table[key] = value;
    return;
  }
  const inner = (table[key] ?? {}) as Table;
  set(inner, rest.join('.'), value);
  if (Object.keys(inner).length === 0 && key !== 'dumbbell') delete table[key];
  else table[key] = inner;
}

const DASHES = [[], [7, 3], [2, 2], [9, 3, 2, 3], [4, 2], [12, 4], [1, 3], [6, 2, 1, 2, 1, 2]];
const BBR = ['Startup', 'Drain', 'ProbeBW', 'ProbeRTT'];
const BBR3 = ['Startup', 'Drain', 'ProbeBW down', 'ProbeBW cruise', 'ProbeBW refill', 'ProbeBW up', 'ProbeRTT'];
