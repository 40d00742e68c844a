"""Pages: rules run in JavaScript as in Python, a page says what a player says, folders are written whole."""

import json
import os
import random
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from solver import pipeline
from solver.book import Book
from solver.cli.common import in_all, in_words
from solver.errors import GameError, MethodError
from solver.export import export, site
from solver.export.records import all_of, record_of, sampled
from solver.game import Rules, load_game
from solver.notation import first_position, format_action, next_position
from solver.player import Player
from tests.books import write_values
from tests.games import EDGE_GAMES, LARGE_GAMES, SMALL_GAMES
from tests.test_cli import ok, run
from tests.test_export import needs_node

MORE_GAMES = ("connect-four", "othello", "kalah", "chess-ending:KQK", "chess-ending:KBNK", "chess-ending:KPK")
DRAWN = (
    "tic-tac-toe", "connect-four:4,4", "hexapawn", "othello:4,2", "nine-holes", "neutreeko", "fox-and-hounds:4",
    "nannon:3,2,3", "einstein:3,2",
)  # fmt: skip


def node(command, *arguments):
    script = Path(__file__).parent / "port.mjs"
    done = subprocess.run(["node", script, command, *map(str, arguments)], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def modules(tmp_path_factory):
    """A folder in which Node finds what a game.js imports."""
    folder = tmp_path_factory.mktemp("modules")
    for path in (*(site.WEB / "site").iterdir(), site.WEB / "package.json"):
        shutil.copy(path, folder)
    return folder


def ported(folder, name, rules, records):
    path = folder / f"{re.sub('[^a-z0-9]', '_', name)}.js"
    path.write_text(f"{site.translation(rules)}\nexport const records = {json.dumps(records)};\n")
    return path


@needs_node
def test_rules_run_in_javascript_as_in_python(modules):
    paths = []
    for name in (*SMALL_GAMES, *LARGE_GAMES, *EDGE_GAMES, *MORE_GAMES):
        rules = Rules(load_game(name))
        paths.append(ported(modules, name, rules, sampled(rules, 12 if name in EDGE_GAMES else 40, seed=7)))
    assert node("differences", *paths) == {}


@needs_node
def test_a_port_that_differs_is_found(modules):
    rules = Rules(load_game("connect-four:4,3"))
    path = ported(modules, "wrong", rules, sampled(rules, 80))
    text = path.read_text()
    path.write_text(text.replace("py.mul(step, 2n)", "py.mul(step, 3n)"))
    assert path.read_text() != text
    ((record, found),) = node("differences", path).values()
    assert record["state"] in text and found != record


STRANGE = '''
import enum
from typing import NamedTuple

TABLE = {0: (1, 2), 1: (3, 4)}
PRIMES = {2, 3, 5, 7}


class Side(enum.Enum):
    LEFT = 3


class Step(enum.IntEnum):
    ONE = 1


def fold(numbers, start=0, *, twice=False):
    total = start
    for number in numbers:
        total += number * 2 if twice else number
    return total


class Strange(NamedTuple):
    """Counts up, and shows what Python has."""

    goal: int = 12
    weights: tuple = (3, 1, 2)

    FACTOR = 2

    def initial(self): return 0

    def actions(self, state):
        for step, (weight, new) in enumerate(zip(self.weights, reversed(self.weights), strict=True)):
            if step >= 0 and weight + new and not (state == 5 and step == 1):
                yield step

    def result(self, state, action):
        delete = state + action + Step.ONE
        return delete

    def is_terminal(self, state): return not state < self.goal

    def utility(self, state): return -1

    @property
    def double(self): return self.goal * self.FACTOR

    @staticmethod
    def clipped(number, low=-3, high=3): return max(low, min(number, high))

    @classmethod
    def named(cls, number): return cls.FACTOR * number

    def format_action(self, state, action): return f"+{action + 1}"

    def show(self, state):
        """All of it in one text."""
        n = state - 6
        parts = [n // 4, n % 4, -n // 3, n ** 2, n << 1, n >> 1, ~n, n & 5, n | 8, n ^ 3, divmod(n, 5), abs(n), n > 0]
        words = ["%s" if False else str(part) for part in parts if not isinstance_tuple(part)]
        rows = [[0] * 3 for _ in range(2)]
        rows[n % 2][-1] += 7
        first, (second, *_none) = 1, (2,)
        third = fourth = n
        third -= 1
        numbers = sorted([n, 3, -1, 2], key=lambda one: -one * one, reverse=True)
        numbers += [99]
        numbers.append(numbers.pop(0))
        i = 0
        while True:
            i += 1
            if i % 2:
                continue
            if i > 4:
                break
        def inner(number):
            return number + i
        facts = [any(one > 3 for one in numbers), all(numbers), sum(one for one in range(n)), n in PRIMES, n in (1, 2),
                 n not in TABLE, -3 < n <= 3, None is None, n and 5, n or "none", not n, fold(numbers, twice=True),
                 fold(numbers, 5), self.double, self.clipped(n), self.clipped(n, high=1), self.named(n), len(TABLE),
                 TABLE[n % 2][-1], TABLE.get(9, 4), min(numbers, default=0), bin(n & 7).count("1"), inner(n),
                 int(n / 4), bool(n), n.bit_length(), (n & 255).bit_count(), True + 1, (n > 0) - (n < 0),
                 Side.LEFT.value, "ab" * (n % 3)]
        text = "abcdef"[n % 6] + "abcdef"[1:-1:2] + "abcdef"[::-1] + ", ".join(map(str, numbers[n % 3:]))
        shown = f"{n:3}|{n:<4}|{n:+d}|{text:>30}|{'x':^5}|{n:03}|{n / 10:.2f}"
        return "/".join([*words, *(str(fact) for fact in facts), str(rows[0][2]), shown, text.upper().strip("A")])


def isinstance_tuple(part):
    return part == (part, part) or str_of(part) == ""


def str_of(part):
    for quotient, rest in ((-2, 4), (-1, 0), (-1, 1), (-1, 2), (-1, 3), (-1, 4), (0, 0), (0, 1), (0, 2), (0, 3), (0, 4),
                           (1, 0), (1, 1), (1, 2), (1, 3)):
        if part == (quotient, rest):
            return ""
    return "other"
'''.replace("first, (second, *_none) = 1, (2,)", "first, (second, last) = 1, (2, 3)")


@needs_node
def test_python_as_people_write_it_runs(tmp_path, modules):
    (tmp_path / "strange.py").write_text(STRANGE)
    rules = Rules(load_game(f"{tmp_path}/strange.py::Strange"))
    records = all_of(rules, 100)
    assert len({record["board"] for record in records}) == 15
    assert node("differences", ported(modules, "strange", rules, records)) == {}


REFUSED = {
    "try": "try: return -1\n        finally: pass",
    "with": "with None: return -1",
    "else": "for one in (1,): pass\n        else: pass\n        return -1",
    "method": "return 'a'.encode()[0]",
    "import": "import math\n        return -1",
    "star": "a, *b = 1, 2\n        return -1",
    "base": "return int('12', 3)",
    "modulus": "return pow(2, 3, 5)",
    "value": "return list(map(max, ((1,), (2,))))[0]",
    "count": "return len('aaa'.replace('a', 'b', 1))",
    "percent": "return len('%d' % 5)",
}


@pytest.mark.parametrize("kind", REFUSED)
def test_what_has_no_translation_is_named_by_its_line(tmp_path, kind):
    file = tmp_path / f"refused_{kind}.py"
    utility = f"def utility(self, state):\n        {REFUSED[kind]}"
    file.write_text(STRANGE.replace("def utility(self, state): return -1", utility))
    rules = Rules(load_game(f"{file}::Strange"))
    line = 1 + file.read_text()[: file.read_text().index("def utility")].count("\n")
    with pytest.raises(MethodError, match=rf"^Strange.utility, line ({line + 1}|{line + 2}) of {file.name}: .* has no"):
        site.translation(rules)


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """The page of a game, or of its ranked book, made once; with what Node needs beside it."""
    made = {}

    def page(name):
        if name not in made:
            folder = tmp_path_factory.mktemp("page")
            shutil.copy(site.WEB / "package.json", folder)
            text, _, codec = name.partition(" ")
            pipeline.solve(load_game(text), folder / "book.lmdb", codec=codec or "instant").close()
            with Book(folder / "book.lmdb") as book:
                export(book, f"{folder}/site/")
            made[name] = folder
        return made[name]

    return page


def positions_of(rules, count, seed=3):
    """Positions along random games, as `solver query` would be told them."""
    chance, found = random.Random(seed), []
    while len(found) < count:
        position = first_position(rules)
        while not rules.is_terminal(position.state) and position.ply < 40 and len(found) < count:
            position = next_position(rules, position, chance.choice(list(rules.actions(position.state))))
            found.append(position)
    return found


@needs_node
@pytest.mark.parametrize(
    "name",
    ["tic-tac-toe", "connect-four:4,4", "kalah:3,2", "dots-and-boxes:2,2", "nine-holes", "connect-four:4,3 ranked",
     "dots-and-boxes:2,2 ranked"],
)  # fmt: skip
def test_a_page_says_what_a_player_says(pages, name, tmp_path):
    folder = pages(name)
    with Book(folder / "book.lmdb") as book:
        player, rules = Player(book), Rules(book.game, book.symmetry)
        positions = positions_of(rules, 150)
        asked = [[str(one.state), one.mover or 0, one.gained or 0] for one in positions]
        (tmp_path / "asked").write_text(json.dumps(asked))
        answers = node("answers", folder / "site", tmp_path / "asked")
        for position, answer in zip(positions, answers, strict=True):
            value, moves = player.examine(position.state)
            said = {
                format_action(rules.game, position.state, move.action): [in_words(move.value, rules), move.best]
                for move in moves
            }
            assert {name: [words.replace("\u2212", "-"), best] for name, words, best in answer["moves"]} == said
            if moves:
                assert answer["words"].replace("\u2212", "-") == in_all(value.value, rules, position.gained)
            assert answer["record"] == record_of(rules, position, ranked=book.ranking is not None)
            best = player.best(position.state) if moves else None
            assert answer["chosen"] == (best if best is None else format_action(rules.game, position.state, best))


@needs_node
def test_a_page_of_a_book_without_distances_says_none(pages, tmp_path):
    folder = pages("tic-tac-toe")
    with Book(folder / "book.lmdb") as book:
        player, game = Player(book), book.game
        positions = [one for one in positions_of(player.rules, 100) if not game.is_terminal(one.state)]
        (tmp_path / "asked").write_text(json.dumps([[str(one.state), one.mover, 0] for one in positions]))
        answers = node("answers", folder / "site", tmp_path / "asked", "wdl")
        for position, answer in zip(positions, answers, strict=True):
            value, moves = player.examine(position.state)
            said = {format_action(game, position.state, move.action): move.value.outcome for move in moves}
            assert answer["words"] == value.value.outcome
            assert {name: words for name, words, _ in answer["moves"]} == said
            assert all(best == (words == value.value.outcome) for _, words, best in answer["moves"])


@needs_node
@pytest.mark.parametrize("kept", ["a few plies", "every third"])
def test_of_what_a_book_lacks_two_plies_are_searched(tmp_path, kept):
    """An opening book, and one with holes: what is said is right, and where two plies tell it, it is said."""
    with pipeline.solve(load_game("connect-four:4,3,3")) as whole:
        rules, player = Rules(whole.game), Player(whole)
        stays = {"a few plies": lambda state: rules.tier(state) < 4, "every third": lambda state: state % 3 == 0}[kept]
        facts = {"game": whole.header.game, "rules": whole.rules, "method": "alphabeta", "scope": "exact",
                 "symmetry": True, "states": None, "terminal": None, "tiers": None}  # fmt: skip
        write_values(tmp_path / "b.lmdb", {one: value for one, value in whole.items() if stays(one)}, facts=facts)
        shutil.copy(site.WEB / "package.json", tmp_path)
        with Book(tmp_path / "b.lmdb") as book:
            export(book, f"{tmp_path}/site/")
            positions = [one for one in positions_of(rules, 300) if not rules.is_terminal(one.state)]
            (tmp_path / "asked").write_text(json.dumps([[str(one.state), one.mover, 0] for one in positions]))
            answers = node("answers", tmp_path / "site", tmp_path / "asked")
            stored = sum(rules.canonical(one.state) in book for one in positions)
        known = [is_right(*pair, player, rules) for pair in zip(positions, answers, strict=True)]
        assert stored + 20 < sum(known) < len(known)


def is_right(position, answer, player, rules):
    """Whether the page knows a position's value; all that it says has to be the player's."""
    value, moves = player.examine(position.state)
    said = {format_action(rules.game, position.state, move.action): move for move in moves}
    for name, words, best in answer["moves"]:
        assert words in ("unknown", in_words(said[name].value, rules)) and best <= said[name].best, (position, name)
    assert answer["words"] in ("unknown", in_words(value.value, rules))
    return answer["words"] != "unknown"


@pytest.fixture
def tabled(tmp_path):
    """The book of a game of a few positions whose board has no translation."""
    text = STRANGE.replace('        """All of it in one text."""', "        import re")
    (tmp_path / "tabled.py").write_text(text)
    with pipeline.solve(load_game(f"{tmp_path}/tabled.py::Strange"), tmp_path / "tabled.lmdb") as book:
        yield book


@needs_node
def test_rules_without_translation_are_a_table_where_the_game_is_small(tabled, tmp_path):
    export(tabled, f"{tmp_path}/site/")
    shutil.copy(site.WEB / "package.json", tmp_path)
    rules, player = Rules(tabled.game), Player(tabled)
    assert "tabled([" in (tmp_path / "site" / "game.js").read_text()
    (tmp_path / "asked").write_text(json.dumps([[record["state"], record["mover"], 0] for record in all_of(rules, 99)]))
    answers = node("answers", tmp_path / "site", tmp_path / "asked")
    assert [answer["record"] for answer in answers] == all_of(rules, 99)
    assert answers[0]["words"] == in_words(player.value(0).value, rules)


def test_a_large_game_without_translation_is_refused(tabled, tmp_path, monkeypatch):
    monkeypatch.setattr(site, "TABLED", 5)
    with pytest.raises(MethodError, match=r"Strange.show, line \d+ of tabled.py: 'import re' has no translation"):
        export(tabled, f"{tmp_path}/site/")
    assert not (tmp_path / "site").exists()


def test_pages_are_the_same_every_time_and_need_nothing_else(pages, tmp_path):
    folder = pages("tic-tac-toe")
    with Book(folder / "book.lmdb") as book:
        for name in ("one/", "two/"):
            export(book, f"{tmp_path}/{name}")
        export(book, tmp_path / "one")  # a page is replaced
        export(book, tmp_path / "book.bin")
    files = {path.name: path.read_bytes() for path in (tmp_path / "one").iterdir()}
    assert files == {path.name: path.read_bytes() for path in (tmp_path / "two").iterdir()}
    assert files == {path.name: path.read_bytes() for path in (folder / "site").iterdir()}
    assert files["book.bin"] == (tmp_path / "book.bin").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["book.bin", "one", "two"]
    texts = {name: data.decode() for name, data in files.items() if name != "book.bin"}
    reference = r'(?:from |src=|href=|remote\()"(?:\./)?([^"#]+)"'
    named = {one for text in texts.values() for one in re.findall(reference, text)}
    assert named - {"connect-four.bin"} | {"index.html"} == set(files)  # an example in a comment
    others = {"http://www.w3.org/2000/svg"}  # the name of a language
    assert {one for text in texts.values() for one in re.findall(r"https?://[^\s\"']+", text)} == others


def test_a_folder_with_anything_else_is_left_alone(pages, tmp_path, monkeypatch):
    book = pages("tic-tac-toe") / "book.lmdb"
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "index.html").write_text("mine")
    (tmp_path / "file").write_text("mine")
    shutil.copytree(pages("tic-tac-toe") / "site", tmp_path / "ours")
    (tmp_path / "ours" / "CNAME").write_text("mine")
    for name, reason in (("mine", "holds files that are no page"), ("ours/", "holds CNAME"), ("file/", "is no folder")):
        code, out, err = run("export", book, "-o", f"{tmp_path}/{name}")
        assert (code, out) == (2, "") and reason in err and err.count("\n") == 1
    code, _, err = run("export", book, "-o", tmp_path / "site")
    assert code == 2 and "or a folder for a page, with a slash: site/" in err
    code, _, err = run("export", book, "-o", f"{tmp_path}/nowhere/site/")
    assert code == 2 and "does not exist" in err
    code, _, err = run("export", book, "-o", f"{tmp_path}/site/", "--columns", "state")
    assert code == 2 and "holds the whole book" in err
    assert (tmp_path / "mine" / "index.html").read_text() == "mine"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "mine", "ours"]
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    code, _, err = run("export", book, "-o", ".")
    assert code == 2 and "is the folder you are in" in err
    monkeypatch.chdir(tmp_path)
    assert "627 states" in ok("export", book, "-o", tmp_path / "empty")


def test_nothing_is_left_of_a_page_that_fails(pages, tmp_path):
    def interrupt(step, done, total, note=""):
        raise KeyboardInterrupt

    page = tmp_path / "site"
    with Book(pages("tic-tac-toe") / "book.lmdb") as book:
        export(book, f"{page}/")
        with pytest.raises(KeyboardInterrupt):
            export(book, page, progress=interrupt)
        assert (page / "book.bin").exists() and len(list(tmp_path.iterdir())) == 1
        os.rename(page, tmp_path / ".site.999999999.replaced")  # killed between two steps
        shutil.copytree(tmp_path / ".site.999999999.replaced", tmp_path / ".site.999999999.partial")
        with pytest.raises(KeyboardInterrupt):
            export(book, f"{page}/", progress=interrupt)
        assert (page / "book.bin").exists() and len(list(tmp_path.iterdir())) == 1


def test_rules_draw_boards(pages):
    """Of every game that draws one, `show` has the same men, and a move's last cell changes with it."""
    for name in DRAWN:
        rules = Rules(load_game(name))
        for record in sampled(rules, 40):
            rows = record["board"]
            assert isinstance(rows, list) and {len(row) for row in rows} == {len(rows[0])}
            for move in record["moves"]:
                child = record_of(rules, first_position(rules, int(move["child"]))._replace(mover=move["mover"]))
                before, after = "".join(rows), "".join(child["board"])
                assert not move["place"] or before[move["place"][-1]] != after[move["place"][-1]], (name, move)


@pytest.mark.parametrize(
    ("method", "message"),
    [
        ('cells(self, state, mover): return ["..", "."]', "rows of one length, a character a cell"),
        ("cells(self, state, mover): return []", "rows of one length, a character a cell"),
        (
            'cells(self, state, mover): return [".."]\n    def place(self, state, action): return [2]',
            "cells are numbered",
        ),
    ],
)
def test_boards_that_are_none_are_refused(tmp_path, method, message):
    (tmp_path / "rules.py").write_text(STRANGE.replace("def initial", f"def {method}\n\n    def initial"))
    with pytest.raises(GameError, match=message):
        sampled(Rules(load_game(f"{tmp_path}/rules.py::Strange")), 3)
