"""Where a module keeps what in its memory, in bytes and in words of 8 bytes.

    0        the rules' constants, then the stack, which grows down from DESK
    DESK     the fields of the search, which `compiled.exact.alphabeta` names, then the words below
    HEAP     the arrays that `lay_out` makes room for

The host reads and writes the desk, and at `ROOM` what functions that list something are given to write to.
"""

from __future__ import annotations

PAGE = 1 << 16  # bytes
DESK = PAGE
LOOK = DESK + 512  # the desk of the search of limited depth
ROOM = DESK + 4096  # of the host, for lists
ROOM_WORDS = 7 * 1024
HEAP = 2 * PAGE
SMALLEST = 1 << 14  # words of a table at first: what a processor's cache holds
# words of the desk behind the fields of the search: addresses of arrays and how many rows they have
FRAMES_AT, FRAMES, MOVES_AT, MOVES, TABLE_AT, TABLE, USED = range(8, 15)
# words of the other desk, behind the fields of its search
LOOK_PATH_AT, LOOK_PLIES, LOOK_MOVES, LOOK_BOUNDS_AT, LOOK_BOUNDS = range(8, 13)
