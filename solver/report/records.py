"""Records of the facts that `--json` prints and `/v1` answers, and their encoder.

One class says the fields and types of an answer: it is made, encoded and, in the OpenAPI document of `serve`, described
by it. Structs are made and encoded by msgspec as fast as a text put together by hand. Facts made once in a while are
dicts, which the typed dicts here describe.
"""

from __future__ import annotations

import json
from typing import Annotated, Any, TypedDict

from msgspec import UNSET, Meta, Struct, UnsetType, to_builtins
from msgspec.json import Encoder

Count = Annotated[int, Meta(ge=0)]
Score = Annotated[float | None, Meta(description="-1, 0, 1; a margin; in games of chance an expectation")]
Distance = Annotated[Count | None, Meta(description="plies to the end; null where it means nothing or is not known")]
Nimber = Annotated[Count | None, Meta(description="of impartial games alone; null where it takes too long")]
Outcome = Annotated[str | None, Meta(extra_json_schema={"enum": ["win", "draw", "loss", "expectation", None]})]
Source = Annotated[str, Meta(extra_json_schema={"enum": ["book", "search", "terminal", "missing"]})]
Estimate = Annotated[float | None, Meta(description="what is not known exactly looks like: -1 to 1, or a margin")]

_encode = Encoder().encode


def line_of(facts: Any) -> bytes:
    """Return facts as a line of JSON in ASCII, without spaces."""
    try:
        line = _encode(facts)
    except UnicodeEncodeError:
        # Half of a surrogate pair
        line = None
    if line is None or not line.isascii():
        line = json.dumps(plain(facts), separators=(",", ":")).encode()
    return line + b"\n"


def plain(facts: Any) -> Any:
    """Return facts as dicts and lists."""
    return to_builtins(facts)


class Worth(TypedDict):
    """A value for the side to move"""

    value: Outcome
    score: Score
    distance: Distance


class Child(Struct, gc=False, forbid_unknown_fields=True):
    """The state that it leads to; its value is for its own side to move"""

    state: Count
    value: Outcome
    score: Score
    distance: Distance
    nimber: Nimber | UnsetType = UNSET


class Move(Struct, gc=False, forbid_unknown_fields=True):
    """A move, its value for the side that plays it"""

    move: str
    value: Outcome
    score: Score
    distance: Distance
    estimate: Estimate
    exact: bool
    source: Source
    best: bool
    child: Child
    practical: Annotated[
        float | UnsetType,
        Meta(description="estimate, by a short look ahead, of the result against a fallible opponent, if asked for"),
    ] = UNSET
    conversion: Annotated[
        Count | UnsetType,
        Meta(description="plies to a move that raises the tier or ends the game, if the book has them"),
    ] = UNSET


class Why(Struct, gc=False, forbid_unknown_fields=True):
    """A move that gives value away, and best play after it"""

    move: str
    gives: Annotated[float, Meta(description="1 for a draw instead of a win, 2 for a loss; a margin")]
    line: Annotated[list[str], Meta(description="best play after the move, to where the outcome is plain")]
    words: str


class Chance(Struct, gc=False, forbid_unknown_fields=True):
    """An outcome of chance, and its value for the side to move before"""

    faces: Annotated[str | None, Meta(description="of dice, 6-5")]
    probability: float
    value: Outcome
    score: Score
    distance: Distance
    child: Child


class Position(Struct, gc=False, forbid_unknown_fields=True):
    """The answer of `solver query --json`, without the time it took. Values are for the side to move"""

    game: str
    position: Annotated[str, Meta(description="as it was asked")]
    state: Count
    to_move: Annotated[int | None, Meta(extra_json_schema={"enum": [0, 1, None]})]
    ply: Count | None
    gained: Annotated[
        int | None, Meta(description="where moves score: the margin so far, if the moves so far were given")
    ]
    terminal: bool
    value: Outcome
    score: Score
    distance: Distance
    estimate: Estimate
    exact: bool
    source: Source
    evaluation: Annotated[str | None, Meta(description="what made the estimates")]
    nimber: Nimber | UnsetType = UNSET
    depth: Annotated[
        Count | None | UnsetType, Meta(description="of grown books: plies of the search that made the estimate")
    ] = UNSET
    best: list[str] | UnsetType = UNSET
    moves: Annotated[list[Move] | UnsetType, Meta(description="best first")] = UNSET
    chances: list[Chance] | UnsetType = UNSET
    only: Annotated[bool | UnsetType, Meta(description="with --explain: whether one move alone keeps the value")] = (
        UNSET
    )
    why: Annotated[list[Why] | UnsetType, Meta(description="with --explain: every move that gives value away")] = UNSET
    elapsed_us: Annotated[float | UnsetType, Meta(description="of `query` alone")] = UNSET


class PositionError(TypedDict):
    """The fault in a line of a batch"""

    position: str
    error: str


class Error(TypedDict):
    """The fault"""

    error: Annotated[str, Meta(description="one line, which names the remedy")]


class Line(TypedDict):
    """Best play to the end, as `solver line --json` prints it"""

    position: str
    state: Count
    score: float
    distance: Count | None
    words: str
    moves: list[str]
    end: Annotated[Count, Meta(description="the state in which it ends")]
    ending: str


class Tally(TypedDict):
    """States by their value for the side to move"""

    win: Count
    draw: Count
    loss: Count


class Tier(Tally):
    """The states of a tier, those that are terminal among them"""

    tier: int
    states: Count
    terminal: Count


class Stored(TypedDict):
    """How many states are stored of a value"""

    score: float
    distance: Count | None
    stored: Count


class Counts(TypedDict):
    """How many states a book has, by tier and by value"""

    states: Count | None
    terminal: Count | None
    stored: Count
    counts: Tally
    tiers: list[Tier] | None
    values: list[Stored] | None


class Longest(TypedDict):
    """The longest win, and where it begins"""

    distance: Count
    position: str


class Book(Counts):
    """The answer of `solver info --json`, without the longest line"""

    game: str
    rules: Annotated[str, Meta(description="the fingerprint of the rules that made it")]
    method: str
    scope: str
    symmetry: bool
    root: Worth
    longest: Longest | None
    wdl: bool
    conversion: bool
    expectation: dict[str, Any] | None
    estimate: dict[str, Any] | None
    trim: dict[str, Any] | None
    codec: str
    start: Annotated[str | None, Meta(description="where a proof book begins, if not at the game's start")]
    bytes: Count
    bits_per_state: float | None
    digest: str


class ListedBook(TypedDict):
    """A book in a list"""

    name: str
    title: str
    verdict: str
    root: Worth
    states: Count | None
    stored: Count
    bytes: Count
    digest: str


class Game(TypedDict):
    """A game in a list"""

    name: str
    title: str
    about: str
    score_game: Annotated[bool, Meta(description="whether values are margins")]
    supports: list[str]
    book: Annotated[bool, Meta(description="whether a book of it is served")]
    searches: Annotated[bool, Meta(description="whether `--live` searches it, past the end of its book or without one")]


class QuestionObject(TypedDict):
    """A line of a batch"""

    position: str
