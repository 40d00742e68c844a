/**
 * A service worker: what a page has loaded, it has offline, too. The network comes first, so that nothing old is shown;
 * of a book that is read in parts, the whole is kept if it is not too large. Only files of pages are kept, not what else
 * the same host answers. What was loaded before the worker was there the page names in a message.
 */

const KEPT = "solverbook";
const LARGEST = 1 << 26; // bytes of a book that is kept
const OURS = /(\/|\.(html|js|css|svg|bin|wasm|webmanifest))$/;
const keeping = new Set(); // addresses of what is just being kept

const worker = /** @type {any} */ (self);

worker.addEventListener("install", () => worker.skipWaiting());
worker.addEventListener("activate", (event) => event.waitUntil(worker.clients.claim()));
worker.addEventListener("fetch", (event) => {
  const { method, url } = event.request;
  if (method === "GET" && isOurs(url)) event.respondWith(answer(event));
});
worker.addEventListener("message", (event) => event.waitUntil(keepAll(event.data)));

function isOurs(url) {
  const { origin, pathname } = new URL(url);
  return origin === location.origin && OURS.test(pathname);
}

/** Keep files of pages that are not kept yet, by their addresses; what cannot be had now is left out. */
async function keepAll(addresses) {
  const kept = await caches.open(KEPT);
  for (const address of addresses.map((one) => one.split("#")[0]).filter(isOurs)) {
    if (!(await isTooLarge(address))) await keep(kept, address);
  }
}

async function isTooLarge(address) {
  if (!address.endsWith(".bin")) return false;
  const response = await fetch(address, { method: "HEAD" }).catch(() => undefined);
  return Number(response?.headers.get("Content-Length") ?? 0) > LARGEST;
}

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
  const differs = (name) => part.headers.has(name) && found?.headers.get(name) !== part.headers.get(name); // some hosts say it of whole files alone
  if (size <= LARGEST) await keep(kept, address, found && ["ETag", "Last-Modified"].some(differs));
}

/** Load a file and keep it, unless it is kept and not old, is just being loaded, or cannot be had now. */
async function keep(kept, address, isOld = false) {
  if (keeping.has(address)) return;
  keeping.add(address);
  if (isOld || !(await kept.match(address))) await kept.add(address).catch(() => {});
  keeping.delete(address);
}

async function partOf(whole, begin, last) {
  const bytes = await whole.arrayBuffer();
  const end = Math.min(last + 1, bytes.byteLength);
  const headers = { "Content-Range": `bytes ${begin}-${end - 1}/${bytes.byteLength}` };
  return new Response(bytes.slice(begin, end), { status: 206, headers });
}
