/**
 * A service worker: what a page has loaded, it has offline, too. The network comes first, so that nothing old is shown;
 * of a book that is read in parts, the whole is kept if it is not too large.
 */

const KEPT = "solverbook";
const LARGEST = 1 << 26; // bytes of a book that is kept
const keeping = new Set(); // addresses of what is just being kept

self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));
self.addEventListener("fetch", (event) => {
  const { method, url } = event.request;
  if (method === "GET" && new URL(url).origin === location.origin) event.respondWith(answer(event));
});

async function answer(event) {
  const { request } = event;
  const kept = await caches.open(KEPT);
  const address = request.url.split("#")[0];
  try {
    const response = await fetch(request);
    if (response.status === 200) event.waitUntil(kept.put(address, response.clone()));
    if (response.status === 206) event.waitUntil(keepWhole(kept, address, response));
    return response;
  } catch (error) {
    const found = await kept.match(address, { ignoreSearch: request.mode === "navigate" });
    if (!found) throw error;
    const range = /^bytes=(\d+)-(\d+)$/.exec(request.headers.get("Range") ?? "");
    return range ? partOf(found, Number(range[1]), Number(range[2])) : found;
  }
}

/** Keep a file of which a part was sent, unless it is there already. */
async function keepWhole(kept, address, part) {
  const size = Number(/\/(\d+)$/.exec(part.headers.get("Content-Range") ?? "")?.[1] ?? Infinity);
  const found = await kept.match(address);
  const isSame = ["ETag", "Last-Modified"].every((name) => found?.headers.get(name) === part.headers.get(name));
  if (size > LARGEST || (found && isSame) || keeping.has(address)) return;
  keeping.add(address);
  try {
    const whole = await fetch(address);
    if (whole.status === 200) await kept.put(address, whole);
  } finally {
    keeping.delete(address);
  }
}

async function partOf(whole, begin, last) {
  const bytes = await whole.arrayBuffer();
  const end = Math.min(last + 1, bytes.byteLength);
  const headers = { "Content-Range": `bytes ${begin}-${end - 1}/${bytes.byteLength}` };
  return new Response(bytes.slice(begin, end), { status: 206, headers });
}
