"""A race with a throw before each move: two men a side, hits instead of moves, and a throw that moves again."""

from tests.written import ruled

# Run both men `length` squares by a throw of `sides`; a one may throw the other's foremost man back instead, the most
# throws again. A throw vanishes, or is stored; it `breaks` one of the promises of what vanishes. A state holds the
# throw, 0 before it (3 bits), the squares of the mover's men, of the other's (4 bits each), the mover.
Race = ruled(
    "Race",
    fields="length: int = 4\nsides: int = 3\nstored: bool = False\nbreaks: int = 0",
    initial="1 if self.breaks == 1 else 0",
    chance="""if state & 7 == 0 or self.breaks == 2:
    for throw in range(1, self.sides + 1):
        yield throw, (state ^ (1 << 19 if self.breaks == 3 else 0)) // 8 * 8 + throw""",
    vanishing="not self.stored and (state & 7 > 0 or (self.breaks == 4 and state > 0))",
    actions="""if state & 7 and self.breaks != 5:
    for man in range(2):
        if self.at(state, man) < self.length:
            yield man
    if state & 7 == 1:
        yield 2""",
    result="""throw, mover = state & 7, self.to_move(state)
own, own_too, other, other_too = self.at(state, 0), self.at(state, 1), self.at(state, 2), self.at(state, 3)
if action == 0:
    own = min(self.length, own + throw)
elif action == 1:
    own_too = min(self.length, own_too + throw)
elif other < self.length and (other >= other_too or other_too == self.length):
    other = max(0, other - 1)
else:
    other_too = max(0, other_too - 1)
if throw == self.sides:
    return own << 3 | own_too << 7 | other << 11 | other_too << 15 | mover << 19
return other << 3 | other_too << 7 | own << 11 | own_too << 15 | 1 - mover << 19""",
    is_terminal="""mine, others = state >> 3 & 0xFF, state >> 11 & 0xFF
return mine == 17 * self.length or others == 17 * self.length or (self.breaks == 6 and state & 7 > 0)""",
    utility="1 if state >> 3 & 0xFF == 17 * self.length else -1",
    to_move="state >> 19",
    canonical="state & (1 << 19) - 1",
    tier="""count = 0
for man in range(4):
    count += self.at(state, man) == self.length
return count""",
    more="def at(self, state, man): return state >> 3 + 4 * man & 15",
)
