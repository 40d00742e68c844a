"""Charts of a book: wins, draws and losses by tier, and states by distance."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from solver.book import check_target
from solver.errors import MethodError, ResourceError

WIN, DRAW, LOSS = "#2a78d6", "#b9b8b2", "#d6572a"


def draw(facts: dict[str, Any], path: str) -> None:
    """Draw what `describe` says of a book. Raises MethodError where that cannot be."""
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
    distances = [value for value in facts["values"] or [] if value["distance"] is not None]
    scores = [] if distances else facts["values"] or []
    panels = [bool(tiers), bool(distances), bool(scores)]
    if not any(panels):
        raise MethodError("the book has no counts by tier or by distance: solve the game again")
    figure, axes = pyplot.subplots(sum(panels), 1, figsize=(9, 3.6 * sum(panels)), layout="constrained", squeeze=False)
    rest = list(axes[:, 0])
    if tiers:
        _by_tier(rest.pop(0), tiers)
    if distances:
        _by_distance(rest.pop(0), distances)
    if scores:
        _by_score(rest.pop(0), scores)
    figure.suptitle(f"{facts['game']}: {facts['stored']:,} stored states", x=0.01, ha="left")
    try:
        figure.savefig(path, dpi=150, metadata={"Date": None} if path.lower().endswith("svg") else None)
    except OSError as error:
        raise ResourceError(f"{path} cannot be written: {error.strerror or error}") from None
    finally:
        pyplot.close(figure)


def _by_tier(axes: Any, tiers: list[dict[str, int]]) -> None:
    places = [tier["tier"] for tier in tiers]
    bottom = [0] * len(tiers)
    for name, label, color in (("win", "wins", WIN), ("draw", "draws", DRAW), ("loss", "losses", LOSS)):
        heights = [tier[name] for tier in tiers]
        axes.bar(places, heights, bottom=bottom, width=0.9, color=color, label=label)
        bottom = [low + height for low, height in zip(bottom, heights, strict=True)]
    _finish(axes, "tier", "states, for the side to move")


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


def _finish(axes: Any, across: str, up: str) -> None:
    axes.xaxis.get_major_locator().set_params(integer=True)
    if axes.get_yscale() == "linear":
        axes.yaxis.set_major_formatter("{x:,.0f}")
    axes.set_xlabel(across)
    axes.set_ylabel(up)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)
