"""Exact numbers from text of anybody. They are checked as text before they are made: 1e999999999 fills any memory."""

from __future__ import annotations

import re
from collections.abc import Iterable
from fractions import Fraction
from math import lcm

NUMBER = re.compile(
    r"[+-]?(?:[0-9]{1,20}(?:/[0-9]{1,18}|\.[0-9]{0,18})?|\.[0-9]{1,18})(?:(?<!/)[eE][+-]?[0-9]{1,2})?", re.ASCII
)
FORM = "2, 0.6 or 1/3, of at most 20 digits, 18 behind the point and two of an exponent"


def exact(text: str) -> Fraction | None:
    """Return a decimal or p/q exactly; None for a text of any other form (`FORM`)."""
    if not NUMBER.fullmatch(text):
        return None
    try:
        return Fraction(text)
    except (ValueError, ZeroDivisionError):  # 1/3e5, 1/0
        return None


def whole_weights(shares: Iterable[Fraction], limit: int) -> list[int] | None:
    """Return shares above 0 times their common denominator; None where these add up to more than `limit`.

    Stops as soon as the sum is certain to exceed `limit`: the common denominator of many shares may have any length.
    """
    shares = list(shares)
    common, least = 1, min((share.denominator for share in shares), default=1)
    for share in shares:
        common = lcm(common, share.denominator)
        if common // least > limit:
            return None
    weights = [share.numerator * (common // share.denominator) for share in shares]
    return weights if sum(weights) <= limit else None
