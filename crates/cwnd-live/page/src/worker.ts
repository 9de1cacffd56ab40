// A worker of the page that holds the engine as WebAssembly. crates/cwnd-wasm says what the module exports and imports.

/** To the worker: the module, or the text of a request. */
export type ToWorker = { module: WebAssembly.Module; greet: boolean } | { request: string };
/** From the worker: the bytes of a frame, the end of a request with the memory of the module in bytes, or the end of the worker. */
export type FromWorker = { frame: ArrayBuffer } | { done: number } | { failed: string };

interface Module {
  memory: WebAssembly.Memory;
  hello(): void;
  allocate(length: number): number;
  handle(): void;
  /** 1 while a run follows the clock. */
  step(): number;
}

const scope = self as unknown as { postMessage(message: FromWorker, transfer?: Transferable[]): void; onmessage: ((event: MessageEvent<ToWorker>) => void) | null };
let engine: Module | null = null;
let clock = 0;

function start(module: WebAssembly.Module): Module {
  const cwnd = {
    now: () => performance.now(),
    send: (from: number, length: number) => {
      const frame = engine!.memory.buffer.slice(from, from + length) as ArrayBuffer;
      scope.postMessage({ frame }, [frame]);
    },
  };
  return new WebAssembly.Instance(module, { cwnd }).exports as unknown as Module;
}

function handle(request: string): void {
  const bytes = new TextEncoder().encode(request);
  const at = engine!.allocate(bytes.length);
  new Uint8Array(engine!.memory.buffer, at, bytes.length).set(bytes);
  engine!.handle();
  clearInterval(clock);
  if (engine!.step()) clock = setInterval(() => guard(() => { if (!engine!.step()) clearInterval(clock); }), SLICE_MS);
}

/** A module that has met a fault, or has no memory left, is of no more use. */
function guard(body: () => void): void {
  try {
    body();
  } catch (error) {
    clearInterval(clock);
    scope.postMessage({ failed: error instanceof Error ? error.message : String(error) });
  }
}

scope.onmessage = ({ data }) => guard(() => {
  if ('module' in data) {
    engine = start(data.module);
    if (data.greet) engine.hello();
  } else {
    handle(data.request);
    scope.postMessage({ done: engine!.memory.buffer.byteLength });
  }
});

/** Between two steps of a run that follows the clock: 25 pictures a second. */
const SLICE_MS = 40;
