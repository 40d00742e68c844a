"""Training sets: what they hold. They need pyarrow."""

import json

import pytest

import solver
from solver.base.errors import DamagedBook, GameError, LayoutError, MethodError
from solver.export import export, layout
from solver.export.layout import layout_of
from solver.rules.game import Rules, load_game
from tests.refusals import raises

parquet = pytest.importorskip("pyarrow.parquet")


def test_a_training_set_has_what_every_move_gives_away(tmp_path):
    from solver.export.tables import split_of

    with solver.solve("hexapawn", symmetry=False) as book:
        export(book, tmp_path / "hexapawn.parquet", training=True)
        table = parquet.read_table(tmp_path / "hexapawn.parquet")
        rows = {row["state"]: row for row in table.to_pylist()}
        assert set(rows) == set(book)
        player, layout = solver.Player(book), layout_of(Rules(book.game))
        for state, row in rows.items():
            value, moves = book[state], player.analyse(state)
            assert (row["score"], row["distance"]) == value and row["split"] == split_of(state)
            assert len(row["planes"]) == 27
            for move in moves:
                number = layout.number(move.action)
                assert row["legal"][number] == 1 and row["best"][number] == move.best
                assert row["regret"][number] == value.score - move.value.score
                assert row["distances"][number] == move.value.distance
            assert sum(row["legal"]) == len(moves) == sum(regret is not None for regret in row["regret"])
        assert table.schema.metadata[b"shape"] == b"[3, 3, 3]"
        assert json.loads(table.schema.metadata[b"actions"]) == list(layout.actions)
        raises(MethodError, r"a training set is a \.parquet", export, book, tmp_path / "hexapawn.csv", training=True)
    (tmp_path / "moves.csv").write_text("state,action,next,reward\na,x,b,\na,y,c,\nb,,,1\nc,,,-1\n")
    with solver.solve(f"{tmp_path}/moves.csv") as book, pytest.raises(MethodError, match="is a graph: .*PlayerPolicy"):
        export(book, tmp_path / "moves.parquet", training=True)
    shares = [split_of(state) for state in range(2000)]
    assert 1500 < shares.count("train") < 1700 and 130 < shares.count("test") < 270


@pytest.mark.parametrize("text", ["pig:5", "breakthrough:3,4"])
def test_a_training_set_has_the_layout_of_its_environment(text, tmp_path):
    """Of a folded book, too, which has moves of one image alone."""
    with solver.solve(text) as book:
        export(book, tmp_path / "book.parquet", training=True)
        layout = layout_of(Rules(book.game))
    metadata = parquet.read_schema(tmp_path / "book.parquet").metadata
    found = [json.loads(metadata[key]) for key in (b"actions", b"shape", b"planes")]
    assert found == [[*layout.actions], [*layout.shape], [*layout.symbols, "second player to move"]]


def test_a_training_set_tells_a_lacking_layout_from_a_damaged_book(tmp_path, monkeypatch):
    usual = load_game("hexapawn").layout()
    with solver.solve("hexapawn") as book:
        monkeypatch.setattr(type(book.game), "layout", lambda self: ("W", usual[1]))
        with pytest.raises(LayoutError, match=r"hexapawn: layout\(\) lacks the board of state \d+, .*b.*: add it"):
            export(book, tmp_path / "book.parquet", training=True)
        monkeypatch.undo()

        board_of = layout.board_of

        def failing(game, state, mover):
            if state != game.initial():
                raise GameError("rows of one length")
            return board_of(game, state, mover)

        monkeypatch.setattr(layout, "board_of", failing)
        raises(DamagedBook, "is not a state of its game", export, book, tmp_path / "book.parquet", training=True)
