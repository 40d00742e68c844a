"""A position as pixels: the SVG of `solver.rules.boards`, painted by resvg."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import resvg_py
from numpy.typing import NDArray
from PIL import Image

from solver.rules.boards.scene import scene
from solver.rules.game import Rules
from solver.rules.notation import Position

SCALE = 0.48  # pixels of a unit: 48 for a cell
Pixels = NDArray[np.uint8]


def picture(game: Any, state: int, mover: int) -> Pixels:
    """Draw a position.

    Args:
        game: its rules. Those without `cells` have their text in place of a board.
        state: the position.
        mover: who moves there, 0 or 1, where states do not tell.

    Returns:
        Pixels, (height, width, 3) of uint8. All positions of one game that has cells have the same size.
    """
    drawn = scene(Rules(game), Position(state, None, mover), bare=True)
    png = resvg_py.svg_to_bytes(svg_string=drawn.svg(""), width=round(drawn.width * SCALE), background="white")
    return np.asarray(Image.open(io.BytesIO(bytes(png))).convert("RGB"))
