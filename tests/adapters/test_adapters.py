"""Our games and books in OpenSpiel and PettingZoo, with the real libraries where they are installed."""

import json
from collections.abc import Iterator
from typing import NamedTuple

import pytest

import solver
from solver.base.errors import DamagedBook, ForeignBook, GameError, LayoutError, MethodError, UncompiledRules
from solver.export import export, layout
from solver.export.layout import layout_of
from solver.rules.game import Rules, load_game
from tests.ways import slow


def player_of(text):
    return solver.Player(solver.solve(text), live=False)


@pytest.fixture
def openspiel():
    pytest.importorskip("pyspiel")
    from solver.adapters import openspiel

    openspiel.register()
    return openspiel


@pytest.fixture
def parquet():
    return pytest.importorskip("pyarrow.parquet")


BOARDS = ("hexapawn", "tic-tac-toe:3,2,3", "nim:1,2,3", "connect-four:3,2,3", "dots-and-boxes:2,1")


@pytest.mark.parametrize("text", ["nim:1,2", "coins:4;", *slow(*BOARDS)])
def test_no_one_gains_on_the_policy_of_a_book(openspiel, text):
    import pyspiel
    from open_spiel.python.algorithms.exploitability import exploitability

    game = pyspiel.load_game("solverbook", {"game": text})
    assert exploitability(game, openspiel.PlayerPolicy(game, player_of(text.rstrip(";")))) == pytest.approx(0)


@pytest.mark.parametrize("text", ["hexapawn", "dots-and-boxes:2,1", "nannon:6,2"])
def test_openspiel_finds_our_games_in_order(openspiel, text):
    import pyspiel

    game = pyspiel.load_game("solverbook", {"game": text})
    pyspiel.random_sim_test(game, num_sims=2, serialize=True, verbose=False)
    state = game.new_initial_state()
    assert str(state).strip() and not state.is_terminal()


def test_returns_are_those_of_our_rules(openspiel):
    import pyspiel

    game = pyspiel.load_game("solverbook", {"game": "dots-and-boxes:1,1"})
    state = game.new_initial_state()
    while not state.is_terminal():
        state.apply_action(state.legal_actions()[0])
    assert state.returns() == [-1.0, 1.0]  # the fourth line makes the box


def test_a_bot_wins_what_is_won(openspiel):
    import pyspiel

    game = pyspiel.load_game("nim(pile_sizes=1;2)")
    bot = openspiel.PlayerBot(player_of("openspiel:nim(pile_sizes=1;2)"))
    state = game.new_initial_state()
    while not state.is_terminal():
        policy, action = bot.step_with_policy(state)
        assert {known for known, _ in policy} == set(state.legal_actions()) and dict(policy)[action]
        state.apply_action(action if state.current_player() == 0 else state.legal_actions()[0])
        bot.inform_action(state, 0, action)
    assert state.returns()[0] == 1.0
    other = pyspiel.load_game("tic_tac_toe").new_initial_state()
    with pytest.raises(ForeignBook, match="openspiel:nim.*, the state of tic_tac_toe.*: solve openspiel:tic_tac_toe"):
        bot.step(other)


@pytest.fixture
def pettingzoo():
    pytest.importorskip("pettingzoo")
    from solver.adapters import pettingzoo

    return pettingzoo


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Observation:UserWarning", "ignore:The old environment:DeprecationWarning")
@pytest.mark.parametrize("text", ["tic-tac-toe", "dots-and-boxes:2,2", "pig:10", "nim:1,3", "kalah:3,2"])
def test_the_api_test_passes(pettingzoo, text):
    from pettingzoo.test import api_test, seed_test

    api_test(pettingzoo.env(text), num_cycles=100)
    seed_test(lambda: pettingzoo.env(text), num_cycles=20)


def test_a_book_teaches_and_plays(pettingzoo):
    player = player_of("hexapawn")
    environment = pettingzoo.env("hexapawn", teacher=player, render_mode="ansi")
    opponent = pettingzoo.Opponent(player)
    environment.reset(seed=0)
    rewards = {}
    for agent in environment.agent_iter():
        seen, reward, terminated, truncated, info = environment.last()
        rewards[agent] = reward
        if terminated or truncated:
            environment.step(None)
            continue
        assert (info["best_mask"] <= seen["action_mask"]).all() and info["best_mask"].any()
        assert info["value"] == (1 if agent == "player_1" else -1)
        legal = [action for action, is_legal in enumerate(seen["action_mask"]) if is_legal]
        environment.step(opponent(environment) if agent == "player_1" else legal[0])
    assert rewards == {"player_0": -1.0, "player_1": 1.0}
    assert environment.render().count("\n") == 3
    with pytest.raises(GameError, match="no render_mode 'gif'"):
        pettingzoo.env("hexapawn", render_mode="gif")
    environment.reset()
    with pytest.raises(GameError, match="action 1 is not legal here"):
        environment.unwrapped.step(1)


def test_a_training_set_has_what_every_move_gives_away(parquet, tmp_path):
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
def test_compiled_training_sets_are_those_of_plain_python(parquet, game, options, tmp_path, monkeypatch):
    path = tmp_path / "book.lmdb"
    solver.solve(game, path, **{name: value for name, value in options.items() if name != "wdl"}).close()
    if options.get("wdl"):  # a book without distances
        path = tmp_path / "wdl.lmdb"
        solver.trim(tmp_path / "book.lmdb", path, solver.Trim(), wdl=True)
    with solver.Book(path, None if isinstance(game, str) else game) as book:
        plain = training_set(book, tmp_path / "plain.parquet", monkeypatch, 1 << 60)
        assert training_set(book, tmp_path / "compiled.parquet", monkeypatch, 0) == plain


def test_plain_python_makes_the_rows_that_compiled_rules_refuse(parquet, tmp_path, monkeypatch):
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
def test_a_training_set_has_the_layout_of_its_environment(parquet, text, tmp_path):
    """Of a folded book, too, which has moves of one image alone."""
    with solver.solve(text) as book:
        export(book, tmp_path / "book.parquet", training=True)
        layout = layout_of(Rules(book.game))
    schema = parquet.read_schema(tmp_path / "book.parquet")
    assert json.loads(schema.metadata[b"actions"]) == list(layout.actions)
    assert json.loads(schema.metadata[b"shape"]) == list(layout.shape)
    assert json.loads(schema.metadata[b"planes"]) == [*layout.symbols, "second player to move"]


def test_a_training_set_tells_a_lacking_layout_from_a_damaged_book(parquet, tmp_path, monkeypatch):
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
