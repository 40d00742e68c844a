/** A Search in a Web Worker, for `Background` of search.js: each question has a number, by which it is cancelled, too. */

import { Search } from "./search.js";

let search;
const running = new Map(); // AbortControllers by numbers

onmessage = async ({ data: { id, method, asked, budget, tells, cancel } }) => {
  if (cancel) return running.get(id)?.abort();
  const control = new AbortController();
  running.set(id, control);
  try {
    if (method === "open") search = await Search.open(...asked);
    const progress = tells ? (progress) => postMessage({ id, progress }) : undefined;
    const answer = method === "open" ? search.facts : await search[method](...asked, { ...budget, signal: control.signal, progress });
    postMessage({ id, answer });
  } catch ({ name, message }) {
    postMessage({ id, error: { name, message } });
  } finally {
    running.delete(id);
  }
};
