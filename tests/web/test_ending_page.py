"""The men that decided a game, as the page marks them: by brute force over lines and edges."""

import itertools
import json
import random

import pytest

from solver.export.records import choices
from solver.rules.boards.cells import board_of, cells_of_move, drawing_of
from solver.rules.game import Rules, load_game
from solver.rules.notation import first_position, next_position
from tests.exports import needs_node
from tests.pages import node

pytestmark = needs_node


def ended(name, count):
    """Finished random games that were won: rows, the cells of the last move, and who won."""
    rules, chance, found = Rules(load_game(name)), random.Random(3), []
    while len(found) < count:
        position = first_position(rules)
        while not rules.is_terminal(position.state):
            before, action = position, chance.choice(choices(rules, position.state))
            board = board_of(rules.game, before.state, int(before.mover))
            last = cells_of_move(rules.game, before.state, action, board)
            position = next_position(rules, before, action)
        score = rules.ended(position.state).score
        if score:
            winner = int(position.mover) if score > 0 else 1 - int(position.mover)
            found.append((board_of(rules.game, position.state, int(position.mover)), list(last), winner))
    return found, drawing_of(rules.game)


def lines_of(rows, length):
    """All straight lines of so many equal men, as sets of cells."""
    width, height, found = len(rows[0]), len(rows), []
    for x, y, (dx, dy) in itertools.product(range(width), range(height), ((1, 0), (0, 1), (1, 1), (1, -1))):
        places = [(x + step * dx, y + step * dy) for step in range(length)]
        if all(0 <= a < width and 0 <= b < height for a, b in places):
            marks = {rows[b][a] for a, b in places}
            if len(marks) == 1 and marks != {"."}:
                found.append({b * width + a for a, b in places})
    return found


@pytest.mark.parametrize(("name", "length"), [("connect-four:5,4", 4), ("tic-tac-toe", 3), ("tic-tac-toe:4,4,3", 3)])
def test_men_in_a_row_are_marked(name, length, tmp_path):
    games, drawing = ended(name, 60)
    asked = [["alignment", rows, drawing, last] for rows, last, _ in games]
    (tmp_path / "asked").write_text(json.dumps(asked))
    for (rows, last, winner), (cells, side) in zip(games, node("decisive", tmp_path / "asked"), strict=True):
        lines = [line for line in lines_of(rows, length) if line & set(last)]
        assert lines and side == winner
        assert set(cells) <= set().union(*lines) and any(line <= set(cells) for line in lines)


def test_chains_from_edge_to_edge_are_marked(tmp_path):
    games, drawing = ended("hex:4", 60)
    asked = [["connection", rows, drawing, last] for rows, last, _ in games]
    (tmp_path / "asked").write_text(json.dumps(asked))
    for (rows, last, winner), (cells, side) in zip(games, node("decisive", tmp_path / "asked"), strict=True):
        assert side == winner and set(last) <= set(cells)
        assert len({rows[cell // 4][cell % 4] for cell in cells}) == 1
        reached = [{cell // 4 for cell in cells}, {cell % 4 for cell in cells}]
        assert any({0, 3} <= one for one in reached)


def test_a_move_inside_a_throw_is_told_from_a_throw_without_one():
    """Of every throw of ur and nannon the cells that change are those of the only move, or none."""
    for name in ("ur:2", "nannon"):
        rules = Rules(load_game(name))
        start = rules.game.initial()
        boards = [board_of(rules.game, start, 0)]
        boards += [board_of(rules.game, child, rules.game.to_move(child)) for _, child in rules.game.chance(start)]
        asked = [[boards[0], board] for board in boards]
        for (before, after), cells in zip(asked, node("changed", json.dumps(asked)), strict=True):
            pairs = zip("".join(before), "".join(after), strict=True)
            assert cells == [cell for cell, (was, now) in enumerate(pairs) if was != now]


def test_nothing_is_marked_where_nothing_decided(tmp_path):
    asked = [["capture", ["XXX"], {}, [0]], ["alignment", ["X.O"], {}, [0]], ["alignment", "text", {}, [0]]]
    (tmp_path / "asked").write_text(json.dumps(asked))
    assert [cells for cells, _ in node("decisive", tmp_path / "asked")] == [[], [], []]
