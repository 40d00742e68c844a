"""Pages: rules run in JavaScript as in Python, a page says what a player says, folders are written whole.

As an opponent and a teacher a page plays and refutes as Python does; its board shows the best of the moves of a cell.
"""

import json
import os
import random
import re
import shutil

import pytest

from solver.base.errors import GameError, MethodError
from solver.base.value import Value, lift_value, merit_of
from solver.book import Book
from solver.export import export, script, site
from solver.export.script import all_of, record_of, sampled
from solver.games import CATALOGUE, FROM_FILES
from solver.play.analysis import OPPONENTS
from solver.play.player import Player
from solver.play.practical import LEVELS, Practical
from solver.rules.boards.text import drawing_of, is_drawn
from solver.rules.game import Rules, load_game
from solver.rules.notation import first_position, format_action, in_all, in_words, summary_of
from solver.solving import pipeline
from tests import DATA, ROOT, naive
from tests.books import write_values
from tests.commands import ok
from tests.exports import needs_node
from tests.modules import node as search_node
from tests.pages import ask, ask_positions, export_page, named, node, positions_of, said_of, words_of, write_grown
from tests.refusals import failing, fails, raises
from tests.sweep.test_expectation import Bids
from tests.ways import slow, slow_rows
from tests.written import line_of, write_rules

ALL = ["chess-ending:KBNK", *(name for name in CATALOGUE if name not in (*FROM_FILES, "chess-ending"))]
WITHOUT_CHANCE = [
    *("tic-tac-toe", "dots-and-boxes:2,2 ranked"),
    *slow("dots-and-boxes:2,2", "nine-holes", "connect-four:4,4", "kalah:3,2", "connect-four:4,3 ranked", "awari"),
]
WITH_CHANCE = ["piglet:5", "einstein:3,2", "bids", *slow("pig:10", "nannon:3,2,3", "backgammon-bearoff:1", "ur:1")]


@needs_node
@pytest.mark.parametrize("name", [*WITHOUT_CHANCE, *WITH_CHANCE])
def test_a_page_says_what_a_player_says(pages, name):
    game = Bids() if name == "bids" else None
    folder = pages(name, game)
    with Book(folder / "book.lmdb", game) as book:
        player, rules = Player(book), book.rules
        for position, answer in ask_positions("answers", folder, positions_of(rules, 60)):
            value, moves = player.examine(position.state)
            outcomes = player.outcomes(position.state)
            assert {name: [words, best] for name, words, best in answer["moves"]} == said_of(player, position)
            if moves and not outcomes:
                best = player.best(position.state)
                assert answer["chosen"] == format_action(rules.game, position.state, best)
            if moves and book.expectation is None:
                assert answer["words"] == in_all(value.value, rules, position.gained)
            elif moves or outcomes:
                assert words_of(player, value.value) in answer["words"]
            else:
                assert answer["chosen"] is None
            assert answer["record"] == record_of(rules, position, keys=book.codec_keys)
            likely = [number / total for number, total in (map(int, one.split("/")) for one in answer["odds"])]
            assert (answer["byChance"], likely) == (bool(outcomes), [one.probability for one in outcomes])


@needs_node
@pytest.mark.parametrize("name", ["tic-tac-toe", "nim:2,3 nimbers"])
def test_a_page_of_a_book_without_distances_says_none(pages, name):
    folder = pages(name)
    with Book(folder / "book.lmdb") as book:
        player, game = Player(book), book.game
        positions = [one for one in positions_of(player.rules, 50) if not game.is_terminal(one.state)]
        for position, answer in ask_positions("answers", folder, positions, "wdl"):
            value, moves = player.examine(position.state)
            said = {format_action(game, position.state, move.action): move.value.outcome for move in moves}
            assert answer["words"] == value.value.outcome
            assert {name: words for name, words, _ in answer["moves"]} == said
            assert all(best == (words == value.value.outcome) for _, words, best in answer["moves"])


@needs_node
@pytest.mark.parametrize("kept", [*slow("a few plies"), "every third"])
def test_of_what_a_book_lacks_two_plies_are_searched(tmp_path, kept, monkeypatch):
    """An opening book, and one with holes: what is said is right, and where two plies tell it, it is said."""
    monkeypatch.setattr(site, "module_of", lambda *asked: None)
    with pipeline.solve(load_game("connect-four:4,3,3")) as whole:
        rules, player = Rules(whole.game), Player(whole)
        stays = {"a few plies": lambda state: rules.tier(state) < 4, "every third": lambda state: state % 3 == 0}[kept]
        facts = {"game": whole.header.game, "rules": whole.header.rules, "method": "alphabeta", "scope": "exact"}
        facts |= {"symmetry": True, "states": None, "terminal": None, "tiers": None}
        write_values(tmp_path / "b.lmdb", {one: value for one, value in whole.items() if stays(one)}, facts=facts)
        positions = [one for one in positions_of(rules, 70) if not rules.is_terminal(one.state)]
        with Book(tmp_path / "b.lmdb") as book:
            export_page(book, tmp_path)
            stored = sum(rules.canonical(one.state) in book for one in positions)
        known = [is_right(*pair, player, rules) for pair in ask_positions("answers", tmp_path, positions)]
        assert stored + 10 < sum(known) < len(known)
        stopped = list(ask_positions("stopped", tmp_path, positions, 3))
        fewer = [is_right(*pair, player, rules) for pair in stopped]
        assert stored < sum(fewer) < sum(known) and max(answer["asked"] for _, answer in stopped) == 4


@needs_node
def test_a_page_of_a_grown_book_tells_estimates_from_what_is_exact(tmp_path, monkeypatch):
    """What is said to be exact is; what a player has from the book as an estimate is said to be one, with its depth."""
    monkeypatch.setattr(site, "module_of", lambda *asked: None)
    write_grown(tmp_path / "book.lmdb")
    with Book(tmp_path / "book.lmdb") as book:
        export_page(book, tmp_path)
        assert "olved" not in (tmp_path / "site" / "index.html").read_text("utf-8")
        game, player, truth, kinds = book.game, Player(book, live=False), naive.solve(book.game), set()
        positions = [one for one in positions_of(player.rules, 60) if not game.is_terminal(one.state)]
        for position, answer in ask_positions("answers", tmp_path, positions):
            known, moves = player.examine(position.state)
            names = {format_action(game, position.state, move.action): move for move in moves}
            asked = [(truth[position.state], known, answer["words"])]
            for name, words, _ in answer["moves"]:
                asked.append((lift_value(truth[names[name].child], False), names[name], words))
            kinds |= {agreed(*one) for one in asked}
            best = {name for name, _, is_best in answer["moves"] if is_best}
            if all(move.source == "book" and not move.exact for move in moves):
                assert best == {name for name, move in names.items() if move.best}
            leans = {0.5: " far better", 0.1: " better", 0.0: "", -0.1: " worse", -0.5: " far worse"}
            if "looks" in answer["words"]:
                assert answer["kind"] == f"unknown{leans[round(known.estimate, 1)]}"
    assert kinds == {"exact", "estimate", "sure", "unknown"}


def agreed(value, told, words):
    """How a value is told in words, which have to be right, and no less than a player says without a search."""
    if words == "unknown":
        assert told.value is None and told.estimate is None
    elif words in ("win, distance unknown", "loss, distance unknown"):
        assert words.startswith(value.outcome) and not told.exact
        return "sure"
    elif "estimate" in words:
        found = re.fullmatch(r"(?:looks (even|better|worse) \()?estimate ([-+]?\d\.\d\d), depth 4\)?", words)
        assert told.source == "book" and not told.exact and abs(float(found[2]) - told.estimate) < 0.0051, words
        return "estimate"
    else:
        assert words == value.words()
        return "exact"
    return "unknown"


def is_right(position, answer, player, rules):
    """Whether the page knows a position's value; all that it says has to be the player's."""
    value, moves = player.examine(position.state)
    said = {format_action(rules.game, position.state, move.action): move for move in moves}
    for name, words, best in answer["moves"]:
        assert words in ("unknown", in_words(said[name].value, rules)) and best <= said[name].best, (position, name)
    assert answer["words"] in ("unknown", in_words(value.value, rules))
    return answer["words"] != "unknown"


# Draws, moves again that score, cycles; symmetry, heaps, captures
some_games = pytest.mark.parametrize(
    "name", ["tic-tac-toe", "kalah:3,2", *slow("three-mens-morris", "connect-four:4,3", "nim", "hexapawn")]
)


def states_of(book, count):
    """Unfinished states with a choice, spread over the book."""
    rules = book.rules
    states = [state for state in book if not rules.is_terminal(state) and len(list(rules.actions(state))) > 1]
    return states[:: max(1, len(states) // count)][:count]


@needs_node
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


@needs_node
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


TITLED = (  # games, titles, parts of summaries
    ("connect-four:4,4", "Connect Four 4 \u00d7 4", ""),
    ("connect-four:4,3,3", "Connect Four 4 \u00d7 3, connect 3", "; 3 in a row, column or diagonal wins"),
    ("tic-tac-toe:3,3,3,true", "Tic Tac Toe 3 \u00d7 3, misere", "; 3 in a row, column or diagonal loses;"),
    ("dots-and-boxes", "Dots and Boxes 2 \u00d7 2", ""),
    ("chess-ending:KPK", "Chess Ending KPK", ""),
    ("pig:15,8", "Pig, goal 15, sides 8", "Throw a die of 8 sides again"),
    ("kalah:3,2,false", "Kalah, houses 3, seeds 2, without empty capture", ""),
    ("nim:1,3,5", "Nim, heaps 1 3 5", ""),
    *((name, "", "") for name in ALL),
)


def test_a_page_is_titled_in_words_and_a_summary_has_numbers_for_parameters():
    for name, title, part in TITLED:
        words = summary_of(load_game(name))
        assert title in ("", site.title_of(load_game(name))) and part in words, name
        assert "`" not in words and not re.search(r"\b(\w+) \1\b", words), words


COIN = (DATA / "coin.txt").read_text("utf-8")  # dice
LEVERS = (DATA / "strange.txt").read_text("utf-8").replace('        """All of it in one text."""', "        import re")


@needs_node
@pytest.mark.parametrize("text", [LEVERS, COIN], ids=["moves", "dice"])
def test_rules_without_translation_are_a_table_where_the_game_is_small_else_numbers(tmp_path, monkeypatch, text):
    (tmp_path / "rules.py").write_text(text)
    (tmp_path / "large").mkdir()
    with pipeline.solve(load_game(f"{tmp_path}/rules.py"), tmp_path / "book.lmdb") as book:
        rules, player = Rules(book.game), Player(book)
        export_page(book, tmp_path)
        assert "tabled([" in (tmp_path / "site" / "game.js").read_text("utf-8")
        records = all_of(rules, 99)
        answers = ask("answers", tmp_path, [[record["state"], record["mover"], 0] for record in records])
        assert [answer["record"] for answer in answers] == records and len(records) > 8
        assert words_of(player, player.value(0).value) in answers[0]["words"]
        monkeypatch.setattr(script, "TABLED", 3)
        (note,) = export_page(book, tmp_path / "large")
    assert re.match(r"\w+\.show, line \d+ of rules.py: 'import re' has .*: the page shows states by", note)
    assert node("differences", tmp_path / "large" / "site" / "game.js") == {}
    (answer,) = ask("answers", tmp_path / "large", [["2", 1, 0]])
    assert answer["record"]["board"] == "#2" and answer["moves"][0][0] == ("+1" if text == LEVERS else "0")


UNTRANSLATABLE = {
    "try": "try: return -1\n        finally: pass",
    "with": "with None: return -1",
    "else": "for one in (1,): pass\n        else: pass\n        return -1",
    "method": "return 'a'.encode()[0]",
    "import": "import math\n        return -1",
    "star": "a, *b = 1, 2\n        return -1",
    "base": "return int('12', 3)",
    "modulus": "return pow(2, 3, 5)",
    "lambda": "return (lambda: -1)()",
    "float": "return int(2.5)",
    "count": "return len('aaa'.replace('a', 'b', 1))",
    "percent": "return len('%d' % 5)",
    "format": "return len(f'{state:+}')",
    "repr": "return len(f'{state!r}')",
    "division": "return int(state / 2)",
    "plus": "return +state",
    "cut": "items = [1, 2]\n        items[:1] = []\n        return -1",
    "set": "return len({state})",
    "dict": "return len({state: 1})",
    "walrus": "return (a := state)",
    "key": "return max([1, 2], key=abs)",
    "nested": "def a(): return 1\n        return a()",
}


@pytest.mark.parametrize("kind", UNTRANSLATABLE)
def test_what_has_no_translation_is_named_by_its_line(tmp_path, kind):
    file = tmp_path / f"refused_{kind}.py"
    utility = f"def utility(self, state):\n        {UNTRANSLATABLE[kind]}"
    strange = (DATA / "strange.txt").read_text("utf-8")
    file.write_text(strange.replace("def utility(self, state): return -1", utility))
    rules = Rules(load_game(f"{file}::Strange"))
    line = line_of(file, "def utility")
    refusal = rf"^Strange.utility, line ({line + 1}|{line + 2}) of {file.name}: .* has no"
    raises(MethodError, refusal, script.translation, rules, named(rules))


def refuse(monkeypatch, name):
    """Let a method of the rules have no translation, and no table be small enough."""
    translated = script.translation

    def translation(rules, names):
        if name in names:
            raise MethodError(f"{name}, line 1: 'try' has no translation to JavaScript")
        return translated(rules, names)

    monkeypatch.setattr(script, "TABLED", 5)
    monkeypatch.setattr(script, "translation", translation)


UNTRANSLATED = [("tic-tac-toe", "actions"), ("tic-tac-toe", "cells"), ("connect-four:4,3", "format_action")]
UNTRANSLATED += slow_rows(("tic-tac-toe", "canonical"), ("pig:10", "is_terminal"), ("kalah:2,2", "is_terminal"))
UNTRANSLATED += slow_rows(("connect-four:4,3 ranked", "rank"))


@needs_node
@pytest.mark.parametrize(("game", "name"), UNTRANSLATED)
def test_where_rules_have_no_translation_the_module_tells_them(pages, tmp_path, monkeypatch, game, name):
    """A shipped one, or a built one: that of a book that is whole is there for its rules, and searches nothing."""
    path = pages(game) / "book.lmdb"  # made before the patches, as other tests take it
    refuse(monkeypatch, name)
    instead = {"cells": "states by their numbers", "format_action": "moves by their cells"}.get(name)
    with Book(path) as book:
        notes = export_page(book, tmp_path)
    assert bool(instead) == bool(notes) and all(note.endswith(instead) for note in notes)
    assert (tmp_path / "site" / "game.wasm").exists() != bool(instead)
    assert ("'wasm-unsafe-eval'" in (tmp_path / "site" / "index.html").read_text("utf-8")) != bool(instead)
    text = (tmp_path / "site" / "game.js").read_text("utf-8")
    assert '"searches":false' in text and ("...module.rules" in text) != bool(instead)
    assert node("differences", tmp_path / "site" / "game.js") == {}


@needs_node
@pytest.mark.slow
def test_rules_that_compile_have_pages_though_they_do_not_translate(tmp_path):
    """`else` after a loop has no translation. There is no book: who begins wins, by keeping the two halves alike."""
    shutil.copy(DATA / "kayles.txt", tmp_path / "kayles.py")
    rules = Rules(load_game(f"{tmp_path}/kayles.py::Kayles"))
    assert "else of a loop" in str(script.refusal(rules, ["actions"]))
    assert export_page(rules.game, tmp_path) == []
    game = tmp_path / "site" / "game.js"
    text = game.read_text("utf-8")
    assert node("differences", game) == {} and "$show" in text and "$actions" not in text
    (tmp_path / "asked").write_text(json.dumps([str(rules.game.initial())]))
    (answer,) = search_node("answers", tmp_path / "site" / "game.wasm", tmp_path / "asked")
    assert answer["value"][0] == 1


def test_margins_that_javascript_rounds_have_no_page(tmp_path):
    big = write_rules(tmp_path / "big.py", utility="1 << 53", more="score_game = True")
    with pipeline.solve(load_game(big), tmp_path / "big.lmdb") as book:
        raises(MethodError, r"margins beyond 2\^53", export, book, f"{tmp_path}/site/")


def test_rules_that_neither_translate_nor_compile_are_refused(pages, tmp_path, monkeypatch):
    path = pages("tic-tac-toe") / "book.lmdb"
    refuse(monkeypatch, "actions")
    monkeypatch.setattr("solver.play.modules.data_of", lambda rules: None)
    monkeypatch.setattr("solver.base.extras.kernel_defect", lambda: MethodError("not here"))
    with Book(path) as book:
        raises(MethodError, "'try' has no translation .*tic-tac-toe needs a module", export, book, f"{tmp_path}/a/")
    assert [*tmp_path.iterdir()] == []


def test_a_page_has_a_picture_for_links_to_it(pages, tmp_path, monkeypatch):
    pytest.importorskip("resvg_py", reason="the extra [preview] is not installed")
    page = pages("tic-tac-toe") / "site"
    picture = (page / "preview.png").read_bytes()
    assert picture.startswith(b"\x89PNG") and int.from_bytes(picture[16:20]) == 1200
    assert '<meta property="og:image" content="preview.png">' in (page / "index.html").read_text()
    monkeypatch.setattr("solver.base.extras.has", lambda *modules: False)
    with Book(pages("tic-tac-toe") / "book.lmdb") as book:
        export(book, f"{tmp_path}/site/")
    assert "og:image" not in (tmp_path / "site" / "index.html").read_text()
    assert not (tmp_path / "site" / "preview.png").exists()


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
    texts = {name: data.decode() for name, data in files.items() if not name.endswith((".bin", ".png"))}
    assert "script-src 'self';" in texts["index.html"]  # as there is no module
    scripts = [line for path in (ROOT / "solver/web").rglob("*.js") for line in path.read_text("utf-8").splitlines()]
    assert not [line for line in scripts if line.count("`") % 2]  # what is indented in a text would be lost
    reference = r'(?:from |src=|href=|remote\(|URL\(|import\()"(?:\./)?([^"#]+)"'
    named = {one for text in texts.values() for one in re.findall(reference, text)}
    named = {name for name in named if not name.startswith(("$", "node:")) and name != "./"}  # the page itself
    assert named | {"index.html", "book.js", "game.d.ts", "values.js"} == set(files) - {"preview.png"}
    others = {"http://www.w3.org/2000/svg"}  # the name of a language
    assert {one for text in texts.values() for one in re.findall(r"https?://[^\s\"']+", text)} == others


@needs_node
def test_several_books_become_an_index_of_pages_that_share_their_files(pages, tmp_path):
    book = pages("tic-tac-toe") / "book.lmdb"
    said = ok("export", book, "hexapawn", "pig:15", "-o", f"{tmp_path}/site/", "-q")
    site = tmp_path / "site"
    assert "an index of 3 pages" in said
    folders = {path.name for path in site.iterdir() if path.is_dir()}
    assert folders == {"tic-tac-toe", "hexapawn", "pig-15"}
    own = {"index.html", "game.js", "game.d.ts", "book.bin", "manifest.webmanifest"}
    assert {path.name for path in (site / "hexapawn").iterdir()} - {"preview.png"} == own
    assert (site / "hexapawn" / "book.bin").stat().st_size > 100
    shutil.copy(pages("tic-tac-toe") / "package.json", tmp_path)
    assert node("differences", *[site / name / "game.js" for name in sorted(folders)]) == {}
    text = (site / "games.js").read_text("utf-8")
    listed = json.loads(text.partition("export const games = ")[2].strip().rstrip(";"))
    verdicts = {one["name"]: one["verdict"] for one in listed}
    assert verdicts["tic-tac-toe"] == "draw" and verdicts["hexapawn"] == "second player wins in 6 plies"
    known = {path.relative_to(site).as_posix() for path in site.rglob("*")}
    for path in site.rglob("*.html"):  # all that pages name is there, wherever the site lies
        for name in re.findall(r'(?:src|href)="([^"#]+)"', path.read_text("utf-8")):
            target = os.path.normpath(os.path.join(path.parent.relative_to(site), name))
            assert target in known or target == ".", (path, name)
    before = {path: path.read_bytes() for path in site.rglob("*") if path.is_file()}
    ok("export", book, "hexapawn", "pig:15", "-o", site, "-q")  # an index is replaced, by the same bytes
    assert before == {path: path.read_bytes() for path in site.rglob("*") if path.is_file()}


def test_a_folder_with_anything_else_is_left_alone(pages, tmp_path, monkeypatch):
    """What has nothing in it but a book is refused by rows of refused.tsv."""
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "index.html").write_text("mine")
    (tmp_path / "file").write_text("mine")
    (tmp_path / "empty").mkdir()
    page = shutil.copytree(pages("tic-tac-toe") / "site", tmp_path / "page")
    shutil.copytree(page, tmp_path / "ours")
    (tmp_path / "ours" / "CNAME").write_text("mine")
    monkeypatch.chdir(tmp_path / "empty")
    for target, reason, *others in (
        ("../mine", "holds files that are not a page"),
        ("../ours/", "holds CNAME"),
        ("../file/", "is not a folder"),
        (".", "is the current folder"),
        ("../ours", "holds CNAME", "hexapawn"),
        ("../page", "holds book.bin, game.d.ts, game.js: name a new folder", "hexapawn"),
    ):
        fails(2, reason, "export", "tic-tac-toe", *others, "-o", target)
    assert (tmp_path / "mine" / "index.html").read_text("utf-8") == "mine"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["empty", "file", "mine", "ours", "page"]
    monkeypatch.chdir(tmp_path)
    assert "627 states" in ok("export", "tic-tac-toe", "-o", tmp_path / "empty")


def test_nothing_is_left_of_a_page_that_fails(pages, tmp_path):
    page, interrupt = tmp_path / "site", failing(KeyboardInterrupt)
    with Book(pages("tic-tac-toe") / "book.lmdb") as book:
        export(book, f"{page}/")
        raises(KeyboardInterrupt, None, export, book, page, progress=interrupt)
        assert (page / "book.bin").exists() and len(list(tmp_path.iterdir())) == 1
        os.rename(page, tmp_path / ".site.999999999.replaced")  # killed between two steps
        shutil.copytree(tmp_path / ".site.999999999.replaced", tmp_path / ".site.999999999.partial")
        raises(KeyboardInterrupt, None, export, book, f"{page}/", progress=interrupt)
        assert (page / "book.bin").exists() and len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("name", ALL)
def test_rules_draw_boards(name):
    """Rows are as long in every game that draws a board, and a cell of a move changes with it."""
    rules = Rules(load_game(name))
    for record in sampled(rules, 3) if is_drawn(rules.game) else ():
        rows, before = record["board"], "".join(record["board"])
        assert isinstance(rows, list) and {len(row) for row in rows} == {len(rows[0])}
        # The second player's cells are told as that player sees them
        turned = drawing_of(rules.game).get("turns") and record["mover"]
        for move in record["moves"] if name != "quixo" else ():  # which may push in what is there
            child = record_of(rules, first_position(rules, int(move["child"]))._replace(mover=move["mover"]))
            after = "".join(child["board"])
            place = [len(before) - 1 - cell if turned else cell for cell in move["place"]]
            assert not place or any(before[cell] != after[cell] for cell in place), move


VALUES = [Value(0), *(Value(score, distance) for score in (1, -1) for distance in range(1, 60))]
# One of each kind of board: columns, moves of two and three clicks, captures, drops, pits, edges, points and dice
SOME = (
    "connect-four", "tic-tac-toe", "hexapawn", "checkers", "animal-shogi", "kalah", "dots-and-boxes", "nine-holes",
    "nine-mens-morris", "quixo", "hex", "hypergammon", "chess-ending:KBNK", "amazons",
)  # fmt: skip


def board_of(rules, record, chance):
    """A position as `boards` of port.mjs takes it, with values as they come: nothing depends on the moves' order."""
    values = chance.choices(VALUES, k=len(record["moves"]))
    merits = [merit_of(value) for value in values]
    moves = [
        move | {"value": value._asdict(), "merit": merit, "said": value.words(), "best": merit == max(merits)}
        for move, value, merit in zip(record["moves"], values, merits, strict=True)
    ]
    return {"about": {"drawing": drawing_of(rules.game)}, "rows": record["board"], "moves": moves}


@needs_node
@pytest.mark.parametrize("names", [SOME, *slow(None)], ids=["some", "all"])
def test_in_every_game_a_cell_shows_the_best_of_its_moves_and_arrows_have_a_length(tmp_path, names):
    """Some dice of backgammon move two checkers."""
    drawn = [rules for rules in map(Rules, map(load_game, names or ALL)) if is_drawn(rules.game)]
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


@pytest.mark.parametrize(
    ("cells", "message"),
    [('["..", "."]', "rows of one length"), ("[]", "rows of one length"), ('[".."]', "cells are numbered")],
)
def test_boards_that_are_none_are_refused(tmp_path, cells, message):
    methods = f"def cells(self, state, mover): return {cells}\ndef place(self, state, action): return [2]"
    raises(GameError, message, sampled, Rules(load_game(write_rules(tmp_path / "rules.py", more=methods))), 3)
