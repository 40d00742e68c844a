/** What a state is worth for the side to move; scores beyond 2^53 are BigInt, those of estimates need not be whole. */
export interface Value {
  readonly score: number | bigint;
  readonly distance: number | bigint | null;
  readonly outcome: "win" | "draw" | "loss" | "expectation" | "estimate";
}

/** A file of which parts can be read. */
export interface Source {
  size?: number;
  read(begin: number, end: number): Promise<Uint8Array>;
}

/** The rules of a page's game.js, which a ranked book wants. */
export type Rules = Record<string, (...numbers: bigint[]) => unknown>;

export class DamagedBook extends Error {}

/** `most`: the bytes that a server without range requests may send, 256 MB unless said; the rest is for `fetch`. */
export function remote(url: string | URL, options?: RequestInit & { most?: number }): Source;

export class Book {
  static open(source: ArrayBuffer | ArrayBufferView | Source, options?: { segments?: number; rules?: Rules }): Promise<Book>;
  readonly facts: Readonly<Record<string, unknown>>;
  readonly length: number;
  get(state: bigint | number): Promise<Value | undefined>;
  entries(): AsyncGenerator<[bigint, Value]>;
  check(): Promise<void>;
}
