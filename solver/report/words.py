"""Values and numbers in words."""

from __future__ import annotations

from collections.abc import Sequence

from solver.base.value import Value
from solver.rules.game import Rules


def in_words(value: Value | None, rules: Rules, estimate: float | None = None) -> str:
    """A value for the side to move: win in 5, +3, draw; of one that is not known what it looks like."""
    if value is None:
        return "unknown" if estimate is None else _impression(estimate, rules.scores)
    if isinstance(value.score, float):
        return expectation_in_words(value.score, rules.margins)
    if rules.scores and (rules.margins or rules.chance is None):
        return f"{value.score:+g}" if value.score else "tie" if rules.reward is None else "0"
    return value.words()


def expectation_in_words(score: float, margins: bool) -> str:
    """An expected margin, or an expected utility and the winning chance that it amounts to, draws half counted."""
    return f"{score:+.6f}" if margins else f"{score:+.6f} ({50 * (1 + score):.4f} %)"


def in_all(value: Value | None, rules: Rules, gained: int | None, estimate: float | None = None) -> str:
    """`in_words` of a position: where moves score, what is still to come, and what was `gained` before, if anything."""
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


def for_players(value: Value, score_game: bool) -> str:
    """The start's value as a verdict on the game, for the side that moves first."""
    if isinstance(value.score, float):
        return f"{expectation_in_words(value.score, score_game)} for the first player"
    if not value.score:
        return "draw" if not score_game else "tie"
    winner = "first" if value.score > 0 else "second"
    if score_game:
        return f"{winner} player wins by {abs(value.score)}"
    return f"{winner} player wins" + ("" if value.distance is None else f" in {in_plies(value.distance)}")


def in_plies(count: int) -> str:
    """A number of plies with its noun."""
    return f"{count:,} {'ply' if count == 1 else 'plies'}"


def table(rows: Sequence[Sequence[str]], align: str = "<") -> list[str]:
    """Lines of cells, two spaces between columns that are as wide as they must be."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    padded = ([f"{cell:{align}{width}}" for cell, width in zip(row, widths, strict=True)] for row in rows)
    return ["  ".join(row).rstrip() for row in padded]


def _final(margin: float) -> str:
    return f"{margin:+g}" if margin else "tie"


def _impression(estimate: float, score_game: bool) -> str:
    """What an estimate for the side to move says."""
    if score_game:
        return f"unknown, about {estimate:+.3g}" if estimate else "unknown, about even"
    if abs(estimate) >= 1:
        return f"{'win' if estimate > 0 else 'loss'}, distance unknown"
    looks = "even" if abs(estimate) < 0.05 else "better" if estimate > 0 else "worse"
    return f"unknown, looks {looks} ({estimate:+.2f})"
