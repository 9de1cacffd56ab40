// A server of `cwnd live` for those who open its page.
import { spawn } from 'node:child_process';

/** Starts a server; its address is in what it prints. */
export function serve(program, ...options) {
  const child = spawn(program, ['live', '--no-open', ...options], { stdio: ['ignore', 'ignore', 'pipe'] });
  const url = new Promise((found, failed) => {
    let text = '';
    child.stderr.on('data', (data) => {
      text += data;
      const address = /http:\S+/.exec(text);
      if (address) found(address[0]);
    });
    child.on('error', failed);
    child.on('exit', () => failed(new Error(`the server ended: ${text}`)));
  });
  const ended = new Promise((done) => child.on('exit', (code) => done(code)));
  return { child, url, ended };
}
