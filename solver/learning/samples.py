"""States to learn from, with their values: of a book, by ply and value alike, or of play, valued by searches.

From a book, states are drawn without any twice, as evenly as there are any from each ply (the rules' tier) and each of
win, draw and loss for the side to move: uniformly drawn, nearly all would be full boards. That reads the book twice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from solver.base.errors import MethodError
from solver.base.progress import Progress, silent
from solver.book import Book, streaming
from solver.compiled.lookahead.searches import Chooser
from solver.learning.moves import Board, States, Worths, first_moves
from solver.rules.game import Rules

STATES_PER_REPORT = 1 << 12  # states that are searched between two reports of progress
MAX_PLIES = 300  # of a random game
MIN_STATES = 50  # states that anything can be learned from


class Sample(NamedTuple):
    """Unfinished states (n,) int64 in random order, and their scores (n,) float64, for the side to move."""

    states: States
    scores: Worths


def from_book(book: Book, board: Board, number: int, *, seed: int = 0, progress: Progress = silent) -> Sample:
    """So many stored states of a book, all if there are fewer. Raises MethodError where they are too few."""
    book.header.kind.refuse("learn", book.path.name)
    counts: Counter[int] = Counter()
    for _, _, keys in _parts(book, board, progress, "reading"):
        strata, sizes = np.unique(keys, return_counts=True)
        counts.update(dict(zip(strata.tolist(), sizes.tolist(), strict=True)))
    draw = np.random.default_rng(seed)
    wanted = {key: np.sort(draw.choice(count, share, replace=False)) for (key, count), share in _shares(counts, number)}
    passed = dict.fromkeys(counts, 0)
    states: list[States] = []
    found: list[Worths] = []
    for part, scores, keys in _parts(book, board, progress, "reading again"):
        chosen = _chosen(keys, wanted, passed)
        states.append(part[chosen])
        found.append(scores[chosen])
    sample = Sample(np.concatenate(states), np.concatenate(found))
    if len(sample.states) < MIN_STATES:
        raise MethodError(f"{book.path.name} has {len(sample.states)} states, too few to learn from: take a larger one")
    order = draw.permutation(len(sample.states))
    return Sample(sample.states[order], sample.scores[order])


def searching(rules: Rules) -> Callable[[States, int, Progress], Worths]:
    """Return `values(states, depth, progress)`, which asks searches of that depth by the rules' own `evaluate`.

    It gives the score of each unfinished state (n,) float64, or its estimate. Without `evaluate` every state that is
    not finished is even.
    """
    chooser = Chooser(rules.game, symmetry=rules.symmetry)

    def values(states: States, depth: int, progress: Progress) -> Worths:
        scores = np.zeros(len(states))
        for begin in range(0, len(states), STATES_PER_REPORT):
            part = slice(begin, begin + STATES_PER_REPORT)
            scores[part] = chooser.choose(states[part], depth).merits
            progress("searching", min(begin + STATES_PER_REPORT, len(states)), len(states))
        return scores if rules.scores else np.clip(scores, -1, 1)

    return values


def _shares(counts: dict[int, int], number: int) -> list[tuple[tuple[int, int], int]]:
    """How many states to take of each stratum: as many of each, or all it has."""
    left, strata = number, sorted(counts.items(), key=lambda item: (item[1], item[0]))
    shares = []
    for place, (key, count) in enumerate(strata):
        share = min(count, left // (len(strata) - place))
        shares.append(((key, count), share))
        left -= share
    return shares


def _parts(
    book: Book, board: Board, progress: Progress, name: str
) -> Iterator[tuple[States, Worths, NDArray[np.int64]]]:
    """Yield a book's states, their scores, and numbers of their strata: of ply, and loss, draw or win."""

    def renamed(step: str, done: int, total: int | None, note: str = "") -> None:
        progress(name, done, total, note)

    palette = np.array([value.score for value in book.header.outcomes], np.float64)
    for part, indices in streaming.pieces(book, renamed):
        states: States = np.asarray(part, object if book.header.state_bytes else np.int64)
        scores: Worths = palette[np.asarray(indices, np.int64)]
        yield states, scores, 3 * board.tiers(states) + np.sign(scores).astype(np.int64) + 1


def _chosen(keys: NDArray[np.int64], wanted: dict[int, NDArray[np.int64]], passed: dict[int, int]) -> NDArray[np.int64]:
    """The places of states that are wanted by their numbers within their strata; `passed` counts on."""
    chosen = []
    order = np.argsort(keys, kind="stable")
    strata, begins = np.unique(keys[order], return_index=True)
    for key, places in zip(strata.tolist(), np.split(order, begins[1:]), strict=True):
        first = passed[key]
        low, high = np.searchsorted(wanted[key], (first, first + len(places)))
        chosen.append(places[wanted[key][low:high] - first])
        passed[key] += len(places)
    return np.sort(np.concatenate(chosen))


def by_play(board: Board, number: int, *, seed: int = 0) -> States:
    """Distinct unfinished states of random play from the start, as evenly from each ply as there are any.

    Raises MethodError where they are too few.
    """
    rules, draw = board.rules, np.random.default_rng(seed)
    plies: list[States] = []
    games = max(64, number // 4)
    for _ in range(8):
        for ply, states in enumerate(_random_play(board, games, draw)):
            if ply == MAX_PLIES:
                break
            if ply == len(plies):
                plies.append(states[:0])
            plies[ply] = np.union1d(plies[ply], states)
        found = _even(plies, number, draw)
        if len(found) == number:
            break
        games *= 2
    if len(found) < MIN_STATES:
        raise MethodError(f"{rules.name} has {len(found)} states by random play, too few to learn from")
    shuffled: States = draw.permutation(found)
    return shuffled


def openings(board: Board, number: int, *, seed: int = 0) -> States:
    """Return `number` different unfinished states in random order.

    They lie after as few random plies as lead to that many states. If no number of plies does, it is the most that any
    does.
    """
    draw = np.random.default_rng(seed)
    best = np.zeros(0, board.dtype)
    for states in _random_play(board, 8 * number, draw):
        distinct = np.unique(states)
        best = distinct if len(distinct) > len(best) else best
        if len(best) >= number:
            break
    chosen: States = draw.permutation(best)[:number]
    return chosen


def _random_play(board: Board, games: int, draw: np.random.Generator) -> Iterator[States]:
    """Yield the states of random games, ply by ply, of those that are not finished."""
    states = np.full(games, board.rules.game.initial(), board.dtype)
    while len(states):
        yield states
        children = board.children(states)
        begins = first_moves(children.parents, len(states))
        chosen = begins[:-1] + draw.integers(0, np.diff(begins))
        states = children.states[chosen][~children.ended[chosen]]


def _even(plies: list[States], number: int, draw: np.random.Generator) -> States:
    """So many of the states, as many of each ply, none twice: of two plies that have a state the earlier."""
    seen = plies[0][:0]
    parts = []
    for states in plies:
        parts.append(np.setdiff1d(states, seen, assume_unique=True))
        seen = np.union1d(seen, states)
    counts = {ply: len(part) for ply, part in enumerate(parts)}
    shares = [draw.choice(parts[ply], share, replace=False) for (ply, _), share in _shares(counts, number)]
    found: States = np.concatenate(shares)
    return found
