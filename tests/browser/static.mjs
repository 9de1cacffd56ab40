// A host of static files, for pages that need no other server.
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join, normalize } from 'node:path';

const MEDIA = { html: 'text/html; charset=utf-8', css: 'text/css', js: 'text/javascript', wasm: 'application/wasm' };

/** Serves `folder` below the path `/below/` of a free port; its address, and how to end it. */
export function host(folder) {
  const server = createServer(async ({ url }, answer) => {
    const path = normalize(decodeURIComponent(new URL(url, 'http://host').pathname));
    const name = path.startsWith('/below/') ? path.slice('/below/'.length) || 'index.html' : null;
    const bytes = name === null || name.includes('..') ? null : await readFile(join(folder, name)).catch(() => null);
    answer.writeHead(bytes ? 200 : 404, { 'content-type': MEDIA[name?.split('.').at(-1)] ?? 'application/octet-stream' });
    answer.end(bytes ?? 'not found');
  });
  return new Promise((done) => server.listen(0, '127.0.0.1', () => done({
    url: `http://127.0.0.1:${server.address().port}/below/`,
    end: () => { server.closeAllConnections(); server.close(); },
  })));
}
