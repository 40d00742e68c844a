"""`solver`, and `python -m solver`."""

from __future__ import annotations

import gc
import sys

from solver.base import signals

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn


def main() -> NoReturn:
    """Run a command and end the process with its exit code."""
    # Catch signals before any import that takes time
    signals.catch()
    # What a start creates is not garbage, and looking for some takes a tenth of it
    gc.disable()
    try:
        from solver.cli import main as command
    except (ImportError, OSError) as error:
        print(f"Error: solver cannot start: {error}: install it again, or raise ulimit -n", file=sys.stderr)
        signals.leave(6 if isinstance(error, OSError) else 1)
    try:
        command()
    except SystemExit as end:
        code = end.code
    signals.leave(int(code or 0))


if __name__ == "__main__":
    main()
