"""Write docs/reference/error-index.md: every message of the package's errors, with its exit code.

python scripts/error_index.py     part of `make tables`

The messages are read from the source: each call of an error's class whose first argument is text. A part that depends
on the input is shown as an ellipsis.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from solver.base import errors  # noqa: E402
from solver.cli import EXIT_CODES  # noqa: E402

PAGE = ROOT / "docs" / "reference" / "error-index.md"
HEAD = """# Index of error messages

What does this message mean? This page lists every message of the package, in the order of the alphabet. `make tables`
writes it from the source. `…` stands for a part that depends on your input. [Common errors](errors.md) explains the
messages that people meet most often, and [exit codes](exit-codes.md) the numbers.

| message | exception | exit |
| --- | --- | ---: |
"""
MIN_WORDS = 3  # a message with fewer words of its own comes from elsewhere


def classes() -> dict[str, type[errors.SolverError]]:
    """Return the package's error classes by name."""
    kinds = (kind for kind in vars(errors).values() if isinstance(kind, type))
    return {kind.__name__: kind for kind in kinds if issubclass(kind, errors.SolverError)}


def text_of(node: ast.expr) -> str | None:
    """Return the text of a message with an ellipsis for each part that depends on the input; None for other code."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(text_of(part) or "…" for part in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = text_of(node.left), text_of(node.right)
        return None if left is None and right is None else (left or "…") + (right or "…")
    return None


def messages() -> Iterator[tuple[str, type[errors.SolverError]]]:
    """Yield each message in the source of the package, with its class."""
    kinds = classes()
    for path in sorted((ROOT / "solver").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute) and node.args:
                name = node.func.id if isinstance(node.func, ast.Name) else node.func.attr
                text = text_of(node.args[0]) if name in kinds else None
                if text and len(text.replace("…", " ").split()) >= MIN_WORDS:
                    yield " ".join(text.split()), kinds[name]


def page() -> str:
    """Return the text of the page."""
    rows = []
    for text, kind in sorted(set(messages()), key=lambda row: (row[0].strip("…:' ").lower(), row[0], row[1].__name__)):
        code = next(code for base, code in EXIT_CODES if issubclass(kind, base))
        escaped = text.replace("|", "\\|").replace("`", "'")
        rows.append(f"| `{escaped}` | `{kind.__name__}` | {code} |\n")
    return HEAD + "".join(rows)


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8", newline="\n")
