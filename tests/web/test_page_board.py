"""The board of a page, in Node: in every game a cell shows and says the best of the moves that begin there."""

import json
import random

import pytest

from solver.base.value import Value, merit_of
from solver.export.script import sampled
from solver.games import CATALOGUE, FROM_FILES
from solver.rules.boards.text import drawing_of, is_drawn
from solver.rules.game import Rules, load_game
from tests.exports import needs_node
from tests.pages import node
from tests.ways import slow

VALUES = [Value(0), *(Value(score, distance) for score in (1, -1) for distance in range(1, 60))]
# One of each kind of board: columns, moves of two and three clicks, captures, drops, pits, edges, points and dice
SOME = (
    "connect-four", "tic-tac-toe", "hexapawn", "checkers", "animal-shogi", "kalah", "dots-and-boxes", "nine-holes",
    "nine-mens-morris", "quixo", "hex", "hypergammon", "chess-ending:KBNK", "amazons",
)  # fmt: skip


def board_of(rules, record, chance):
    """A position as `boards` of port.mjs takes it, with values as they come: nothing depends on the moves' order."""
    values = chance.choices(VALUES, k=len(record["moves"]))
    best = max(map(merit_of, values))
    moves = [
        {
            **move,
            "value": value._asdict(),
            "merit": merit_of(value),
            "said": value.words(),
            "best": merit_of(value) == best,
        }
        for move, value in zip(record["moves"], values, strict=True)
    ]
    return {"about": {"drawing": drawing_of(rules.game)}, "rows": record["board"], "moves": moves}


@needs_node
@pytest.mark.parametrize("names", [SOME, *slow(None)], ids=["some", "all"])
def test_in_every_game_a_cell_shows_the_best_of_its_moves_and_arrows_have_a_length(tmp_path, names):
    """Some dice of backgammon move two checkers."""
    catalogue = ["chess-ending:KBNK", *(name for name in CATALOGUE if name not in (*FROM_FILES, "chess-ending"))]
    drawn = [rules for rules in map(Rules, map(load_game, names or catalogue)) if is_drawn(rules.game)]
    assert len(drawn) == len(SOME) if names else len(drawn) > 60
    counts = [(rules, 4 if names else 20) for rules in drawn]
    counts += [(Rules(load_game(name)), 10 if names else 60) for name in ("hypergammon:1", "hypergammon:2")]
    chance = random.Random(1)
    asked = [
        (rules.name, board_of(rules, record, chance))
        for rules, count in counts
        for record in sampled(rules, count, seed=5)
        if record["moves"] and "weight" not in record["moves"][0]
    ]
    (tmp_path / "boards").write_text(json.dumps([board for _, board in asked]))
    answers = node("boards", tmp_path / "boards")
    assert [(name, answer["wrong"]) for (name, _), answer in zip(asked, answers, strict=True) if answer["wrong"]] == []
    chosen = {name for (name, _), answer in zip(asked, answers, strict=True) if answer["choices"]}
    assert len(chosen) > (6 if names else 35)
    outlines = [outline for answer in answers for outline in answer["outlines"]]
    assert len(outlines) > (100 if names else 1000) and not [outline for outline in outlines if "NaN" in outline]
