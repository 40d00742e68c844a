/**
 * The game as the page sees it: from rules, whose numbers are those of the game's module or translated from Python, and
 * whose text is translated; or from a table.
 *
 *     initial                 the state at the start, a BigInt
 *     mover(state)            who is to move if nothing came before, 0 or 1
 *     end(state)              null, or [utility for the side to move, plies that its outcome still takes]
 *     key(state)              the state by which the book knows it: of its symmetric images the canonical one
 *     moves(state, mover)     [{ name, child, mover, gain, place }]: where it leads, who is to move there, what it scores
 *                             at once, the cells to choose in turn; where chance decides its outcomes, with a weight
 *     board(state, mover)     rows of one character a cell, or text
 *     text(state, mover)      where a game of chance has cells, the board as text all the same, which tells of the dice;
 *                             of other games undefined
 *     from(rows, mover)       the state of such rows with that player to move; throws, saying why, where there is none; of
 *                             games that cannot tell undefined
 *     how(state)              how a finished game ended: "checkmate", or ""; of games that do not say it undefined
 *     tier(state), endless(state)   where play may come back to a state and margins count: a number that grows as play gets
 *                             on, undefined of other games; and what play without end is worth
 *     told(key)               what a ranked book asks of an unfinished state: [rank, outlook, replies], as text; of other
 *                             games undefined
 *
 * All of it makes up the record of a position, which `solver export` also has from Python.
 */

import * as py from "./python.js";

/** The game of rules: functions by their names in Python. */
export function gameOf(rules) {
  const { initial, actions, result, is_terminal, utility, plies_left, canonical, to_move, again, reward, chance } = rules;
  const sameMover = (state, action, child) => {
    if (again) return py.truth(again(state, action));
    return to_move ? py.Eq(to_move(state), to_move(child)) : false;
  };
  const outcome = (state, mover) => ([weight, child], place) => ({
    name: String(place + 1),
    child,
    mover: sameMover(state, null, child) ? mover : 1 - mover,
    gain: 0,
    place: [],
    weight: Number(weight),
  });
  const placeOf = (state, action) => (rules.place ? rules.place(state, action).map(Number) : []);
  /** The rules' own names of moves, else the cells to choose where these tell moves apart, else numbers. */
  const namesOf = (state, found) => {
    if (rules.format_action) return found.map((action) => String(rules.format_action(state, action)));
    const cells = found.map((action) => placeOf(state, action));
    const isClear = rules.names && new Set(cells.map(String)).size === cells.length && cells.flat().every((cell) => rules.names[cell]);
    return isClear ? cells.map((choice) => choice.map((cell) => rules.names[cell]).join("") || "pass") : found.map(String);
  };
  const move = (state, mover, names) => (action, number) => {
    const child = result(state, action);
    return {
      name: names[number],
      child,
      mover: sameMover(state, action, child) ? mover : 1 - mover,
      gain: reward ? Number(reward(state, action)) : 0,
      place: placeOf(state, action),
    };
  };
  const text = (state, mover) => {
    if (rules.view) return String(rules.view(state, BigInt(mover)));
    return rules.show ? String(rules.show(state)) : `#${state}`;
  };
  return {
    initial: initial(),
    mover: (state) => (to_move ? Number(to_move(state)) : 0),
    end: (state) => (py.truth(is_terminal(state)) ? [Number(utility(state)), plies_left ? Number(plies_left(state)) : 0] : null),
    key: (state) => (canonical ? canonical(state) : state),
    moves(state, mover) {
      const outcomes = chance ? chance(state).map(outcome(state, mover)) : [];
      if (outcomes.length) return outcomes;
      const found = actions(state);
      return found.map(move(state, mover, namesOf(state, found)));
    },
    board: (state, mover) => (rules.cells ? rules.cells(state, BigInt(mover)) : text(state, mover)),
    text: chance && rules.cells ? text : undefined,
    how: rules.format_end && ((state) => String(rules.format_end(state))),
    tier: rules.tier && ((state) => Number(rules.tier(state))),
    endless: (state) => (rules.endless ? Number(rules.endless(state)) : 0),
    from: rules.cells && rules.from_cells && ((rows, mover) => rules.from_cells(rows, BigInt(mover))),
    told: rules.rank && ((key) => toldBy(rules, key)),
  };
}

/** Replies mean something only where neither side wins immediately. */
function toldBy({ rank, outlook, replies }, key) {
  const found = outlook ? Number(outlook(key)) : 0;
  return [rank(key), found, replies && !found ? replies(key) : 0].map(String);
}

/** The game of a table: the records of all positions, the first of them the start. */
export function tabled(records) {
  const known = new Map(records.map((record) => [record.state, record]));
  const boards = new Map(records.map((record) => [`${record.state} ${record.mover}`, record]));
  const of = (state, mover) => {
    const record = mover === undefined ? known.get(String(state)) : boards.get(`${state} ${mover}`);
    if (!record) throw new RangeError(`${state} is not a state of this game`);
    return record;
  };
  return {
    initial: BigInt(records[0].state),
    mover: (state) => of(state).mover,
    end: (state) => of(state).end,
    key: (state) => BigInt(of(state).key),
    moves: (state, mover) => of(state, mover).moves.map((move) => ({ ...move, child: BigInt(move.child) })),
    board: (state, mover) => of(state, mover).board,
    text: records[0].text === undefined ? undefined : (state, mover) => of(state, mover).text,
    how: records.some((record) => "how" in record) ? (state) => of(state).how : undefined,
  };
}

/** The position that a move leads to: { state, mover, gained, name, label, place, isThrow, by }. */
export function played(position, move) {
  const { child: state, mover, name, label = name, place } = move;
  const gained = position.gained + move.gain;
  const isThrow = move.weight !== undefined;
  return { state, mover, gained: mover === position.mover ? gained : 0 - gained, name, label, place, isThrow, by: position.mover };
}

/** What the game says of a position, all of it, with states as text. */
export function recordOf(game, state, mover) {
  const end = game.end(state);
  const moves = end ? [] : game.moves(state, mover);
  return {
    state: String(state),
    mover,
    end,
    key: String(game.key(state)),
    moves: moves.map((move) => ({ ...move, child: String(move.child) })),
    board: game.board(state, mover),
    ...(game.text ? { text: game.text(state, mover) } : {}),
    ...(game.how && end ? { how: game.how(state) } : {}),
    ...(game.told && !end ? { told: game.told(game.key(state)) } : {}),
  };
}

/** Whether a number is a state by what the rules say of its board, with that player to move. */
export function isFrom(game, state, mover) {
  try {
    return game.from(game.board(state, mover), mover) === state;
  } catch {
    return false;
  }
}

/** The first of the records of positions that the game here does not agree with, or null. */
export function firstDifference(game, records) {
  for (const record of records) {
    let found;
    try {
      found = recordOf(game, BigInt(record.state), record.mover);
    } catch (error) {
      return { record, found: error };
    }
    if (JSON.stringify(found) !== JSON.stringify(record)) return { record, found };
    if (game.from && !isFrom(game, BigInt(record.state), record.mover)) return { record, found };
  }
  return null;
}
