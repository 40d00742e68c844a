/**
 * The types of a page's game.js. `Book.open` of book.js takes its rules. A book knows a state by
 * `rules.canonical(state)`, if the rules have that method.
 */

/** The methods of the rules by their names in Python. States and actions are BigInts; not all games have all methods. */
export type Rules = { [method: string]: (...asked: any[]) => any } & {
  initial(): bigint;
  actions(state: bigint): bigint[];
  result(state: bigint, action: bigint): bigint;
};

export interface Move {
  name: string;
  /** The state that the move leads to, and who is to move there, 0 or 1. */
  child: bigint;
  mover: number;
  /** What the mover scores at once. */
  gain: number;
  /** The cells to choose, in turn. */
  place: number[];
  /** Of an outcome of chance. */
  weight?: number;
}

/** The game as a page sees it, of every game the same. */
export interface Game {
  initial: bigint;
  mover(state: bigint): number;
  /** null, or the utility for the side to move and the plies that the outcome still takes. */
  end(state: bigint): [utility: number, plies: number] | null;
  /** The state by which the book knows this one. */
  key(state: bigint): bigint;
  moves(state: bigint, mover: number): Move[];
  board(state: bigint, mover: number): string | string[];
}

export const about: { game: string; summary: string; scores: boolean; digest?: string } & Record<string, unknown>;
/** undefined if the game is a table of its positions: ask `game` then. */
export const rules: Rules | undefined;
export const game: Game;
/** Positions from Python, by which the page checks the rules. */
export const records: Record<string, unknown>[];
