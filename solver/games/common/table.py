"""A game from a table of its moves: a text file with a line for each, fields between commas, or tabs in a .tsv.

`docs/guides/other-games.md` describes the columns. Reading takes some 10 microseconds a line.
"""

import re
from array import array
from collections.abc import Iterator, Set
from fractions import Fraction
from typing import NamedTuple

from solver.base.errors import ResourceError
from solver.base.expectations import MOST_WEIGHT
from solver.base.extras import free_memory
from solver.base.progress import listener
from solver.base.system import resident_memory
from solver.base.text import FORM, TextError, exact, file_lines, table_rows, whole_weights
from solver.games.common.nodes import MOST_WORTH, SPACE, Draft, Nodes, short

COLUMNS = ("state", "action", "next", "reward", "player", "weight")
NEEDED = ("state", "next")
TABS = (".tsv", ".tab")
UNNAMED = re.compile(r"|unnamed: [\d.]+")  # as pandas writes and reads an index
STEP = 1 << 14  # lines between two reports


class Line(NamedTuple):
    """A line's fields, without white space around them."""

    number: int
    state: str
    action: str
    next: str
    reward: str
    player: str
    weight: str


def read(path: str) -> Nodes:
    """The graph of a table. Raises ValueError, which names the line, OSError and ResourceError."""
    memory, begun = listener().memory or free_memory(), resident_memory()
    reader = _Reader()
    for line in _lines(file_lines(path), "\t" if path.lower().endswith(TABS) else ","):
        reader.enter(line)
        if line.number % STEP == 0:
            listener().progress("read", line.number, None)
            if resident_memory() - begun > memory:
                raise ResourceError(
                    f"{path} has more than {line.number:,} lines, which take {memory / 2**30:.1f} GiB of memory:"
                    " raise --memory, or take a smaller table"
                )
    return reader.nodes()


def _lines(lines: Iterator[str], delimiter: str) -> Iterator[Line]:
    """The lines below the header. Raises ValueError."""
    rows, number = table_rows(lines, delimiter), 1
    try:
        header = [name.strip().casefold() for name in next(rows, (1, []))[1]]
        for column, name in enumerate(header, 1):
            if UNNAMED.fullmatch(name):
                listener().say(f"column {column} has no name: it is skipped")
            elif name not in COLUMNS or header.count(name) > 1:
                raise ValueError(f"no column {name[:40]!r}, or twice: the columns are {', '.join(COLUMNS)}")
        for name in NEEDED:
            if name not in header:
                raise ValueError(f"no column {name}: name the columns, state,action,next,reward")
        places = [header.index(name) if name in header else len(header) for name in COLUMNS]
        for number, row in rows:
            if not row:
                continue
            if len(row) != len(header):
                raise ValueError(f"{len(row)} fields under {len(header)} columns: put texts with commas into quotes")
            row.append("")
            yield Line(number, *[row[place].strip() for place in places])
    except TextError:
        raise
    except ValueError as error:
        raise ValueError(f"line {number}: {error}") from None


class _Reader:
    """Lines become positions and moves; in the end it is told what those without lines of their own are worth."""

    def __init__(self) -> None:
        self.draft = Draft()
        self.places: dict[str, int] = {}
        self.ends: dict[int, Line] = {}  # positions that a line says to be finished
        self.begun: dict[int, int] = {}  # those that have moves: the first line
        self.players: dict[str, int] = {}
        self.turns: dict[int, int] = {}  # who moves, where a line says so
        self.taken: set[tuple[int, str]] = set()  # positions and their moves' names
        self.lines = array("L")  # of the moves
        self.scored: set[int] = set()  # positions that a move with a reward leads to
        self.shares: dict[int, list[tuple[int, Fraction]]] = {}  # the moves of chance, and their weights

    def enter(self, line: Line) -> None:
        """A line of the table. Raises ValueError."""
        try:
            if not line.state:
                raise ValueError("no state: it is the text of a position")
            node = self._place(line.state)
            self._turn(node, line)
            if line.next:
                self._move(node, line)
            else:
                self._end(node, line)
        except ValueError as error:
            raise ValueError(f"line {line.number}: {error}") from None

    def _place(self, text: str) -> int:
        place = self.places.get(text)
        if place is None:
            place = self.places[text] = self.draft.node(text)
        return place

    def _turn(self, node: int, line: Line) -> None:
        """Note who moves."""
        if not line.player:
            return
        player = self.players.setdefault(line.player, len(self.players))
        if player > 1:
            raise ValueError(f"a third player, {line.player[:40]!r}: games are of two")
        if self.turns.setdefault(node, player) != player:
            raise ValueError(f"{short(line.state)} has another player before: put who moves into the text")

    def _end(self, node: int, line: Line) -> None:
        if line.action or line.weight:
            raise ValueError("a move without next: name the position that it leads to")
        if node in self.begun:
            raise ValueError(f"{short(line.state)} has moves, from line {self.begun[node]} on: it cannot be an end")
        if node in self.ends:
            raise ValueError(f"{short(line.state)} ends in line {self.ends[node].number} already: leave one out")
        self.ends[node] = line
        self.draft.worths[node] = _whole(line.reward)

    def _move(self, node: int, line: Line) -> None:
        if node in self.ends:
            raise ValueError(f"{short(line.state)} ends in line {self.ends[node].number}: it cannot have moves")
        first = self.begun.setdefault(node, line.number)
        reward, weight = _whole(line.reward), _weight(line.weight)
        if first != line.number and (node in self.shares) != (weight > 0):
            raise ValueError(f"chance and a player both move at {short(line.state)}: give all lines a weight, or none")
        place = len(self.draft.owners)
        if weight:
            self.shares.setdefault(node, []).append((place, weight))
            if reward:
                raise ValueError("a reward where chance decides: give it to the moves behind")
        name = SPACE.sub("_", line.action) or f"{short(line.next)[1:-1]}"
        if (node, name) in self.taken:
            raise ValueError(f"{short(line.state)} has a move {name[:40]!r} already: names are of one move each")
        self.taken.add((node, name))
        child = self._place(line.next)
        self.lines.append(line.number)
        if line.reward:
            self.scored.add(child)
        self.draft.move(node, name, child, reward)

    def nodes(self) -> Nodes:
        """The graph of all lines. Raises ValueError."""
        draft = self.draft
        if not self.begun and not self.ends:
            raise ValueError("the table has no line below its header: give a line for each move")
        for node in self.begun if self.players else ():
            if node not in self.turns and node not in self.shares:
                raise ValueError(f"line {self.begun[node]}: no player: if some lines name who moves, all but chance do")
        for node, player in self.turns.items():
            draft.movers[node] = player
        for node, line in self.ends.items():
            if self.players and node not in self.turns and draft.worths[node]:
                raise ValueError(f"line {line.number}: no player: say to whom the reward goes")
        for node, shares in self.shares.items():
            # Whole weights in place of fractions
            weights = whole_weights((weight for _, weight in shares), MOST_WEIGHT)
            if weights is None:
                raise ValueError(
                    f"line {self.begun[node]}: the weights of {short(draft.texts[node])} add up to more than"
                    f" {MOST_WEIGHT:,} in whole numbers: write 1/3 for 0.333, or take coarser ones"
                )
            for (place, _), whole in zip(shares, weights, strict=True):
                draft.weights[place] = whole
        spoken = self.begun.keys() | self.ends.keys()
        self._settle_ends(spoken)
        nodes = draft.nodes(bool(self.players))
        reached, front = {0}, {0}
        while front:
            front = {nodes.children[place] for node in front for place in nodes.moves(node)} - reached
            reached |= front
        listener().say(f"the start reaches {len(reached):,} of {len(nodes.texts):,} states")
        return nodes

    def _settle_ends(self, spoken: Set[int]) -> None:
        """Where only moves that end the game score, what they score is what its end is worth, to the other side.

        Ends that are worth more than one thing become several of one text. Raises ValueError for a position without
        lines that has nearly the text of another, or that nothing ends.
        """
        draft, texts, first_lines = self.draft, self.draft.texts, dict[int, int]()
        ends = [place for place, child in enumerate(draft.children) if child not in spoken]
        for place in ends:
            first_lines.setdefault(draft.children[place], self.lines[place])
        likes = {_bare(texts[child]): child for child in reversed(first_lines)}
        pairs = ((likes.get(_bare(texts[node])), node) for node in spoken if likes)
        pair = min(((first_lines[child], node, child) for child, node in pairs if child is not None), default=None)
        if pair is not None:
            number, node, child = pair
            raise ValueError(
                f"line {number}: next {short(texts[child])} is not a state, {short(texts[node])} is: write both alike"
            )
        for child, number in first_lines.items():
            if child not in self.scored:
                raise ValueError(
                    f"line {number}: next {short(texts[child])} is not a state, and nothing says that it ends the game:"
                    " write its moves, or a reward, such as 0, or a line with this state alone"
                )
        if any(reward and child in spoken for reward, child in zip(draft.rewards, draft.children, strict=True)):
            return
        known: dict[tuple[int, int, int], int] = {}
        met: set[int] = set()
        for place in ends:
            child = draft.children[place]
            mover, worth = 1 - draft.movers[draft.owners[place]], -draft.rewards[place]
            end = known.get((child, mover, worth))
            if end is None:
                end = child if child not in met else draft.node(texts[child])
                met.add(child)
                known[child, mover, worth] = end
                draft.movers[end], draft.worths[end] = mover, worth
            draft.children[place], draft.rewards[place] = end, 0


def _bare(text: str) -> str:
    """A position's text without case and blanks, and `2` for `2.0`."""
    text = SPACE.sub("", text).casefold()
    number = None if "/" in text else exact(text)
    return text if number is None else str(number)


def _whole(text: str) -> int:
    """A reward. Raises ValueError."""
    if not text:
        return 0
    reward = exact(text)
    if reward is None or abs(reward) >= MOST_WORTH:
        raise ValueError(f"{text[:40]!r} is not a reward: give a whole number below 2**40, or nothing for 0")
    if reward.denominator != 1:
        raise ValueError(f"{text[:40]!r} is not a whole number: multiply all rewards")
    return int(reward)


def _weight(text: str) -> Fraction:
    """The weight of a move of chance, 0 of a player's. Raises ValueError."""
    if not text:
        return Fraction(0)
    weight = exact(text)
    if weight is None or weight <= 0:
        raise ValueError(f"{text[:40]!r} is not a weight: give nothing, or a number above 0 as {FORM}")
    return weight
