"""Pictures as SVG: without styles, scripts, fonts or references, so that slides, papers and converters take them."""

from __future__ import annotations

from html import escape

from solver.rules.boards.scene import Scene
from solver.rules.boards.shapes import Circle, Group, Paint, Path, Poly, Rect, Shape, Words

SCALE, MIN_SCALE, MAX_SIDE = (
    0.7,
    0.25,
    640.0,
)  # pixels of a unit, and of a picture's longer side if that is still legible
FONTS = {
    "bold": 'font-family="system-ui, DejaVu Sans, Arial, sans-serif" font-weight="700"',
    "plain": 'font-family="system-ui, DejaVu Sans, Arial, sans-serif"',
    "mono": 'font-family="ui-monospace, DejaVu Sans Mono, Menlo, monospace" xml:space="preserve"',
}
CONTROLS = dict.fromkeys([*range(32), 0x7F, 0xFFFE, 0xFFFF], "\ufffd")  # which no XML may hold
CONTROLS |= dict.fromkeys(range(0xD800, 0xE000), "\ufffd")


def written(scene: Scene, title: str) -> str:
    """Return a picture as SVG, the same text for the same picture; `title` is for who cannot see it."""
    scale = max(MIN_SCALE, min(SCALE, MAX_SIDE / max(scene.width, scene.height)))
    size = f'width="{_number(scene.width * scale)}" height="{_number(scene.height * scale)}"'
    box = f"0 0 {_number(scene.width)} {_number(scene.height)}"
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{box}" {size} role="img">'
    return "\n".join([head, f"<title>{_text(title)}</title>", *map(_shape, scene.shapes), "</svg>\n"])


def _shape(shape: Shape) -> str:
    if isinstance(shape, Group):
        mark = f' data-mark="{escape(_clean(shape.mark))}"' if shape.mark else ""
        scale = f" scale({_number(shape.scale)})" if shape.scale != 1 else ""
        moved = f'transform="translate({_number(shape.x)} {_number(shape.y)}){scale}"'
        return f"<g{mark} {moved}>{''.join(map(_shape, shape.shapes))}</g>"
    if isinstance(shape, Words):
        attributes = (
            f'x="{_number(shape.x)}" y="{_number(shape.y + 0.35 * shape.size)}" font-size="{_number(shape.size)}"'
        )
        anchor = f'text-anchor="{shape.anchor}" fill="{shape.fill}" {FONTS[shape.font]}'
        return f"<text {attributes} {anchor}>{_text(shape.text)}</text>"
    return f"<{_outline(shape)}{_paint(shape.paint)}/>"


def _outline(shape: Circle | Rect | Poly | Path) -> str:
    if isinstance(shape, Circle):
        return f'circle cx="{_number(shape.x)}" cy="{_number(shape.y)}" r="{_number(shape.radius)}"'
    if isinstance(shape, Rect):
        attributes = f'rect x="{_number(shape.x)}" y="{_number(shape.y)}"'
        rounded = f' rx="{_number(shape.radius)}"' if shape.radius else ""
        return f'{attributes} width="{_number(shape.width)}" height="{_number(shape.height)}"{rounded}'
    if isinstance(shape, Poly):
        points = " ".join(f"{_number(x)},{_number(y)}" for x, y in shape.points)
        return f'{"polygon" if shape.closed else "polyline"} points="{points}"'
    return f'path d="{shape.outline}"'


def _paint(paint: Paint) -> str:
    attributes = f' fill="{paint.fill}"'
    if paint.stroke != "none":
        ends = ' stroke-linecap="round" stroke-linejoin="round"'
        attributes += f' stroke="{paint.stroke}" stroke-width="{_number(paint.width)}"{ends}'
    return attributes + (f' opacity="{_number(paint.opacity)}"' if paint.opacity < 1 else "")


def _number(number: float) -> str:
    """A number with two digits at most; there is no -0."""
    return f"{round(number, 2) + 0.0:.2f}".rstrip("0").rstrip(".")


def _clean(text: str) -> str:
    return text.translate(CONTROLS)


def _text(text: str) -> str:
    return escape(_clean(text), quote=False)
