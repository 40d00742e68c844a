"""Charts of a book: wins, draws and losses by tier, states by distance, expectations by value; and trees."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from solver.base.errors import MethodError, ResourceError
from solver.base.expectations import Expectation
from solver.base.kinds import OUTCOME
from solver.book.writer import check_target
from solver.games.tree import Tree, written
from solver.report.trees import label
from solver.search.comparison import Trace

WIN, DRAW, LOSS = "#2a78d6", "#b9b8b2", "#d6572a"
LINE, FAINT, PLAYERS = "#55544f", "#8a8983", {"MAX": "#d3e4f8", "MIN": "#f8ddd3", "CHANCE": "#f4efc9"}
WRITER = "solverbook"  # what all charts bear
MOST_NODES = 500  # of a tree that is drawn
SIGNS = {"win": 1, "draw": 0, "loss": -1}
OUTCOMES, EXPECTED = OUTCOME.counted, Expectation.counted
BARS = 40  # of a histogram


def draw(facts: dict[str, Any], path: str, expected: dict[float, int] | None = None) -> None:
    """Draw the facts of a book (`books.facts`), and how many states have an expectation.

    Raises MethodError where that cannot be.
    """
    pyplot = _pyplot(path)
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
        bars = [(tier["tier"], tier[outcome], sign) for tier in tiers for outcome, sign in SIGNS.items()]
        _bars(rest.pop(0), bars, EXPECTED if expected else OUTCOMES, "tier", "states, finished ones too")
    if distances:
        rest[0].set_yscale("log")
    for name, across, values in (("distance", "plies to the end", distances), ("score", "margin", scores)):
        if values:
            bars = [(value[name], value["stored"], value["score"]) for value in values]
            _bars(rest.pop(0), bars, OUTCOMES, across)
    if expected:
        draw_expectations(rest.pop(0), expected, facts["expectation"]["of"] == "utility")
    figure.suptitle(f"{facts['game']}: {facts['stored']:,} stored states", x=0.01, ha="left")
    _save(pyplot, figure, path)


def draw_tree(tree: Tree, trace: Trace, path: str) -> None:
    """Draw a tree and alpha-beta's way through it: values, windows as they were left, and in grey the nodes it skipped.

    Raises MethodError if that cannot be done.
    """
    nodes = len(tree.children)
    if nodes > MOST_NODES:
        raise MethodError(f"the tree has {nodes:,} nodes, too many for a picture: {MOST_NODES} at most")
    pyplot = _pyplot(path)
    # Leaves stand side by side, other nodes over the middle of their children, which have larger numbers
    across = [0.0] * nodes
    for index, leaf in enumerate(tree.leaves()):
        across[leaf] = index
    for state in range(nodes - 1, -1, -1):
        if below := tree.children[state]:
            across[state] = (across[below[0]] + across[below[-1]]) / 2
    width, depth = max(across) + 1, max(tree.depths) + 1
    figure, axes = pyplot.subplots(figsize=(max(6, 0.9 * width), 1.2 * depth + 0.6), layout="constrained")
    for state, below in enumerate(tree.children):
        shares = [f"{written(share)}" for share in tree.shares(state)] or [""] * len(below)
        for child, share in zip(below, shares, strict=True):
            ends = [across[state], across[child]], [-tree.depths[state], -tree.depths[child]]
            is_visited = child in trace.nodes
            axes.plot(
                *ends, color=LINE if is_visited else DRAW, linestyle="-" if is_visited else ":", linewidth=1, zorder=1
            )
            axes.text(sum(ends[0]) / 2, sum(ends[1]) / 2, share, ha="center", fontsize=8, backgroundcolor="w")
    for state in range(nodes):
        # Who moves, the value and the window, in a box of the player's shade
        node, player, text = trace.nodes.get(state), tree.label(state).partition(" ")[0], label(tree, trace, state)
        color = PLAYERS.get(player, "white") if node else "white"
        box = {"boxstyle": "round", "facecolor": color, "edgecolor": LINE if node else DRAW}
        if node is not None and player in ("MAX", "MIN"):
            text += "\n[{}, {}]".format(*map(written, node.after))
        place, color = (across[state], -tree.depths[state]), "black" if node else FAINT
        axes.text(*place, text, ha="center", va="center", fontsize=9, bbox=box, color=color)
    axes.set_xlim(-0.7, width - 0.3)
    axes.set_ylim(-depth + 0.4, 0.5)
    axes.axis("off")
    _save(pyplot, figure, path)


def _pyplot(path: str) -> Any:
    """Return the library for charts, if a chart may lie at this path. Raises MethodError."""
    if Path(path).suffix.lower() not in (".png", ".svg"):
        raise MethodError(f"{path}: a chart is a .png or a .svg file")
    check_target(path, WRITER.encode())
    try:
        import matplotlib
    except ImportError:
        raise MethodError("charts need matplotlib: pip install 'solverbook[plot]'") from None
    matplotlib.use("agg")
    # The same book, the same file
    matplotlib.rcParams["svg.hashsalt"] = WRITER
    from matplotlib import pyplot

    return pyplot


def _save(pyplot: Any, figure: Any, path: str) -> None:
    try:
        is_svg = path.lower().endswith("svg")
        figure.savefig(path, dpi=150, metadata={"Creator": WRITER, "Date": None} if is_svg else {"Software": WRITER})
    except OSError as error:
        raise ResourceError(f"{path} cannot be written: {error.strerror or error}") from None
    finally:
        pyplot.close(figure)


def draw_expectations(axes: Any, expected: dict[float, int], wins: bool) -> None:
    """A histogram: of winning chances from 0 to 100 %, of which a draw is half, or of expected margins."""
    numbers = {50 * (1 + score) if wins else score: count for score, count in expected.items()}
    low, high = (0.0, 100.0) if wins else (min(numbers), max(numbers))
    width, middle = (high - low) / BARS or 1.0, 50 if wins else 0
    counts: Counter[int] = Counter()
    for number, count in numbers.items():
        counts[min(BARS - 1, int((number - low) / width))] += count
    positions = {index: low + width * (index + 0.5) for index in sorted(counts)}
    bars = [(position, counts[index], position - middle) for index, position in positions.items()]
    across = "winning chance of the side to move, %" if wins else "expected margin"
    _bars(axes, bars, EXPECTED, across, width=0.9 * width)


def _bars(
    axes: Any,
    bars: Sequence[tuple[Any, int, float]],
    names: tuple[str, str, str],
    across: str,
    up: str = "stored states",
    width: float = 0.9,
) -> None:
    """Draw bars by position, height and meaning: more than nothing, nothing or less, one upon the other."""
    bottoms: Counter[Any] = Counter()
    for name, color, sign in zip(names, (WIN, DRAW, LOSS), SIGNS.values(), strict=True):
        shown = [(position, height) for position, height, worth in bars if (worth > 0) - (worth < 0) == sign]
        if any(height for _, height in shown):
            positions, heights = zip(*shown, strict=True)
            bottom = [bottoms[position] for position in positions]
            axes.bar(positions, heights, width, bottom=bottom, color=color, label=name)
            bottoms.update(dict(shown))
    axes.xaxis.get_major_locator().set_params(integer=True)
    if axes.get_yscale() == "linear":
        axes.yaxis.set_major_formatter("{x:,.0f}")
    axes.set_xlabel(across)
    axes.set_ylabel(up)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)
