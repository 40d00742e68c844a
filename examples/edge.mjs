// A perfect player at the edge, where there is no file system and nothing is compiled at run time: GET /?moves=4,4,3
//
//     solver build connect-four -o connect-four.wasm
//     npm install solverbook
import module from "./connect-four.wasm"; // which the platform has compiled: a WebAssembly.Module
import { Search } from "solverbook/search";

let search;

export default {
  async fetch(request) {
    search ??= Search.open(module, { table: 1 << 22 });
    const player = await search;
    let state = player.initial();
    for (const name of (new URL(request.url).searchParams.get("moves") ?? "").split(",").filter(Boolean)) {
      const action = player.isTerminal(state) ? undefined : player.actions(state).find((one) => String(one + 1n) === name);
      if (action === undefined) return Response.json({ error: `${name.slice(0, 20)} is not legal there` }, { status: 400 });
      state = player.result(state, action);
    }
    const found = await player.best(state, { nodes: 200_000 });
    if (!found) return Response.json({ over: true });
    return Response.json({ best: String(found.action + 1n), exact: found.exact, ...found.value });
  },
};
