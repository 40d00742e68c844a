"""How much memory work may take: what was asked for, or a share of what the system and its control groups leave."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from solver.base.errors import ResourceError

PROCESS = 384 << 20  # bytes that work takes besides what is bounded: compiled code, pieces under way, the book
LEAST_MEMORY = 2 * PROCESS
MEMORY_SHARE = 0.6  # of what is free, where no budget is given


def working_memory(memory: int | None) -> int:
    """The bytes that the work itself may take of `memory`, or of what is free. Raises ResourceError if too few."""
    if memory is not None and memory < LEAST_MEMORY:
        raise ResourceError(f"{memory:,} bytes of memory are too few: give at least --memory {LEAST_MEMORY >> 20}M")
    return (memory or free_memory()) - PROCESS


def free_memory(root: Path = Path("/")) -> int:
    """MEMORY_SHARE of the memory that this process may still take; a guess where the system does not say."""
    try:
        facts = dict(line.split(":", 1) for line in (root / "proc/meminfo").read_text().splitlines())
        free = int(facts["MemAvailable"].split()[0]) * 1024
    except (OSError, KeyError, ValueError):
        free = round((2 << 30) / MEMORY_SHARE)
    return max(LEAST_MEMORY, int(MEMORY_SHARE * min([free, *_free_in_groups(root)])))


def resident_memory() -> int:
    """Bytes of memory that this process has; 0 where the system does not say."""
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError, AttributeError):
        return 0


def _free_in_groups(root: Path) -> Iterator[int]:
    """What the limits of this process's control groups leave, in version 2 and in version 1."""
    try:
        lines = (root / "proc/self/cgroup").read_text().splitlines()
    except OSError:
        return
    for line in lines:
        _, controllers, path = line.split(":", 2)
        limits: tuple[str, ...]
        if not controllers:
            top, used, limits, idle = "sys/fs/cgroup", "memory.current", ("memory.max", "memory.high"), "inactive_file"
        elif "memory" in controllers.split(","):
            top, used, limits = "sys/fs/cgroup/memory", "memory.usage_in_bytes", ("memory.limit_in_bytes",)
            idle = "total_inactive_file"
        else:
            continue
        group = root / top / path.lstrip("/")
        for folder in [group, *group.parents][: len(Path(path).parts) or 1]:  # a group is bound by those around it
            for limit in limits:
                with contextlib.suppress(OSError, ValueError):
                    taken = int((folder / used).read_text()) - _idle_in(folder, idle)
                    yield max(0, int((folder / limit).read_text()) - taken)


def _idle_in(folder: Path, name: str) -> int:
    """Bytes of files that the system keeps for a control group and would give up."""
    with contextlib.suppress(OSError, ValueError):
        for line in (folder / "memory.stat").read_text().splitlines():
            if line.startswith(f"{name} "):
                return int(line.split()[1])
    return 0
