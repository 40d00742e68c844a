"""Modules of games whose states take more than 63 bits: what WebAssembly lacks, and both hosts against plain Python."""

import json

import pytest

from solver.base.errors import ForeignBook, MethodError
from solver.games.connect_four import ConnectFour
from solver.play import modules
from solver.rules.game import Rules, load_game
from solver.search import alphabeta, heuristic
from solver.wasm.host import Module
from tests import naive
from tests.exports import needs_node
from tests.games import play_outs
from tests.modules import built, forged
from tests.modules import node as search_node
from tests.pages import export_page, node
from tests.refusals import raises
from tests.rules.test_wide import Declared, Full
from tests.written import ruled

pytest.importorskip("wasmtime", exc_type=(ImportError, OSError))  # its library may not load
pytest.importorskip("numba")


# Make a number of `size` bits smaller, by division; who cannot has lost
Divide = ruled(
    "Divide",
    fields="size: int = 101",
    bits="self.size + 1",
    initial="1234567890123456789012345678901 << self.size - 101",
    actions="yield 0\nyield 1\nif state % 7 == 3:\n    yield 2",
    result="""if action == 0:
    return state // (10**11 + 39)
if action == 1:
    return (state // 3 * 2 % (state // 5 + 1)) // 11 + (state >> state % 70) // 9
return state % (state // (1 << 40) + 2) // 2""",
    is_terminal="state < 1 << 33",
    tier="600 - state.bit_length()",
    evaluate="(state % 1000003 - 500000) / 500003",
)


def test_a_host_refuses_states_that_lie_elsewhere(tmp_path):
    rules = Rules(load_game("tic-tac-toe"))
    data = forged(modules.data_of(rules), facts={"format": 2, "words": 2})
    raises(ForeignBook, "the module's format is 2, not 1: build it again", Module, data, rules)


def test_those_of_chance_are_refused():
    Pig = type("Pig", (type(load_game("pig:10")),), {"bits": 80})
    raises(MethodError, "has states of 80 bits, that of a game of chance takes 63", built, Rules(Pig(10)))


@pytest.mark.slow
@pytest.mark.parametrize("game", [Declared(4, 3), Full(4, 3), Divide(), Divide(127), Divide(190)], ids=str)
def test_a_module_says_what_plain_python_says(game, tmp_path):
    rules = Rules(game)
    module = Module(built(rules), rules)
    assert module.facts["words"] == -(-rules.bits // 64) and module.ask("initial") == game.initial()
    truth = naive.solve(game) if isinstance(game, ConnectFour) else None
    for state in play_outs(game, 6):
        value = truth[state] if truth else alphabeta.solve(game, state).value
        assert module.value(state) == value
        assert module.ask("is_terminal", state) == game.is_terminal(state)
        if game.is_terminal(state):
            continue
        for action in game.actions(state):
            assert module.ask("result", state, action) == game.result(state, action)
        for depth in (1, 2, 3):
            found, wanted = module.look(state, depth), heuristic.search(game, state, depth=depth)
            assert (found.value, found.action, found.exact) == (wanted.value, wanted.action, wanted.exact)


@needs_node
@pytest.mark.slow
@pytest.mark.parametrize("game", [Full(4, 3), Divide(190)], ids=str)
def test_pages_search_by_it(game, tmp_path):
    """Without a book: the rules are the module's, held against Python's on 64 positions, and so are the values."""
    assert export_page(game, tmp_path) == []
    assert node("differences", tmp_path / "site" / "game.js") == {}
    asked = [*play_outs(game, 3)]
    (tmp_path / "asked").write_text(json.dumps([str(state) for state in asked]))
    answers = search_node("answers", tmp_path / "site" / "game.wasm", tmp_path / "asked")
    for state, answer in zip(asked, answers, strict=True):
        value = alphabeta.solve(game, state).value
        assert answer["value"] == [value.score, value.distance, value.outcome]
        children = [str(game.result(state, action)) for action in game.actions(state)]
        assert game.is_terminal(state) or [move[1] for move in answer["moves"]] == children
