// Writes the upper part of a page, such as a report, as a picture.
//
//   node screenshot.mjs PAGE.html OUT.png WIDTH HEIGHT [CHROMIUM]
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { launch } from './checks.mjs';

const [file, out, width, height, executablePath = '/usr/bin/chromium'] = process.argv.slice(2);
if (!height) {
  console.error('usage: node screenshot.mjs PAGE.html OUT.png WIDTH HEIGHT [CHROMIUM]');
  process.exit(2);
}
const browser = await launch(executablePath);
const page = await browser.newPage({ viewport: { width: Number(width), height: Number(height) }, colorScheme: 'light' });
await page.goto(pathToFileURL(resolve(file)).href);
await page.waitForFunction(() => 'drawn' in document.documentElement.dataset, null, { timeout: 60_000 });
await page.screenshot({ path: out });
await browser.close();
