// Drives the page of `cwnd live` in headless Chromium and checks what a visitor would see.
//
//   node live.mjs [--figures] CWND [CHROMIUM]
//
// One line per check; exit code 1 if any fails, 2 if the checks could not be run. With --figures only how fast it is: the times and sizes of
// docs/live.md, for a machine that does nothing else.
import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { createConnection } from 'node:net';
import { cpus, loadavg } from 'node:os';
import { assert, axe_violations, check, launch, overflow, results } from './checks.mjs';
import { serve } from './server.mjs';

const given = process.argv.slice(2);
const only_figures = given[0] === '--figures' && given.shift() !== undefined;
const [program, executablePath = '/usr/bin/chromium'] = given;
if (!program) {
  console.error('usage: node live.mjs [--figures] CWND [CHROMIUM]');
  process.exit(2);
}

const TOKEN = 'test';

const start = (...options) => serve(program, '--token', TOKEN, ...options);
let server = start('--listen', '127.0.0.1:0');
const url = await server.url.catch((error) => {
  console.error(error.message);
  process.exit(2);
});
const port = Number(new URL(url).port);
const browser = await launch(executablePath).catch((error) => {
  console.error(error.message);
  server.child.kill();
  process.exit(2);
});
const faults = [];
const requests = [];

async function open(options, fragment = '') {
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 }, ...options });
  // The tests read pictures back, which the page does not.
  const own = (message) => ['error', 'warning'].includes(message.type()) && !message.text().includes('willReadFrequently');
  page.on('console', (message) => own(message) && faults.push(message.text()));
  page.on('pageerror', (error) => faults.push(error.message));
  page.on('request', (request) => new RegExp(`^(data|blob):|^(http|ws)://127.0.0.1:${port}/`).test(request.url()) || requests.push(request.url()));
  await page.goto(url + fragment);
  await settled(page);
  return page;
}

/** The last run whose seeds are all there and whose pictures and tables are all drawn. */
const shown = (page) => page.evaluate(() => Number(document.documentElement.dataset.shown ?? 0));

/** Waits until a run later than `before` is shown whole. */
async function settled(page, before = 0) {
  await page.waitForFunction((before) => Number(document.documentElement.dataset.shown ?? 0) > before, before, { timeout: 30_000 });
}

/** Does something that leads to a new run, and waits for it. */
async function anew(page, action) {
  const before = await shown(page);
  await action();
  await settled(page, before);
}

const cells = (page, selector) => page.$$eval(`${selector} tbody tr`, (rows) => rows.map((row) => [...row.cells].map((cell) => cell.textContent.trim())));

/** How many pixels of the canvas in a figure are not transparent. */
const ink = (page, id) => page.$eval(`#${id} canvas`, (canvas) => {
  const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
  let count = 0;
  for (let at = 3; at < data.length; at += 4) count += data[at] > 0 ? 1 : 0;
  return count;
});

/** The first line of the answer to a request as it is written. */
function ask(text) {
  return new Promise((answered, failed) => {
    const socket = createConnection({ port, host: '127.0.0.1' }, () => socket.write(text.replaceAll('\n', '\r\n')));
    let received = '';
    socket.on('data', (data) => { received += data; });
    socket.on('close', () => answered(received.split('\r\n')[0]));
    socket.on('error', failed);
    setTimeout(() => socket.destroy(), 3000);
  });
}

const page = await open({ colorScheme: 'light' });

await check('the page is below 300 KB', async () => {
  const sizes = await Promise.all(['', 'live.js', 'live.css'].map(async (name) => (await (await page.request.get(url + name)).body()).length));
  const size = sizes.reduce((sum, one) => sum + one);
  assert(size < 300_000, `${size} bytes`);
  return `${size} bytes`;
});

/** Drags the slider of the rate to the left and back, and keeps it. */
async function drag(steps, pause) {
  const box = await page.locator('#c-rate').boundingBox();
  const at = (share) => page.mouse.move(box.x + box.width * share, box.y + box.height / 2);
  await at(0.66);
  await page.mouse.down();
  for (let step = 0; step < steps; step += 1) {
    await at(0.64 + 0.03 * Math.cos(step * 0.7));
    await page.waitForTimeout(pause);
  }
}

/** What the page has measured of one kind since the last call, milliseconds, from the shortest. */
const measured = (name) => page.evaluate((name) => {
  const all = performance.getEntriesByName(name, 'measure').map(({ duration }) => duration);
  performance.clearMeasures(name);
  return all.sort((a, b) => a - b);
}, name);
const quantile = (sorted, share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;

async function figures() {
  const rounds = 20;
  await anew(page, () => page.selectOption('#preset', 'two-flows'));
  const ways = [
    ['released while it moves', async (nth) => {
      await drag(8 + (nth % 5), 16);
      await anew(page, () => page.mouse.up());
    }],
    ['released after a rest of 150 ms', async (nth) => {
      await drag(4 + (nth % 5), 16);
      await page.waitForTimeout(150);
      await anew(page, () => page.mouse.up());
    }],
    ['by a key', async (nth) => {
      await page.focus('#c-rate');
      await anew(page, () => page.keyboard.press(nth % 2 === 0 ? 'ArrowLeft' : 'ArrowRight'));
    }],
    ['by a key, with ten times the rate, which is shown in parts', async (nth) => {
      if (nth === 0) {
        const text = page.locator('#c-rate >> xpath=../input[@type="text"]');
        await anew(page, async () => {
          await text.fill('1gbit');
          await text.press('Tab');
        });
        await measured('first curve');
        await measured('complete');
      }
      await page.focus('#c-round-trip-time');
      await anew(page, () => page.keyboard.press(nth % 2 === 0 ? 'ArrowLeft' : 'ArrowRight'));
    }],
  ];
  for (const [name, way] of ways) {
    for (const kind of ['first curve', 'complete', 'frame work']) await measured(kind);
    for (let nth = 0; nth < rounds; nth += 1) await way(nth);
    const [first, complete, work] = [await measured('first curve'), await measured('complete'), await measured('frame work')];
    const say = (all) => `median ${quantile(all, 0.5).toFixed(0)}, ${all[0]?.toFixed(0)} to ${all.at(-1)?.toFixed(0)} ms`;
    console.log(`      ${name}, ${first.length} times: first curve ${say(first)}; five seeds complete ${say(complete)}; main thread per picture ${quantile(work, 0.95).toFixed(1)} ms at the 95th percentile of ${work.length}`);
  }
  await anew(page, () => page.selectOption('#preset', 'bufferbloat'));
  await anew(page, () => page.selectOption('#preset', 'two-flows'));
  await measured('frame work');
  await drag(300, 16);
  const work = await measured('frame work');
  await anew(page, () => page.mouse.up());
  console.log(`      while it is dragged: main thread per picture ${quantile(work, 0.95).toFixed(1)} ms at the 95th percentile of ${work.length} in 5 s`);
  console.log(`      Chromium ${browser.version()}, ${cpus().length} processors, load average ${loadavg()[0].toFixed(1)}`);
}

if (only_figures) {
  await figures();
  await browser.close();
  server.child.kill('SIGINT');
  await server.ended;
  process.exit(results.failed === 0 ? 0 : 1);
}

const presets = await page.$$eval('#preset option', (all) => all.map(({ value }) => value).filter(Boolean));
for (const preset of presets) {
  await check(`the preset ${preset} is drawn`, async () => {
    await anew(page, () => page.selectOption('#preset', preset === presets[0] ? presets[1] : presets[0]));
    await anew(page, () => page.selectOption('#preset', preset));
    for (const id of ['window', 'rate', 'queue', 'rtt']) assert((await ink(page, id)) > 1000, `${id} is empty`);
    const rows = await cells(page, '#measures');
    assert(rows.length > 0 && rows.every(([, utilisation]) => /\d (±|\()/.test(utilisation)), `the measures are ${JSON.stringify(rows)}`);
    const lesson = await page.textContent('#lesson');
    assert(lesson.includes('Look for'), 'there is no lesson');
    const bad = await page.$$eval('svg', (all) => all.filter((svg) => /NaN|undefined|Infinity/.test(svg.outerHTML)).length);
    assert(bad === 0, `${bad} pictures show a value that is not a number`);
    return `${rows.length} runs`;
  });
}

await check('the losses of the events are all that were lost', async () => {
  await anew(page, () => page.selectOption('#preset', 'bufferbloat'));
  await anew(page, () => page.selectOption('#preset', 'two-flows'));
  await page.evaluate(() => { document.querySelector('#events').open = true; });
  await page.waitForSelector('#events tbody tr');
  const events = await cells(page, '#events');
  const flows = await cells(page, '#flows');
  assert(events.length < 300, `${events.length} events, of which some are not listed`);
  const counted = flows.map(([name]) => events.filter(([, flow]) => flow === name).reduce((sum, [, , text]) => sum + Number(/^loss of (\d+)/.exec(text)?.[1] ?? 0), 0));
  const lost = flows.map((row) => Number(row[4]));
  await page.evaluate(() => { document.querySelector('#events').open = false; });
  assert(JSON.stringify(counted) === JSON.stringify(lost), `${counted} packets in events, ${lost} lost`);
  return counted.join(' and ');
});

await check('the file that is saved is the one that the command line runs', async () => {
  const [saved] = await Promise.all([page.waitForEvent('download'), page.evaluate(() => document.querySelector('[data-take="toml"]').click())]);
  const command = await page.textContent('#command');
  assert(!command.startsWith('cwnd run') || command.endsWith(` ${saved.suggestedFilename()}`), `${command} against ${saved.suggestedFilename()}`);
  return command;
});

await check('the table of measures is not cut off at 1280 pixels', async () => {
  const [inside, wide] = await page.$eval('#measures', (table) => [table.parentElement.clientWidth, table.scrollWidth]);
  assert(wide <= inside, `it is ${wide} pixels wide in ${inside}`);
});

await check('groups have their share, a rate that rises its recovery, and the tables fit a desk and a phone', async () => {
  const text = 'duration = "8s"\nwarmup = "1s"\nseeds = 5\n[dumbbell]\nrate = "8mbit"\nrtt = "20ms"\n[dumbbell.schedule]\nsteps = [{ at = "2s", rate = "1mbit" }, { at = "3s", rate = "8mbit" }]\n[[flow]]\nalgorithm = "reno"\n[[flow]]\nalgorithm = "bbr3"\n';
  await page.evaluate(() => { document.querySelector('#scenario').open = true; });
  await page.fill('#toml', text);
  await anew(page, () => page.click('#apply'));
  const shares = await cells(page, '#shares');
  const [reno, bbr3] = shares.map(([, share]) => Number.parseFloat(share));
  assert(shares.map(([name]) => name).join() === 'reno,bbr3' && Math.abs(reno + bbr3 - 100) < 0.2, JSON.stringify(shares));
  assert(shares.every(([, , fair]) => Number.parseFloat(fair) === 50), JSON.stringify(shares));
  const heads = await page.$$eval('#measures thead th', (all) => all.map(({ textContent }) => textContent));
  assert(heads.at(-1) === 'recovery s', heads.join());
  const phone = await open({ viewport: { width: 360, height: 850 } }, await page.evaluate(() => location.hash));
  for (const [one, first] of [[page, 'utilisation %'], [phone, 'all flows']]) {
    assert((await one.textContent('#measures thead th:nth-child(2)')) === first, `the measures begin with another column than ${first}`);
    for (const table of ['#measures', '#shares', '#flows']) {
      const [inside, wide] = await one.$eval(table, (table) => [table.parentElement.clientWidth, table.scrollWidth]);
      assert(wide <= inside, `${table} is ${wide} pixels wide in ${inside}`);
    }
  }
  await phone.close();
  await page.evaluate(() => { document.querySelector('#scenario').open = false; });
  return JSON.stringify(shares);
});

await check('the numbers are those of the command', async () => {
  await anew(page, () => page.selectOption('#preset', 'bufferbloat'));
  const [[, utilisation, goodput]] = await cells(page, '#measures');
  const run = spawn(program, ['run', 'scenarios/live/bufferbloat.toml', '--json'], { cwd: new URL('../..', import.meta.url) });
  let text = '';
  for await (const data of run.stdout) text += data;
  const document = JSON.parse(text);
  const shown = [Number.parseFloat(utilisation), Number.parseFloat(goodput)];
  const expected = [document.utilisation.mean * 100, document.goodput_bps.mean * 1e-6];
  assert(shown.every((value, i) => Math.abs(value / expected[i] - 1) < 1e-3), `${shown} against ${expected}`);
  return `${utilisation}, ${goodput}`;
});

await check('the curves follow a slider while it is dragged', async () => {
  await anew(page, () => page.selectOption('#preset', 'two-flows'));
  const text = () => page.inputValue('#c-rate >> xpath=../input[@type="text"]');
  const drawn = () => page.evaluate(() => Number(document.documentElement.dataset.drawn));
  const before = [await text(), await drawn()];
  await drag(30, 30);
  const after = [await text(), await drawn()];
  assert(after[1] >= before[1] + 2, `${after[1] - before[1]} runs were drawn while it was dragged`);
  assert(after[0] !== before[0], `the rate stays ${after[0]}`);
  await anew(page, () => page.mouse.up());
  assert((await text()) === after[0], 'the rate changes by the release');
  const [[, utilisation]] = await cells(page, '#measures');
  assert(/±|\(/.test(utilisation), `after the release all seeds are measured: ${utilisation}`);
  return `${before[0]} to ${after[0]}, ${after[1] - before[1]} runs drawn`;
});

await check('a control that rests is asked for once: its release adds seeds to the run that is shown', async () => {
  await drag(10, 30);
  await page.waitForFunction(() => /^one seed in/.test(document.querySelector('#status').textContent), null, { timeout: 30_000 });
  const drawn = await page.evaluate(() => Number(document.documentElement.dataset.drawn));
  await measured('first curve');
  await anew(page, () => page.mouse.up());
  assert((await shown(page)) === drawn, `run ${drawn} was drawn, and ${await shown(page)} is shown whole`);
  const seeds = await page.textContent('#seeds');
  assert(seeds.includes('over 5 seeds'), seeds);
  const [first] = await measured('first curve');
  return `first curve ${first.toFixed(0)} ms after the release`;
});

await check('a slider moves by keys', async () => {
  await page.focus('#c-round-trip-time');
  const before = await page.getAttribute('#c-round-trip-time', 'aria-valuetext');
  await anew(page, () => page.keyboard.press('ArrowRight'));
  const after = await page.getAttribute('#c-round-trip-time', 'aria-valuetext');
  assert(before !== after, `it stays at ${after}`);
  return `${before} to ${after}`;
});

await check('the cursor of time moves all plots and the table', async () => {
  const last = await cells(page, '#flows');
  await page.focus('#time');
  for (let k = 0; k < 20; k += 1) await page.keyboard.press('PageDown');
  const first = await cells(page, '#flows');
  assert(JSON.stringify(first) !== JSON.stringify(last), 'the table stays');
  const lefts = await page.$$eval('.u-cursor-x', (all) => all.map((one) => one.style.transform));
  assert(lefts.length === 4 && new Set(lefts.map((one) => Math.round(Number.parseFloat(one.slice(10))))).size <= 2, lefts.join(' '));
});

await check('a link has all settings in it', async () => {
  const link = await page.evaluate(() => location.hash);
  const other = await open({}, link);
  const texts = (one) => one.$$eval('#controls input[type=text]', (all) => all.map(({ value }) => value));
  assert(JSON.stringify(await texts(other)) === JSON.stringify(await texts(page)), 'the controls differ');
  assert(JSON.stringify(await cells(other, '#measures')) === JSON.stringify(await cells(page, '#measures')), 'the measures differ');
  await other.close();
  return `${link.length} characters`;
});

async function saved(what) {
  await page.click('#take > summary');
  const [file] = await Promise.all([page.waitForEvent('download'), page.click(`[data-take=${what}]`)]);
  return readFile(await file.path(), 'utf8');
}

await check('what is shown can be saved', async () => {
  const toml = await saved('toml');
  assert(toml.includes('[dumbbell]') && toml.includes('[[flow]]'), toml);
  const [head, ...rows] = (await saved('csv')).trim().split('\r\n');
  assert(head.startsWith('run,flow,algorithm,time_s,window_packets') && rows.length > 1000, head);
  const svg = await saved('svg');
  assert(svg.startsWith('<svg') && !svg.includes('var('), 'the picture refers to the page');
  const well_formed = await page.evaluate((text) => !new DOMParser().parseFromString(text, 'image/svg+xml').querySelector('parsererror'), svg);
  assert(well_formed, 'the picture is no XML');
  return `${rows.length} rows`;
});

await check('the scenario opens in a report', async () => {
  await page.click('#take > summary');
  const [report] = await Promise.all([page.context().waitForEvent('page'), page.click('#take form button')]);
  await report.waitForFunction(() => 'drawn' in document.documentElement.dataset, null, { timeout: 30_000 });
  const count = await report.locator('figure').count();
  assert(count > 3, `${count} figures`);
  await report.close();
  return `${count} figures`;
});

await check('a bad scenario shows its line', async () => {
  await page.click('#scenario > summary');
  await page.fill('#toml', 'duration = "5s"\n\n[dumbbell]\nrate = "5parsec"\n\n[[flow]]\nalgorithm = "reno"\n');
  await page.click('#apply');
  await page.waitForSelector('#message:not([hidden])');
  const text = await page.textContent('#message');
  assert(text.startsWith('line 4:') && text.includes('rate with its unit'), text);
  const excerpt = await page.textContent('#toml-error pre');
  assert(excerpt.includes('4 | rate = "5parsec"') && excerpt.includes('^'), excerpt);
  return text;
});

await check('a TOML file can be dropped on the page', async () => {
  const data = await page.evaluateHandle(() => {
    const transfer = new DataTransfer();
    transfer.items.add(new File(['duration = "4s"\n[dumbbell]\nrate = "7mbit"\n[[flow]]\nalgorithm = "vegas"\n'], 'x.toml'));
    return transfer;
  });
  await anew(page, () => page.dispatchEvent('body', 'drop', { dataTransfer: data }));
  assert((await page.inputValue('#c-rate >> xpath=../input[@type="text"]')) === '7mbit', 'the rate is not that of the file');
  assert((await cells(page, '#flows'))[0][0] === 'vegas', 'the algorithm is not that of the file');
  assert(await page.isHidden('#message'), 'the message stays');
});

await check('a scenario that names a file is refused', async () => {
  await page.fill('#toml', '[dumbbell]\nrate = "7mbit"\ntrace = "/etc/passwd"\n[[flow]]\nalgorithm = "reno"\n');
  await page.click('#apply');
  await page.waitForSelector('#message:not([hidden])');
  const text = await page.textContent('#message');
  assert(text.includes('reads no files'), text);
});

await check('a rule of one’s own runs, and an error in it is shown', async () => {
  await anew(page, () => page.selectOption('#preset', 'two-flows'));
  await anew(page, () => page.selectOption('#controls .group:first-of-type .head select', 'rule'));
  const row = async () => (await cells(page, '#measures'))[0];
  const as_reno = await row();
  const grow = page.locator('#controls .group:first-of-type .field', { hasText: /^\s*grow/ }).locator('input');
  assert(await grow.isVisible(), 'its expressions are hidden');
  assert((await page.isHidden('#lesson')) && (await page.inputValue('#preset')) === '', 'it is captioned as the scenario before');
  assert(!(await page.inputValue('#toml')).includes('title'), 'it has the title of the scenario before');
  assert((await page.textContent('#command')).startsWith('cwnd compare') || (await page.textContent('#command')).endsWith('live.toml'), await page.textContent('#command'));
  await anew(page, async () => {
    await grow.fill('max(4/w, 0.01)');
    await grow.press('Tab');
  });
  assert(JSON.stringify(await row()) !== JSON.stringify(as_reno), 'the measures are those of Reno');
  const example = page.locator('#controls .group:first-of-type select', { has: page.locator('option', { hasText: 'H-TCP' }) });
  await anew(page, async () => { await example.selectOption({ index: 2 }); });
  assert((await grow.inputValue()).includes('age'), `the example is not in its field: ${await grow.inputValue()}`);
  const out = await page.$$eval('#flows th, #flows td, #shares th, #shares td', (all) => all.filter((one) => one.getBoundingClientRect().right > one.closest('main').getBoundingClientRect().right).length);
  assert(out === 0, `${out} cells are out of sight`);
  await grow.fill('4/x');
  await grow.press('Tab');
  await page.waitForSelector('#message:not([hidden])');
  const text = await page.textContent('#message');
  assert(text.includes('character 3, where x stands'), text);
  return text;
});

await check('a run goes on in real time, and its rate is dragged', async () => {
  await anew(page, () => page.selectOption('#preset', 'two-flows'));
  await page.click('#pace');
  await page.waitForFunction(() => Number.parseFloat(document.querySelector('#at').textContent) > 2 && /real time/.test(document.querySelector('#status').textContent), null, { timeout: 60_000 });
  const rate = page.locator('#c-rate >> xpath=../input[@type="text"]');
  await rate.fill('20mbit');
  await rate.press('Tab');
  const at = await page.evaluate(() => Number.parseFloat(document.querySelector('#at').textContent));
  await page.waitForFunction((from) => Number.parseFloat(document.querySelector('#at').textContent) > from + 12, at, { timeout: 60_000 });
  const total = (await cells(page, '#flows')).reduce((sum, [, , goodput]) => sum + Number(goodput), 0);
  assert(total > 10 && total < 25, `the flows have ${total} Mbit/s`);
  await page.click('#hold');
  await page.waitForTimeout(300);
  const held = await page.textContent('#at');
  await page.waitForTimeout(300);
  assert((await page.textContent('#at')) === held, 'it goes on while it is held');
  const toml = await saved('toml');
  assert(toml.includes('[[dumbbell.schedule.steps]]') && toml.includes('20mbit'), toml);
  await anew(page, () => page.click('#pace'));
  return `${total.toFixed(1)} Mbit/s, held at ${held}`;
});

await check('axe finds nothing (light)', async () => {
  await page.click('#cross > summary');
  await page.click('#events > summary');
  return axe_violations(page);
});

await check('axe finds nothing (dark, phone), and nothing is wider than the screen', async () => {
  const phone = await open({ colorScheme: 'dark', viewport: { width: 420, height: 850 } });
  await phone.click('#panel > summary');
  const detail = await axe_violations(phone);
  await overflow(phone);
  await phone.close();
  return detail;
});

await check('no error or warning on the console', () => assert(faults.length === 0, faults.join(' | ')));
await check('no request leaves this host', () => assert(requests.length === 0, requests.join(' | ')));

await check('foreign requests are refused', async () => {
  const host = `127.0.0.1:${port}`;
  const socket = 'Upgrade: websocket\nConnection: Upgrade\nSec-WebSocket-Version: 13\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\n';
  const cases = [
    [`GET /${TOKEN}/ HTTP/1.1\nHost: ${host}\n\n`, '200'],
    [`GET / HTTP/1.1\nHost: ${host}\n\n`, '404'],
    [`GET /wrong/ HTTP/1.1\nHost: ${host}\n\n`, '404'],
    [`GET /${TOKEN}/ HTTP/1.1\nHost: evil.example:${port}\n\n`, '421'],
    [`GET /${TOKEN}/ws HTTP/1.1\nHost: ${host}\nOrigin: http://evil.example\n${socket}\n`, '403'],
    [`GET /${TOKEN}/ws HTTP/1.1\nHost: ${host}\n${socket}\n`, '403'],
    [`GET /${TOKEN}/ws HTTP/1.1\nHost: ${host}\nOrigin: http://${host}\n${socket}\n`, '101'],
    [`POST /${TOKEN}/report HTTP/1.1\nHost: ${host}\nOrigin: http://evil.example\nContent-Length: 5\n\ntoml=`, '403'],
    [`GET /${TOKEN}/ HTTP/1.1\nHost: ${host}\nX: ${'x'.repeat(20_000)}\n\n`, '400'],
  ];
  for (const [text, status] of cases) {
    const line = await ask(text);
    assert(line.includes(` ${status} `), `${text.slice(0, 60)}: ${line}`);
  }
  return `${cases.length} requests`;
});

await check('Ctrl-C ends the server, and the page finds it again when it is back', async () => {
  const before = await shown(page);
  server.child.kill('SIGINT');
  const code = await server.ended;
  assert(code === 0, `it ended with ${code}`);
  await page.waitForFunction(() => document.querySelector('#status').classList.contains('bad'));
  server = start('--listen', `127.0.0.1:${port}`);
  await server.url;
  await settled(page, before);
  const rows = await cells(page, '#measures');
  assert(rows.length === 1, 'there is nothing after it');
});

await browser.close();
server.child.kill('SIGINT');
await server.ended;
console.log(`${results.passed} passed, ${results.failed} failed`);
process.exit(results.failed === 0 ? 0 : 1);
