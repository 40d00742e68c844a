"""Charts of a book: wins, draws and losses by tier, and states by distance; expectations by what they are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from solver.base.errors import MethodError, ResourceError
from solver.book import check_target

WIN, DRAW, LOSS = "#2a78d6", "#b9b8b2", "#d6572a"
OUTCOMES = (("win", "wins", WIN), ("draw", "draws", DRAW), ("loss", "losses", LOSS))
EXPECTED = (("win", "better", WIN), ("draw", "even", DRAW), ("loss", "worse", LOSS))
BARS = 40  # of a histogram


def draw(facts: dict[str, Any], path: str, expected: dict[float, int] | None = None) -> None:
    """Draw what `describe` says of a book, and how many states have an expectation. Raises MethodError where that
    cannot be."""
    if Path(path).suffix.lower() not in (".png", ".svg"):
        raise MethodError(f"{path}: a chart is a .png or a .svg file")
    check_target(path)
    try:
        import matplotlib
    except ImportError:
        raise MethodError("charts need matplotlib: pip install 'solverbook[plot]'") from None
    matplotlib.use("agg")
    matplotlib.rcParams["svg.hashsalt"] = "solverbook"  # the same book, the same file
    from matplotlib import pyplot

    tiers = facts["tiers"] or []
    if expected and len(tiers) == 1:
        tiers = []
    distances = [value for value in facts["values"] or [] if value["distance"] is not None]
    scores = [] if distances else facts["values"] or []
    panels = [bool(tiers), bool(distances), bool(scores), bool(expected)]
    if not any(panels):
        raise MethodError("the book has no counts by tier or by distance: solve the game again")
    figure, axes = pyplot.subplots(sum(panels), 1, figsize=(9, 3.6 * sum(panels)), layout="constrained", squeeze=False)
    rest = list(axes[:, 0])
    if tiers:
        _by_tier(rest.pop(0), tiers, EXPECTED if expected else OUTCOMES)
    if distances:
        _by_distance(rest.pop(0), distances)
    if scores:
        _by_score(rest.pop(0), scores)
    if expected:
        _by_expectation(rest.pop(0), expected, facts["expectation"]["of"] == "utility")
    figure.suptitle(f"{facts['game']}: {facts['stored']:,} stored states", x=0.01, ha="left")
    try:
        figure.savefig(path, dpi=150, metadata={"Date": None} if path.lower().endswith("svg") else None)
    except OSError as error:
        raise ResourceError(f"{path} cannot be written: {error.strerror or error}") from None
    finally:
        pyplot.close(figure)


def _by_tier(axes: Any, tiers: list[dict[str, int]], outcomes: tuple[tuple[str, str, str], ...]) -> None:
    places = [tier["tier"] for tier in tiers]
    bottom = [0] * len(tiers)
    for name, label, color in outcomes:
        heights = [tier[name] for tier in tiers]
        if any(heights):
            axes.bar(places, heights, bottom=bottom, width=0.9, color=color, label=label)
        bottom = [low + height for low, height in zip(bottom, heights, strict=True)]
    _finish(axes, "tier", "states, finished ones too")


def _by_distance(axes: Any, values: list[dict[str, Any]]) -> None:
    for sign, label, color in ((1, "wins", WIN), (-1, "losses", LOSS)):
        some = [value for value in values if value["score"] * sign > 0]
        if some:
            heights = [value["stored"] for value in some]
            axes.bar([value["distance"] for value in some], heights, 0.9, color=color, label=label)
    axes.set_yscale("log")
    _finish(axes, "plies to the end", "stored states")


def _by_score(axes: Any, values: list[dict[str, Any]]) -> None:
    for name, color, of in (("wins", WIN, 1), ("draws", DRAW, 0), ("losses", LOSS, -1)):
        some = [value for value in values if (value["score"] > 0) - (value["score"] < 0) == of]
        if some:
            heights = [value["stored"] for value in some]
            axes.bar([value["score"] for value in some], heights, 0.9, color=color, label=name)
    _finish(axes, "margin", "stored states")


def _by_expectation(axes: Any, expected: dict[float, int], wins: bool) -> None:
    """A histogram: of winning chances from 0 to 100 %, of which a draw is half, or of expected margins."""
    numbers = {50 * (1 + score) if wins else score: count for score, count in expected.items()}
    low, high = (0.0, 100.0) if wins else (min(numbers), max(numbers))
    width = (high - low) / BARS or 1.0
    bars = [0] * BARS
    for number, count in numbers.items():
        bars[min(BARS - 1, int((number - low) / width))] += count
    middle, places = 50 if wins else 0, [low + width * (at + 0.5) for at in range(BARS)]
    for label, color, of in (("better", WIN, 1), ("even", DRAW, 0), ("worse", LOSS, -1)):
        some = [at for at, place in enumerate(places) if bars[at] and (place > middle) - (place < middle) == of]
        if some:
            axes.bar([places[at] for at in some], [bars[at] for at in some], 0.9 * width, color=color, label=label)
    _finish(axes, "winning chance of the side to move, %" if wins else "expected margin", "stored states")


def _finish(axes: Any, across: str, up: str) -> None:
    axes.xaxis.get_major_locator().set_params(integer=True)
    if axes.get_yscale() == "linear":
        axes.yaxis.set_major_formatter("{x:,.0f}")
    axes.set_xlabel(across)
    axes.set_ylabel(up)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)
