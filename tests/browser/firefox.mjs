// Drives the page of `cwnd live` in Firefox over WebDriver BiDi: what is not the same in every browser.
//
//   node firefox.mjs CWND FIREFOX
//
// One line per check; exit code 1 if any fails, 2 if the checks could not be run.
import { PATIENCE, assert, axe_violations, check, launch_either, results } from './checks.mjs';
import { serve } from './server.mjs';

const [program, executablePath = '/usr/bin/firefox-esr'] = process.argv.slice(2);
if (!program) {
  console.error('usage: node firefox.mjs CWND [FIREFOX]');
  process.exit(2);
}

async function both() {
  const server = serve(program);
  const url = await server.url;
  try {
    return { server, url, browser: await launch_either(executablePath) };
  } catch (error) {
    server.child.kill('SIGINT');
    throw error;
  }
}

const { server, url, browser } = await both().catch((error) => {
  console.error(`cannot start ${executablePath} or ${program}: ${error.message.split('\n')[0]}`);
  process.exit(2);
});
const faults = [];

async function open(fragment = '') {
  const page = await browser.newPage();
  page.setDefaultTimeout(PATIENCE);
  page.on('console', (message) => ['error', 'warn'].includes(message.type()) && faults.push(message.text()));
  page.on('pageerror', (error) => faults.push(error.message));
  await page.goto(url + fragment, { timeout: PATIENCE });
  await settled(page);
  return page;
}

/** The last run that is shown whole. */
const shown = (page) => page.evaluate(() => Number(document.documentElement.dataset.shown ?? 0));

/** Waits until a run later than `before` is shown whole. */
const settled = (page, before = 0) =>
  page.waitForFunction((before) => Number(document.documentElement.dataset.shown ?? 0) > before, { timeout: PATIENCE, polling: 50 }, before);

/** Does something that leads to a new run, and waits for it. */
async function anew(page, action) {
  const before = await shown(page);
  await action();
  await settled(page, before);
}

const cells = (page, selector) => page.$$eval(`${selector} tbody tr`, (rows) => rows.map((row) => [...row.cells].map((cell) => cell.textContent.trim())));
const text_of = (page, selector) => page.$eval(selector, (one) => one.textContent);
const rate = (page) => page.$eval('#c-rate', (range) => range.parentElement.querySelector('[type=text]').value);

/** How many pixels of each plot over time are not transparent. */
const ink = (page) => page.$$eval('.plot canvas', (all) => all.map((canvas) => {
  const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
  let count = 0;
  for (let at = 3; at < data.length; at += 4) count += data[at] > 0 ? 1 : 0;
  return count;
}));

const page = await open();

const presets = await page.$$eval('#preset option', (all) => all.map(({ value }) => value).filter(Boolean));
for (const preset of presets) {
  await check(`Firefox: the preset ${preset} is drawn`, async () => {
    if ((await page.$eval('#preset', ({ value }) => value)) !== preset) await anew(page, () => page.select('#preset', preset));
    const drawn = await ink(page);
    assert(drawn.length === 4 && drawn.every((count) => count > 1000), `the plots have ${drawn.join(', ')} pixels`);
    const rows = await cells(page, '#measures');
    assert(rows.length > 0 && rows.every(([, utilisation]) => /\d (±|\()/.test(utilisation)), `the measures are ${JSON.stringify(rows)}`);
    assert((await text_of(page, '#lesson')).includes('Look for'), 'there is no lesson');
    return `${rows.length} runs`;
  });
}

await check('Firefox: the curves follow a slider while it is dragged', async () => {
  await anew(page, () => page.select('#preset', 'two-flows'));
  const drawn = () => page.evaluate(() => Number(document.documentElement.dataset.drawn));
  const before = [await rate(page), await drawn()];
  const box = await (await page.$('#c-rate')).boundingBox();
  const at = (share) => page.mouse.move(box.x + box.width * share, box.y + box.height / 2);
  await at(0.66);
  await page.mouse.down();
  for (let step = 1; step <= 20; step += 1) await at(0.66 - 0.01 * step);
  await page.waitForFunction((drawn) => Number(document.documentElement.dataset.drawn) > drawn, { timeout: PATIENCE, polling: 50 }, before[1]);
  await anew(page, () => page.mouse.up());
  const after = [await rate(page), await drawn()];
  assert(after[0] !== before[0], `the rate stays ${after[0]}`);
  const seeds = await text_of(page, '#seeds');
  assert(seeds.includes('over 5 seeds'), seeds);
  return `${before[0]} to ${after[0]}, ${after[1] - before[1]} runs`;
});

await check('Firefox: a slider moves by keys', async () => {
  await page.focus('#c-rate');
  const before = await rate(page);
  await anew(page, () => page.keyboard.press('ArrowLeft'));
  assert((await rate(page)) !== before, `the rate stays ${before}`);
  return `${before} to ${await rate(page)}`;
});

await check('Firefox: a link has all settings in it', async () => {
  const link = await page.evaluate(() => location.hash);
  const other = await open(link);
  const texts = (one) => one.$$eval('#controls input[type=text]', (all) => all.map(({ value }) => value));
  assert(JSON.stringify(await texts(other)) === JSON.stringify(await texts(page)), 'the controls differ');
  assert(JSON.stringify(await cells(other, '#measures')) === JSON.stringify(await cells(page, '#measures')), 'the measures differ');
  await other.close();
  return `${link.length} characters`;
});

await check('Firefox: a bad scenario shows its line, and a good one that is dropped is run', async () => {
  const drop = (text) => page.evaluate((text) => {
    const dataTransfer = new DataTransfer();
    dataTransfer.items.add(new File([text], 'x.toml'));
    document.body.dispatchEvent(new DragEvent('drop', { bubbles: true, cancelable: true, dataTransfer }));
  }, text);
  await drop('duration = "5s"\n\n[dumbbell]\nrate = "5parsec"\n\n[[flow]]\nalgorithm = "reno"\n');
  await page.waitForSelector('#message:not([hidden])');
  const text = await text_of(page, '#message');
  assert(text.startsWith('line 4:') && text.includes('rate with its unit'), text);
  const excerpt = await text_of(page, '#toml-error pre');
  assert(excerpt.includes('4 | rate = "5parsec"') && excerpt.includes('^'), excerpt);
  await anew(page, () => drop('duration = "4s"\n[dumbbell]\nrate = "7mbit"\n[[flow]]\nalgorithm = "vegas"\n'));
  assert((await rate(page)) === '7mbit', 'the rate is not that of the file');
  assert((await cells(page, '#flows'))[0][0] === 'vegas', 'the algorithm is not that of the file');
  return text;
});

await check('Firefox: a run goes on in real time', async () => {
  await page.click('#pace');
  await page.waitForFunction(() => Number.parseFloat(document.querySelector('#at').textContent) > 2, { timeout: PATIENCE, polling: 50 });
  await anew(page, () => page.click('#pace'));
});

await check('Firefox: axe finds nothing', () => axe_violations(page));

await check('Firefox: nothing is wider than a phone', async () => {
  await page.setViewport({ width: 420, height: 850 });
  const beyond = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  assert(beyond <= 0, `the page is ${beyond} pixels wider than the screen`);
});

await check('Firefox: no error or warning on the console', () => assert(faults.length === 0, faults.join(' | ')));

await browser.close();
server.child.kill('SIGINT');
await server.ended;
console.log(`${results.passed} passed, ${results.failed} failed`);
process.exit(results.failed === 0 ? 0 : 1);
