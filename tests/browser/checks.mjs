// What every page is checked with: a browser that uses no network of its own, and checks that are counted.
import axe from 'axe-core';
import { chromium } from 'playwright-core';
import puppeteer from 'puppeteer-core';

// Without a sandbox because tests run as root in containers; nothing of Chromium's own may use the network either.
const FLAGS = [
  '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--disable-background-networking',
  '--disable-component-update', '--disable-sync', '--no-first-run', '--disable-quic',
];

// Nothing of Firefox's own may use the network.
const PREFERENCES = {
  'app.normandy.enabled': false, 'browser.safebrowsing.downloads.enabled': false, 'browser.safebrowsing.malware.enabled': false,
  'browser.safebrowsing.phishing.enabled': false, 'datareporting.policy.dataSubmissionEnabled': false,
  'network.captive-portal-service.enabled': false, 'network.connectivity-service.enabled': false,
  'services.settings.server': 'data:,', 'ui.systemUsesDarkTheme': 0,
};

/** Long enough for a machine that is busy with something else, in milliseconds. */
export const PATIENCE = 120_000;

export const results = { passed: 0, failed: 0 };

/** The check that runs, or ran last. */
let running = 'before the first check';

/** A list of the faults that a browser reports, each with the check and the address at which it was reported. */
export function fault_list() {
  const faults = [];
  return { faults, report: (page, text) => faults.push(`${text} (${running}, ${page.url().slice(0, 100)})`) };
}

/** Runs one check and prints a line about it. */
export async function check(name, body) {
  running = name;
  try {
    const detail = await body();
    results.passed += 1;
    console.log(`ok    ${name}${detail ? `: ${detail}` : ''}`);
  } catch (error) {
    results.failed += 1;
    console.log(`FAIL  ${name}: ${error.message}`);
  }
}

export function assert(condition, message) {
  if (!condition) throw new Error(message);
}

/** Starts the browser; rejects with one line if it cannot be started. */
export function launch(executablePath) {
  return chromium.launch({ executablePath, args: FLAGS }).catch((error) => {
    throw new Error(`cannot start ${executablePath}: ${error.message.split('\n')[0]}`);
  });
}

/** Starts Firefox, or Chromium if the name of the program says so, over WebDriver BiDi or Chromium's protocol. */
export function launch_either(executablePath) {
  const common = { executablePath, headless: true, timeout: PATIENCE, protocolTimeout: PATIENCE, defaultViewport: { width: 1280, height: 900 } };
  const own = executablePath.includes('firefox') ? { browser: 'firefox', extraPrefsFirefox: PREFERENCES } : { browser: 'chrome', args: FLAGS };
  return puppeteer.launch({ ...common, ...own });
}

/** What axe finds on a page, which has to be nothing. */
export async function axe_violations(page) {
  await page.evaluate(axe.source);
  const { violations, passes } = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ['violations'] }));
  const lines = violations.map(({ id, impact, nodes }) => `${id} (${impact}) at ${nodes.slice(0, 3).map(({ target }) => target.join(' ')).join('; ')}`);
  assert(lines.length === 0, lines.join(' | '));
  return `${passes.length} rules passed`;
}

/** Nothing on a page is beyond the edge of the screen, but in what scrolls by itself. */
export async function overflow(page) {
  const beyond = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  assert(beyond <= 0, `the page is ${beyond} pixels wider than the screen`);
}
