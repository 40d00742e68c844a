"""Values in words, as tables, captions and boards say them."""

from __future__ import annotations

import inspect
import re
from typing import Any

from solver.base.value import Value
from solver.rules.game import Rules


def in_words(value: Value | None, rules: Rules, estimate: float | None = None) -> str:
    """Say a value for the side to move: win in 5, +3, draw. Say the estimate if the value is not known."""
    if value is None:
        return "unknown" if estimate is None else rules.kind.impression(estimate)
    return rules.kind.words(value, rules.reward is not None)


def in_all(value: Value | None, rules: Rules, gained: int | None, estimate: float | None = None) -> str:
    """`in_words` of a position: where moves score, the score still to come, and the score `gained` before, if any."""
    words = in_words(value, rules, estimate)
    if rules.reward is None:
        return words
    if not gained:
        return f"{words} still to come"
    both = f"margin so far {gained:+d}, still to come {words}"
    return both if value is None else f"{_final(gained + value.score)}: {both}"


def at_the_end(value: Value | None, rules: Rules, gained: int | None) -> str:
    """`in_words` of a finished position; where moves scored, the margin that they made, if they are known."""
    if rules.reward is None:
        return in_words(value, rules)
    return "margin not known" if gained is None or value is None else _final(gained + value.score)


def in_full(
    rules: Rules,
    mover: int | None,
    gained: int | None,
    value: Value | None,
    estimate: float | None = None,
    *,
    over: bool = False,
) -> str:
    """A position's value as a sentence that says whose it is: draw for the side to move."""
    # No board can tell
    side = "the side to move" if rules.again is None or mover is None else f"player {mover + 1}"
    if over:
        return (
            f"the game is over: {at_the_end(value, rules, gained)}{f' for {side}' if rules.again is not None else ''}"
        )
    return f"{in_all(value, rules, gained, estimate)} for {side}"


def _final(margin: float) -> str:
    return f"{margin:+g}" if margin else "tie"


def summary_of(game: Any) -> str:
    """The first sentence of a game's docstring, with numbers in place of the parameters that it names in backticks."""
    values = {name: str(value) for name, value in zip(game._fields, game, strict=True) if type(value) is int}
    paragraph = " ".join((inspect.getdoc(type(game)) or "").partition("\n\n")[0].split())
    sentence = re.match(r".*?[.!?](?= |$)", paragraph)
    return re.sub("`(.*?)`", lambda match: values.get(match[1], match[1]), sentence[0] if sentence else paragraph)
