"""Proof-number search from Python: yes or no, whether states are worth at least a draw, or a win.

    prover = Prover(Rules(load_game("hex:4"), wdl=True))
    prover.is_worth(0, 1)              True: the first player wins

The table is kept between questions, and states of a search that ended can be asked for at once.
"""

from __future__ import annotations

import contextlib
import sys
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

import numpy as np

from solver.base.errors import BudgetExceeded, DamagedBook, MethodError, ResourceError, UncompiledRules
from solver.base.files import replacing
from solver.check.conformance import OTHERWISE, check_game
from solver.compiled import agreement
from solver.compiled.binding import bind, compiling
from solver.compiled.exact import proof
from solver.compiled.exact.proof import FIELDS, SURE, Field, Frame
from solver.compiled.exact.table import new_table
from solver.compiled.states import columns, more_of, packed, read_state, write_state
from solver.rules.game import Rules, is_built_in
from solver.search import alphabeta
from solver.search.running import SearchStatus

CALL = 1 << 20  # nodes of a call: about a second
SEAL = 4  # bytes behind the file of a search
PART = 1 << 20  # bytes that are read at once
MOST_FACTS = 1 << 16  # bytes of the line that says what is searched
Watch = Callable[["Prover"], None]


class Prover:
    """Proof-number search for one game, in one thread. `nodes` counts the visits to states."""

    def __init__(self, rules: Rules, table: int) -> None:
        """Make a prover with an empty table.

        Args:
            rules: Rules without distances (`wdl`), of a game without cycles, chance and margins.
            table: The bytes that the table may take, at most.
        """
        self.rules = rules
        self._kernels = bind(sys.modules[proof.__name__], rules.game, rules.symmetry, True)
        self._more = more_of(rules.bits)
        self.table = new_table(table)
        self.frames = np.zeros((128, columns(len(Frame), self._more)), np.int64)
        self.moves = np.zeros((4096, columns(8, self._more)), np.int64)
        self.numbers = np.zeros((4096, 2), np.int64)
        self.search = np.zeros(FIELDS, np.int64)
        self.nodes: int = 0

    def warm(self) -> None:
        """Compile, or load from the cache, what a search needs; hold a user's rules against plain Python.

        Raises GameError if those break the protocol, UncompiledRules if they compile to something else.
        """
        with compiling(self.rules.game):
            if is_built_in(self.rules.name):
                self.answer(self.rules.game.initial(), 1)
                return
            states = check_game(self.rules.game)
            agreement.compare(self.rules.game, states, symmetry=self.rules.symmetry)
            for state, budget in agreement.sampled(states):
                with contextlib.suppress(BudgetExceeded):
                    score = alphabeta.solve(self.rules, state, budget=budget).value.score
                    if [self.is_worth(state, bound) for bound in (0, 1)] != [score >= 0, score >= 1]:
                        raise UncompiledRules(
                            f"{self.rules.name}: state {state} has the score {score} in plain Python, another compiled:"
                            f" bounds, replies or outlook are unsound, or {OTHERWISE}"
                        )

    def answer(self, state: int, bound: int) -> bool | None:
        """Whether an unfinished state is worth at least `bound`, 0 or 1; None if no search has told."""
        told = self._kernels.answer(self.table, packed([state], self._more), bound)
        return None if told < 0 else told == 1

    def is_worth(self, state: int, bound: int, watch: Watch = lambda prover: None) -> bool:
        """Whether an unfinished state is worth at least `bound`, 0 or 1, by a search of whatever length.

        `watch` is called about once a second, and may raise an error: `resume` goes on from there.
        """
        self.search[:] = 0
        self.search[Field.IS_NEW] = 1
        write_state(self.frames, 0, Frame.STATE, state, self._more)
        for field in (Frame.CHOICES, Frame.FIRST, Frame.END):
            self.frames[0, field] = 0
        self.frames[0, Frame.BOUND] = bound
        self.frames[0, Frame.PROOF] = self.frames[0, Frame.REFUTATION] = SURE
        return self.resume(watch)

    def resume(self, watch: Watch = lambda prover: None) -> bool:
        """Go on with a search that `watch` interrupted, or that was loaded from a file."""
        while True:
            before = int(self.search[Field.COUNT])
            with compiling(self.rules.game):
                status = self._kernels.search_on(self.table, self.frames, self.moves, self.numbers, self.search, CALL)
            self.nodes += int(self.search[Field.COUNT]) - before
            if status == SearchStatus.DONE:
                return bool(self.search[Field.PROOF] == 0)
            if status == SearchStatus.OUTSIDE:
                state = read_state(self.frames, int(self.search[Field.PLY]), Frame.STATE, self._more)
                raise UncompiledRules(f"{self.rules.name} has a utility other than -1, 0 and 1 near state {state}")
            if status == SearchStatus.STUCK:
                raise MethodError(f"{self.rules.name} has cycles, and a proof may never end there: solve it")
            if status == SearchStatus.NO_ROOM:
                self._give_room()
            watch(self)

    @property
    def root_numbers(self) -> tuple[int, int]:
        """The proof and disproof number of the state that is searched, as its moves tell them."""
        first, end = int(self.frames[0, Frame.FIRST]), int(self.frames[0, Frame.END])
        rows = self.numbers[first:end]
        if not len(rows):
            return 1, 1
        return int(rows[:, 0].min()), int(min(rows[:, 1].sum(), SURE))

    def save(self, path: Path, facts: str) -> None:
        """Write all that a search goes on from, behind a line of `facts` that say what is searched."""
        try:
            with replacing(path) as partial, open(partial, "wb") as file:
                sealed = _Sealed(file)
                sealed.write(f"{facts} {self.nodes}\n".encode())
                for array in (self.search, self.frames, self.moves, self.numbers, self.table):
                    np.save(sealed, array, allow_pickle=False)
                file.write(sealed.seal)
        except OSError as error:
            raise ResourceError(
                f"{path} cannot be written ({error.strerror or error}): make room, then again"
            ) from None

    def load(self, path: Path, facts: str) -> bool:
        """Go on from a file that `save` wrote; False if there is none, or if it is of another question.

        Raises DamagedBook if it is damaged.
        """
        if not path.is_file():
            return False
        with open(path, "rb") as file:
            told, _, nodes = file.readline(MOST_FACTS).decode("utf-8", "replace").rstrip("\n").rpartition(" ")
            if told != facts:
                return False
            begin, seal = file.tell(), _seal_of(file, path)
            if seal is None:
                raise DamagedBook(f"{path} is damaged: --restart begins anew")
            file.seek(begin)
            self.search, self.frames, self.moves, self.numbers, table = (
                np.load(file, allow_pickle=False) for _ in range(5)
            )
        self.table[:] = table
        self.nodes = int(nodes)
        return True

    def _give_room(self) -> None:
        """Twice the rows for the path and its moves."""
        self.frames = np.concatenate([self.frames, np.zeros_like(self.frames)])
        self.moves = np.concatenate([self.moves, np.zeros_like(self.moves)])
        self.numbers = np.concatenate([self.numbers, np.zeros_like(self.numbers)])


class _Sealed:
    """A file to write to, and the checksum of all that was written."""

    def __init__(self, file: BinaryIO) -> None:
        self._file, self._checksum = file, 0

    def write(self, data: bytes) -> int:
        self._checksum = zlib.crc32(data, self._checksum)
        return self._file.write(data)

    @property
    def seal(self) -> bytes:
        """Four bytes, for the end of the file."""
        return self._checksum.to_bytes(SEAL, "little")


def _seal_of(file: BinaryIO, path: Path) -> bytes | None:
    """The checksum at the end of a file; None if it is not that of what comes before."""
    left, checksum = path.stat().st_size - SEAL, 0
    file.seek(0)
    while left > 0:
        data = file.read(min(left, PART))
        if not data:
            return None
        left, checksum = left - len(data), zlib.crc32(data, checksum)
    seal = file.read(SEAL)
    return seal if seal == checksum.to_bytes(SEAL, "little") else None
