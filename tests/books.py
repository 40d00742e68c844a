"""Books for tests, from plain dictionaries of values."""

from collections import Counter

from solver.book import Header, write_book
from solver.value import Value, merit_of

KEYED_BY_STATE = ("instant", "compact")  # the codecs that take any states and values; ranked ones are of a game
PART = 1 << 16  # a block of any codec


def palette_of(values):
    """The distinct values, best first, as a header has them."""
    return sorted(set(values), key=merit_of, reverse=True)


def header_of(values, palette=None, **changes):
    """A header for any values that does not contradict itself; the facts of a game are made up."""
    numbers = Counter(values.values())
    palette = palette_of(numbers) if palette is None else palette
    slowest = max((value for value in palette if value.score > 0), key=lambda value: value.distance or 0, default=None)
    facts = {
        "game": "coins",
        "rules": "0" * 64,
        "method": "minimax",
        "scope": "complete",
        "symmetry": False,
        "score_game": any(value.distance is None and value.score for value in palette),
        "palette": palette,
        "states": len(values),
        "terminal": 0,
        "stored": len(values),
        "counts": {
            outcome: sum(numbers[value] for value in numbers if value.outcome == outcome)
            for outcome in ("win", "draw", "loss")
        },
        "tiers": None,
        "root": Value(0),
        "longest": None,
    }
    if slowest is not None and not facts["score_game"]:
        state = min((state for state, value in values.items() if value == slowest), default=0)
        facts["longest"] = slowest.distance, state
    return Header(**{**facts, **changes})


def write_values(path, values, *, part=PART, facts=None, **options):
    """A book of a dict of values, whose header has these facts."""
    header = header_of(values, **(facts or {}))
    place = {value: index for index, value in enumerate(header.palette)}
    states = sorted(values)
    indices = [place[values[state]] for state in states]
    parts = [(states[at : at + part], indices[at : at + part]) for at in range(0, len(states), part)]
    return write_book(path, header, parts, **options)
