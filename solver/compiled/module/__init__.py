"""A game's compiled rules and searches as a WebAssembly module, for wherever Numba is not. Imports compiled, wasm."""
