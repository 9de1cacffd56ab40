// A worker of this page as its engine.

import { decode, type Engine, type Listener, type Table } from './protocol';
import type { FromWorker, ToWorker } from './worker';

/** The engine in a worker. A worker that runs something hears nothing, so that what supersedes a run ends its worker and takes a new one. */
export class Local implements Engine {
  private module: WebAssembly.Module | null = null;
  private worker: Worker | null = null;
  /** Requests that the worker has not done. */
  private pending = 0;

  constructor(private readonly listener: Listener, private readonly script: string, private readonly binary: string) {
    const missing = typeof WebAssembly !== 'object' ? 'WebAssembly' : typeof Worker !== 'function' ? 'workers' : null;
    if (missing) listener.lost(`this browser has no ${missing}, which the simulator needs`);
    else if (location.protocol === 'file:') listener.lost('browsers give a page from a file no worker: serve this folder, as with `python3 -m http.server`');
    else this.load().catch((error: unknown) => listener.lost(`the simulator cannot be loaded: ${error instanceof Error ? error.message : String(error)}`));
  }

  send(request: Table): boolean {
    if (!this.module) return false;
    if (this.pending > 0 && SUPERSEDING.has(String(request['do']))) this.start(this.module, false);
    this.post({ request: JSON.stringify(request) });
    return true;
  }

  private async load(): Promise<void> {
    const answer = await fetch(this.binary);
    if (!answer.ok) throw new Error(`${this.binary}: ${answer.status} ${answer.statusText}`);
    const streams = answer.headers.get('content-type')?.startsWith('application/wasm') ?? false;
    this.module = await (streams ? WebAssembly.compileStreaming(answer) : WebAssembly.compile(await answer.arrayBuffer()));
    this.start(this.module, true);
  }

  private start(module: WebAssembly.Module, greet: boolean): void {
    this.worker?.terminate();
    this.pending = 0;
    const worker = new Worker(this.script);
    worker.onmessage = ({ data }: MessageEvent<FromWorker>) => {
      if (worker !== this.worker) return;
      if ('frame' in data) this.listener.heard(...decode(data.frame));
      else if ('done' in data) this.pending -= 1;
      else this.fail(module, data.failed);
    };
    worker.onerror = (event) => { if (worker === this.worker) this.fail(module, event.message); };
    this.worker = worker;
    worker.postMessage({ module, greet } satisfies ToWorker);
  }

  private post(message: ToWorker): void {
    this.pending += 1;
    this.worker?.postMessage(message);
  }

  private fail(module: WebAssembly.Module, why: string): void {
    this.start(module, false);
    this.listener.heard({ kind: 'error', message: `the run has ended: it needs more memory than a page has, or has met a fault (${why})` }, new Map());
  }
}

const SUPERSEDING = new Set(['run', 'pace', 'stop']);
