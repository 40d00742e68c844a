"""Charts of a book: wins, draws and losses by tier, and states by distance; expectations by what they are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from solver.base.errors import MethodError, ResourceError
from solver.base.expectations import Expectation
from solver.base.kinds import OUTCOME
from solver.book import check_target

WIN, DRAW, LOSS = "#2a78d6", "#b9b8b2", "#d6572a"
OUTCOMES, EXPECTED = OUTCOME.counted, Expectation.counted
BARS = 40  # of a histogram


def draw(facts: dict[str, Any], path: str, expected: dict[float, int] | None = None) -> None:
    """Draw the facts of a book (`books.facts`), and how many states have an expectation. Raises MethodError where that
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
        _by_value(rest.pop(0), distances, "distance", "plies to the end")
    if scores:
        _by_value(rest.pop(0), scores, "score", "margin")
    if expected:
        _by_expectation(rest.pop(0), expected, facts["expectation"]["of"] == "utility")
    figure.suptitle(f"{facts['game']}: {facts['stored']:,} stored states", x=0.01, ha="left")
    try:
        figure.savefig(path, dpi=150, metadata={"Date": None} if path.lower().endswith("svg") else None)
    except OSError as error:
        raise ResourceError(f"{path} cannot be written: {error.strerror or error}") from None
    finally:
        pyplot.close(figure)


def _by_tier(axes: Any, tiers: list[dict[str, int]], names: tuple[str, str, str]) -> None:
    places = [tier["tier"] for tier in tiers]
    bottom = [0] * len(tiers)
    for outcome, name, color in zip(("win", "draw", "loss"), names, (WIN, DRAW, LOSS), strict=True):
        heights = [tier[outcome] for tier in tiers]
        if any(heights):
            axes.bar(places, heights, bottom=bottom, width=0.9, color=color, label=name)
        bottom = [low + height for low, height in zip(bottom, heights, strict=True)]
    _finish(axes, "tier", "states, finished ones too")


def _by_value(axes: Any, values: list[dict[str, Any]], name: str, across: str) -> None:
    _bars(axes, [(value[name], value["stored"], value["score"]) for value in values], OUTCOMES)
    if name == "distance":
        axes.set_yscale("log")
    _finish(axes, across, "stored states")


def _by_expectation(axes: Any, expected: dict[float, int], wins: bool) -> None:
    """A histogram: of winning chances from 0 to 100 %, of which a draw is half, or of expected margins."""
    numbers = {50 * (1 + score) if wins else score: count for score, count in expected.items()}
    low, high = (0.0, 100.0) if wins else (min(numbers), max(numbers))
    width = (high - low) / BARS or 1.0
    bars = [0] * BARS
    for number, count in numbers.items():
        bars[min(BARS - 1, int((number - low) / width))] += count
    places = [low + width * (at + 0.5) for at in range(BARS)]
    middle = 50 if wins else 0
    some = [(place, count, place - middle) for place, count in zip(places, bars, strict=True) if count]
    _bars(axes, some, EXPECTED, 0.9 * width)
    _finish(axes, "winning chance of the side to move, %" if wins else "expected margin", "stored states")


def _bars(axes: Any, bars: list[tuple[Any, int, float]], names: tuple[str, str, str], width: float = 0.9) -> None:
    """Bars by place, height and what they are good for: more than nothing, nothing or less."""
    for name, color, sign in zip(names, (WIN, DRAW, LOSS), (1, 0, -1), strict=True):
        some = [(place, height) for place, height, worth in bars if (worth > 0) - (worth < 0) == sign]
        if some:
            axes.bar(*zip(*some, strict=True), width, color=color, label=name)


def _finish(axes: Any, across: str, up: str) -> None:
    axes.xaxis.get_major_locator().set_params(integer=True)
    if axes.get_yscale() == "linear":
        axes.yaxis.set_major_formatter("{x:,.0f}")
    axes.set_xlabel(across)
    axes.set_ylabel(up)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)
