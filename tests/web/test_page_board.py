"""The board of a page, in Node: a cell shows and says the best of the moves that begin there."""

import json
import random

import pytest

from solver.base.value import Value, merit_of
from solver.export.records import record_of, sampled
from solver.games import CATALOGUE, FROM_FILES
from solver.play.player import Player
from solver.rules.boards.cells import drawing_of, is_drawn
from solver.rules.game import Rules, load_game
from solver.rules.reading import parse_position
from tests.exports import needs_node
from tests.pages import node
from tests.ways import slow

pytestmark = needs_node

VALUES = [Value(0), *(Value(score, distance) for score in (1, -1) for distance in range(1, 60))]
# One of each kind of board: columns, moves of two and three clicks, captures, drops, pits, edges, points and dice
SOME = (
    "connect-four", "tic-tac-toe", "hexapawn", "checkers", "animal-shogi", "kalah", "dots-and-boxes", "nine-holes",
    "nine-mens-morris", "quixo", "hex", "hypergammon", "chess-ending:KBNK", "amazons",
)  # fmt: skip


def drawn(names):
    """The rules of these games, or of all games whose boards are drawn."""
    catalogue = ["chess-ending:KBNK", *(name for name in CATALOGUE if name not in (*FROM_FILES, "chess-ending"))]
    found = [rules for rules in map(Rules, map(load_game, names or catalogue)) if is_drawn(rules.game)]
    assert len(found) == len(SOME) if names else len(found) > 60
    return found


def board_of(rules, record, values):
    """A position as `boards` of port.mjs takes it; `values`: of its moves, in their order."""
    best = max(map(merit_of, values))
    moves = [
        {**move, "value": value._asdict(), "best": merit_of(value) == best}
        for move, value in zip(record["moves"], values, strict=True)
    ]
    return {"about": {"drawing": drawing_of(rules.game)}, "rows": record["board"], "moves": moves}


def views_of(tmp_path, boards):
    (tmp_path / "boards").write_text(json.dumps(boards))
    return node("boards", tmp_path / "boards")


def begins(move, cells, free):
    """Whether a move begins with these cells; the first `free` of them come in any order."""
    return len(move["place"]) >= len(cells) and all(
        cell in move["place"][:free] if step < free else cell == move["place"][step] for step, cell in enumerate(cells)
    )


def values_from(board, cells):
    free = board["about"]["drawing"].get("free", 0)
    return [Value(**move["value"]) for move in board["moves"] if begins(move, cells, free)]


def check(board, views):
    """Hold every cell of every view against the values of its moves; how many have moves of different values."""
    choices = 0
    for first, view in views.items():
        clicked = [] if first == "start" else [int(first)]
        for cell, (text, label) in enumerate(view["cells"]):
            values = [] if cell in clicked else values_from(board, [*clicked, cell])
            if values:
                best = max(values, key=merit_of).words()
                assert text == best and best in label
                choices += len(set(values)) > 1
    return choices


@pytest.mark.parametrize("names", [SOME, *slow(None)], ids=["some", "all"])
def test_in_every_game_a_cell_shows_the_best_of_its_moves_and_arrows_have_a_length(tmp_path, names):
    """Values are random, so nothing depends on the order of the moves; some dice of backgammon move two checkers."""
    chance, asked = random.Random(1), []
    dice = [(Rules(load_game(name)), 20 if names else 60) for name in ("hypergammon:1", "hypergammon:2")]
    for rules, count in [*((rules, 8 if names else 20) for rules in drawn(names)), *dice]:
        for record in sampled(rules, count, seed=5):
            if record["moves"] and "weight" not in record["moves"][0]:
                values = chance.choices(VALUES, k=len(record["moves"]))
                asked.append((rules.name, board_of(rules, record, values)))
    choices, outlines = dict.fromkeys((name for name, _ in asked), 0), []
    for (name, board), views in zip(asked, views_of(tmp_path, [board for _, board in asked]), strict=True):
        choices[name] += check(board, views)
        outlines += [outline for view in views.values() for outline in view["outlines"]]
    assert sum(count > 0 for count in choices.values()) > (6 if names else 35)
    assert len(outlines) > (200 if names else 1000) and not [outline for outline in outlines if "NaN" in outline]


def test_men_of_hexapawn_have_the_values_of_the_player(tmp_path):
    """Black has two winning captures. The man of the slower one has a quiet move that loses, listed before it."""
    rules = Rules(load_game("hexapawn:4,4"))
    position = parse_position(rules.game, "b1b2 d4d3 b2b3")
    values = {move.action: move.value for move in Player(rules.game).examine(position.state)[1]}
    board = board_of(rules, record_of(rules, position), [values[one] for one in rules.actions(position.state)])
    (views,) = views_of(tmp_path, [board])
    assert check(board, views) == 2
    assert views["start"]["cells"][0] == ["win in 9", "a4: black pawn, 2 moves from here, at best win in 9"]
    assert views["start"]["cells"][2] == ["win in 7", "c4: black pawn, 2 moves from here, at best win in 7"]
    assert views["0"]["arrows"] == ["arrow loss", "arrow win"]


def test_an_arrow_of_several_moves_has_the_colour_of_the_best(tmp_path):
    """Two moves go to one cell, as promotions do: one arrow leads there."""
    moves = [{"name": name, "place": [2, 0], "child": "0", "mover": 1, "gain": 0} for name in ("queen", "knight")]
    for order in (1, -1):
        board = board_of(Rules(load_game("hexapawn")), {"board": ["..", "P."], "moves": moves}, VALUES[1:3][::order])
        (views,) = views_of(tmp_path, [board])
        assert views["start"]["arrows"] == ["arrow win best"] and views["start"]["cells"][2][0] == "win in 1"
