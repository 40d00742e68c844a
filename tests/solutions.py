"""The result of a solve, taken from its parts."""

from solver.base.options import Options


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
