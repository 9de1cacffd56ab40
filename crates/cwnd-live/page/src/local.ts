// Workers of this page as its engine.

import { decode, type Answer, type Columns, type Engine, type Listener, type Table } from './protocol';
import type { FromWorker, ToWorker } from './worker';

/** A worker with the engine. It hears nothing while it runs something. */
class Hand {
  /** Requests that it has not done. */
  pending = 0;
  private ended = false;
  private readonly worker: Worker;

  constructor(script: string, module: WebAssembly.Module, greet: boolean, owner: Owner) {
    this.worker = new Worker(script);
    this.worker.onmessage = ({ data }: MessageEvent<FromWorker>) => {
      if (this.ended) return;
      if ('frame' in data) owner.heard(this, ...decode(data.frame));
      else if ('failed' in data) owner.failed(this, data.failed);
      else {
        this.pending -= 1;
        if (this.pending === 0) owner.idle(this, data.done);
      }
    };
    this.worker.onerror = (event) => { if (!this.ended) owner.failed(this, event.message); };
    this.worker.postMessage({ module, greet } satisfies ToWorker);
  }

  post(request: Table): void {
    this.pending += 1;
    this.worker.postMessage({ request: JSON.stringify(request) } satisfies ToWorker);
  }

  end(): void {
    this.ended = true;
    this.worker.terminate();
  }
}

/** Who takes what a worker says. */
interface Owner {
  heard(from: Hand, answer: Answer, columns: Columns): void;
  /** A worker has nothing left to do; its memory in bytes. */
  idle(from: Hand, memory: number): void;
  failed(from: Hand, why: string): void;
}

/** The seeds of a run, which several workers take one by one after the first. */
interface Shared {
  request: Table;
  /** All seeds are wanted: no control is being moved. */
  whole: boolean;
  seeds: number;
  /** The first seed is done. */
  first: boolean;
  /** Places of seeds that no worker has taken yet; null until they are shared out. */
  left: number[] | null;
  workers: number;
}

/**
 * The engine in workers. The first one runs the first seed and has the measures of all; the others, which are started when a run has several
 * seeds, send it theirs. What supersedes a run ends the workers that are busy with it.
 */
export class Local implements Engine {
  private module: WebAssembly.Module | null = null;
  private main: Hand | null = null;
  private helpers: Hand[] = [];
  private shared: Shared | null = null;
  /** Of the first worker, which never gives any back. */
  private memory = 0;
  private readonly owner: Owner = {
    heard: (from, answer, columns) => this.heard(from, answer, columns),
    idle: (from, memory) => this.idle(from, memory),
    failed: (from, why) => this.failed(from, why),
  };

  constructor(private readonly listener: Listener, private readonly script: string, private readonly binary: string) {
    const missing = typeof WebAssembly !== 'object' ? 'WebAssembly' : typeof Worker !== 'function' ? 'workers' : null;
    if (missing) listener.lost(`this browser has no ${missing}, which the simulator needs`);
    else if (location.protocol === 'file:') listener.lost('browsers run no worker for a page that is opened as a file: serve this directory, for example with `python3 -m http.server`');
    else this.load().catch((error: unknown) => listener.lost(`the simulator cannot be loaded: ${error instanceof Error ? error.message : String(error)}`));
  }

  send(request: Table): boolean {
    if (!this.main) return false;
    const what = String(request['do']);
    if (SUPERSEDING.has(what)) this.supersede();
    if (what === 'run') {
      this.shared = { request, whole: request['moving'] !== true, seeds: 1, first: false, left: null, workers: 1 };
      // The other seeds are shared out once the first is done.
      this.main.post({ ...request, moving: true });
    } else if (what === 'finish') {
      if (this.shared?.request['id'] !== request['id']) return true;
      this.shared!.whole = true;
      if (this.shared!.first && this.main.pending === 0) this.share(this.main, this.shared!);
    } else this.main.post(request);
    return true;
  }

  private async load(): Promise<void> {
    const answer = await fetch(this.binary);
    if (!answer.ok) throw new Error(`${this.binary}: ${answer.status} ${answer.statusText}`);
    const streams = answer.headers.get('content-type')?.startsWith('application/wasm') ?? false;
    this.module = await (streams ? WebAssembly.compileStreaming(answer) : WebAssembly.compile(await answer.arrayBuffer()));
    this.main = this.hand(true);
  }

  private hand(greet = false): Hand {
    return new Hand(this.script, this.module!, greet, this.owner);
  }

  private supersede(): void {
    this.shared = null;
    this.keepHelpers((helper) => helper.pending === 0);
    if (this.main!.pending > 0) this.restart();
  }

  private restart(): void {
    this.main?.end();
    this.memory = 0;
    this.main = this.hand();
  }

  private keepHelpers(keep: (helper: Hand) => boolean): void {
    for (const helper of this.helpers) if (!keep(helper)) helper.end();
    this.helpers = this.helpers.filter(keep);
  }

  /** Shares out the seeds after the first. One worker takes all of them where more would need too much memory. */
  private share(main: Hand, shared: Shared): void {
    const workers = Math.min(navigator.hardwareConcurrency || 1, MOST_WORKERS, shared.seeds - 1, Math.floor(MEMORY / Math.max(1, this.memory)));
    if (workers < 2) {
      this.keepHelpers(() => false);
      if (shared.seeds > 1) main.post({ do: 'finish', id: shared.request['id'] });
      this.shared = null;
      return;
    }
    shared.workers = workers;
    shared.left = Array.from({ length: shared.seeds - 1 }, (_, nth) => nth + 1);
    while (this.helpers.length > workers - 1) this.helpers.pop()!.end();
    while (this.helpers.length < workers - 1) this.helpers.push(this.hand());
    for (const one of [main, ...this.helpers]) this.next(one, shared);
  }

  private next(one: Hand, { left, request, workers }: Shared): void {
    const nth = left?.shift();
    if (nth === undefined) return;
    one.post({ do: 'seed', id: request['id'], document: request['document'], apart: request['apart'], nth, engines: workers });
  }

  private heard(from: Hand, answer: Answer, columns: Columns): void {
    const shared = this.shared;
    if (from === this.main) {
      if (answer.kind === 'error' && answer.part) {
        if (answer.id === shared?.request['id']) this.alone();
        return;
      }
      if (shared && 'id' in answer && answer.id === shared.request['id']) {
        if (answer.kind === 'started') shared.seeds = answer.seeds;
        if (answer.kind === 'complete') shared.first = true;
        if (answer.kind === 'error') this.endShared();
      }
      this.listener.heard(answer, columns);
    } else if (answer.kind === 'measured' && answer.id === shared?.request['id']) {
      this.main!.post({ do: 'join', id: answer.id, run: answer.run, nth: answer.nth, values: answer.values });
    } else if (answer.kind === 'error') this.alone();
  }

  private idle(from: Hand, memory: number): void {
    const shared = this.shared;
    if (from === this.main) this.memory = memory;
    if (!shared) return;
    if (shared.left) this.next(from, shared);
    else if (from === this.main && shared.first && shared.whole) this.share(from, shared);
  }

  private endShared(): void {
    this.shared = null;
    this.keepHelpers(() => false);
  }

  /** A helper cannot run its seed, for lack of memory or otherwise: the first worker runs what is missing, and says what is wrong. */
  private alone(): void {
    const id = this.shared?.request['id'];
    this.endShared();
    if (id !== undefined) this.main!.post({ do: 'finish', id });
  }

  private failed(from: Hand, why: string): void {
    if (from !== this.main) return this.alone();
    this.endShared();
    this.restart();
    this.listener.heard({ kind: 'error', message: `the engine stopped (${why}): it has no memory left, or a fault. If a shorter run stops too, please report the link of this page` }, new Map());
  }
}

const SUPERSEDING = new Set(['run', 'pace', 'stop']);
/** More would hardly be quicker for a few seeds, and each has a memory of its own. */
const MOST_WORKERS = 4;
/** Of all workers, bytes: what the engine takes for a run. */
const MEMORY = 2 ** 30;
