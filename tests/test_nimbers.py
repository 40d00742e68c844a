"""Nimbers against the xor of heaps (Bouton 1901) and published sequences and boards."""

import functools
import json
import operator
from typing import NamedTuple

import pytest

from solver.base.errors import GameError
from solver.rules.game import Rules, load_game
from solver.search.nimbers import nimber
from tests import naive
from tests.oracles import NIMBERS
from tests.test_cli import ok


class Row(NamedTuple):
    """A row of pins: take `least` to two side by side; who cannot move loses. A state has a bit for each pin."""

    pins: int
    least: int = 1
    impartial = True

    def initial(self):
        return (1 << self.pins) - 1

    def actions(self, state):
        for place in range(self.pins):
            for count in range(self.least, 3):
                if state >> place & (1 << count) - 1 == (1 << count) - 1:
                    yield 2 * place + count - 1

    def result(self, state, action):
        return state & ~((2 << action % 2) - 1 << action // 2)

    def is_terminal(self, state):
        return not any(True for _ in self.actions(state))

    def utility(self, state):
        return -1

    def canonical(self, state):
        """The rows of pins by their lengths, a gap behind each."""
        lengths = sorted(map(len, f"{state:b}".split("0")))
        return int("0".join("1" * length for length in lengths if length) or "0", 2)

    def tier(self, state):
        return self.pins - state.bit_count()


@pytest.mark.parametrize("figures", NIMBERS, ids=lambda figures: f"{figures.game} of {figures.source}")
def test_published_nimbers(figures):
    assert nimbers(figures.game, figures.boards) == figures.boards


@pytest.mark.slow
@pytest.mark.parametrize(
    "figures", [one for one in NIMBERS if one.larger], ids=lambda figures: f"{figures.game} of {figures.source}"
)
def test_published_nimbers_of_larger_boards(figures):
    assert nimbers(figures.game, figures.larger) == figures.larger


def nimbers(name, boards):
    games = {text: load_game(f"{name}:{text}") for text in boards}
    return {text: nimber(Rules(game), game.initial(), {}, nodes=10**7) for text, game in games.items()}


# the first bite that wins, one on each board (Schuh 1952, Gale 1974)
BITES = {"2,2": "b2", "5,2": "e2", "3,3": "b2", "4,3": "c2", "4,4": "b2"}
LARGER_BITES = {"5,3": "d3", "6,3": "d2", "5,4": "c3", "6,4": "c2", "6,5": "d3"}


@pytest.mark.parametrize("bites", [BITES, pytest.param(LARGER_BITES, marks=pytest.mark.slow)], ids=["small", "larger"])
def test_chomp_is_won_by_the_published_bite(bites):
    for text, bite in bites.items():
        game, table = load_game(f"chomp:{text}"), {}
        start, rules = game.initial(), Rules(game)
        won = [action for action in game.actions(start) if nimber(rules, game.result(start, action), table) == 0]
        assert [game.format_action(start, action) for action in won] == [bite]


@pytest.mark.parametrize("text", ["nim:3,4,5", "nim:1,3,5,7", "coins:20,3,false"])
def test_heaps_have_their_xor_and_what_is_lost_is_zero(text):
    game = load_game(text)
    rules, table, bits = Rules(game), {}, max(game[0].bit_length() if text[0] == "c" else 3, 1)
    for state, value in naive.solve(game).items():
        heaps = [state % 4] if text[0] == "c" else [state >> at & 7 for at in range(0, bits * 4, bits)]
        found = nimber(rules, state, table)
        assert found == functools.reduce(operator.xor, heaps)
        assert (found == 0) == (value.score < 0)


def test_a_query_says_nimbers_of_impartial_games_alone():
    facts = json.loads(ok("query", "nim:3,4,5", "start", "--json", "-q"))
    assert facts["nimber"] == 2
    assert [move["move"] for move in facts["moves"] if move["child"]["nimber"] == 0] == facts["best"] == ["a2"]
    assert "nimber 2" in ok("query", "nim:3,4,5", "start", "-q")
    assert "nimber" not in ok("query", "coins", "start", "-q")  # misere
    lines = ok("query", "nim:3,4,5", "-", "-q", stdin=f"#{facts['state']}\n")
    assert json.loads(lines)["nimber"] == 2


class Draws(Row):
    """The same, but that nobody has won in the end."""

    def utility(self, state):
        return 0


class Sides(Row):
    """The same, as if states told who is to move."""

    def to_move(self, state):
        return 0


def test_what_has_no_nimbers_says_so_and_what_takes_too_long_is_not_known():
    for game, said in ((Draws(3), "not lost"), (Sides(3), "to_move"), (load_game("coins"), "say impartial")):
        with pytest.raises(GameError, match=said):
            nimber(Rules(game), game.initial(), {})
    assert nimber(Rules(Row(20)), Row(20).initial(), {}, nodes=10) is None
