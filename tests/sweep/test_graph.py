"""Games that come as graphs: tables of moves, and games of OpenSpiel; their arrays, and books that keep them."""

import itertools
import random
import unicodedata

import pytest

import solver
from solver.base.errors import DamagedBook, GameError, ResourceError, printable
from solver.base.progress import listening, silent
from solver.book import streaming
from solver.book.streaming import pack
from solver.games.common.nodes import Draft, unpacked
from solver.games.graph import graph_of
from solver.rules.game import Rules, game_text, load_game
from solver.rules.loading import game_kept
from solver.rules.reading import parse_position
from solver.solving import pipeline
from tests import DATA
from tests.commands import run
from tests.refusals import raises
from tests.ways import slow_rows

NIM = "state,action,next,reward\n3,take 1,2,\n3,take 2,1,\n2,take 1,1,\n2,take 2,0,1\n1,take 1,0,1\n"


def game_of(tmp_path, text, name="moves.csv"):
    (tmp_path / name).write_text(text, "utf-8", "surrogateescape")
    return load_game(str(tmp_path / name))


def values_of(game):
    """Texts and their values, by the plain algorithms."""
    with solver.solve(game) as book:
        player = solver.Player(book, live=False)
        return {game.show(state): player.value(state).value for state in game.starts()}


HEAD = "state,action,next,reward"
VALUED = {  # the lines of a table, and texts with their values
    "a game": (NIM, {"3": (-1, 2), "2": (1, 1), "1": (1, 1), "0": (-1, 0)}),
    "an end with a line of its own": ("next,state,reward\nlost,a,\n,lost,-1\n", {"a": (1, 1)}),
    "moving again": (
        f"{HEAD},player\na,x,b,,max\nb,y,c,,max\nc,z,d,-1,min\nb,w,e,-1,max\n".replace(",", "\t"),
        {"a": (1, 3), "b": (1, 2), "c": (-1, 1)},
    ),
    "margins": (f"{HEAD}\na,x,b,3\na,y,c,1\nb,x,d,5\nc,x,d,1\nc,y,e,2\nd,x,e,4\n", {"a": (2, None)}),
}


@pytest.mark.parametrize("kind", VALUED)
def test_a_table_of_moves_has_its_values(tmp_path, kind):
    text, expected = VALUED[kind]
    game = game_of(tmp_path, text, "moves.tsv" if "\t" in text else "moves.csv")
    assert game_text(game).startswith("graph:moves.") and Rules(game).scores == (kind == "margins")
    assert expected.items() <= {text: value[:] for text, value in values_of(game).items()}.items()


def test_ends_that_are_worth_different_things_become_several(tmp_path):
    game = game_of(tmp_path, f"{HEAD}\na,good,end,1\na,bad,end,-1\na,even,end,\n")
    assert not Rules(game).scores
    assert sorted(game.utility(game.result(0, action)) for action in game.actions(0)) == [-1, 0, 1]
    assert [game.show(game.result(0, action)) for action in game.actions(0)] == ["end"] * 3


def test_chance_has_weights(tmp_path):
    thrown = "start,roll,thrown,,me,\nthrown,,good,,,1/3\nthrown,,bad,,,2/3\ngood,,won,1,me,\nbad,,lost,-1,me,\n"
    game = game_of(tmp_path, f"{HEAD},player,weight\n{thrown}")
    assert list(game.chance(1)) == [(1, 2), (2, 3)]
    assert values_of(game)["start"].score == pytest.approx(-1 / 3, abs=1e-8)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: no column state: name the columns"),
        ("state,nxt\n", "line 1: no column 'nxt', or twice"),
        ("state,next\n", "no line below its header"),
        ("state,next,reward\na,b\n", "line 2: 2 fields under 3 columns"),
        ("state,next,reward\na,b,\n\na,c,x\n", "line 4: 'x' is not a reward"),
        ("state,next,reward\na,b,1/2\n", "line 2: '1/2' is not a whole number: multiply"),
        ("state,next,reward\na,b,1e99\n", "line 2: '1e99' is not a reward: give a whole number below"),
        ("state,next\n,b\n", "line 2: no state"),
        ("state,next,action\na,,x\n", "line 2: a move without next"),
        ("state,next,action\na,b,x\na,c,x\n", "line 3: 'a' has a move 'x' already"),
        ("state,next\na,b\na,\n", "line 3: 'a' has moves, from line 2 on"),
        ("state,next\na,\na,b\n", "line 3: 'a' ends in line 2"),
        ("state,next\na,\na,\n", "line 3: 'a' ends in line 2 already"),
        ("state,next,player\na,b,x\nb,c,y\nc,d,z\n", "line 4: a third player, 'z'"),
        ("state,next,player\na,b,x\na,c,y\n", "line 3: 'a' has another player before"),
        ("state,next,player\na,b,x\nb,c,\n", "line 3: no player"),
        ("state,next,player,reward\na,b,x,\nb,,,1\n", "line 3: no player: say to whom"),
        ("state,next,weight\na,b,1\na,c,2\nb,,\nc,,\n", "a weight and no player"),
        ("state,next,player,weight\na,b,x,1/0\n", "line 2: '1/0' is not a weight"),
        ("state,next,player,weight\na,b,x,1\na,c,x,\n", "line 3: chance and a player both move"),
        ("state,next,player,weight,reward\na,b,x,1,1\n", "line 2: a reward where chance decides"),
        ("state,next,player,weight\na,b,x,0.33333\na,c,x,0.66667\n", "line 2: the weights of 'a' add up to more"),
        ("state,next,reward\na,b,0\nb,c,\n", "line 3: next 'c' is not a state, and nothing says that it ends"),
        ("state,next\n3,2.0\n2,1.0\n1,\n", "line 2: next '2.0' is not a state, '2' is: write both alike"),
        ("state,next,reward\n3.0,2,1\n2.0,1,1\n", "line 2: next '2' is not a state, '2.0' is"),
        ("state,next,reward\nx,12345678901234567,1\n1.2345678901234567e+16,x,\n", "line 2: next '12345678901234567'"),
        ("state,next,reward\na,X . o,1\nx.o,a,\n", "line 2: next 'X . o' is not a state, 'x.o' is"),
        ("state,next,reward\na,007,1\n7,a,\n", "line 2: next '007' is not a state, '7' is"),
        ("state,next,reward\na,b,3\nb,a,5\nb,c,0\n", "play can go on for ever from 'a', and the values are margins"),
        ("state,next\na,b\n\udcff,c\n", "line 3: not UTF-8"),
        ('state,next\na,"b\n', "line 2: quotes that do not match, or 131,072 characters in a field: fix them"),
    ],
    ids=map(str, itertools.count()),
)
def test_a_bad_table_is_refused_with_the_line(tmp_path, text, message):
    with pytest.raises(GameError) as error:
        game_of(tmp_path, text)
    assert message in str(error.value) and "\n" not in str(error.value)


@pytest.mark.parametrize("unnamed", ["", "Unnamed: 0"])
def test_an_index_of_pandas_is_skipped_with_a_note(tmp_path, unnamed):
    text = f"{unnamed},state,next,reward\n0,a,b,\n1,b,,1\n2,c,b,\n"
    notes = []
    with listening(silent, notes.append, None):
        game = game_of(tmp_path, text)
    assert notes == ["column 1 has no name: it is skipped", "the start reaches 2 of 3 states"]
    assert [game.show(state) for state in game.starts()] == ["a", "b", "c"]


def test_ends_of_other_texts_may_look_alike_if_they_have_lines(tmp_path):
    game = game_of(tmp_path, "state,next,reward\nKq,kQ,\nkQ,,1\nKq,1/2,1\nKq,2/4,0\n2/4,,1\n")
    assert len([*game.starts()]) == 4


def random_nodes(seed):
    """A table of thirty positions. At every third chance decides, which alone leads back, and often ends the game."""
    chance, draft = random.Random(seed), Draft()
    for node in range(30):
        draft.node(f"p{node}", chance.randrange(2), chance.choice((-1, 0, 1)))
    for node in range(22):
        thrown = node % 3 == 0
        for child in {chance.randrange(0 if thrown else node + 1, 30) for _ in range(chance.randrange(1, 4))}:
            draft.move(node, f"m{child}", child, 0, chance.randrange(1, 9) if thrown else 0)
        if thrown:
            draft.move(node, "end", 29, 0, 9)
    return draft.nodes(True)


@pytest.mark.parametrize("seed", range(6))
def test_arrays_make_the_book_that_plain_python_makes(tmp_path, monkeypatch, seed):
    game = graph_of("random.csv", random_nodes(seed))
    with pipeline.solve(game, tmp_path / "plain.lmdb") as plain:
        said = []
        monkeypatch.setattr("solver.solving.ways.plain.PLAIN_LIMIT", 5)
        with pipeline.solve(game, tmp_path / "arrays.lmdb", say=said.append) as book:
            assert book.digest == plain.digest and not said


def test_a_book_keeps_the_graph(tmp_path):
    game = game_of(tmp_path, NIM)
    assert [game.format_action(0, action) for action in game.actions(0)] == ["take_1", "take_2"]
    pipeline.solve(game, tmp_path / "nim.lmdb").close()
    pack(tmp_path / "nim.lmdb", tmp_path / "small.lmdb")
    for name in ("nim.lmdb", "small.lmdb"):
        with solver.Book(tmp_path / name) as book:
            assert book.game == game and hash(book.game) == hash(game)
            assert book.game.parse_position(" 2\n") == 2 - 1
            assert all(streaming.pieces(book))
    assert game.nodes.digest == unpacked(game.nodes.packed).digest


def test_what_a_book_keeps_is_read_critically(tmp_path):
    game = game_of(tmp_path, NIM)
    data = game.to_bytes()
    for place in range(len(data)):
        changed = bytearray(data)
        changed[place] ^= 1 << place % 8
        raises(GameError, "its game is malformed", game_kept, "graph:moves.csv", bytes(changed))
    raises(GameError, None, game_kept, "coins:7", data)


def test_a_damaged_game_is_no_game(tmp_path, monkeypatch):
    pipeline.solve(game_of(tmp_path, NIM), tmp_path / "nim.lmdb").close()
    monkeypatch.setattr("solver.games.common.nodes.TIMES", 0)
    monkeypatch.setattr("solver.games.common.nodes.LITTLE", 10)
    with solver.Book(tmp_path / "nim.lmdb") as book, pytest.raises(DamagedBook, match="its game is malformed"):
        book.game  # noqa: B018


def test_openspiel_is_asked_for_where_it_lacks(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pyspiel", None)
    raises(GameError, r"pip install 'solverbook\[openspiel\]'", load_game, "openspiel:tic_tac_toe")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("kuhn_poker", "has hidden information"),
        ("goofspiel", "has simultaneous moves"),
        ("pig(players=3)", "is for 3 players"),
        ("nosuch", "OpenSpiel has no game 'nosuch'"),
        ("breakthrough(raws=3)", "Unknown parameter 'raws'"),
    ],
)
def test_what_openspiel_has_otherwise_is_refused(text, message):
    pytest.importorskip("pyspiel")
    raises(GameError, message, load_game, f"openspiel:{text}")


def test_a_text_that_leaves_history_out_is_refused():
    pytest.importorskip("pyspiel")
    from solver.games.common.exploration import Exploration

    # three throws of a coin, of which the text tells the last
    exploration = Exploration("forgetful", Walk(3, 2, lambda past: f"{len(past)} {past[-1:]}"))
    raises(GameError, "positions of one text that differ in how they end", exploration.compare, exploration.run())


class Walk:
    """Steps in several directions, as a game of OpenSpiel; most steps of 1 win. `text` of the steps is a position's."""

    def __init__(self, length, directions, text, past=()):
        self.length, self.directions, self.text, self.past = length, directions, text, past

    def new_initial_state(self):
        return Walk(self.length, self.directions, self.text)

    def is_terminal(self):
        return len(self.past) == self.length

    def current_player(self):
        return -4 if self.is_terminal() else len(self.past) % 2

    def legal_actions(self):
        return list(range(self.directions))

    def action_to_string(self, player, action):
        return str(action)

    def child(self, action):
        return Walk(self.length, self.directions, self.text, (*self.past, action))

    def apply_action(self, action):
        self.past = (*self.past, action)

    def player_return(self, player):
        return (1 if self.past.count(1) > 1 else -1) * (1 - 2 * player) if self.directions == 2 else 0

    def __str__(self):
        return str(self.text(self.past))


def explored(monkeypatch, game, most):
    """How many positions a game has, explored with memory for so many."""
    from solver.games.common import exploration

    for name, value in {"resident_memory": lambda: 0, "STEP": 64, "MEASURED": 256}.items():
        monkeypatch.setattr(exploration, name, value)
    with listening(silent, [].append, most * exploration.GUESS):
        return len(exploration.Exploration("walk", game).run().texts)


def test_games_that_fit_are_explored_whole_and_far_larger_ones_refused_early(monkeypatch):
    """A tree of 5**40 leaves; a thousand games that are all different after 20 of 40 moves prove more than 50,000.

    The parts that n is cut into, five numbers, are 18 over 5 for n from 0 to 13.
    """
    with pytest.raises(ResourceError, match="different ones after 20 moves, and .* GiB of memory hold 50,000:"):
        explored(monkeypatch, Walk(40, 5, tuple), 50_000)
    counted = Walk(13, 5, lambda past: [past.count(action) for action in range(5)])
    assert explored(monkeypatch, counted, 9_000) == 8_568
    assert explored(monkeypatch, Walk(5, 5, tuple), 4_000) == sum(5**ply for ply in range(6))


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ("tic_tac_toe", "tic-tac-toe"),
        *slow_rows(
            ("connect_four(rows=4,columns=4)", "connect-four:4,4"),
            ("breakthrough(rows=4,columns=3)", "breakthrough:3,4,1"),
            ("nim(pile_sizes=3;4;5)", "nim:3,4,5,misere=true"),
        ),
    ],
    ids=["tic-tac-toe", "connect-four", "breakthrough", "nim"],
)
def test_games_of_openspiel_are_ours(theirs, ours):
    pytest.importorskip("pyspiel")
    with solver.solve(f"openspiel:{theirs}") as one, solver.solve(ours, symmetry=False) as other:
        assert one.root == other.root
        if theirs[0] in "tc":  # their texts tell no more than our states
            assert (one.counts, one.states) == (other.counts, other.states)
        if theirs == "tic_tac_toe":
            assert one.game.show(one.game.parse_position("... .x. ...")) == "...\n.x.\n..."


@pytest.mark.slow
def test_a_described_tic_tac_toe_is_ours():
    with solver.solve(str(DATA / "tic-tac-toe.kif")) as theirs, solver.solve("tic-tac-toe", symmetry=False) as ours:
        assert theirs.states == ours.states == 5478
        assert theirs.counts == ours.counts and theirs.root == ours.root


def test_a_described_nim_has_terms_in_terms():
    """A heap of three and one of two: the first player wins, and lost is where they are equal (Bouton 1901)."""
    game = load_game(str(DATA / "nim.kif"))
    with solver.solve(game) as book:
        player = solver.Player(book, live=False)
        for state in game.starts():
            left, right = (game.show(state).split()[i].count("s(") for i in range(2))
            assert (player.value(state).value.score < 0) == (left == right), game.show(state)
        assert [game.format_action(0, action) for action in game.actions(0)][0] == "leave(left,s(s(zero)))"
        assert player.best(0) == 0


RULES = """(role a) (role b) (init (at 0)) (legal a go) (legal b noop) (<= (next (at 1)) (true (at 0)))
(<= terminal (true (at 1))) (goal a 100) (goal b 0)
"""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(role a", "line 1: a bracket that nothing closes"),
        ("(role a))", "line 1: a bracket closes that nothing opened"),
        ("\n((role) a)", "line 2: brackets begin with a name"),
        ("(" * 50 + ")" * 50, "line 1: more than 40 brackets"),
        ("", "no rule says what role is"),
        (RULES + "(role c)", "a game of 3 roles"),
        (RULES + "(<= (goal a 0) (not (p ?x)))", "line 3: goal\\(a,0\\) has a variable that no relation binds"),
        (RULES + "(true (at 1))", "line 3: no rule says what true is"),
        (RULES + "(<= (p 1) (not (p 1))) (<= terminal (p 1))", "line 3: p needs itself negated"),
        (RULES + "(<= (legal a stay) (does b noop))", "legal depends on the moves"),
        (RULES + "(<= (init (at 2)) (true (at 1)))", "init depends on the position"),
        (RULES + "(<= (goal a 50) (next (at 1)))", "line 3: no position knows its next one"),
        (RULES + "(<= (next (at 2)) (p)) (<= (p) (not (next (at 1))))", "line 3: no position knows its next one"),
        ("role(a). role(b).", "line 1: 'role' before a bracket is infix GDL: write \\(cell 1 1 x\\)"),
        ("; nim\nterminal :- true(at(1)).", "line 2: ':-' before a bracket is infix GDL|line 2: 'terminal'"),
        (RULES + "(legal a a b)", "line 3: legal is of 2, not of 3"),
        (RULES + "(<= (p 1) ?x)", "line 3: \\?x stands where a relation is wanted"),
        (RULES + "(<= (p 1) (not (or (q 1) (q 2))))", "line 3: not stands before one relation"),
        (RULES + "(<= (sees a 1) (true (at 1)))", "hidden information"),
        (RULES + "(legal a stay) (legal b stay)", "both players may choose at 'at\\(0\\)'"),
        (RULES.replace("(legal a go)", "(<= (legal a go) (true (at 1)))"), "a has no legal move at 'at\\(0\\)'"),
        (RULES + "(goal a 50)", "a has 2 goals at 'at\\(1\\)'"),
        (RULES.replace("goal b 0", "goal b x"), "goal\\(b,x\\) is not a goal"),
        (
            RULES.replace("(goal b 0)", "(<= (goal b 0) (not (true (at 2)))) (<= (goal b 50) (true (at 2)))")
            + "(legal a on) (<= (next (at 2)) (does a on)) (<= terminal (true (at 2)))",
            "goals add up to 1[05]0 at 'at\\(1\\).*', elsewhere to 1[05]0",
        ),
        ("(role \ud800)", "not UTF-8"),
    ],
    ids=map(str, itertools.count()),
)
def test_a_bad_description_is_refused(tmp_path, text, message):
    (tmp_path / "odd.kif").write_bytes(text.encode("utf-8", "surrogatepass"))
    raises(GameError, f"odd.kif: .*{message}", load_game, str(tmp_path / "odd.kif"))


STRANGE = ("\x1b]0;title\x07", "a\u202eb", "\x00", "\x9b2J", "\u2066", "\ud800", "a\rb", "a\u2028b")


def test_only_what_a_terminal_would_obey_is_escaped():
    shown = r"\x1b]0;title\x07 a\u202eb \x00 \x9b2J \u2066 \ud800 a\rb a\u2028b"
    assert list(map(printable, STRANGE)) == shown.split(" ")
    for text in ("", "take 1", "z\u00fcg", "\u05d0", "\u7389\u3000\u98db", "a\u00a0b", "\\x1b", "\U0001f98a"):
        assert printable(text) == text
    assert printable("a\n\tb\r") == r"a\n\tb\r" and printable("a\n\tb\r", kept="\n\t") == "a\n\tb\\r"


@pytest.fixture(scope="module")
def strange(tmp_path_factory):
    """A book of a graph whose texts and names would work the terminal."""
    draft = Draft()
    nodes = [draft.node(f"at {text}") for text in STRANGE]
    for parent, child in zip(nodes, nodes[1:], strict=False):
        draft.move(parent, f"go{STRANGE[child]}", child)
    path = tmp_path_factory.mktemp("strange") / "strange.lmdb"
    solver.solve(graph_of("strange.csv", draft.nodes(turns=False)), path).close()
    return path


def is_quiet(text):
    return all(unicodedata.category(sign) not in ("Cc", "Cf", "Cs", "Zl", "Zp") for sign in text.replace("\n", ""))


COMMANDS = """query BOOK start
query BOOK start --json
line BOOK
line BOOK --json
info BOOK --counts
export BOOK -o FOLDER/table.csv --columns board
export BOOK -o FOLDER/page/
ugi BOOK
play BOOK --second
query BOOK nonsense"""


@pytest.mark.parametrize("command", COMMANDS.splitlines(), ids=map(str, itertools.count()))
def test_texts_of_a_book_of_anybody_are_shown_and_nothing_more(strange, tmp_path, command):
    words = command.replace("BOOK", str(strange)).replace("FOLDER", str(tmp_path)).split()
    _, *said = run(*words, stdin="position startpos\ngo\nquit\n")
    said += [path.read_text("utf-8") for path in tmp_path.glob("**/*") if path.name in ("table.csv", "game.js")]
    assert all(map(is_quiet, said))
    assert words[0] == "info" or any(r"\u202e" in text for text in said)


def test_what_is_shown_names_positions_and_moves(strange):
    with solver.Book(strange) as book:
        game = book.game
        names = [game.format_action(state, 0) for state in range(len(STRANGE) - 1)]
        assert names[0] == r"goa\u202eb"
        asked = [parse_position(game, text).state for text in (" ".join(names), *map(game.show, range(len(STRANGE))))]
        assert asked == [len(STRANGE) - 1, *range(len(STRANGE))]
