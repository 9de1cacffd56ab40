// What travels between the page and its engine: requests as JSON, answers as frames of a JSON header and columns of numbers.

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json | undefined };
export type Table = { [key: string]: Json | undefined };

export interface Parameter { name: string; help: string; unit: string; default: string; accepted: string }
export interface Algorithm {
  known: { name: string; title: string; family: string; source: string; parameters: Parameter[] };
  light: string;
  dark: string;
}
/** An example of a rule, and its meaning. */
export interface RuleExample { meaning: string; rule: string }
/** A queue, and whether it takes `ecn=yes`. */
export interface Queue { name: string; marks: boolean }
export interface Preset { id: string; document: Table; apart: boolean; claim: string; look: string }
export interface Measure { key: string; title: string; unit: string; scale: number }
export interface Hello {
  kind: 'hello'; version: string; algorithms: Algorithm[]; rules: RuleExample[]; queues: Queue[]; presets: Preset[]; measures: Measure[]; eras: string[];
}
export interface FlowInfo { name: string; algorithm: string; light: string; dark: string; base_rtt: number; start: number;
  /** What max-min fairness would give it, Mbit/s. */
  fair: number | null;
}
export interface Description {
  columns: string[]; rows: number; flows: FlowInfo[]; flows_in_all: number;
  link: { name: string; rate: number | null } | null; warmup: number; end: number;
}
/** A group of flows: its share in the goodput of all, and that of max-min fairness. */
export interface Group { label: string; share: Estimate | null; fair_share: Estimate | null }
export interface Estimate { mean: number; ci95: number | null; n: number; low: number; high: number }
export interface Response { algorithm: string; light: string; dark: string; points: [number, number][] }
/** A flow that was recorded elsewhere, at points `every` seconds from each other: its window in packets, its goodput in Mbit/s. */
export interface Recording { label: string; every: number; window: (number | null)[]; goodput: (number | null)[] }
export interface Place { line: number; column: number; width: number; text: string }
export type Answer =
  | Hello
  | { kind: 'started'; id: number; runs: string[]; seeds: number; toml: string; command: string; address: string }
  /** Of the first seed; what it is measured by comes with the whole of it. */
  | ({ kind: 'curves'; id: number; run: number; whole: boolean; digest?: string; operating?: { loss: number | null; window: number | null }[]; responses?: Response[] } & Description)
  | ({ kind: 'more'; id: number; from: number } & Description)
  | { kind: 'measures'; id: number; run: number; seeds: number; measures: Record<string, Estimate | null>; groups: Group[]; warnings?: string[] }
  /** Of one seed, from an engine that helps another, which takes `values` as they are. */
  | { kind: 'measured'; id: number; run: number; nth: number; values: string }
  | { kind: 'complete'; id: number; seeds: number; ms: number }
  /** How a run in real time is exported: at its start, and after each change of its rate. */
  | { kind: 'pulled'; id: number; at: number; toml: string; address: string; command: string }
  | { kind: 'held'; id: number }
  /** With the cursor in seconds, the digest of the first seed and recorded flows, if it is of an address that has them. */
  | { kind: 'document'; id: number; document: Table; apart: boolean; cursor?: number | null; digest?: string | null; recorded?: Recording[] }
  /** With `part` it is of one seed with its share of the memory. */
  | { kind: 'error'; id?: number; message: string; place?: Place; part?: boolean };

export type Columns = Map<string, Float32Array>;

/** The header of a frame, and its columns by name as views of its bytes. */
export function decode(buffer: ArrayBuffer): [Answer, Columns] {
  const length = new DataView(buffer).getUint32(0, true);
  const answer = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length))) as Answer;
  const columns: Columns = new Map();
  if (answer.kind === 'curves' || answer.kind === 'more') {
    let at = (4 + length + 3) & ~3;
    for (const name of answer.columns) {
      columns.set(name, new Float32Array(buffer, at, answer.rows));
      at += 4 * answer.rows;
    }
  }
  return [answer, columns];
}

/** What runs the scenarios of the page: a server, or a worker of this page. */
export interface Engine {
  /** Asks for something; false while there is no connection. */
  send(request: Table): boolean;
}

/** Who hears the answers of an engine. */
export interface Listener {
  heard(answer: Answer, columns: Columns): void;
  /** The engine cannot be reached, with what is done about it. */
  lost(why: string): void;
}
