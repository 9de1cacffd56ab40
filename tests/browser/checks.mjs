// What every page is checked with: a browser that uses no network of its own, and checks that are counted.
import { chromium } from 'playwright-core';

// Without a sandbox because tests run as root in containers; nothing of Chromium's own may use the network either.
const FLAGS = [
  '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--disable-background-networking',
  '--disable-component-update', '--disable-sync', '--no-first-run', '--disable-quic',
];

export const results = { passed: 0, failed: 0 };

/** Runs one check and prints a line about it. */
export async function check(name, body) {
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
