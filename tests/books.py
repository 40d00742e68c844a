"""Books for tests, from plain dictionaries of values."""

from solver.book import Header, write_book
from solver.book.format import GROUP
from solver.value import Value

PART = 40 * GROUP


def header_of(values, palette, **changes):
    """A header for any values; the facts of a game are made up."""
    facts = {
        "game": "coins",
        "rules": "0" * 64,
        "method": "minimax",
        "scope": "complete",
        "symmetry": False,
        "score_game": False,
        "palette": palette,
        "states": len(values),
        "terminal": 0,
        "stored": len(values),
        "counts": {"win": 0, "draw": 0, "loss": 0},
        "tiers": None,
        "root": Value(0),
        "longest": None,
    }
    return Header(**{**facts, **changes})


def write_values(path, values, *, palette=None, **options):
    """A book of a dict of values."""
    palette = palette or sorted(set(values.values()), key=str)
    place = {value: index for index, value in enumerate(palette)}
    states = sorted(values)
    indices = [place[values[state]] for state in states]
    parts = [(states[at : at + PART], indices[at : at + PART]) for at in range(0, len(states), PART)]
    return write_book(path, header_of(values, palette), parts, **options)
