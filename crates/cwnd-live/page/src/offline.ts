// Keeps the page, so that it works without a network after the first visit. The network comes first: what it has is the newest.

interface Arriving extends Event { waitUntil(work: Promise<unknown>): void }
interface Fetching extends Arriving { readonly request: Request; respondWith(answer: Promise<Response>): void }

/** All files of the directory, which `cwnd site` writes in front of this script. */
declare const FILES: string[];
const CACHE = 'cwnd';

addEventListener('install', (event) => (event as Arriving).waitUntil(Promise.all(FILES.map(async (file) => {
  const fresh = await fetch(file);
  if (!fresh.ok) throw new Error(`${file}: ${fresh.status}`);
  await keep(file, fresh);
}))));
addEventListener('fetch', (event) => {
  const { request } = event as Fetching;
  if (request.method === 'GET' && new URL(request.url).origin === location.origin) (event as Fetching).respondWith(answer(event as Fetching));
});

/** Without the redirection of a host that leaves `.html` out of addresses: a browser opens no page from an answer that was redirected. */
async function keep(request: Request | string, { body, status, statusText, headers }: Response): Promise<void> {
  const answer = new Response(body, { status, statusText, headers });
  await (await caches.open(CACHE)).put(request, answer);
}

async function answer(event: Fetching): Promise<Response> {
  const { request } = event;
  try {
    const fresh = await fetch(request);
    // The page reads the answer while it arrives, and has it also where there is no room to keep it.
    if (fresh.status === 200) event.waitUntil(keep(request, fresh.clone()).catch(() => undefined));
    return fresh;
  } catch (error) {
    const cache = await caches.open(CACHE);
    const kept = await cache.match(request, { ignoreSearch: true }) ?? await cache.match(`${new URL(request.url).pathname}.html`);
    if (kept) return kept;
    throw error;
  }
}
