// A host of static files, for pages that need no other server.
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join, normalize } from 'node:path';

const MEDIA = { html: 'text/html; charset=utf-8', css: 'text/css', js: 'text/javascript', wasm: 'application/wasm' };

/**
 * Serves `folder` below the path `/below/` of a free port; its address, and how to end it. A `clean` host leaves `.html` out of addresses, as some do. From
 * `hold` on the host keeps back the end of the file `slow`, until `release`.
 */
export function host(folder, { clean = false, slow = null } = {}) {
  let held = null;
  const server = createServer(async ({ url }, answer) => {
    if (clean && /\.html$/.test(url)) {
      answer.writeHead(308, { location: url.replace(/(index)?\.html$/, '') }).end();
      return;
    }
    const path = normalize(decodeURIComponent(new URL(url, 'http://host').pathname));
    const name = path.startsWith('/below/') ? path.slice('/below/'.length) || 'index.html' : null;
    const file = clean && name && !name.includes('.') ? `${name}.html` : name;
    const bytes = name === null || name.includes('..') ? null : await readFile(join(folder, file)).catch(() => null);
    answer.writeHead(bytes ? 200 : 404, { 'content-type': MEDIA[file?.split('.').at(-1)] ?? 'application/octet-stream' });
    if (held && name === slow) {
      answer.write(bytes.subarray(0, 1000));
      held.push(() => answer.end(bytes.subarray(1000)));
    } else answer.end(bytes ?? 'not found');
  });
  return new Promise((done) => server.listen(0, '127.0.0.1', () => done({
    url: `http://127.0.0.1:${server.address().port}/below/`,
    hold: () => { held = []; },
    release: () => { for (const end of held.splice(0)) end(); },
    end: () => { server.closeAllConnections(); server.close(); },
  })));
}
