"""The page as an opponent and a teacher: practical play, levels and lines that show why a move is bad, as in Python."""

import pytest

from solver.book import Book
from solver.play.analysis import OPPONENTS
from solver.play.player import Player
from solver.play.practical import LEVELS, Practical
from solver.rules.notation import format_action
from tests.exports import needs_node
from tests.pages import ask, pages
from tests.ways import slow

__all__ = ["pages"]  # a fixture

pytestmark = needs_node
# Draws, moves again that score, cycles; symmetry, heaps, captures
some_games = pytest.mark.parametrize(
    "name", ["tic-tac-toe", "kalah:3,2", *slow("three-mens-morris", "connect-four:4,3", "nim", "hexapawn")]
)


def states_of(book, count):
    """Unfinished states with a choice, spread over the book."""
    rules = book.rules
    states = [state for state in book if not rules.is_terminal(state) and len(list(rules.actions(state))) > 1]
    return states[:: max(1, len(states) // count)][:count]


@some_games
def test_the_page_plays_as_python(pages, name):
    folder = pages(name)
    with Book(folder / "book.lmdb") as book:
        game, states, player = book.game, states_of(book, 15), Player(book, method="practical")
        models = {plies: Practical(player.rules, player.knowledge.value, plies) for plies in OPPONENTS}
        answers = ask("practical", folder, [str(state) for state in states])
        for state, answer in zip(states, answers, strict=True):
            actions = list(player.rules.actions(state))
            assert answer["names"] == [format_action(game, state, action) for action in actions]
            assert {one.name: [one.share, one.plies] for one in LEVELS.values()}.items() <= answer["levels"].items()
            assert answer["expected"] == pytest.approx(models[2].expectations(state, actions))
            for plies, chosen in zip(OPPONENTS, answer["choices"], strict=True):
                assert chosen == [format_action(game, state, reply.action) for reply in models[plies].choices(state)]
            assert answer["easy"] == answer["choices"][1][-1]
            assert answer["medium"] == [None, answer["choices"][1][0]]
            if answer["tricky"] is not None and name != "three-mens-morris":
                assert answer["tricky"] == format_action(game, state, player.best(state))


@some_games
def test_the_page_refutes_as_python(pages, name):
    folder = pages(name)
    with Book(folder / "book.lmdb") as book:
        game, states, player, gaveaway = book.game, states_of(book, 15), Player(book), 0
        for state, said in zip(states, ask("why", folder, [str(state) for state in states]), strict=True):
            reasons = [player.why(state, action) for action in player.rules.actions(state)]
            assert [one["name"] for one in said] == [format_action(game, state, one.action) for one in reasons]
            for one, reason in zip(said, reasons, strict=True):
                assert one["gives"] == reason.gives
                assert len(one["steps"]) == len(one["line"]) + 1 and one["steps"][0].count(one["name"])
                if not reason.gives:
                    continue
                gaveaway += 1
                child, names = game.result(state, reason.action), []
                for action, after in reason.line:
                    names.append(format_action(game, child, action))
                    child = after
                assert one["line"] == names
                ending = reason.ending or player.rules.ended(child)
                assert one["end"] == [ending.score, ending.distance] or player.rules.scores
                assert ("gives" if player.rules.scores else "makes a") in one["steps"][0]
        assert gaveaway > 5
