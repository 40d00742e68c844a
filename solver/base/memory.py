"""The memory that work may take: as asked for, or a share of the memory that the system leaves."""

from __future__ import annotations

from pathlib import Path

from solver.base import system
from solver.base.errors import ResourceError

PROCESS = 384 << 20  # bytes that work takes besides what is bounded: compiled code, pieces under way, the book
THREAD = 16 << 20  # bytes of addresses of a thread: its stack, and what libraries set aside for it
LEAST_MEMORY = 2 * PROCESS
MEMORY_SHARE = 0.6  # of what is free, where no budget is given


def working_memory(memory: int | None) -> int:
    """The bytes that the work itself may take of `memory`, or of the free memory. Raises ResourceError if too few."""
    if memory is not None and memory < LEAST_MEMORY:
        raise ResourceError(f"{memory:,} bytes of memory are too few: give at least --memory {LEAST_MEMORY >> 20}M")
    return (memory or free_memory()) - PROCESS


def refuse_tight(libraries: str) -> None:
    """Raise ResourceError if a process's bytes of addresses cannot be had (`ulimit -v`), before libraries are loaded.

    With fewer they fail in ways that look like a broken installation, LLVM aborts, and OpenBLAS, which is a part of
    NumPy and SciPy, asks for its buffers for ever.
    """
    size = PROCESS + THREAD * system.cores()
    try:
        system.Room(size)
    except OSError:
        raise ResourceError(f"{libraries} need {size:,} bytes of addresses: raise the limit (ulimit -v)") from None


def free_memory(root: Path = Path("/")) -> int:
    """MEMORY_SHARE of the memory that this process may still take; a guess where the system does not say."""
    return max(LEAST_MEMORY, int(MEMORY_SHARE * system.available_memory(root)))
