"""The exports of a module, and the layout of its memory, in bytes and in words of 8 bytes.

    0        the rules' constants, then the stack, which grows down from DESK
    DESK     the fields of the search, which `compiled.exact.alphabeta` names, then the words below
    STATE    where states are that functions return, if they are wide
    HEAP     the arrays that `lay_out` makes room for

The host reads and writes the desk, and at `LISTS_BEGIN` what functions that list something are given to write to.

A state of at most 63 bits is a number. A wider one lies in the memory, its words of 64 bits one after another, the
lowest first: functions take and return the addresses of states.
"""

from __future__ import annotations

from solver.rules.width import words_of

LAYOUT, OF_WIDE = 1, 2
# functions, and how many numbers each takes: all of them i64, as is what they return, but for those of FLOATS, f64
REQUIRED = {"initial": 0, "actions": 3, "result": 2, "is_terminal": 1, "utility": 1}
OPTIONAL = {"plies_left": 1, "to_move": 1, "again": 2, "reward": 2, "canonical": 1, "evaluate": 1, "chance": 3}
RANKS = {"rank": 1, "unrank": 1, "outlook": 1, "replies": 1, "tier": 1}  # what ranked books ask of the rules besides
EXACT = {"lay_out": 3, "begin": 3, "go_on": 1, "found": 0, "spent": 0, "forget": 0, "settled": 2}
DEPTH = {"lay_out_look": 4, "look": 3, "look_on": 1, "choice": 0, "looked": 0, "cut": 0, "merit": 0}
FLOATS = ("evaluate", "merit")
TAKING = {  # a state, as the first of their numbers
    *("actions", "result", "is_terminal", "utility", "plies_left", "to_move", "again", "reward", "canonical"),
    *("evaluate", "begin", "settled", "look"),
}
GIVING = {"initial", "result", "canonical"}  # a state

PAGE = 1 << 16  # bytes
MOST_PAGES = 1 << 14  # that a module's memory can grow to: 1 GiB
DESK = PAGE
LOOK = DESK + 512  # the desk of the search of limited depth
STATE = DESK + 1024
LISTS_BEGIN = DESK + 4096  # of the host, for lists
ROOM_WORDS = 7 * 1024
HEAP = 2 * PAGE
SMALLEST = 1 << 14  # words of a table at first: what a processor's cache holds
# words of the desk behind the fields of the search: addresses of arrays and how many rows they have
FRAMES_AT, FRAMES, MOVES_AT, MOVES, TABLE_AT, TABLE, USED = range(8, 15)
# words of the other desk, behind the fields of its search
LOOK_PATH_AT, LOOK_PLIES, LOOK_MOVES, LOOK_BOUNDS_AT, LOOK_BOUNDS = range(8, 13)


def shape_of(bits: int) -> dict[str, int]:
    """Return a module's statement about states of so many bits: its format, and the words of wide ones."""
    words = words_of(bits)
    return {"format": LAYOUT} if words == 1 else {"format": OF_WIDE, "words": words}
