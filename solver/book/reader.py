"""Reading a book: a Mapping from stored states to values, answered from mapped memory in about 1.5 us.

Safety comes first. The file is examined before it is mapped (`mapping`), and views of mapped memory never leave this
folder's modules. `close` only drops the book's own reference to the mapping.
"""

from __future__ import annotations

import contextlib
import functools
import os
from bisect import bisect_right
from collections.abc import Callable, ItemsView, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from solver.base import errors
from solver.base.errors import reason, shortened
from solver.base.value import Value
from solver.book import shipped
from solver.book.codecs import OFTEN_WRONG, States, rules_of
from solver.book.mapping import Mapped, groups_of, mapped_file
from solver.book.solution import Trim
from solver.rules import game as games
from solver.rules.fingerprint import Origin, check_origin
from solver.rules.game import Game, GameOrName, Rules
from solver.rules.width import as_integer

if TYPE_CHECKING:
    from solver.base.expectations import Expectation
    from solver.book.bulk import Values
    from solver.book.format import Header

SOME = 256  # keys of a group, where the rules are asked for each


class Book(Mapping[int, Value], contextlib.AbstractContextManager["Book"]):
    """A solved game in one memory-mapped file: a mapping from states to values.

    A book holds every unfinished state that its scope covers. If it is folded by symmetry, it stores one state of each
    class of symmetric states.

    `book[state]`, `get`, `in` and `lookup` accept any state of a class; for this they call the game's rules. `find`,
    iteration, `len` and `items` see only the states that are stored, in ascending order, or in the order of their
    ranks in a ranked book.

    Many threads may read a book at once, and the same file may be opened many times. Readers survive a fork. Close the
    book, or use it in a `with` block.

    Args:
        path: A file; a game or its name, for the book that comes with the package; or a `Book`, whose file is opened
            once more.
        game: The rules, or their name, if the game is your own. None for the game that SOLVER_GAME names.
        sha256: Expected checksum of the whole file, 64 hex digits. The file is hashed before anything else is read.

    Raises:
        BookError: The file cannot be opened.
        DamagedBook: The file is damaged. A damaged part may be noticed only when it is first read.
        ForeignBook: The book was made with other rules.
    """

    path: Path
    header: Header

    def __init__(
        self,
        path: str | os.PathLike[str] | Book | Game,
        game: GameOrName | None = None,
        *,
        sha256: str | None = None,
    ) -> None:
        named: Game | None
        self.path, named = (path._place, path._game) if isinstance(path, Book) else shipped.located(path)
        self._sha256 = sha256
        self._mapped: Mapped | None = mapped_file(self.path, sha256)
        self.header = self._mapped.header
        # Where it lies, whatever folder is the current one later
        self._place: Path = self.path.absolute()
        if isinstance(path, Book) and path.header != self.header:
            raise errors.ForeignBook(f"{self.path} is another book than the one that is open: open it again")
        self._game: Game | None = named if game is None else games.rules_for(game, self.header.game)
        if self._game is not None:
            self.check_rules(self._game)

    def __getitem__(self, state: int) -> Value:
        value: Value | None = self.get(state)
        if value is None:
            raise errors.MissingState(f"state {state} is not in {self.path.name}")
        return value

    def get(self, state: Any, default: Any = None) -> Any:
        """Return the value of a state, or `default` if the book does not know it.

        Raises:
            StateTypeError: `state` is not an integer.
            DamagedBook: The part that holds the state is damaged.
            ForeignBook: The state is not stored itself, and the rules at hand are not those of the book.
        """
        if type(state) is not int:
            state = as_integer(state)
        value = self.stored_value(state)
        if value is None and self.header.symmetry:
            value = self.stored_value(self._image(state))
        return default if value is None else value

    def find(self, state: Any) -> Value | None:
        """Return the stored value of exactly this state, not of a symmetric one. None if it is not stored."""
        return self.stored_value(as_integer(state))

    def stored_value(self, state: int) -> Value | None:
        """Like `find`, for callers whose `state` is certainly an `int`: the type is not checked."""
        if (keys := self.codec_keys).ASKED:
            return keys.value(state, self._index)
        mapped = self._mapped or self._open()
        try:
            number = bisect_right(mapped.directory, state) - 1
            if number < 0:
                return None
            index = mapped.find(mapped.segments[number] or mapped.load(number), state)
            return None if index is None else mapped.values[index]
        except OFTEN_WRONG as error:
            raise self._malformed(error) from None

    def plies_to_conversion(self, state: int) -> int | None:
        """Return the plies to a conversion of exactly this state, not of a symmetric one.

        A conversion is a move that raises the tier or ends the game. The side that wins can force one in so many plies,
        and the other side cannot avoid one for longer.

        Returns:
            None for a draw, for a state that is not stored, and in books without such distances.
        """
        if not self.header.kind.converts:
            return None
        index = self.codec_keys.index(state, self._index)
        return None if index < 0 else self.header.palette[index].distance

    def _image(self, state: int) -> int:
        """Return the state that a folded book would store for this one, or -1 if this is not a state."""
        try:
            canonical = self.rules.canonical
        except errors.SolverError as error:
            raise errors.ForeignBook(f"a state that is not stored may be folded by symmetry: {error}") from None
        try:
            return canonical(state) if 0 <= state < self._limit else -1
        except (ArithmeticError, LookupError, TypeError, ValueError):
            # Rules need not bear what is not a state
            return -1

    @functools.cached_property
    def _limit(self) -> int:
        """An upper limit of all states."""
        return 1 << 8 * self.header.state_bytes if self.header.state_bytes else games.STATE_LIMIT

    def _index(self, key: int) -> int | None:
        """The palette index that the book has under a key; None for a state that it lacks."""
        mapped = self._mapped or self._open()
        number = bisect_right(mapped.directory, key) - 1
        if number < 0:
            return None
        try:
            index: int | None = mapped.find(mapped.segments[number] or mapped.load(number), key)
            if index is not None and index >= len(mapped.values):
                raise ValueError("a value is outside the palette")
        except OFTEN_WRONG as error:
            raise self._malformed(error) from None
        return index

    @functools.cached_property
    def codec_keys(self) -> States:
        """The codec's keys. Raises ForeignBook as `game` does, if they need the rules."""
        return self.header.keys(self.rules if self.header.encoding.asks_rules else None)

    def lookup(self, states: Any, *, missing: Literal["raise", "mask"] = "raise") -> Values:
        """Look up an array of states at once, millions a second. It needs NumPy and Numba, the extra [solve].

        In a folded book the rules give the images of states that are not stored; in a ranked one they number each
        state, after the whole book was decoded. From 20,000 such states on compiled rules are asked, for fewer plain
        Python: some thousand a second.

        Args:
            states: integers, an array or a list of any shape.
            missing: "raise" if the book must know all states; "mask" if `known` is to mark those it lacks.

        Returns:
            Scores, distances and which states are known, as arrays of the shape of `states`.

        Raises:
            MissingState: counts the states that the book lacks, finished ones among them, and names the first.
            StateTypeError: where a state is not an integer.
            DamagedBook, ForeignBook: as `get`.
            SolverError: where NumPy or Numba is missing.
        """
        self._open()
        if missing not in ("raise", "mask"):
            raise errors.MethodError(f'missing={missing!r} is not a choice: choose "raise" or "mask"')
        from solver.base.extras import require_kernels

        require_kernels("lookup takes arrays, and ")
        from solver.book import bulk

        queried = bulk.asked(states, wide=self.header.state_bytes > 0)
        try:
            places = self._places(queried)
            lost = places < 0
            if self.header.symmetry and lost.any():
                places[lost] = self._places(bulk.images(queried[lost], lambda: self.rules, self._image))
            values = bulk.values(places, self._open().values)
        except OFTEN_WRONG as error:
            raise self._malformed(error) from None
        if missing == "raise":
            bulk.check_known(values, states, self.path.name)
        return values

    def _places(self, queried: Any) -> Any:
        """The palette indices that are stored for an array of states, -1 for those that are not."""
        from solver.book import bulk

        mapped, keys = self._open(), self.codec_keys
        indices = bulk.of_ranked(queried, keys, self.segments()) if keys.ASKED else None
        if indices is not None:
            return indices
        if keys.ASKED or keys.plain_only or mapped.codec.find_all is None:
            return bulk.one_by_one(queried, lambda state: keys.index(state, self._index))
        return bulk.places(queried, mapped.directory, mapped.segment, mapped.codec.find_all)

    def _malformed(self, error: Exception) -> errors.DamagedBook:
        return errors.DamagedBook(
            f"{self.path}: a segment is malformed ({reason(error)}): fetch or solve the book again"
        )

    def _open(self) -> Mapped:
        """The mapped file. Raises BookError after `close`."""
        if self._mapped is None:
            raise errors.BookError(f"{self.path} is closed: open it again")
        return self._mapped

    def __contains__(self, state: object) -> bool:
        return self.get(state) is not None

    def __len__(self) -> int:
        return self.header.stored

    def __iter__(self) -> Iterator[int]:
        for states, _ in self._groups():
            yield from states

    def items(self) -> Any:
        """Return the stored states and their values as pairs, in ascending order of the states."""
        return _Items(self)

    def _groups(self) -> Iterator[tuple[list[int], list[int]]]:
        """States and palette indices of each group."""
        for record in self.segments():
            for keys, indices in groups_of(self.header, record):
                yield self.of_keys(keys, indices)

    def of_keys(self, keys: list[int], indices: list[int]) -> tuple[list[int], list[int]]:
        """Return the states that are stored under some keys of the book's codec, and their palette indices.

        Raises:
            DamagedBook: There is no such key. Checksums can be forged, so this is checked as well.
        """
        if max(indices) >= len(self.header.values) or keys[-1] >= self._limit:
            raise errors.DamagedBook(
                f"{self.path}: a value of state {keys[0]} or after is outside the palette: solve again"
            )
        return self.codec_keys.states(keys, indices, self._index)

    def group(self, number: int, choose: Callable[[int], int]) -> list[tuple[int, Value]]:
        """Decode one group of a segment.

        Args:
            number: The segment.
            choose: Called with the number of groups; returns the index of one.

        Returns:
            The group's (state, value) pairs. A codec that asks the rules returns a part of the segment instead.
        """
        mapped = self._open()
        view, firsts, starts, index_bytes = mapped.segment(number)
        group_index = choose(len(firsts))
        keys, indices = mapped.codec.decode(
            view[starts[group_index] : starts[group_index + 1]], firsts[group_index], index_bytes
        )
        if self.codec_keys.ASKED:
            begin = choose(len(keys))
            keys, indices = keys[begin : begin + SOME], indices[begin : begin + SOME]
        states, indices = self.of_keys(keys, indices)
        values = self.header.values
        return [(state, values[index]) for state, index in zip(states, indices, strict=True)]

    @property
    def directory(self) -> Sequence[int]:
        """The first key of each segment, as the codec orders them."""
        return self._open().directory

    def segments(self) -> Iterator[bytes]:
        """Yield copies of the segments' records. Each checksum is verified first."""
        mapped = self._open()
        for number in range(len(mapped.segments)):
            yield bytes(mapped.segment(number)[0])

    @property
    def game(self) -> Game:
        """The game that the book was opened with, or else that of its header.

        A book never runs code that it names. The rules of a game of your own are those that the book was opened with,
        or those that SOLVER_GAME names in the environment.

        Raises:
            MissingRules: The game is your own, and nobody named its rules.
            ForeignBook: The rules at hand are not those that made the book.
        """
        if self._game is not None:
            return self._game
        game = self.stated_game()
        self.check_rules(game)
        self._game = game
        return game

    @functools.cached_property
    def rules(self) -> Rules:
        """The rules of `game`, folded by symmetry as the book is. They are made once, when first asked for.

        They value positions with distances, even where the book holds none: `header.kind` is the kind of its values.

        Raises:
            MissingRules, ForeignBook: As `game`.
        """
        return Rules(self.game, self.header.symmetry)

    def stated_game(self) -> Game:
        """Return the book's game like `game`, even if its rules have changed since it was made.

        Raises:
            MissingRules: The game is your own, and SOLVER_GAME does not name its rules.
            DamagedBook: The book keeps its game, and the record is damaged.
        """
        if self._game is not None or games.is_built_in(self.header.game):
            return self._game or games.load_game(self.header.game)
        if self.keeps_game:
            from solver.rules.loading import game_kept

            try:
                stored_game: Game = game_kept(self.header.game, self._open().game())
                return stored_game
            except errors.GameError as error:
                raise errors.DamagedBook(f"{self.path}: {error}: fetch or solve the book again") from None
        game, header = games.rules_at_hand(self.header.game), self.header
        if game is not None and (games.game_text(game) == header.game or rules_of(game, header.codec) == header.rules):
            return game
        name, kind, rest = self.header.game.partition(":")
        is_tree = rest[:1] != ":"
        file = rest.partition(",")[0] if is_tree else name
        folder = "" if os.path.isfile(file) else "PATH/"
        rules_name = name if name.endswith(".py") else f"{name}::{rest[1:].partition(':')[0]}"
        rules = f"{name}{kind}{folder}{rest}" if is_tree else f"{folder}{rules_name}"
        lies = "a tree in a file, which no book opens" if is_tree else "a game outside this package"
        other_rules = "" if game is None else f", and {games.RULES} names those of {shortened(games.game_text(game))}"
        raise errors.MissingRules(f"{self.path} is of {lies}{other_rules}: name its rules", rules)

    @property
    def keeps_game(self) -> bool:
        """Whether the book stores its game itself, as it does for a graph that has no name to load it by."""
        return not games.is_built_in(self.header.game) and self._open().keeps_game()

    @property
    def root(self) -> Value:
        """The value of the start state, for its side to move."""
        return self.header.root

    @property
    def states(self) -> int | None:
        """How many distinct states play can reach, terminal ones included. None if the book is not complete."""
        return self.header.states

    @property
    def counts(self) -> dict[str, int]:
        """How many states are a win, a draw and a loss for the side to move, terminal ones included."""
        return dict(self.header.counts)

    @property
    def longest(self) -> tuple[int, int] | None:
        """The plies of the longest win, and the smallest state that has it.

        None if there is no win, or if the scores are margins.
        """
        return self.header.longest

    @property
    def trim(self) -> Trim | None:
        """The states that were dropped, and the book they were dropped from. None for a book that was not trimmed."""
        return self.header.trim

    @property
    def expectation(self) -> Expectation | None:
        """The kind, step and error of the values in a game of chance. None in other games."""
        return self.header.expectation

    @property
    def size(self) -> int:
        """The size of the file in bytes."""
        return self.path.stat().st_size

    @property
    def digest(self) -> str:
        """The sha256 of all records. Books with equal contents have equal digests."""
        return self.header.digest

    def check_rules(self, game: Game) -> None:
        """Check that `game` has the rules that made the book.

        Raises:
            ForeignBook: It has others.
        """
        given = Origin(games.game_text(game), rules_of(game, self.header.codec))
        check_origin(str(self.path), self.header.origin, given, "these rules are not those of the book, so solve again")

    def close(self) -> None:
        """Close the file. Look-ups that run in other threads finish first."""
        self._mapped = None

    def when_closed(self, action: Callable[[], Any]) -> None:
        """Call `action` once, after the last book of this file in this process is closed or garbage collected.

        At the latest it is called when the interpreter exits.
        """
        self._open().registered.afterwards = action

    def __eq__(self, other: object) -> bool:
        """Books are equal if their headers and so their digests are; any other mapping is compared by its items."""
        return self.header == other.header if isinstance(other, Book) else super().__eq__(other)

    def __hash__(self) -> int:
        return hash(self.header.digest)

    def __reduce__(self) -> tuple[Any, ...]:
        """A pickled book is opened again where it lay, if it is the same book."""
        self._open()
        return _reopened, (str(self._place), self.header.digest, self._game, self._sha256)

    def __exit__(self, *raised: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Book {self.path.name}: {self.header.game}, {len(self):,} states{'' if self._mapped else ', closed'}>"


def _reopened(path: str, digest: str, game: Game | None = None, sha256: str | None = None) -> Book:
    book = Book(path, game, sha256=sha256)
    if book.header.digest != digest:
        raise errors.ForeignBook(f"{path} is another book than the one that was pickled: pickle it again")
    return book


class _Items(ItemsView[int, Value]):
    """The view that Mapping.items promises, over stored states, without a look-up for each."""

    _mapping: Book

    def __iter__(self) -> Iterator[tuple[int, Value]]:
        values = self._mapping.header.values
        for states, indices in self._mapping._groups():
            for state, index in zip(states, indices, strict=True):
                yield state, values[index]

    def __contains__(self, pair: object) -> bool:
        return isinstance(pair, tuple) and len(pair) == 2 and self._mapping.find(pair[0]) == pair[1]
