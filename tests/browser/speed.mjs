// How much processor time the engine for browsers takes for a run, in the V8 of Node.js, and how much the same engine takes as machine code.
//
//   node speed.mjs MODULE NATIVE ADDRESS...
//
// `cargo build --release -p cwnd-engine --example speed` makes NATIVE, target/release/examples/speed, and `cwnd link-to` prints an ADDRESS. Each address
// gives a line: milliseconds of the first run in the module, then minimum and median of both, and their ratios. A turn is ten runs of the program, then ten of
// the module; there are ten turns, or TURNS of the environment.
import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';

const [file, native, ...addresses] = process.argv.slice(2);
if (addresses.length === 0) {
  console.error('usage: node speed.mjs MODULE NATIVE ADDRESS...');
  process.exit(2);
}
const TURNS = Number(process.env.TURNS ?? 10);
const bytes = await readFile(file);
let answers = [];
let engine;
const cwnd = {
  now: () => performance.now(),
  send: (from, length) => {
    const bytes = Buffer.from(engine.memory.buffer, from, length);
    answers.push(JSON.parse(bytes.subarray(4, 4 + bytes.readUInt32LE(0))));
  },
};

/** Processor time of this process in milliseconds, which hardly depends on what else the machine does. That of V8's compiler is part of it. */
function used() {
  // Linux knows the sum exactly, and user time alone only in ticks.
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e3;
}

/** The answer of the kind `kind` to a request. */
function ask(request, kind) {
  answers = [];
  const bytes = Buffer.from(JSON.stringify(request));
  const at = engine.allocate(bytes.length);
  new Uint8Array(engine.memory.buffer, at, bytes.length).set(bytes);
  engine.handle();
  const error = answers.find((answer) => answer.kind === 'error');
  const found = answers.find((answer) => answer.kind === kind);
  if (error || !found) {
    console.error(error?.message ?? `no answer of the kind ${kind}`);
    process.exit(1);
  }
  return found;
}

const sorted = (times) => times.sort((a, b) => a - b);
const summary = (times) => `minimum ${times[0].toFixed(1)} ms, median ${times[times.length >> 1].toFixed(1)} ms`;
const ratio = (native, module) => (native / module).toFixed(3);

for (const address of addresses) {
  engine = new WebAssembly.Instance(await WebAssembly.compile(bytes), { cwnd }).exports;
  const { document } = ask({ do: 'open', id: 0, address }, 'document');
  let id = 0;
  const run = () => {
    const before = used();
    ask({ do: 'run', id: (id += 1), document: { ...document, seeds: 1 } }, 'complete');
    return used() - before;
  };
  const first = run();
  const { digest } = answers.find((answer) => answer.kind === 'curves' && answer.whole);
  for (let warm = 0; warm < 10; warm += 1) run();
  const [here, there] = [[], []];
  for (let turn = 0; turn < TURNS; turn += 1) {
    const [own, ...times] = execFileSync(native, [address], { encoding: 'utf8' }).trim().split(' ');
    if (own !== digest) {
      console.error(`${digest} in the module, ${own} as machine code`);
      process.exit(1);
    }
    there.push(...times.map(Number));
    here.push(...times.map(run));
  }
  sorted(here);
  sorted(there);
  console.log(`first ${first.toFixed(1)} ms; module: ${summary(here)}; native: ${summary(there)}; speed of native: ${ratio(there[0], here[0])}, ${ratio(there[there.length >> 1], here[here.length >> 1])}; digest ${digest}`);
}
