"""Code that games share, no games: boards of five by five, pieces that slide, pawns, throws, choices of cells."""

from collections.abc import Callable
from typing import Any


def like(home: Any, *names: str) -> Callable[[type], Any]:
    """Return a decorator that gives rules the methods of other rules: those of some names, or all that they lack.

    Rules are a NamedTuple, and that can inherit from no class beside. A method that is given counts as one of the
    rules' own, for fingerprints, too.
    """

    def extended(cls: type) -> Any:
        had = {*vars(cls), *vars(home).get("_fields", ())}
        for name in names or [name for name in vars(home) if name not in had and not name.startswith("__")]:
            setattr(cls, name, vars(home)[name])
        return cls

    return extended


def limits(game: Any, **ranges: tuple[int, int]) -> None:
    """Raise ValueError unless each of these parameters is from its least to its most value."""
    parameters = game._asdict()
    for name, (least, most) in ranges.items():
        if not least <= parameters[name] <= most:
            raise ValueError(f"{name} must be from {least} to {most}")


class Filling:
    """The state is 0 at the start, each move sets a bit of it, and who is to move in the end has lost."""

    def initial(self) -> int:
        return 0

    def result(self, state: int, action: int) -> int:
        return state | 1 << action

    def utility(self, state: int) -> int:
        return -1

    def tier(self, state: int) -> int:
        return state.bit_count()
