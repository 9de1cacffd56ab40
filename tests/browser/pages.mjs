// Opens pages at desk and phone width, light and dark, and checks that each can be read there.
//
//   node pages.mjs CHROMIUM [--shots FOLDER] PAGE.html…
//
// One line per check; exit code 1 if any fails, 2 if the checks could not be run. With --shots a picture of each page is kept.
import { writeFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { assert, axe_violations, check, launch, overflow, results } from './checks.mjs';

const [executablePath, ...given] = process.argv.slice(2);
const shots = given[0] === '--shots' ? given.splice(0, 2)[1] : null;
if (given.length === 0) {
  console.error('usage: node pages.mjs CHROMIUM [--shots FOLDER] PAGE.html…');
  process.exit(2);
}
const browser = await launch(executablePath).catch((error) => {
  console.error(error.message);
  process.exit(2);
});

for (const file of given) {
  const name = basename(file, '.html');
  for (const [width, height] of [[1280, 900], [420, 900]]) {
    for (const colorScheme of ['light', 'dark']) {
      await check(`${name} at ${width} pixels, ${colorScheme}`, async () => {
        const page = await browser.newPage({ viewport: { width, height }, colorScheme });
        const faults = [];
        page.on('console', (message) => ['error', 'warning'].includes(message.type()) && faults.push(message.text()));
        page.on('pageerror', (error) => faults.push(error.message));
        await page.goto(pathToFileURL(resolve(file)).href);
        await page.waitForFunction(() => 'drawn' in document.documentElement.dataset, null, { timeout: 60_000 });
        const detail = await axe_violations(page);
        await overflow(page);
        assert(faults.length === 0, faults.join(' | '));
        if (shots) await page.screenshot({ path: join(shots, `${name}-${width}-${colorScheme}.png`), fullPage: width === 1280 });
        await page.close();
        return detail;
      });
    }
  }
  await check(`${name}: everything is printed`, async () => {
    // Printed as soon as it is loaded, before the plots are drawn one after the other; without a mouse nothing is scrolled to.
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 }, colorScheme: 'dark' });
    await page.goto(pathToFileURL(resolve(file)).href);
    await page.evaluate(() => addEventListener('beforeprint', () => {
      globalThis.printed = {
        blank: [...document.querySelectorAll('figure')].filter((figure) => !figure.querySelector('svg :is(.mark-line, .mark-symbol, .mark-rect, .mark-rule, .mark-area, .mark-text) > *')).map(({ id }) => id),
        shut: document.querySelectorAll('main details:not([open], [data-tables])').length,
      };
    }));
    const pdf = await page.pdf({ preferCSSPageSize: true, printBackground: true });
    const { blank, shut } = await page.evaluate(() => globalThis.printed);
    await page.emulateMedia({ media: 'print' });
    const [back, wide] = await page.evaluate(() => [getComputedStyle(document.body).backgroundColor, document.documentElement.scrollWidth - document.documentElement.clientWidth]);
    if (shots) await writeFile(join(shots, `${name}.pdf`), pdf);
    await page.close();
    assert(blank.length === 0, `blank: ${blank.join(', ')}`);
    assert(shut === 0, `${shut} parts are shut`);
    assert(back === 'rgb(255, 255, 255)', `the paper is ${back}`);
    assert(wide <= 0, `something is ${wide} pixels wider than the paper`);
    return `${pdf.length} bytes`;
  });
  await check(`${name}: results with misses come first`, async () => {
    const page = await browser.newPage();
    await page.goto(pathToFileURL(resolve(file)).href);
    const misses = await page.$$eval('section.row', (sections) => sections.map((section) => section.querySelectorAll('td .miss').length > 0));
    await page.close();
    assert(!misses.slice(misses.indexOf(false)).includes(true) || !misses.includes(false), `sections with misses: ${misses.join(' ')}`);
  });
}

await browser.close();
console.log(`${results.passed} passed, ${results.failed} failed`);
process.exit(results.failed === 0 ? 0 : 1);
