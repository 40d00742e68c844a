"""The result of a solve, taken from its parts, and solves that are stopped."""

from solver.base.options import Options
from solver.solving import pipeline
from tests import naive


def columns(solved):
    """All states and the indices of their values, as two lists."""
    states, indices = [], []
    for some, places in solved.parts():
        states += [int(state) for state in some]
        indices += [int(place) for place in places]
    assert len(states) == solved.stored
    return states, indices


def values(solved):
    """The solution as a dict."""
    return {state: solved.palette[place] for state, place in zip(*columns(solved), strict=True)}


def swept(game, work=None, **options):
    """The game solved by the sweep."""
    from solver.sweep import exhaustive

    return exhaustive.solve(game, work, Options(**options))


def assert_is_the_truth(game, symmetry=False):
    """Sweep the game, and return the solution, whose values and counts are those of the naive twin."""
    truth, solved = naive.solve(game, symmetry=symmetry), swept(game, symmetry=symmetry)
    assert values(solved) == {state: value for state, value in truth.items() if not game.is_terminal(state)}
    assert sum(tier.states for tier in solved.tiers) == len(truth)
    assert sum(tier.terminal for tier in solved.tiers) == sum(map(game.is_terminal, truth))
    for name, sign in (("win", 1), ("draw", 0), ("loss", -1)):
        expected = sum((value.score > 0) - (value.score < 0) == sign for value in truth.values())
        assert sum(getattr(tier, name) for tier in solved.tiers) == expected
    return solved


def assert_is_the_same(monkeypatch, game, pieces, **options):
    """The solution is that of the usual options, with pieces of other sizes: constants of modules of the sweep."""
    whole = swept(game)
    for name, size in pieces.items():
        monkeypatch.setattr(f"solver.{'store' if name.startswith(('runs', 'shelves')) else 'sweep'}.{name}", size)
    cut = swept(game, **options)
    assert columns(whole) == columns(cut)
    assert whole._replace(parts=cut.parts) == cut


class Stopped(Exception):
    """Where a solve is interrupted."""


def stops_until_solved(game, folder, step=1, **options):
    """How often a solve was stopped, each time `step` reports later, until it ended with the book of one in one go."""
    pipeline.solve(game, folder / "whole.lmdb", **options).close()
    for at in range(1, 10_000, step):
        reports = iter(range(at))

        def stop(*report, reports=reports):
            if next(reports, None) is None:
                raise Stopped

        try:
            pipeline.solve(game, folder / "book.lmdb", checkpoint=0, progress=stop, **options).close()
        except Stopped:
            continue
        assert (folder / "book.lmdb").read_bytes() == (folder / "whole.lmdb").read_bytes()
        assert not (folder / "book.lmdb.work").exists()
        return at // step
    raise AssertionError("it never ends")
