"""How a solve on a cluster is cut into tasks: for the driver, and for plans of solves that nobody has begun."""

from __future__ import annotations

import math

TASK_BYTES = 1 << 30  # bytes that a task takes, at most: tasks of some seconds
BYTES = 256  # of memory that a task takes for a state
GATHERED = 64  # of one that merges or looks up, for a state
ARRANGED = 24  # of one that puts states in the order of the book
BOUND = 8  # of one that encodes a part of the book, which is packed but for some at a time
OBJECTS = 0.3  # of the memory, for what tasks pass on; more goes to files
MIN_TASK_STATES = 1 << 17  # states worth a task of their own, where workers are idle
AHEAD = 1.25  # by how much it may be more in the next tier
LOCAL_STATES = 1 << 14  # states of a tier that are not worth the way to another process
HASHED = 24  # bits of the hash of a state: so many shards, as a power of two, a tier may have
FILED = 1 << 8  # shards of a tier, of more of which results are filed
MOST_BLOCKS = 256  # that a task returns: of more shards several share one
LOCAL_WORKERS = r"local(?::([1-9]\d{0,3}))?"  # how workers of this machine are asked for
SPLIT_TASKS = 256  # tasks whose blocks are split by one, where shards share them


def bits_for(states: float, bytes_per_state: int, memory: float, workers: int) -> int:
    """Of how many shards, as a power of two, so many states are.

    Args:
        states: The number of states.
        bytes_per_state: The bytes that a task takes for a state.
        memory: The bytes that a task may take.
        workers: The tasks that run at a time.
    """
    # With another number some workers wait for half of a phase
    busy = workers if workers & workers - 1 == 0 else 2 * workers
    shards = max(1.0, states * bytes_per_state / memory, min(busy, MOST_BLOCKS, states / MIN_TASK_STATES))
    return min(HASHED, math.ceil(math.log2(shards)))
