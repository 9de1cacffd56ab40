// Opens the page that `cwnd site` writes from a host of static files, and checks what it runs against the command.
//
//   node site.mjs CWND FOLDER [BROWSER]
//
// A program with `firefox` in its name is driven as Firefox, any other as Chromium. Both pass the same checks.
//
// One line per check; exit code 1 if any fails, 2 if the checks could not be run.
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { deflateRawSync, gzipSync } from 'node:zlib';
import { PATIENCE, assert, axe_violations, check, fault_list, launch_either, overflow, results } from './checks.mjs';
import { serve } from './server.mjs';
import { host } from './static.mjs';

const [program, folder, executablePath = '/usr/bin/chromium'] = process.argv.slice(2);
if (!folder) {
  console.error('usage: node site.mjs CWND FOLDER [BROWSER]');
  process.exit(2);
}
const cwnd = (...words) => execFileSync(program, words, { encoding: 'utf8', maxBuffer: 64 << 20, stdio: 'pipe' }).trim();
const SCENARIOS = join(import.meta.dirname, '../../scenarios/live');
/** The file of a preset. */
const file_of = (preset) => ['live', '', 'access'].map((directory) => join(SCENARIOS, '..', directory, `${preset}.toml`)).find(existsSync);
/** The most that the module may take as it is sent. */
const LARGEST = 825_000;
const served = await host(folder);
const browser = await launch_either(executablePath).catch((error) => {
  console.error(`cannot start ${executablePath}: ${error.message.split('\n')[0]}`);
  process.exit(2);
});
const server = serve(program);
const { faults, report } = fault_list();
/**
 * Firefox reports a page that is closed or left while a worker still copies its document to it, without an address (`SynthesizeResponseWatcher` in
 * FetchEventOpChild.cpp). A page that needs the document fails its check.
 */
const LEFT = /^Failed to load ‘’\. A ServiceWorker intercepted the request/;
const strangers = [];

async function open(fragment = '', url = served.url, before = null, ...values) {
  const page = await browser.newPage();
  if (before) await page.evaluateOnNewDocument(before, ...values);
  page.setDefaultTimeout(PATIENCE);
  const fault = (text) => LEFT.test(text) || report(page, text);
  page.on('console', (message) => message.type() === 'error' && fault(message.text()));
  // Where Firefox's own report of a page that was left arrives.
  page.on('pageerror', (error) => fault(error.message));
  page.on('request', (request) => request.url().startsWith(url) || /^(data|blob):/.test(request.url()) || strangers.push(request.url()));
  await page.goto(url + fragment);
  return page;
}

const until = (page, holds, ...values) => page.waitForFunction(holds, { timeout: PATIENCE, polling: 50 }, ...values);
/** Waits until a run later than `before` is shown whole. */
const settled = (page, before = 0) => until(page, (before) => Number(document.documentElement.dataset.shown ?? 0) > before, before);
const shown = (page) => page.evaluate(() => Number(document.documentElement.dataset.shown ?? 0));
const packed = (text) => deflateRawSync(Buffer.from(text)).toString('base64url');
/** The fragment of a link to a scenario. */
const fragment_of = (text) => `#s=1.${packed(text)}`;
/** The fragment of a link to a scenario with recorded flows. */
const recorded = (text) => `${fragment_of('duration = "5s"\nseeds = 1\n[dumbbell]\n[[flow]]\nalgorithm = "reno"\n')}&recorded=${packed(text)}`;
const text_of = (page, selector) => page.$eval(selector, (one) => one.textContent);
const value_of = (page, selector) => page.$eval(selector, (one) => one.value);

await check('the engine is small', async () => {
  const size = gzipSync(await readFile(join(folder, 'cwnd.wasm')), { level: 9 }).length;
  assert(size <= LARGEST, `${size} bytes compressed: at most ${LARGEST}`);
  return `${size} bytes compressed`;
});

const page = await open();
await check('the first preset runs', () => settled(page).then(() => ''));
const server_url = await server.url;
const native = await open('', server_url);
await settled(native);
const presets = await page.$$eval('#preset option', (options) => options.map(({ value }) => value).filter(Boolean));
for (const preset of presets) {
  await check(`${preset} gives the same run everywhere`, async () => {
    const link = cwnd('link-to', file_of(preset));
    assert(link.length <= 4096, `its link has ${link.length} characters`);
    for (const one of [page, native]) {
      // A browser draws nothing of a page behind another.
      await one.bringToFront();
      // The first one is shown already; to choose it again would run it again.
      if (preset === presets[0]) continue;
      const before = await shown(one);
      await one.select('#preset', preset);
      await settled(one, before);
    }
    const [found, expected] = [await text_of(page, '#digest'), await text_of(native, '#digest')];
    assert(found === expected, `${found} in a worker, ${expected} by a server`);
    const address = await page.evaluate(() => location.hash);
    assert(address.endsWith(`&digest=${found.split(' ')[0]}`), `the address ends with ${address.slice(-30)}`);
    if (!address.includes('&each=alone')) {
      const { digests: [own] } = JSON.parse(cwnd('run', address, '--json', '--seeds', '1'));
      assert(own === found, `${found} in the page, ${own} by the command`);
    }
    return found;
  });
}
await check('a link opens its scenario', async () => {
  const link = cwnd('link-to', join(SCENARIOS, 'simd.toml'), '--set', 'dumbbell.rate=12mbit', '--site', served.url);
  const linked = await open(link.slice(served.url.length));
  await settled(linked);
  assert((await value_of(linked, '#toml')).includes('12mbit'), 'the rate of the link is not that of the page');
  await linked.close();
});
/** The rules that docs/live.md has as examples. */
const RULES = [...(await readFile(join(import.meta.dirname, '../../docs/live.md'), 'utf8')).matchAll(/^\| ([^|]+?) \| `(rule:[^`]+)` \|$/gm)];
await check('the examples of rules give the same run everywhere', async () => {
  assert(RULES.length >= 3, `docs/live.md has ${RULES.length}`);
  const digests = [];
  for (const [, name, rule] of RULES) {
    const link = cwnd('link-to', join(SCENARIOS, 'two-flows.toml'), '--set', `flow.1.algorithm=${rule}`, '--set', 'seeds=1');
    const { digests: [own] } = JSON.parse(cwnd('run', link, '--json'));
    for (const url of [served.url, server_url]) {
      const linked = await open(link, url);
      await settled(linked);
      const found = await text_of(linked, '#digest');
      assert(found === own, `${name}: ${found} at ${url}, ${own} by the command`);
      await linked.close();
    }
    digests.push(own);
  }
  assert(new Set(digests).size === digests.length, `rules that differ run alike: ${digests}`);
  return digests.join(' ');
});
await check('a rule shows its expressions when it is chosen', async () => {
  const chosen = await open();
  await settled(chosen);
  await chosen.select('#controls .group:first-of-type .head select', 'rule');
  const inputs = await chosen.$$eval('#controls .group:first-of-type .wide input', (fields) => fields.filter((field) => field.checkVisibility()).map(({ placeholder, clientWidth }) => ({ placeholder, clientWidth })));
  await chosen.close();
  assert(inputs.map(({ placeholder }) => placeholder).join(' ').startsWith('1/w w/2'), `in sight: ${JSON.stringify(inputs)}`);
  assert(inputs.every(({ clientWidth }) => clientWidth >= 200), `an expression has too little room: ${JSON.stringify(inputs)}`);
});
for (const [name, fragment] of [['a damaged link', '#s=1.AAAA<script>alert(1)</script>'], ['another version', '#s=7.AAAA'], ['no scenario', '#elsewhere'], ['a bomb', fragment_of(Buffer.alloc(64 << 20))], ['a long line', fragment_of(`a=${'['.repeat(60_000)}`)], ['an empty scenario', fragment_of('')], ['a bomb of a recorded flow', recorded(Buffer.alloc(64 << 20, '1'))], ['a recorded flow that is no number', recorded('quinn:cubic 100 NaN,1 1,2')], ['a script as a recorded flow', recorded('<script>alert(1)</script> 100 1,2 1,2')]]) {
  await check(`${name} shows an error and runs nothing`, async () => {
    const linked = await open(fragment);
    await until(linked, () => !document.querySelector('#message').hidden);
    assert(await shown(linked) === 0, 'something was run');
    const text = await text_of(linked, '#message');
    await linked.close();
    assert(text.length < 1200 && !text.startsWith(':'), `${text.length} characters: ${text.slice(0, 100)}`);
    return text;
  });
}
await check('a recorded flow is drawn next to the run, until the scenario is another one', async () => {
  const scratch = await mkdtemp(join(tmpdir(), 'cwnd-site-'));
  const [scenario, result, page_of] = [join(SCENARIOS, 'simd.toml'), join(scratch, 'result'), join(scratch, 'overlay')];
  cwnd('run', scenario, '--seeds', '1', '--trace', 'qlog', '--out', result);
  const [log] = (await readdir(join(result, 'traces'))).filter((name) => name.endsWith('.sqlog'));
  cwnd('overlay', scenario, '--set', 'flow.0.algorithm=cubic', '--kernel', join(result, 'traces', log), '--label', 'ours', '--label', 'kernel:simd', '--out', page_of);
  const fragment = /id="link">(#[^<]*)</.exec(await readFile(join(page_of, 'report.html'), 'utf8'))[1].replaceAll('&#38;', '&');
  await rm(scratch, { recursive: true });
  assert(fragment.includes('&recorded=') && fragment.length <= 4096, `${fragment.length} characters`);
  const linked = await open(fragment);
  await settled(linked);
  const rows = () => linked.$$eval('#flows th button', (names) => names.map((one) => one.textContent).filter((name) => name.startsWith('recorded: ')));
  const found = await rows();
  assert(found.join() === 'recorded: kernel:simd', `recorded: ${found}`);
  const cells = await linked.$eval('#flows tbody tr:last-child', (row) => [...row.querySelectorAll('td')].map((one) => parseFloat(one.textContent)));
  assert(cells[0] > 1 && cells[1] > 0, `its window and goodput are ${cells}`);
  assert((await linked.evaluate(() => location.hash)).includes('&recorded='), 'the link of the page has lost it');
  await overflow(linked);
  const before = await shown(linked);
  await linked.select('#preset', presets[0]);
  await settled(linked, before);
  assert((await rows()).length === 0, 'it is drawn over another scenario');
  await linked.close();
  return `${fragment.length} characters`;
});
/** Before a page: keeps the texts of what it exports. */
function exporting() {
  globalThis.exported = [];
  const make = URL.createObjectURL;
  URL.createObjectURL = (blob) => {
    void blob.text().then((text) => exported.push(text));
    return make.call(URL, blob);
  };
}
await check('recorded flows are exported, and stay in an address that was encoded', async () => {
  const word = recorded('quinn:cubic 1000 1,2,3,4,5,6 -,7,8,9,10,11\nquinn:cubic 1000 6,5,4,3,2,1 -,1,1,1,1,1').split('&')[1];
  const scenario = recorded('').split('&')[0];
  for (const fragment of [`${scenario}&${word}`, `#${word}&${scenario.slice(1)}`, `${scenario}%26${word}`.replaceAll('=', '%3D'), `${scenario}%26${word}`.replaceAll('=', '%3d')]) {
    const linked = await open(fragment, served.url, exporting);
    await settled(linked);
    const names = await linked.$$eval('#flows th button', (names) => names.map((one) => one.textContent));
    assert(names.join() === 'reno,recorded: quinn:cubic,recorded: quinn:cubic (2)', names.join());
    assert((await linked.evaluate(() => location.hash)).includes(`&${word}&digest=`), `${fragment.slice(-60)} became ${(await linked.evaluate(() => location.hash)).slice(-60)}`);
    for (const kind of ['csv', 'svg']) await linked.$eval(`[data-take=${kind}]`, (button) => button.click());
    await until(linked, () => globalThis.exported.length === 2);
    const [data, drawn] = await linked.evaluate(() => exported.sort((a, b) => a.startsWith('<') - b.startsWith('<')));
    const rows = data.trim().split('\r\n').map((row) => row.split(','));
    assert(rows.every(({ length }) => length === rows[0].length), 'rows of the exported data have different lengths');
    const column = (name) => rows[0].indexOf(name);
    const at = rows.find((row) => row[column('flow')] === 'recorded: quinn:cubic' && Number(row[column('time_s')]) >= 3);
    assert(Math.abs(at[column('window_packets')] - 4) < 0.1 && Math.abs(at[column('goodput_mbps')] - 0.009) < 1e-4, `at 3 s: ${at}`);
    assert(drawn.includes('recorded: quinn:cubic (2)'), 'the picture has no recorded flow');
    await linked.close();
  }
});
await check('a large recorded window has its size at the axis', async () => {
  const linked = await open(recorded('x 1000 4294967295,4294967295 4294967295,4294967295'));
  await settled(linked);
  // The texts of a canvas are drawn again where they can be read.
  const [most, widest] = await linked.evaluate(async () => {
    const texts = [];
    const fill = CanvasRenderingContext2D.prototype.fillText;
    CanvasRenderingContext2D.prototype.fillText = function (text, ...rest) {
      texts.push([this.measureText(text).width / devicePixelRatio, text]);
      return fill.call(this, text, ...rest);
    };
    document.querySelector('#theme').click();
    await new Promise((done) => setTimeout(done, 500));
    return texts.sort(([a], [b]) => b - a)[0];
  });
  await linked.close();
  assert(most <= 43, `${widest} is ${most} pixels wide`);
});
await check('an address with the numbers of another version says so, and has the cursor', async () => {
  const link = cwnd('link-to', join(SCENARIOS, 'simd.toml'), '--set', 'seeds=1');
  const linked = await open(`${link}&at=12.5s&digest=0123456789abcdef`);
  await settled(linked);
  const [digest, said, at] = [await text_of(linked, '#digest'), await text_of(linked, '#message'), await text_of(linked, '#at')];
  assert(said.includes('0123456789abcdef') && said.includes(digest), `it says: ${said}`);
  assert(Math.abs(parseFloat(at) - 12.5) < 0.2, `the cursor is at ${at}`);
  await linked.close();
  const same = await open(`${link}&digest=${digest}`);
  await settled(same);
  assert(await same.$eval('#message', (one) => one.hidden), await text_of(same, '#message'));
  await same.close();
});
await check('a run can be stopped', async () => {
  const link = cwnd('link-to', join(SCENARIOS, 'simd.toml'), '--set', 'seeds=400', '--set', 'duration=60s');
  const stopping = await open(link);
  await until(stopping, () => document.querySelector('#status').textContent.startsWith('seed '));
  await stopping.click('#end');
  const said = await text_of(stopping, '#status');
  assert(said.startsWith('stopped') && await stopping.$eval('#end', (one) => one.disabled), `the status is: ${said}`);
  await new Promise((done) => setTimeout(done, 1000));
  assert(await text_of(stopping, '#status') === said, `it goes on: ${await text_of(stopping, '#status')}`);
  const before = await shown(stopping);
  await stopping.select('#preset', presets[0]);
  await settled(stopping, before);
  await stopping.close();
});
await check('a run that is stopped at its first seed is the scenario as text', async () => {
  const link = cwnd('link-to', join(SCENARIOS, 'simd.toml'), '--set', 'seeds=3', '--set', 'duration=3600s', '--set', 'dumbbell.rate=1gbit');
  const stopping = await open();
  await settled(stopping);
  await stopping.evaluate((link) => { location.hash = link; }, link);
  await until(stopping, () => document.querySelector('#status').textContent === 'running' && location.hash.includes('s=1.') && document.querySelector('[aria-label="Rate as text"]').value === '1gbit');
  await stopping.click('#end');
  const [text, command] = [await value_of(stopping, '#toml'), await text_of(stopping, '#command')];
  assert(text.includes('3600s') && text.includes('1gbit') && command.includes('simd'), `${text} by ${command}`);
  assert(await text_of(stopping, '#digest') === '', 'it has the digest of another run');
  await stopping.close();
});
await check('the events are those of the whole first seed', async () => {
  for (let visit = 0; visit < 3; visit += 1) {
    const events = await open();
    await settled(events);
    const [before, rows] = await events.evaluate(() => {
      const [summary, list] = [document.querySelector('#events summary').textContent, document.querySelector('#events')];
      list.open = true;
      return new Promise((done) => list.addEventListener('toggle', () => done([summary, list.querySelectorAll('tbody tr').length]), { once: true }));
    });
    await events.close();
    assert(before === `Events (${rows})`, `${before}, and the list has ${rows}`);
  }
});
await check('a run in real time is exported as the scenario that runs', async () => {
  const paced = await open();
  await settled(paced);
  await paced.click('#pace');
  await paced.select('#preset', 'simd');
  const title = /^title = .*$/m.exec(await readFile(join(SCENARIOS, 'simd.toml'), 'utf8'))[0];
  await until(paced, (title) => document.querySelector('#toml').value.includes(title), title);
  const linked = () => paced.evaluate(() => location.hash);
  const first = await linked();
  await paced.evaluate(() => {
    const rate = document.querySelector('#c-rate');
    rate.value = '300';
    for (const kind of ['input', 'change']) rate.dispatchEvent(new Event(kind));
  });
  await until(paced, () => document.querySelector('#toml').value.includes('schedule'));
  for (const [link, schedules] of [[first, 0], [await linked(), 1]]) {
    const opened = await open(link);
    await settled(opened);
    const text = await value_of(opened, '#toml');
    assert(text.includes(title) && text.split('[[dumbbell.schedule.steps]]').length > schedules, text);
    await opened.close();
  }
  assert((await text_of(paced, '#command')).startsWith('cwnd run '), await text_of(paced, '#command'));
  await paced.close();
});
await check('a rate that is dragged on a path with a schedule begins the run in real time anew', async () => {
  const paced = await open();
  await settled(paced);
  await paced.select('#preset', 'lte');
  await paced.click('#pace');
  await until(paced, () => parseFloat(document.querySelector('#at').textContent) > 3);
  await paced.evaluate(() => {
    const rate = document.querySelector('#c-rate');
    rate.value = '300';
    for (const kind of ['input', 'change']) rate.dispatchEvent(new Event(kind));
  });
  const rate = await paced.$eval('[aria-label="Rate as text"]', (one) => one.value);
  await until(paced, (rate) => document.querySelector('#toml').value.includes(`rate = "${rate}"`), rate);
  await until(paced, () => parseFloat(document.querySelector('#at').textContent) > 1);
  assert(await paced.$eval('#message', (one) => one.hidden) && (await value_of(paced, '#toml')).includes('repeat = '), await text_of(paced, '#message'));
  await paced.close();
});
await check('the addresses of the history come back', async () => {
  const visited = await open();
  await settled(visited);
  const first = await text_of(visited, '#digest');
  const go = async (fragment) => {
    const before = await shown(visited);
    await visited.evaluate((fragment) => { location.hash = fragment; }, fragment);
    return before;
  };
  await settled(visited, await go(cwnd('link-to', join(SCENARIOS, 'simd.toml'), '--set', 'seeds=1')));
  const linked = await text_of(visited, '#digest');
  const before = await go('#s=7.AAAA');
  await until(visited, () => !document.querySelector('#message').hidden);
  await visited.goBack();
  await settled(visited, before);
  assert(await text_of(visited, '#digest') === linked && await visited.$eval('#message', (one) => one.hidden), 'the refusal is still there');
  await settled(visited, await go(''));
  assert(await text_of(visited, '#digest') === first, 'without a fragment the page shows something else than at first');
  await visited.close();
});
/** A module whose exported function `name` traps as soon as it is called, as the module does where Rust panics. */
function trapping(module, name) {
  const bytes = Buffer.from(module);
  let at = 8;
  const number = () => {
    let [value, shift, byte] = [0, 0, 0];
    do {
      byte = bytes[at++];
      value += (byte & 127) * 2 ** shift;
      shift += 7;
    } while (byte & 128);
    return value;
  };
  const [EXPORTS, CODE, UNREACHABLE, END] = [7, 10, 0x00, 0x0b];
  const exported = WebAssembly.Module.exports(new WebAssembly.Module(bytes)).map((one) => one.name);
  assert(exported.includes(name), `the module exports ${exported}`);
  const imported = WebAssembly.Module.imports(new WebAssembly.Module(bytes)).filter(({ kind }) => kind === 'function').length;
  let index = null;
  while (at < bytes.length) {
    const [section, length] = [bytes[at++], number()];
    const end = at + length;
    if (section === EXPORTS) {
      for (let left = number(); left > 0; left -= 1) {
        const [size, from] = [number(), at];
        at += size + 1;
        const which = number();
        if (bytes.toString('utf8', from, from + size) === name) index = which - imported;
      }
    }
    if (section === CODE) {
      number();
      for (let before = 0; before < index; before += 1) {
        const size = number();
        at += size;
      }
      const size = number();
      // No locals, the instruction again and again, and the end.
      bytes.fill(UNREACHABLE, at, at + size).writeUInt8(END, at + size - 1);
      return bytes;
    }
    at = end;
  }
  throw new Error('the module has no code');
}
await check('an engine that stops asks for a report', async () => {
  const stopping = await mkdtemp(join(tmpdir(), 'cwnd-site-'));
  await cp(folder, stopping, { recursive: true });
  await writeFile(join(stopping, 'cwnd.wasm'), trapping(await readFile(join(folder, 'cwnd.wasm')), 'handle'));
  const stopped = await host(stopping);
  const visit = await open('', stopped.url);
  await until(visit, () => !document.querySelector('#message').hidden);
  const text = await text_of(visit, '#message');
  await visit.close();
  stopped.end();
  await rm(stopping, { recursive: true });
  assert(text.includes('unreachable') && text.includes('report the link'), text);
  return text;
});
await check('groups that are not run are counted', async () => {
  const groups = '[[flow]]\nalgorithm = "reno"\n'.repeat(9);
  const linked = await open(`${fragment_of(`duration = "2s"\nwarmup = "1s"\nseeds = 1\n[dumbbell]\nrate = "5mbit"\nrtt = "20ms"\n${groups}`)}&each=alone`);
  await settled(linked);
  await until(linked, () => document.querySelector('#warnings').textContent.includes('8 of 9 groups'));
  await linked.close();
});
/** Before a page: it has this many processors, and counts the workers that it has and those that it ended. */
function counted(processors) {
  Object.defineProperty(Navigator.prototype, 'hardwareConcurrency', { get: () => processors });
  globalThis.workers = { now: 0, most: 0, ended: 0 };
  globalThis.Worker = class extends Worker {
    constructor(...words) {
      super(...words);
      workers.now += 1;
      workers.most = Math.max(workers.most, workers.now);
    }

    terminate() {
      super.terminate();
      workers.now -= 1;
      workers.ended += 1;
    }
  };
}
const SEEDS = cwnd('link-to', join(SCENARIOS, 'simd.toml'), '--set', 'seeds=9', '--set', 'duration=10s', '--set', 'warmup=2s');
const measures_of = (page) => page.evaluate(() => ['#measures', '#shares', '#digest', '#status'].map((id) => document.querySelector(id).textContent.replace(/ in \d+ ms/, '')).join('|'));
await check('several workers give the numbers of one worker and of a server', async () => {
  const found = [];
  for (const [processors, workers] of [[1, 1], [2, 2], [64, 4]]) {
    const counting = await open(SEEDS, served.url, counted, processors);
    await settled(counting);
    const { most } = await counting.evaluate(() => globalThis.workers);
    assert(most === workers, `${most} workers on ${processors} processors`);
    found.push(await measures_of(counting));
    await counting.close();
  }
  const server = await open(SEEDS, await server_url);
  await settled(server);
  found.push(await measures_of(server));
  await server.close();
  assert(found[0].includes('9 seeds') && found.every((one) => one === found[0]), found.join(' / '));
});
await check('one seed needs one worker', async () => {
  const counting = await open(cwnd('link-to', join(SCENARIOS, 'simd.toml'), '--set', 'seeds=1'), served.url, counted, 4);
  await settled(counting);
  const { most } = await counting.evaluate(() => globalThis.workers);
  await counting.close();
  assert(most === 1, `${most} workers`);
});
await check('what supersedes a run ends all workers that are busy with it', async () => {
  const long = cwnd('link-to', join(SCENARIOS, 'simd.toml'), '--set', 'seeds=400', '--set', 'duration=60s');
  const counting = await open(long, served.url, counted, 4);
  await until(counting, () => globalThis.workers.now === 4);
  await until(counting, () => document.querySelector('#status').textContent.startsWith('seed '));
  // The scenario of the address has superseded the first preset.
  const { ended } = await counting.evaluate(() => globalThis.workers);
  await counting.click('#pace');
  await until(counting, (before) => globalThis.workers.ended === before + 4 && globalThis.workers.now === 1, ended);
  await counting.close();
});
await check('a run is ended by what supersedes it', async () => {
  await page.bringToFront();
  const before = await shown(page);
  await page.evaluate(() => {
    const rate = document.querySelector('#c-rate');
    for (let at = 900; at > 300; at -= 30) { rate.value = String(at); rate.dispatchEvent(new Event('input')); }
    rate.dispatchEvent(new Event('change'));
  });
  await settled(page, before);
});
await check('a run that follows the clock goes on, and is changed', async () => {
  await page.click('#pace');
  await until(page, () => parseFloat(document.querySelector('#at').textContent) > 0.4);
  await page.click('#pace');
});
await check('it works without its host after the first visit', async () => {
  const gone = await host(folder);
  const visit = await open('', gone.url);
  await settled(visit);
  await visit.evaluate(async () => { await navigator.serviceWorker.ready; });
  gone.end();
  await visit.reload();
  await settled(visit);
  for (const name of await readdir(folder)) {
    // The browser has the script of the worker that keeps the others.
    if (name === 'offline.js') continue;
    assert(await visit.evaluate(async (name) => (await (await fetch(name)).arrayBuffer()).byteLength > 0, name), `${name} is not kept`);
  }
  await visit.close();
});
await check('it works without a host that leaves .html out of addresses', async () => {
  const gone = await host(folder, { clean: true });
  const visit = await open('', gone.url);
  await settled(visit);
  await visit.evaluate(async () => { await navigator.serviceWorker.ready; });
  gone.end();
  for (const name of ['figures.html', 'index.html', '']) {
    await visit.goto(gone.url + name);
    assert(/^(Papers and models|cwnd live)$/.test(await visit.title()), `${name} is ${await visit.title()}`);
  }
  await visit.close();
});
await check('on a second visit the page has an answer while it arrives', async () => {
  const slow = await host(folder, { slow: 'licences.txt' });
  const visit = await open('', slow.url);
  await settled(visit);
  await visit.evaluate(async () => { await navigator.serviceWorker.ready; });
  await visit.reload();
  await settled(visit);
  slow.hold();
  const early = await visit.evaluate(() => Promise.race([
    fetch('licences.txt').then((answer) => { globalThis.answer = answer; return answer.ok; }), new Promise((done) => setTimeout(() => done(false), 10_000)),
  ]));
  slow.release();
  const length = await visit.evaluate(async () => globalThis.answer && (await globalThis.answer.text()).length);
  slow.end();
  await visit.close();
  assert(early && length > 10_000, `in ten seconds there was ${early ? `an answer with ${length} characters` : 'no answer'}, whose end was held back`);
});
await check('a page from a file says how it is served, and the links of others lead to it', async () => {
  const file = await browser.newPage();
  await file.goto(pathToFileURL(join(folder, 'simd-fig-5.html')).href);
  await file.click('main li a');
  await until(file, () => document.querySelector('#status')?.textContent.includes('http.server'));
  await file.close();
});
for (const [width, height] of [[360, 740], [1280, 900], [2560, 1400]]) {
  await check(`${width} pixels wide`, async () => {
    const sized = await open();
    await sized.setViewport({ width, height });
    await settled(sized);
    await overflow(sized);
    const [right, columns] = await sized.$eval('#plots .grid', (grid) => [grid.getBoundingClientRect().right, getComputedStyle(grid).gridTemplateColumns.split(' ').length]);
    assert(width - right < 60 && 6 % columns === 0, `${columns} columns of plots end ${width - right} pixels before the right edge`);
    const found = await axe_violations(sized);
    await sized.close();
    return found;
  });
}
await check('a figure of a paper has a page, and runs from it', async () => {
  const figures = await open('figures.html');
  const pages = await figures.$$eval('main li a', (links) => links.map((link) => link.getAttribute('href')));
  assert(pages.length > 50 && pages.every((page) => existsSync(join(folder, page))), `${pages.length} pages`);
  await figures.goto(`${served.url}simd-fig-5.html`);
  const links = await figures.$$eval('main li a', (links) => links.map((link) => link.getAttribute('href')));
  assert(links.length === 60 && links.every((link) => link.startsWith('index.html#s=1.')), `${links.length} links`);
  await figures.click('main li a');
  await settled(figures);
  const title = /^title = .*$/m.exec(await value_of(figures, '#toml'));
  const said = await text_of(figures, '#lesson');
  assert(/^fig\. 5 of simd: /i.test(said) && !said.includes('modified'), `the page is called ${said}`);
  await figures.select('#controls .group:first-of-type .head select', 'cubic');
  await figures.waitForFunction(() => document.querySelector('#lesson').textContent.endsWith('modified'));
  await figures.close();
  return `${pages.length} pages; of ${links.length} links of one, the first: ${title}`;
});
for (const name of ['figures', 'simd-fig-5', 'daimd-table-2', 'exercises', 'model-response', 'model-convergence']) {
  for (const [width, height] of [[360, 740], [1280, 900]]) {
    await check(`${name}.html, ${width} pixels wide`, async () => {
      const sized = await open(`${name}.html`);
      await sized.setViewport({ width, height });
      await until(sized, (plots) => !plots || document.querySelectorAll('figure svg').length > 0, name.startsWith('model'));
      await overflow(sized);
      const found = await axe_violations(sized);
      await sized.close();
      return found;
    });
  }
}
await check('nothing is asked of another host', () => assert(strangers.length === 0, strangers.join(' ')));
await check('the browser reports no fault', () => assert(faults.length === 0, faults.join(' | ')));
await browser.close();
served.end();
server.child.kill('SIGINT');
console.log(`${results.passed} of ${results.passed + results.failed} checks passed`);
process.exit(results.failed > 0 ? 1 : 0);
