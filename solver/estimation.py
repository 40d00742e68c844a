"""What solving will take, before it is begun: by searching a sample, or by counting for a while."""

from __future__ import annotations

import random
import statistics
import time
from typing import NamedTuple

from solver import extras, opening
from solver.errors import BudgetExceeded, MethodError
from solver.game import Game
from solver.progress import Progress, silent

# Measured on connect-four 5x5, folded and not, two cores of a Zen 4; other games differ, kalah 4,3 by a factor of two
BOOK_BYTES = 2.1  # of a complete book, a stored state
OPENING_BYTES = 5.0  # of an opening book, which is sparser
SWEEP_BYTES = 24  # of memory, a stored state, beside 100 MiB of the process
SWEEP_RATE = 6.5e6  # stored states a second, book included
OPENING_MEMORY = 400  # bytes a state of an opening book, in dictionaries; assumed


class Opening(NamedTuple):
    """An opening book: states of each ply, and the search of the deepest, from a sample.

    `margin` is the standard error of `seconds`. `unfinished` of the sample ran out of their time and count with the
    time they took, so that `seconds` is too low where there are any.
    """

    plies: list[int]
    sample: int
    unfinished: int
    seconds: float
    margin: float
    memory: int
    book_bytes: int

    def text(self) -> str:
        lines = [f"ply {ply:3}  {count:,} states" for ply, count in enumerate(self.plies)]
        more = f"; {self.unfinished} of it not finished, so rather more" if self.unfinished else ""
        return "\n".join(
            [
                *lines,
                f"time     {duration(self.seconds)} +- {duration(self.margin)}, from a sample of {self.sample}{more}",
                f"memory   {self.memory / 2**20:,.0f} MiB",
                f"book     {self.book_bytes:,} bytes",
            ]
        )


class Sweep(NamedTuple):
    """An exhaustive solve: states that will be stored, exact if `counted`, else roughly extrapolated."""

    stored: int
    counted: bool
    tiers: int
    seconds: float
    memory: int
    book_bytes: int

    def text(self) -> str:
        about = "" if self.counted else "about "
        return "\n".join(
            [
                f"stored   {about}{self.stored:,} states in {self.tiers:,} tiers"
                + (", counted" if self.counted else " and more, extrapolated"),
                f"time     about {duration(self.seconds)} on two cores",
                f"memory   about {self.memory / 2**20:,.0f} MiB",
                f"book     about {self.book_bytes:,} bytes",
            ]
        )


def of_opening(
    game: Game,
    max_ply: int,
    *,
    symmetry: bool = True,
    workers: int | None = None,
    seconds: float = 60.0,
    seed: int = 0,
    progress: Progress = silent,
) -> Opening:
    """Enumerate the plies, search a random sample of the deepest for about that many seconds, and extrapolate.

    Raises MethodError without the extra [solve].
    """
    _need_kernels()
    from solver.kernels.parallel import cores
    from solver.kernels.searcher import TABLE, Searcher

    layers = opening.plies(game, max_ply, symmetry, progress)
    searcher = Searcher(game, symmetry=symmetry)
    searcher.warm()
    pool = list(layers[-1])
    random.Random(seed).shuffle(pool)
    costs: list[float] = []
    unfinished = 0
    deadline = time.perf_counter() + seconds
    for state in pool:
        started = time.perf_counter()
        if started > deadline:
            break
        try:
            searcher.value(state, seconds=max(1.0, seconds / 4))
        except BudgetExceeded:
            unfinished += 1
        costs.append(time.perf_counter() - started)
        progress("sample", len(costs), None)
    count, team, stored = len(layers[-1]), workers or cores(), sum(map(len, layers))
    mean = statistics.fmean(costs) if costs else 0.0
    error = statistics.stdev(costs) / len(costs) ** 0.5 if len(costs) > 1 else mean
    unseen = (1 - len(costs) / count) ** 0.5 if count else 0.0
    return Opening(
        [len(layer) for layer in layers],
        len(costs),
        unfinished,
        mean * count / team,
        error * count / team * unseen,
        TABLE + OPENING_MEMORY * stored,
        12_288 + round(OPENING_BYTES * stored),
    )


def of_sweep(
    game: Game, *, symmetry: bool = True, seconds: float = 60.0, progress: Progress = silent
) -> Sweep:
    """Count the states tier by tier for that long; if it does not suffice, extrapolate the tiers' growth.

    The logarithm of a tier's size is nearly a parabola in board games; it is fitted to the last tiers counted. Raises
    MethodError without the extra [solve] or where the game has no tiers.
    """
    _need_kernels()
    if not hasattr(game, "tier"):
        raise MethodError("only a game with tiers can be estimated, or an opening book: --max-ply")
    from solver.kernels import sweep

    sizes, finished = sweep.count_tiers(game, symmetry=symmetry, seconds=seconds, progress=progress)
    stored = sum(sizes) if finished else _extrapolated(sizes)
    memory = (100 << 20) + SWEEP_BYTES * stored
    return Sweep(stored, finished, len(sizes), stored / SWEEP_RATE, memory, round(BOOK_BYTES * stored))


def _extrapolated(sizes: list[int]) -> int:
    """The sum of tiers whose logarithms go on along the parabola through the last ones."""
    from math import exp, log

    logs = [log(size) for size in sizes if size][-8:]
    steps = [after - before for before, after in zip(logs, logs[1:], strict=False)]
    if len(steps) < 3:
        raise MethodError("too few tiers were counted to go on from: allow more --seconds")
    bend = min(-1e-3, statistics.fmean(after - before for before, after in zip(steps, steps[1:], strict=False)))
    total, here, step = float(sum(sizes)), logs[-1], steps[-1]
    for _ in range(1000):
        step += bend
        here += step
        if here < 0:
            break
        total += exp(here)
    return round(total)


def _need_kernels() -> None:
    if not extras.has_kernels():
        raise MethodError("an estimate needs the compiled kernels: pip install 'solverbook[solve]'")


def duration(seconds: float) -> str:
    """Seconds in the unit that suits them."""
    for unit, size in (("days", 86_400), ("hours", 3_600), ("minutes", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.2g} seconds" if seconds < 10 else f"{seconds:.0f} seconds"
