/** A Search in a Web Worker or a thread of Node, for `Background` of search.js: each question has a number, by which it is cancelled, too. */

import { ofNode } from "./limits.js";
import { Search } from "./search.js";

/** @type {any} */
let search;
const running = new Map(); // AbortControllers by numbers

async function answer(port, { id, method, asked, budget, tells, cancel, beat }) {
  if (cancel) return running.get(id)?.abort();
  if (beat) return port.postMessage({ id });
  const control = new AbortController();
  running.set(id, control);
  try {
    if (method === "open") search = await Search.open(asked[0], asked[1]);
    const progress = tells ? (progress) => port.postMessage({ id, progress }) : undefined;
    const answer = method === "open" ? search.facts : await search[method](...asked, { ...budget, signal: control.signal, progress });
    port.postMessage({ id, answer });
  } catch (error) {
    port.postMessage({ id, error: { name: error.name, message: error.message } });
  } finally {
    running.delete(id);
  }
}

const serve = (port) => (port.onmessage = ({ data }) => answer(port, data));
if (globalThis.WorkerGlobalScope) serve(globalThis);
else ofNode("worker_threads").then(({ parentPort }) => serve(parentPort));
