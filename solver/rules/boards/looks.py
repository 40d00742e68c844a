"""Colours: those of the page in its light theme. The sides' stand in `web/site/board.css` alone."""

from __future__ import annotations

import functools
import json
import re
from importlib import resources
from typing import Any, NamedTuple


class Side(NamedTuple):
    """The colours of a player's men: the body, its rim, and the text on it."""

    body: str
    rim: str
    mark: str


SITE = resources.files("solver") / "web" / "site"
SIDE = re.compile(r"\.(?:first|second)-(\w+) { --\w+: (#\w+); --\w+-rim: (#\w+); --\w+-mark: (#\w+); }")
# those of a second player's men, where both players may have such
SIDE_LOOKS = {name: Side(*colours) for name, *colours in SIDE.findall((SITE / "board.css").read_text("utf-8"))}
NOBODY = Side("#cfd3d8", "#767d88", "#3d444f")
COIN = Side("#f0c14b", "#9a6f0d", "#9a6f0d")
USUAL = ("blue", "amber")  # sides of rules that name none

INK, FAINT, EDGE, PAPER = "#1c222c", "#5a6270", "#d8d4cc", "#ffffff"
# The frame of what notebooks show, as HTML.
CARD = (
    f"display:inline-block;max-width:100%;padding:0.7em 0.9em;border-radius:0.6em;background:{PAPER};color:{INK};"
    "font:14px/1.45 system-ui,'DejaVu Sans',sans-serif;text-align:left"
)
VALUES = {"win": "#007a58", "draw": "#5b6472", "loss": "#b84300", "unknown": "#7a5c99"}

TILE, CARVED, HOLE, COUNT = "#f0dcb6", "#6f4d26", "#dfe6f2", "#3d2a12"


@functools.cache
def site_data(name: str) -> Any:
    """Return the JSON object that a script of the page exports."""
    _, _, constant = (SITE / f"{name}.js").read_text("utf-8").partition("export const ")
    return json.loads(constant.partition("=")[2].rstrip(";\n"))
