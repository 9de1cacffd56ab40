// Keeps the page, so that it works without a network after the first visit. The network comes first: what it has is the newest.

interface Arriving extends Event { waitUntil(work: Promise<unknown>): void }
interface Fetching extends Arriving { readonly request: Request; respondWith(answer: Promise<Response>): void }

/** All files of the directory, which `cwnd site` writes in front of this script. */
declare const FILES: string[];
const CACHE = 'cwnd';

addEventListener('install', (event) => (event as Arriving).waitUntil(caches.open(CACHE).then((cache) => cache.addAll(FILES))));
addEventListener('fetch', (event) => {
  const { request } = event as Fetching;
  if (request.method === 'GET' && new URL(request.url).origin === location.origin) (event as Fetching).respondWith(answer(request));
});

async function answer(request: Request): Promise<Response> {
  const cache = await caches.open(CACHE);
  try {
    const fresh = await fetch(request);
    if (fresh.ok) await cache.put(request, fresh.clone());
    return fresh;
  } catch (error) {
    const kept = await cache.match(request, { ignoreSearch: true });
    if (kept) return kept;
    throw error;
  }
}
