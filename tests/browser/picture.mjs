// Writes the pictures of the page of `cwnd live`: one that stands still, or, where OUT ends with `.webp`, one in which a slider is dragged.
//
//   node picture.mjs CWND [OUT.png] [PRESET] [light|dark] [WIDTH] [CHROMIUM]
//
// The one that moves is of real pictures of the page, one for each step of the slider, and is joined by `img2webp` (Debian's package webp).
import { execFileSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { launch } from './checks.mjs';
import { serve } from './server.mjs';

const usual = fileURLToPath(new URL('../../docs/images/live.png', import.meta.url));
const [program, out = usual, preset = 'cubic-bbr3', colorScheme = 'light', width = out.endsWith('.webp') ? '1140' : '1360', executablePath = '/usr/bin/chromium'] = process.argv.slice(2);
const moves = out.endsWith('.webp');
const server = serve(program);
const url = await server.url;
const browser = await launch(executablePath);
const page = await browser.newPage({ viewport: { width: Number(width), height: moves ? 766 : 1140 }, colorScheme });
await page.goto(url);

/** Waits until nothing is still to come of what is asked for. */
const settled = (status) => page.waitForFunction((status) => document.querySelector('#status').textContent.startsWith(status), status, { timeout: 60_000 });
const start = await page.evaluate(() => Number(document.documentElement.dataset.shown ?? 0));
await page.waitForFunction((start) => Number(document.documentElement.dataset.shown ?? 0) > start, start, { timeout: 60_000 });
await page.selectOption('#preset', preset);
await settled('5 seeds in');
await page.waitForTimeout(500);

if (moves) {
  const folder = await mkdtemp(join(tmpdir(), 'cwnd-live-'));
  const frames = [];
  const take = async (milliseconds) => {
    const path = join(folder, `${frames.length}.png`.padStart(8, '0'));
    await page.screenshot({ path });
    frames.push([path, milliseconds]);
  };
  const box = await page.locator('#c-queue-size').boundingBox();
  const at = (share) => page.mouse.move(box.x + 8 + (box.width - 16) * share, box.y + box.height / 2, { steps: 2 });
  // From half a bandwidth-delay product to four of them, and back: the slider is logarithmic, from 0.05 to 10.
  const place = (size) => Math.log(size / 0.05) / Math.log(10 / 0.05);
  const steps = 12;
  const sizes = Array.from({ length: steps + 1 }, (_, k) => 0.5 * 8 ** (k / steps));
  await at(place(2));
  await page.mouse.down();
  for (const [nth, size] of [...sizes, ...sizes.slice(1, -1).reverse()].entries()) {
    await at(place(size));
    await settled('one seed in');
    await page.waitForTimeout(250);
    await take(nth === 0 || nth === steps ? 900 : 110);
  }
  await page.mouse.up();
  const joined = frames.flatMap(([path, milliseconds]) => ['-d', String(milliseconds), '-lossy', '-q', '45', '-m', '6', path]);
  execFileSync('img2webp', ['-loop', '0', '-kmin', '0', '-kmax', '40', ...joined, '-o', out], { stdio: ['ignore', 'ignore', 'inherit'] });
  await rm(folder, { recursive: true });
} else {
  // A cursor in the middle of the run, for its line over all plots.
  await page.evaluate(() => {
    const time = document.querySelector('#time');
    time.value = String(Math.round(Number(time.max) * 0.62));
    time.dispatchEvent(new Event('input'));
  });
  await page.waitForTimeout(300);
  await page.screenshot({ path: out, fullPage: Number(width) < 900 });
}
await browser.close();
server.child.kill('SIGINT');
