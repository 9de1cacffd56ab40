// Opens a report in headless Chromium and checks what a reader would see.
//
//   node report.mjs REPORT.html [CHROMIUM]
//
// One line per check; exit code 1 if any fails, 2 if the checks could not be run.
import { readdir, readFile } from 'node:fs/promises';
import { createHash } from 'node:crypto';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { assert, axe_violations, check, launch, overflow, results } from './checks.mjs';

const [file, executablePath = '/usr/bin/chromium'] = process.argv.slice(2);
if (!file) {
  console.error('usage: node report.mjs REPORT.html [CHROMIUM]');
  process.exit(2);
}

/** The rows of a CSV file as records; quoted cells may hold anything. */
function parse_csv(text) {
  const lines = [];
  let line = [];
  for (const [, quoted, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n|$)/g)) {
    if (quoted === undefined && plain === '' && end === '' && line.length === 0) break;
    line.push(quoted?.replaceAll('""', '"') ?? plain);
    if (end !== ',') {
      lines.push(line);
      line = [];
    }
  }
  const [columns, ...rows] = lines;
  return rows.map((row) => Object.fromEntries(columns.map((column, i) => [column, row[i]])));
}

/** Saves what the link gives, after opening the menu it is in. */
async function download(page, selector) {
  await page.$eval(selector, (link) => link.closest('details')?.setAttribute('open', ''));
  const [saved] = await Promise.all([page.waitForEvent('download'), page.click(selector)]);
  return { name: saved.suggestedFilename(), text: await readFile(await saved.path(), 'utf8') };
}

/** The corners of each line of a plot, in pixels of the picture, in drawing order. */
function lines_of(page, id) {
  return page.$$eval(`#${id} svg .mark-line path`, (paths) =>
    paths.map((path) =>
      [...path.getAttribute('d').matchAll(/[ML]\s*(-?[\d.e+-]+)[ ,]+(-?[\d.e+-]+)/g)].map(([, x, y]) => [Number(x), Number(y)]),
    ),
  );
}

/** Whether pixels are one and the same linear function of the values, for every point. */
function assert_linear(values, pixels, what) {
  const at = (of) => values.indexOf(of);
  const [low, high] = [at(Math.min(...values)), at(Math.max(...values))];
  const slope = values[high] === values[low] ? 0 : (pixels[high] - pixels[low]) / (values[high] - values[low]);
  values.forEach((value, i) => {
    const expected = pixels[low] + slope * (value - values[low]);
    assert(Math.abs(pixels[i] - expected) < 0.1, `${what} ${value} is drawn at ${pixels[i]}, not at ${expected}`);
  });
}

const browser = await launch(executablePath).catch((error) => {
  console.error(error.message);
  process.exit(2);
});
const url = pathToFileURL(resolve(file)).href;
const faults = [];
const requests = [];

async function open(options) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 }, ...options });
  page.on('console', (message) => ['error', 'warning'].includes(message.type()) && faults.push(message.text()));
  page.on('pageerror', (error) => faults.push(error.message));
  page.on('request', (request) => /^(file|data|blob):/.test(request.url()) || requests.push(request.url()));
  page.on('request', (request) => request.url().startsWith('file:') && request.url() !== url && requests.push(request.url()));
  await page.goto(url);
  await page.waitForFunction(() => 'drawn' in document.documentElement.dataset, null, { timeout: 60_000 });
  return page;
}

const started = performance.now();
const page = await open({ colorScheme: 'light' }).catch(async (error) => {
  console.log(`FAIL  the page finishes drawing: ${[error.message.split('\n')[0], ...faults].join(' | ')}`);
  console.log('0 passed, 1 failed');
  await browser.close();
  process.exit(1);
});

await check('the page finishes drawing', () => `${Math.round(performance.now() - started)} ms`);

await check('the page is below 5 MB', async () => {
  const { length } = await readFile(file);
  assert(length < 5e6, `${length} bytes`);
  return `${length} bytes`;
});

const figures = await page.$$eval('figure', (all) => all.map(({ id }) => id));

await check('every plot is drawn', async () => {
  assert(figures.length > 0, 'the page has no figure');
  const marks = ':is(.mark-line, .mark-symbol, .mark-rect, .mark-rule) > :is(path, line)';
  for (const id of figures) {
    const box = await page.locator(`#${id} svg`).boundingBox({ timeout: 1000 }).catch(() => null);
    assert(box && box.width > 100 && box.height > 100, `${id} has no picture`);
    const count = await page.locator(`#${id} svg .role-mark`).filter({ has: page.locator(marks) }).count();
    const direct = await page.locator(`#${id} svg .role-mark > :is(path, line)`).count();
    assert(count + direct > 0, `${id} has no marks`);
  }
  return `${figures.length} plots`;
});

await check('the bars of the shares can be told apart', async () => {
  const heights = await page.$$eval('#shares svg .mark-rect path', (bars) => bars.map((bar) => bar.getBoundingClientRect().height));
  assert(heights.length > 0 && Math.min(...heights) >= 3, `the lowest is ${Math.min(...heights)} pixels high`);
  return `${heights.length} bars`;
});

await check('no picture shows a value that is not a number', async () => {
  const bad = await page.$$eval('figure svg', (all) => all.filter((svg) => /NaN|undefined|Infinity/.test(svg.outerHTML)).length);
  assert(bad === 0, `${bad} pictures do`);
});

const times = figures.filter((id) => /^(window|rate|queue|rtt)-1$/.test(id));

await check('the first row is plotted over time', () => {
  assert(times.length > 0, `only ${figures.join(', ')}`);
  return times.join(', ');
});

for (const id of times) {
  await check(`the points of ${id} are those of its CSV`, async () => {
    const { name, text } = await download(page, `a[data-csv="${id}/table"]`);
    assert(name === `${id}.csv`, `the file is called ${name}`);
    const rows = parse_csv(text);
    const names = [...new Set(rows.map(({ flow }) => flow))];
    const series = names.map((name) => rows.filter(({ flow }) => flow === name));
    const lines = (await lines_of(page, id)).filter((line) => line.length > 0);
    assert(lines.length === series.length, `${lines.length} lines for ${series.length} series`);
    const column = Object.keys(rows[0]).at(-1);
    const points = series.flatMap((records, i) => {
      assert(records.length === lines[i].length, `line ${i + 1} has ${lines[i].length} points, the CSV ${records.length}`);
      return records.map((record, k) => ({ x: Number(record.time_s), y: Number(record[column]), at: lines[i][k] }));
    });
    assert_linear(points.map(({ x }) => x), points.map(({ at }) => at[0]), 'time');
    assert_linear(points.map(({ y }) => y), points.map(({ at }) => at[1]), column);
    return `${points.length} points of ${series.length} series`;
  });
}

await check('the table under a plot has the rows of its CSV', async () => {
  const id = times[0] ?? figures[0];
  await page.$eval(`details[data-tables="${id}"]`, (details) => details.removeAttribute('open'));
  await page.click(`details[data-tables="${id}"] > summary`);
  await page.waitForSelector(`details[data-tables="${id}"] tbody tr`);
  const shown = await page.$$eval(`details[data-tables="${id}"] table:first-of-type tbody tr`, (lines) =>
    lines.map((line) => [...line.cells].map((cell) => cell.textContent)),
  );
  const { text } = await download(page, `a[data-csv="${id}/table"]`);
  const first = parse_csv(text).map((row) => Object.values(row));
  assert(JSON.stringify(shown.slice(0, first.length)) === JSON.stringify(first), `${shown.length} rows against ${first.length}`);
  return `${first.length} rows`;
});

await check('the results can be saved', async () => {
  const { text } = await download(page, 'a[data-csv="results"]');
  const rows = parse_csv(text);
  const shown = await page.locator('#results-table tbody tr').count();
  const algorithms = new Set(rows.map(({ algorithm }) => algorithm));
  assert(algorithms.size === shown, `${algorithms.size} algorithms in the file, ${shown} on the page`);
  return `${rows.length} measures of ${shown} algorithms`;
});

await check('a saved picture stands alone', async () => {
  const { text } = await download(page, `a[data-svg="${figures[0]}"]`);
  assert(text.startsWith('<svg') && !text.includes('var('), 'it refers to the style sheet of the page');
});

await check('a saved specification is whole', async () => {
  const { text } = await download(page, `a[data-spec="${figures[0]}"]`);
  assert(!text.includes('var('), 'it refers to the style sheet of the page');
  const spec = JSON.parse(text);
  const rows = Object.values(spec.datasets).reduce((sum, rows) => sum + rows.length, 0);
  assert(spec.$schema.includes('vega-lite') && rows > 0, 'it lacks its schema or its data');
  const marks = await page.evaluate((spec) => vegaLite.compile(spec).spec.marks.length, spec);
  assert(marks > 0, 'Vega-Lite makes no mark of it');
  return `${rows} rows, ${marks} marks`;
});

await check('links within the page lead somewhere', async () => {
  const lost = await page.$$eval('nav a, .skip', (links) =>
    links.map((link) => link.getAttribute('href')).filter((href) => !document.getElementById(href.slice(1))));
  assert(lost.length === 0, lost.join(', '));
});

await check('axe finds nothing (light)', () => axe_violations(page));
await page.close();

await check('axe finds nothing (dark, narrow)', async () => {
  const dark = await open({ colorScheme: 'dark', viewport: { width: 400, height: 800 } });
  const detail = await axe_violations(dark);
  await overflow(dark);
  await dark.close();
  return detail;
});

await check('no error or warning on the console', () => assert(faults.length === 0, faults.join(' | ')));
await check('no request leaves the page', () => assert(requests.length === 0, requests.join(' | ')));

await check('the plotting libraries are those listed', async () => {
  const vendor = join(dirname(fileURLToPath(import.meta.url)), '../../crates/cwnd-report/assets/vendor');
  const listed = [...(await readFile(join(vendor, 'VERSIONS'), 'utf8')).matchAll(/^\S+\s+\S+\s+(\S+\.js)\s+([0-9a-f]{64})$/gm)];
  const there = (await readdir(vendor)).filter((name) => name.endsWith('.js'));
  assert(listed.map(([, name]) => name).sort().join() === there.sort().join(), `${there.join()} are there`);
  for (const [, name, sum] of listed) {
    const actual = createHash('sha256').update(await readFile(join(vendor, name))).digest('hex');
    assert(actual === sum, `${name} has the sum ${actual}`);
  }
});

await browser.close();
console.log(`${results.passed} passed, ${results.failed} failed`);
process.exit(results.failed === 0 ? 0 : 1);
