"""Code that the games of mills share."""

from __future__ import annotations

from collections.abc import Iterator


def tables(men: int) -> Iterator[tuple[int, int, int]]:
    """How many men were placed, and how many the mover and the other may have then, `men` each in all.

    While men are placed, who has placed n has taken n - 2 at most: two are there before the first mill, and a man that
    is taken may open one that the next closes again.
    """
    for placed in range(2 * men + 1):
        own, other = placed // 2, (placed + 1) // 2
        for mine in range(own + 1):
            for theirs in range(other + 1):
                if placed == 2 * men:
                    fits = min(mine, theirs) >= 2
                else:
                    fits = own - mine <= max(0, other - 2) and other - theirs <= max(0, own - 2)
                if fits:
                    yield placed, mine, theirs
