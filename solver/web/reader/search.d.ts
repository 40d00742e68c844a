/** Each may be left out; a search ends where the first of them does. */
export interface Budget {
  milliseconds?: number;
  nodes?: number;
  signal?: AbortSignal;
}

/** What a state is worth for the side to move. */
export interface Value {
  readonly score: number;
  readonly distance: number | null;
  readonly outcome: "win" | "draw" | "loss" | "estimate";
}

export interface Move {
  action: bigint;
  child: bigint;
  value: Value | undefined;
  exact: boolean;
  best: boolean;
}

export interface Known {
  value: Value | undefined;
  exact: boolean;
  moves: Move[];
}

export interface Facts {
  format: number;
  game: string;
  rules: string;
  symmetry: boolean;
  scores: boolean;
  win: number;
  limit: number;
  words?: number;
}

export interface Options {
  rules?: string;
  symmetry?: boolean;
  sha256?: string;
  table?: number;
}

declare global {
  namespace WebAssembly {
    interface Module {} // which the types of Node lack
  }
}

type Origin = string | URL | ArrayBuffer | ArrayBufferView | WebAssembly.Module;
type State = bigint | number;

interface Asked {
  readonly facts: Facts;
  value(state: State, budget?: Budget): Promise<Value | undefined>;
  reaches(state: State, value: { score: number; distance?: number | null }, budget?: Budget): Promise<boolean | undefined>;
  analyse(state: State, budget?: Budget & { progress?: (known: Known) => void }): Promise<Known>;
  best(state: State, budget?: Budget): Promise<{ action: bigint; value: Value | undefined; exact: boolean } | undefined>;
}

export class ForeignModule extends Error {}

export class Search implements Asked {
  static open(source: Origin, options?: Options): Promise<Search>;
  readonly facts: Facts;
  readonly searches: boolean;
  readonly looks: boolean;
  initial(): bigint;
  isTerminal(state: bigint): boolean;
  actions(state: bigint): bigint[];
  result(state: bigint, action: bigint): bigint;
  /** By their names in Python; `rules` of a book's reader. */
  readonly rules: { [name: string]: (...asked: bigint[]) => any };
  value: Asked["value"];
  reaches: Asked["reaches"];
  analyse: Asked["analyse"];
  best: Asked["best"];
}

/** A Search in a Web Worker, or a thread of Node, which is ended where the module does not end. */
export class Background implements Asked {
  static open(source: Origin, options?: Options & { patience?: number }): Promise<Background>;
  readonly facts: Facts;
  value: Asked["value"];
  reaches: Asked["reaches"];
  analyse: Asked["analyse"];
  best: Asked["best"];
  close(): void;
}

export function sha256(bytes: Uint8Array): string;
