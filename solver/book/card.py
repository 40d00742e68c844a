"""A book as notebooks show it: a card with its facts, and a bar of wins, draws and losses."""

from __future__ import annotations

from html import escape

from solver.base.value import in_plies
from solver.book.format import Header
from solver.rules.boards.looks import CARD, FAINT, VALUES


def card(header: Header, file_name: str, size: int | None) -> str:
    """Return the HTML of a book.

    Args:
        header: The header of the book.
        file_name: The file's name.
        size: Its bytes, None if the file is gone.
    """
    total = sum(header.counts.values())
    segments, labels = [], []
    colours = VALUES["win"], VALUES["draw"], VALUES["loss"]
    for colour, name, count in zip(colours, header.kind.counted, header.counts.values(), strict=True):
        segments.append(f'<div style="width:{100 * count / (total or 1):.2f}%;background:{colour}"></div>')
        labels.append(f'<span style="color:{colour};font-weight:600">{count:,} {escape(name)}</span>')
    style = "display:flex;height:0.8em;margin:0.4em 0;border-radius:0.4em;overflow:hidden"
    bar, counts = f'<div style="{style}">{"".join(segments)}</div>', " &nbsp; ".join(labels)
    states = f"{header.states:,} states, " if header.states is not None else ""
    facts = [f"{states}{header.stored:,} stored"]
    if header.longest is not None:
        facts.append(f"longest win {in_plies(header.longest[0])}")
    about = [file_name, header.codec, *([] if size is None else [f"{size:,} bytes"])]
    faint = f'<div style="color:{FAINT}">'
    return (
        f'<div style="{CARD};min-width:20em"><div style="font-size:1.15em;font-weight:700">{escape(header.game)}</div>'
        f"<div>{escape(header.verdict)}</div>{bar}<div>{counts}</div>"
        f"{faint}{escape('; '.join(facts))}</div>{faint}{escape(', '.join(about))}</div></div>"
    )
