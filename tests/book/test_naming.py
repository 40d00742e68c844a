"""Every door takes a book, a game, a path or a name, and reads it in one order. A book runs no code that it names."""

import io
import itertools
import json
import os
import pickle
import shutil
import zipfile
from pathlib import Path

import pytest

import solver
from solver import Book, Player, Trim, check_game, diff, grade, load_game, merge, pack, sample, trim, verify
from solver.base.errors import BookError, ForeignBook, GameError, MethodError, MissingRules
from solver.book import game_of, open_source, shipped
from solver.book.check import check_book
from solver.export import export
from solver.rules.game import RULES, game_text, rules_for
from tests.books import RACE
from tests.commands import ok, run
from tests.processes import python
from tests.refusals import fails, raises


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A working folder with rules of one's own, a book of them, one of hexapawn, a tree and a table of moves."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(RULES, raising=False)
    Path("my_game.py").write_text(RACE, encoding="utf-8")
    Path("exercise.json").write_text("[[3, 12], [2, 4]]", encoding="utf-8")
    Path("moves.csv").write_text("state,action,next,reward\n1,take,0,1\n", encoding="utf-8")
    shutil.copy(shipped.path_of("hexapawn"), "book.lmdb")
    solver.solve("my_game.py::Race:12", "race.lmdb").close()
    return tmp_path


SOURCES = {
    "path": lambda: "book.lmdb",
    "Path": lambda: Path("book.lmdb"),
    "book": lambda: Book("book.lmdb"),
    "name": lambda: "hexapawn",
    "game": lambda: load_game("hexapawn"),
}


@pytest.mark.parametrize("kind", SOURCES)
def test_every_door_takes_a_book_a_path_a_game_and_a_name(kind):
    source = SOURCES[kind]()
    with Book("hexapawn") as book:
        digest, start = book.digest, book.game.initial()
    assert Book(source).digest == digest
    assert Player(source).value(start).source == "book"
    assert Player.of(source, live=False).solution.digest == digest
    assert verify(source).verdict == "proved"
    assert check_book(source).digest == digest
    assert pack(source, "packed.lmdb", "instant").stored == 37
    assert trim(source, "trimmed.lmdb", Trim(plies=1)).stored < 37
    assert sample(source, 3) == sample(Book("book.lmdb"), 3)
    assert diff(source, "packed.lmdb").equal and diff("packed.lmdb", source).equal
    assert merge(source, "trimmed.lmdb", "merged.lmdb").stored == 37
    assert grade(source, ["a1a2"]).total.moves == 1
    assert game_text(game_of(source)) == "hexapawn"
    assert start in check_game(source, playouts=1)
    with solver.solve(source) as solved:
        assert len(solved) == 37
    if not isinstance(source, tuple):  # a game alone has no table
        export(source, "book.jsonl")
        assert len(Path("book.jsonl").read_text("utf-8").splitlines()) == 37


class BytesPath:
    def __fspath__(self):
        return b"book.lmdb"


def in_an_archive():
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        file.write("book.lmdb")
    return zipfile.Path(zipfile.ZipFile(archive), "book.lmdb")


STRANGERS = {
    "NoneType is neither": lambda: None,
    "bytes is neither a book nor a game: write a path or a name as text": lambda: b"book.lmdb",
    "BytesIO is neither": lambda: io.BytesIO(Path("book.lmdb").read_bytes()),
    "int is neither": lambda: 3,
    "tuple is neither": lambda: (3, 3),
    "list is neither": lambda: ["book.lmdb"],
    "Path is neither .*: open it by importlib.resources.as_file": in_an_archive,
    "BytesPath is neither": BytesPath,
    "Rules is neither": lambda: Book("book.lmdb").rules,
    "the class Book is neither": lambda: Book,
    r"Race is a class, not a game: write Race\(\) or Race\(goal, most\)": lambda: type(load_game("my_game.py")),
    r"Plain must be .*: class Plain\(NamedTuple\)": lambda: type("Plain", (), {"initial": None})(),
}
# by the public name; those that end in "game" are the rules of a book, the others are asked for a book or a game
DOORS = {
    "Book": Book,
    "Book game": lambda game: Book("book.lmdb", game),
    "Player": Player,
    "Player game": lambda game: Player("book.lmdb", game),
    "Player of values game": lambda game: Player({0: solver.Value(0, None)}, game),
    "board": solver.board,
    "check_book": check_book,
    "check_book game": lambda game: check_book("book.lmdb", game=game),
    "check_game": check_game,
    "diff": lambda source: diff(source, "book.lmdb"),
    "diff second": lambda source: diff("book.lmdb", source),
    "find_puzzles": solver.find_puzzles,
    "format_action": lambda source: solver.format_action(source, 0, 0),
    "find_puzzles game": lambda game: solver.find_puzzles("book.lmdb", game=game),
    "grade": lambda source: grade(source, ["5"]),
    "load_game": load_game,
    "merge": lambda source: merge(source, "book.lmdb", "merged.lmdb"),
    "merge second": lambda source: merge("book.lmdb", source, "merged.lmdb"),
    "pack": lambda source: pack(source, "packed.lmdb"),
    "pack game": lambda game: pack("book.lmdb", "packed.lmdb", game=game),
    "parse_action": lambda source: solver.parse_action(source, 0, "5"),
    "position": lambda source: solver.position(source, "start"),
    "profile": solver.profile,
    "profile game": lambda game: solver.profile("book.lmdb", game),
    "prove": lambda source: solver.prove(source, "proof.lmdb"),
    "sample": lambda source: sample(source, 1),
    "score_answer": lambda source: solver.score_answer(source, 0, "5"),
    "show": lambda source: solver.show(source, 0),
    "solve": solver.solve,
    "trim": lambda source: trim(source, "trimmed.lmdb", Trim(plies=1)),
    "trim game": lambda game: trim("book.lmdb", "trimmed.lmdb", Trim(plies=1), game),
    "verify": verify,
    "verify game": lambda game: verify("book.lmdb", game),
}
NO_DOORS = {"Answer", "Bars", "Game", "Move", "Moves", "Outcome", "Profile", "Puzzle", "Solution", "Trim", "Value"}


def test_the_list_of_doors_has_every_public_function():
    items = {name: getattr(solver, name) for name in solver.__all__}
    errors = {name for name, item in items.items() if isinstance(item, type) and issubclass(item, Exception)}
    assert items.keys() - errors - NO_DOORS == {door.split()[0] for door in DOORS}


def test_what_is_neither_book_nor_game_is_refused_by_its_type():
    strangers = [(fault, make()) for fault, make in STRANGERS.items()]
    for (door, ask), (fault, stranger) in itertools.product(DOORS.items(), strangers):
        # None leaves the rules to the book; Rules that are at hand may read positions and moves
        reads = door in ("position", "parse_action")
        if (door.endswith("game") and stranger is None) or (reads and fault.startswith("Rules")):
            continue
        with pytest.raises(GameError, match=fault):
            pytest.fail(f"{door} took {stranger!r}: {ask(stranger)}")


WRITERS = {
    "merge": lambda target: merge("book.lmdb", "book.lmdb", target),
    "pack": lambda target: pack("book.lmdb", target),
    "prove": lambda target: solver.prove("hexapawn", target),
    "save": lambda target: solver.board("tic-tac-toe").save(target),
    "solve": lambda target: solver.solve("tic-tac-toe", target),
    "trim": lambda target: trim("book.lmdb", target, Trim(plies=1)),
}


def test_a_target_that_is_no_path_is_refused_before_any_work():
    for name, target in itertools.product(WRITERS, (b"book.lmdb", 3, io.BytesIO(), BytesPath(), [], None)):
        if (name, target) != ("solve", None):
            raises(BookError, r"cannot be written \(.*\): name another file", WRITERS[name], target)


@pytest.mark.parametrize("symmetry", [True, False])
def test_a_book_makes_its_rules_once_and_folds_them_as_it_is_folded(symmetry):
    with solver.solve("hexapawn", "rules.lmdb", symmetry=symmetry) as book:
        assert book.rules is book.rules and book.rules.game == book.game
        assert book.rules.folds == symmetry
    raises(MissingRules, None, getattr, Book("race.lmdb"), "rules")


def test_a_book_is_closed_by_whoever_opened_it():
    with open_source("book.lmdb") as opened, Book("book.lmdb") as book:
        assert opened.rules is opened.book.rules and opened.game == book.game
        with open_source(book):
            trim(book, "trimmed.lmdb", Trim(plies=1))
            sample(book, 1)
            verify(book)
            check_game(book, playouts=1)
        assert len([*book]) == 37
    assert "closed" in repr(opened.book)


@pytest.mark.posix("replaces an open file")
def test_a_book_is_opened_once_more_only_if_it_is_the_same(folder):
    with Book("book.lmdb") as book, Book(book) as again:
        assert again == book and again.path == folder / "book.lmdb"
        shutil.copy("race.lmdb", "other.lmdb")
        os.replace("other.lmdb", "book.lmdb")
        raises(ForeignBook, "another book than the one that is open", Book, book)


@pytest.mark.parametrize("game", ["my_game.py", "my_game.py::Race", "my_game.py::Race:12", Path("my_game.py")])
def test_rules_are_named_for_a_book_and_take_its_parameters(game):
    for book in (Book("race.lmdb", game), Book("race.lmdb", game=load_game("my_game.py::Race:12"))):
        assert book.game == (12, 3)
    assert Player("race.lmdb", game).value(12).value == (-1, 6)
    assert verify("race.lmdb", game).verdict == "proved"
    refusal = "these are .*Race:13.*: these rules are not those of the book, so solve again"
    raises(ForeignBook, refusal, Book, "race.lmdb", "my_game.py::Race:13")


def test_a_class_that_reads_its_parameters_itself_gets_none_from_a_book():
    method = "    @classmethod\n    def from_text(cls, text): return cls(*map(int, filter(None, text.split(','))))\n"
    Path("reader.py").write_text(RACE + method, encoding="utf-8")
    raises(GameError, "a method of its own: name those of the book, reader.py::Race:12", Book, "race.lmdb", "reader.py")
    assert Book("race.lmdb", "reader.py:12").game == Book("race.lmdb", "reader.py::Race:12").game == (12, 3)


FILES = {
    "exercise.json": "tree:exercise.json",
    "exercise.json,min": "tree:exercise.json,min",
    "tree:exercise.json": "tree:exercise.json",
    "moves.csv": "graph:moves.csv",
    "my_game.py": "my_game.py::Race",
    "race.lmdb": "my_game.py::Race:12",
    Path("my_game.py"): "my_game.py::Race",
    Path("exercise.json"): "tree:exercise.json",
}


@pytest.mark.parametrize("text", FILES, ids=str)
def test_files_of_rules_are_games_everywhere(text, monkeypatch):
    monkeypatch.setenv(RULES, "my_game.py")
    with solver.solve(text) as book:
        assert game_text(game_of(text)) == book.header.game == FILES[text]


def test_a_books_file_goes_before_a_name_and_any_other_file_does_not():
    shutil.copy("race.lmdb", "hexapawn")
    player = Player("hexapawn", "my_game.py")
    with Book("hexapawn") as book, player.solution:  # Windows writes no file that is open
        assert (book.header.game, player.value(12).source) == ("my_game.py::Race:12", "book")
    assert "Race" in ok("info", "hexapawn")
    Path("hexapawn").write_text("notes", encoding="utf-8")
    assert Book("hexapawn").header.game == Player("hexapawn").solution.header.game == "hexapawn"
    assert ok("solve", "hexapawn", "-q").startswith("game     hexapawn")
    assert "37" in ok("info", "hexapawn")
    raises(BookError, "cannot be read .No such file", Book, Path("tic-tac-toe"))


def test_a_game_and_rules_beside_it_agree_or_are_refused():
    assert Player("tic-tac-toe", "tic-tac-toe").value(0).source == "book"
    raises(MethodError, "connect-four:5,5 is a game itself", Player, "connect-four:5,5", "connect-four")


@pytest.mark.parametrize(
    ("source", "kind", "words"),
    [
        ("conect-four", GameError, "no game 'conect-four': did you mean connect-four, "),
        ("no.lmdb", BookError, "no.lmdb cannot be read .No such file or directory.*: solve the game first"),
        ("notes.text", BookError, "notes.text cannot be read .No such file.*; did you mean notes.txt.*: solve"),
        ("no/such", BookError, "no.such cannot be read .No such file"),
        ("notes.txt", ForeignBook, "notes.txt is not an LMDB file: name a book"),
        ("connect-four:0", GameError, "width must be from 1 to 125"),
    ],
)
def test_what_names_nothing_is_refused_with_what_was_tried(source, kind, words):
    Path("notes.txt").write_text("notes", encoding="utf-8")
    for door in (Player, game_of, solver.solve, lambda source: grade(source, [])):
        raises(kind, words, door, source)


def test_no_rules_run_where_a_book_alone_is_asked_for():
    Path("evil.py").write_text("raise SystemExit('run')", encoding="utf-8")
    for text in ("evil.py", "evil.py::Evil", "evil::Evil"):
        assert isinstance(shipped.book_or_game(text), str)
        raises(BookError, "the package has no book of .*: make one", Book, text)
        raises(GameError, "run", open_source, text)


def test_a_book_of_ones_own_game_says_the_whole_command():
    with pytest.raises(MissingRules) as error:
        Book("race.lmdb").game  # noqa: B018
    assert error.value.rules == "my_game.py" and "--game my_game.py, or" in str(error.value)
    assert str(pickle.loads(pickle.dumps(error.value))) == str(error.value)  # noqa: S301
    command = "solver query --game my_game.py race.lmdb '1 2' --no-moves"
    said = f"{command}, or for all commands: export SOLVER_GAME=my_game.py"
    fails(5, said, "query", "race.lmdb", "1 2", "--no-moves")
    fails(5, "SOLVER_GAME=my_game.py solver solve race.lmdb", "solve", "race.lmdb")
    os.mkdir("elsewhere")
    os.chdir("elsewhere")
    fails(5, "solver verify --game PATH/my_game.py ../race.lmdb", "verify", "../race.lmdb")


def test_the_file_alone_names_the_rules_of_a_book(monkeypatch):
    """Of several classes of rules in it the header says which, and with which parameters."""
    other = RACE.replace("class Race", "class Backwards").replace("-1", "1")
    Path("my_game.py").write_text(f"{RACE}\n\n{other}\n\nclass Helper:\n    pass\n", encoding="utf-8")
    ok("solve", "my_game.py::Backwards:9", "-o", "backwards.lmdb", "-q")
    for book, goal in (("race.lmdb", 12), ("backwards.lmdb", 9)):
        for door in (lambda book: Book(book, "my_game.py").game, lambda book: open_source(book, "my_game.py").game):
            assert door(book)[0] == goal
        assert ok("verify", book, "--game", "my_game.py").startswith(f"{book}: proved")
    monkeypatch.setenv(RULES, "my_game.py")
    assert type(Book("backwards.lmdb").game).__name__ == "Backwards"
    # what you name goes before the header, and a header names no class but of rules
    raises(ForeignBook, "was made by rules", Book, "race.lmdb", "my_game.py::Backwards")
    for name in ("my_game.py::Helper", "connect-four:5,4"):
        raises(GameError, "several classes .* my_game.py::Race, my_game.py::Backwards", rules_for, "my_game.py", name)


def test_the_environment_names_the_rules_for_all_commands(monkeypatch):
    monkeypatch.setenv(RULES, "my_game.py")
    assert Book("race.lmdb").game == (12, 3)
    assert json.loads(ok("query", "race.lmdb", "start", "--json"))["distance"] == 6
    assert ok("verify", "race.lmdb").startswith("race.lmdb: proved")
    assert "Race:12" in ok("pack", "race.lmdb", "-o", "packed.lmdb")
    assert ok("line", "race.lmdb").count("\n") >= 1
    assert ok("grade", "race.lmdb", "-", stdin="1 3\n")
    # books of the package's games have their own rules
    assert json.loads(ok("query", "book.lmdb", "start", "--json"))["value"] == "loss"
    assert Player("tic-tac-toe").value(0).source == "book"
    # what is named on the command line goes first
    assert run("query", "race.lmdb", "start", "--game", "my_game.py::Race:13")[0] == 5


def test_wrong_rules_in_the_environment_are_said_to_be_those(monkeypatch):
    Path("other.py").write_text(RACE.replace("-1", "1"), encoding="utf-8")
    for path, error, words in (
        ("none.py", GameError, "SOLVER_GAME=none.py: .none.py. cannot be read"),
        ("other.py", MissingRules, "SOLVER_GAME names those of other.py::Race:12: name its rules"),
    ):
        monkeypatch.setenv(RULES, path)
        raises(error, words, getattr, Book("race.lmdb"), "game")
    Path("renamed.py").write_text(RACE, encoding="utf-8")
    monkeypatch.setenv(RULES, "renamed.py")
    assert Book("race.lmdb").game == (12, 3)


def test_a_book_never_runs_code_that_it_names():
    Path("my_game.py").write_text("raise SystemExit('run')", encoding="utf-8")
    done = python("import solver; b = solver.Book('race.lmdb'); print(b[12], len(b)); solver.check_book(b); b.game")
    assert done.stdout == "Value(score=-1, distance=6) 12\n" and "MissingRules" in done.stderr


@pytest.mark.parametrize("name", ["tic-tac-toe", "pig:15", "connect-four"])
def test_counts_add_up_in_sight(name):
    rows = dict(line.split(maxsplit=1) for line in ok("info", name, "-q").splitlines() if line[:1].strip())
    counts, _, said = rows["to"].removeprefix("move").partition(":")
    total = sum(int(part.split()[0].replace(",", "")) for part in counts.split(", "))
    whole = rows["states"].partition(" ")[0].rstrip(",") if "states" in rows else rows["stored"]
    assert f"{total:,}" == whole
    assert said == (f" all {total:,}, terminal ones included" if "states" in rows else "")
