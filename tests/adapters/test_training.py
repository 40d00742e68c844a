"""Training sets: what they hold, in plain Python and by compiled rules. They need pyarrow."""

import json
from collections.abc import Iterator
from typing import NamedTuple

import pytest

import solver
from solver.base.errors import DamagedBook, GameError, LayoutError, MethodError, UncompiledRules
from solver.export import export, layout
from solver.export.layout import layout_of
from solver.rules.game import Rules, load_game

parquet = pytest.importorskip("pyarrow.parquet")


def test_a_training_set_has_what_every_move_gives_away(tmp_path):
    from solver.export.training import split_of

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
        with pytest.raises(MethodError, match=r"a training set is a \.parquet"):
            export(book, tmp_path / "hexapawn.csv", training=True)
    (tmp_path / "moves.csv").write_text("state,action,next,reward\na,x,b,\na,y,c,\nb,,,1\nc,,,-1\n")
    with solver.solve(f"{tmp_path}/moves.csv") as book, pytest.raises(MethodError, match="is a graph: .*PlayerPolicy"):
        export(book, tmp_path / "moves.parquet", training=True)
    shares = [split_of(state) for state in range(2000)]
    assert 1500 < shares.count("train") < 1700 and 130 < shares.count("test") < 270


class Overflowing(NamedTuple):
    """Take 1 or 2 of ten counters; who takes the last wins. Its actions compute beyond 64 bits for some states."""

    def initial(self) -> int:
        return 10

    def actions(self, state: int) -> Iterator[int]:
        for taken in range(1, 3):
            if taken <= state and (state + 3) ** 20 > taken:
                yield taken

    def result(self, state: int, action: int) -> int:
        return state - action

    def is_terminal(self, state: int) -> bool:
        return state == 0

    def utility(self, state: int) -> int:
        return -1

    def tier(self, state: int) -> int:
        return 10 - state


def training_set(book, path, monkeypatch, many):
    """The bytes of a training set, made by compiled rules from so many states on."""
    from solver.export import training

    monkeypatch.setattr(training, "PLAIN_LIMIT", many)
    export(book, path, training=True)
    return path.read_bytes()


GAMES = [("hexapawn", {}), ("connect-four:3,3,3", {"codec": "ranked"}), ("pig:5", {}), (Overflowing(), {})]
MORE_GAMES = [("hexapawn", {"symmetry": False}), ("dots-and-boxes:2", {}), ("pong-hau-ki", {}), ("chopsticks", {})]
MORE_GAMES += [("shut-the-box:4", {}), ("backgammon-bearoff:3,3", {}), ("hexapawn", {"wdl": True})]


@pytest.mark.parametrize(
    ("game", "options"), [*GAMES, *(pytest.param(*one, marks=pytest.mark.slow) for one in MORE_GAMES)]
)
def test_compiled_training_sets_are_those_of_plain_python(game, options, tmp_path, monkeypatch):
    path = tmp_path / "book.lmdb"
    solver.solve(game, path, **{name: value for name, value in options.items() if name != "wdl"}).close()
    if options.get("wdl"):  # a book without distances
        path = tmp_path / "wdl.lmdb"
        solver.trim(tmp_path / "book.lmdb", path, solver.Trim(), wdl=True)
    with solver.Book(path, None if isinstance(game, str) else game) as book:
        plain = training_set(book, tmp_path / "plain.parquet", monkeypatch, 1 << 60)
        assert training_set(book, tmp_path / "compiled.parquet", monkeypatch, 0) == plain


def test_plain_python_makes_the_rows_that_compiled_rules_refuse(tmp_path, monkeypatch):
    from solver.export import batches, training

    monkeypatch.setattr(training, "ROW_GROUP", 16)
    usual, calls = batches.CompiledChoices.of, []

    def refusing(self, states):
        calls.append(len(states))
        if len(calls) == 3:  # that of the second group
            raise UncompiledRules("refused")
        return usual(self, states)

    with solver.solve("hexapawn", tmp_path / "book.lmdb") as book:
        plain = training_set(book, tmp_path / "plain.parquet", monkeypatch, 1 << 60)
        monkeypatch.setattr(batches.CompiledChoices, "of", refusing)
        assert training_set(book, tmp_path / "compiled.parquet", monkeypatch, 0) == plain
    assert calls[:3] == [1, 16, 16]


@pytest.mark.parametrize("text", ["pig:5", "breakthrough:3,4"])
def test_a_training_set_has_the_layout_of_its_environment(text, tmp_path):
    """Of a folded book, too, which has moves of one image alone."""
    with solver.solve(text) as book:
        export(book, tmp_path / "book.parquet", training=True)
        layout = layout_of(Rules(book.game))
    schema = parquet.read_schema(tmp_path / "book.parquet")
    assert json.loads(schema.metadata[b"actions"]) == list(layout.actions)
    assert json.loads(schema.metadata[b"shape"]) == list(layout.shape)
    assert json.loads(schema.metadata[b"planes"]) == [*layout.symbols, "second player to move"]


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
        with pytest.raises(DamagedBook, match="is not a state of its game"):
            export(book, tmp_path / "book.parquet", training=True)
