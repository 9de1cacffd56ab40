// How much processor time the engine for browsers takes for a run, in the V8 of Node.js.
//
//   node speed.mjs MODULE ADDRESS
//
// ADDRESS is what `cwnd link-to` prints. Two lines: milliseconds of the first seed, and the median and range of twenty runs after ten.
import { readFile } from 'node:fs/promises';

const [file, address] = process.argv.slice(2);
if (!address) {
  console.error('usage: node speed.mjs MODULE ADDRESS');
  process.exit(2);
}
let answers = [];
const cwnd = {
  // Processor time, which hardly depends on what else the machine does. That of the compiler's threads is part of it.
  now: () => process.cpuUsage().user / 1e3,
  send: (from, length) => {
    const bytes = Buffer.from(engine.memory.buffer, from, length);
    answers.push(JSON.parse(bytes.subarray(4, 4 + bytes.readUInt32LE(0))));
  },
};
const { exports: engine } = new WebAssembly.Instance(await WebAssembly.compile(await readFile(file)), { cwnd });

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

const { document } = ask({ do: 'open', id: 0, address }, 'document');
const run = (id) => ask({ do: 'run', id, document: { ...document, seeds: 1 } }, 'complete').ms;
console.log(`first: ${run(1).toFixed(1)} ms`);
for (let id = 2; id < 12; id += 1) run(id);
const later = Array.from({ length: 20 }, (_, nth) => run(12 + nth)).sort((a, b) => a - b);
console.log(`later: ${later[10].toFixed(1)} ms (${later[0].toFixed(1)} to ${later.at(-1).toFixed(1)})`);
