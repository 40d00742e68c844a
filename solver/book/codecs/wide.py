"""The `wide` codec: for states of more than 63 bits, in opening books and grown ones. A look-up takes 2 to 4 us.

The header says how many bytes a state takes (`state_bytes`), a multiple of 8: as long are the first states in the
directory and in the heads of segments.

Group, up to 256 states
    u8 states - 1 | u8 bytes of a key
    keys of all states but the first: state - first, side by side
    palette indices of all states, side by side

Worked group: states 5, 2**80 + 5, 2**80 + 6 with the indices 1, 0, 1, of a byte each
    02 | 0b | 00 00 00 00 00 00 00 00 00 00 01 | 01 00 00 00 00 00 00 00 00 00 01 | 01 00 01
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from solver.base.errors import BookError, DamagedBook
from solver.book.codecs import PLAIN, Codec, Groups, Machine, States
from solver.rules.game import Rules
from solver.rules.width import MAX_STATE_BITS, USUAL

GROUP_STATES = 256
HEAD = 2
MAX_KEY_BYTES = MAX_STATE_BITS // 8 + 1  # of a key


class WideStates(States):
    """States that do not fit one word: known by themselves, and read and written in plain Python."""

    plain_only = True

    @classmethod
    def check(cls, rules: Rules, scope: str) -> None:
        if rules.bits <= USUAL:
            raise BookError(f"{rules.name} has states of {rules.bits} bits, the codec wide is for more: leave it out")


def encode_chunk(
    keys: Sequence[int], indices: Sequence[int], palette_size: int, index_bytes: int, machine: Machine = PLAIN
) -> Groups:
    """The groups of the states one after the other, the states and the bytes of each."""
    bodies: list[bytes] = []
    counts: list[int] = []
    for begin in range(0, len(keys), GROUP_STATES):
        first_key, *group = keys[begin : begin + GROUP_STATES]
        size = ((group[-1] if group else first_key) - first_key).bit_length() + 7 >> 3
        fields = [bytes((len(group), size)), *((key - first_key).to_bytes(size, "little") for key in group)]
        fields += [index.to_bytes(index_bytes, "little") for index in indices[begin : begin + GROUP_STATES]]
        bodies.append(b"".join(fields))
        counts.append(1 + len(group))
    return b"".join(bodies), counts, [len(body) for body in bodies]


def find(segment: tuple[memoryview, Sequence[int], Sequence[int], int], key: int) -> int | None:
    """The palette index of a state, None without one."""
    view, firsts, starts, index_bytes = segment
    group = bisect_right(firsts, key) - 1
    at, offset = starts[group], key - firsts[group]
    count, size = view[at] + 1, view[at + 1]
    if offset >> 8 * size:
        return None
    at += HEAD
    values = position = at + (count - 1) * size
    if offset:
        keys, key_bytes = view[at:values].tobytes(), offset.to_bytes(size, "little")
        # The quickest by far, though it goes through half of them
        byte_offset = keys.find(key_bytes)
        while byte_offset > 0 and byte_offset % size:
            byte_offset = keys.find(key_bytes, byte_offset + 1)
        if byte_offset < 0:
            return None
        position += (byte_offset // size + 1) * index_bytes
    if position + index_bytes > starts[group + 1]:
        raise ValueError("a group is shorter than its head says")
    return int.from_bytes(view[position : position + index_bytes], "little")


def decode(body: memoryview, first_key: int, index_bytes: int) -> tuple[list[int], list[int]]:
    """The states and palette indices of a group; raises DamagedBook if they do not fit together."""
    if len(body) < HEAD:
        raise DamagedBook("a group is malformed (it has no head)")
    count, size = body[0] + 1, body[1]
    values = HEAD + (count - 1) * size
    if size > MAX_KEY_BYTES or len(body) != values + count * index_bytes:
        raise DamagedBook("a group is malformed (it has another length than its head says)")
    offsets = [0, *_numbers(body, HEAD, count - 1, size)]
    return [first_key + offset for offset in offsets], _numbers(body, values, count, index_bytes)


def _numbers(body: memoryview, begin: int, count: int, size: int) -> list[int]:
    """Numbers of so many bytes each, side by side from a place on."""
    places = (begin + i * size for i in range(count))
    return [int.from_bytes(body[offset : offset + size], "little") for offset in places]


CODEC = Codec(
    "wide",
    4,
    GROUP_STATES,
    groups=128,  # of 531 bytes, but for the last
    block=GROUP_STATES,
    state_bytes=HEAD + MAX_KEY_BYTES + 4,
    encode_chunk=encode_chunk,
    finder=lambda: find,
    decode=decode,
    keys=WideStates,
    is_wide=True,
)
