// Writes the picture of the page of `cwnd live` in README.md.
//
//   node picture.mjs CWND [OUT.png] [PRESET] [light|dark] [WIDTH] [CHROMIUM]
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';

const usual = fileURLToPath(new URL('../../docs/images/live.png', import.meta.url));
const [program, out = usual, preset = 'cubic-bbr3', colorScheme = 'light', width = '1360', executablePath = '/usr/bin/chromium'] = process.argv.slice(2);
const server = spawn(program, ['live', '--no-open'], { stdio: ['ignore', 'ignore', 'pipe'] });
const url = await new Promise((found) => {
  let text = '';
  server.stderr.on('data', (data) => {
    text += data;
    const address = /http:\S+/.exec(text);
    if (address) found(address[0]);
  });
});
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'] });
const page = await browser.newPage({ viewport: { width: Number(width), height: 1140 }, colorScheme });
await page.goto(url);
await page.selectOption('#preset', preset);
await page.waitForFunction(() => /^5 seeds in/.test(document.querySelector('#status').textContent), null, { timeout: 60_000 });
await page.waitForTimeout(500);
// A cursor in the middle of the run, for its line over all plots.
await page.evaluate(() => {
  const time = document.querySelector('#time');
  time.value = String(Math.round(Number(time.max) * 0.62));
  time.dispatchEvent(new Event('input'));
});
await page.waitForTimeout(300);
await page.screenshot({ path: out, fullPage: Number(width) < 900 });
await browser.close();
server.kill('SIGINT');
