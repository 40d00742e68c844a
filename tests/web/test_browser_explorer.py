"""The page besides board and list: pictures, the chart, best play to watch, positions to take along, an index.

As a place to learn it shows why a move is bad, other lines and puzzles, and is an opponent of a chosen strength.
"""

import json
import os
import re
import struct
from xml.etree import ElementTree

import pytest

from solver.base.value import Value
from solver.book import Book, shipped
from solver.export import export, export_all
from solver.games import CATALOGUE, FROM_FILES
from solver.puzzles import find_puzzles
from solver.rules.game import Rules, load_game
from solver.rules.notation import format_action, in_words, legal_actions
from solver.rules.reading import parse_position
from tests import DATA
from tests.books import write_values
from tests.browsing import PHONE, Page, books, driver, host, hosted, one_page, page

__all__ = ["books", "driver", "host", "page"]  # fixtures

pytestmark = pytest.mark.browser

COUNT = len(list(shipped.paths()))
WIDE, NARROW = (1280, 900), (390, 844)
IN_ALL_SIZES = {"": "", "connect-four": "4,4,4,4,4,2", "kalah-4x2": "1,2", "chess-ending-KPK": ""}
PLAYED = {  # where the start shows too little
    "achi": "a1,b2,c3", "breakthrough": "a1a2", "coins": "2", "dots-and-boxes": "a1h,b1h,a1v,a2h,b1v", "hex": "b2",
    "nannon": "1", "nim": "a1", "nine-holes": "b2", "pig-15": "roll,4", "piglet": "flip", "quixo": "a1r",
    "tic-tac-toe": "b2,a2",
}  # fmt: skip
NAMES = [path.stem for path in shipped.paths() if path.stem not in IN_ALL_SIZES]
CROWDED, MISFITS = ((DATA / f"{name}.js").read_text("utf-8") for name in ("crowded", "misfits"))
SMALL = """return [...document.querySelectorAll("button:not(.cell), label")]
    .map((one) => one.getBoundingClientRect().height).filter((height) => height && height < 43.9)"""
WIDER = ("kayles:26", "wythoff:40,3", "chomp:24,4")
SCROLLING = {"chomp:24,4": ["#frame"]}  # the pages on which a board scrolls, whose cells would be too small
PICTURES = [(name, PLAYED.get(name, ""), WIDE, False) for name in NAMES]  # what is played, sizes and themes
PICTURES += [(*one, size, dark) for one in IN_ALL_SIZES.items() for size in (WIDE, NARROW) for dark in (False, True)]


@pytest.fixture(scope="module")
def site(books):
    """The index of all that is shipped."""
    opened = [Book(path) for path in shipped.paths()]
    export_all(opened, f"{books}/all/")
    for book in opened:
        book.close()
    return "all"


@one_page(0)
def test_all_that_is_shipped_is_drawn_and_fits_its_window(page, host, site):
    """With SCREENSHOTS=FOLDER it leaves pictures there."""
    folder = os.environ.get("SCREENSHOTS")
    for name, moves, size, dark in PICTURES:
        page.address = f"{host}/{site}/{name}{'/' if name else ''}"
        if name:
            page.open(f"#moves={moves}" if moves else "", size, dark)
            assert page.played() == [move for move in moves.split(",") if move], name
            drawn = page.script("return document.querySelectorAll('#board svg :is(path, circle, rect)').length")
            assert drawn > 1, name
        else:
            page.show(size, dark, "#")
            page.wait(lambda: page.find("#found") and page.find("#found")[0].text == f"{COUNT} games")
            assert page.script("return document.querySelectorAll('.card svg').length") > 50
        assert not page.find("#board.text, .preview pre"), name
        wide = page.script("return document.documentElement.scrollWidth")
        assert wide <= size[0], (name, size)
        if folder:
            page.driver.save_screenshot(f"{folder}/{name or 'index'}-{size[0]}-{'dark' if dark else 'light'}.png")


@pytest.fixture(scope="module")
def unshipped(books):
    """Pages of games without a shipped book, and of wider boards. Their books know the start alone."""
    stems = [f"{path.stem}-" for path in shipped.paths()]
    games = [name for name in CATALOGUE if not any(stem.startswith(f"{name}-") for stem in stems)]
    games = [name for name in (*games, *WIDER) if name not in FROM_FILES]
    for name in games:
        rules, path = Rules(load_game(name)), books / f"{name}.lmdb"
        facts = {"game": rules.name, "rules": rules.fingerprint, "method": "alphabeta", "scope": "ply 1"}
        facts |= {"states": None, "terminal": None}
        write_values(path, {rules.canonical(rules.game.initial()): Value(0)}, facts=facts)
        with Book(path) as book, pytest.MonkeyPatch.context() as patch:
            patch.setattr("solver.export.site.module_of", lambda *_: None)  # no search, which would be compiled
            export(book, f"{books}/{name}/")
    return games


@one_page(0)
def test_boards_fit_a_phone(page, host, site, unshipped):
    """Rows go on below before a board scrolls, fingers find every cell, and values stay within."""
    wrong = {}
    for name in [*(f"{site}/{path.stem}" for path in shipped.paths()), *unshipped]:
        page.address = f"{host}/{name}/"
        page.open(size=PHONE)
        across = page.script("return document.documentElement.scrollWidth - innerWidth")
        wrong[name] = page.script(MISFITS) + page.script(CROWDED) + page.script(SMALL) + [across] * (across > 0)
    assert {name: found for name, found in wrong.items() if found} == SCROLLING


@one_page(0)
def test_a_board_that_scrolls_has_the_last_move_in_sight(page, host, unshipped):
    page.address = f"{host}/chomp:24,4/"
    page.open("#moves=x4", NARROW)
    assert page.script("return document.querySelector('#frame').scrollLeft") > 100
    edges = """return [".cell.last", "#frame"].map((one) => {
        const { left, right } = document.querySelector(one).getBoundingClientRect();
        return [left, right]; })"""
    (left, right), (low, high) = page.script(edges)
    assert low <= left and right <= high


def select(page, name, value):
    script = "const one = document.getElementById(arguments[0]); one.value = arguments[1];"
    page.script(f"{script} one.dispatchEvent(new Event('input'))", name, value)


@one_page(0)
def test_the_index_leads_to_pages_and_back(page, host, site):
    page.address = f"{host}/{site}/"
    page.show(fragment="#")
    page.wait(lambda: page.find("#found")[0].text == f"{COUNT} games")
    page.find("#wanted")[0].send_keys("hounds")
    page.wait(lambda: page.find("#found")[0].text == f"3 of {COUNT} games")
    cards = [card.text for card in page.find(".card") if card.is_displayed()]
    assert any("Fox and Hounds" in card and "Fox wins in 25" in card for card in cards)
    page.find("#wanted")[0].clear()
    select(page, "group", "hunt")
    page.wait(lambda: page.find("#found")[0].text == f"3 of {COUNT} games")
    assert len(page.find(".card")) == 2  # the variants of a game share a card
    select(page, "kind", "draw")
    page.wait(lambda: page.find("#found")[0].text == f"0 of {COUNT} games")
    select(page, "kind", "")
    page.find(".card a[href='./hare-and-hounds/']")[0].click()
    status = "return document.getElementById('status')?.textContent ?? ''"
    page.wait(lambda: "You are Hounds." in page.script(status))
    page.find("#values")[0].click()
    page.wait(lambda: "Hounds to move: win in 23" in page.script(status))
    page.find("#games")[0].click()
    page.wait(lambda: page.driver.current_url == page.address and page.find(".card"))


@one_page(1)
def test_the_chart_has_who_stood_how_and_where_it_turned(page):
    page.open("#moves=b2,a2,a1,c3,b1")  # the second player errs at once; the first wins by it
    page.wait(lambda: len(page.find("#chart .column")) == 6 and not page.find("#chart .bar.unknown"))
    said = [one.get_attribute("aria-label").replace("\u2212", "-") for one in page.find("#chart .column")]
    state = lambda count: parse_position(page.book.game, " ".join(["b2", "a2", "a1", "c3", "b1"][:count])).state  # noqa: E731
    for ply, label in enumerate(said):
        assert in_words(page.player.value(state(ply)).value, page.rules) in label
        assert ("a mistake" in label) == (ply == 2)
    assert [one.text for one in page.find("#history .mistake")] == ["2. a2"]
    bars = page.script("return [...document.querySelectorAll('#chart .bar')].map((one) => one.className)")
    assert bars == ["bar even"] * 2 + ["bar first"] * 4
    page.after(lambda: page.find("#chart .column")[1].click())
    assert page.played() == ["b2"] and page.agrees()


@one_page(1)
def test_best_play_is_watched_and_stopped(page):
    page.open("#moves=b2,a2")
    page.press("w")
    page.wait(lambda: "X wins" in page.status)
    assert len(page.played()) == 2 + 5 and page.find("#watch")[0].text == "Watch"  # a win in five


@one_page(4)
def test_men_are_dragged_and_arrows_say_where_best_ones_go(page):
    from selenium.webdriver import ActionChains

    page.open()
    best = [name for name, (_, is_best) in page.moves.items() if is_best]
    assert len(page.find("#board .arrow")) == len(best) > 0
    man, target = (page.find(f".cell[aria-label^='{name}']")[0] for name in ("b1", "b2"))
    page.after(lambda: ActionChains(page.driver).drag_and_drop(man, target).perform())
    assert page.played() == ["b1b2"] and page.agrees()


@one_page(1)
def test_positions_are_set_up_and_taken_along(page):
    game = page.book.game
    page.open()
    page.find("#text")[0].send_keys("b2 a2")
    page.after(lambda: page.find("#setup button")[0].click())
    assert page.played() == ["b2", "a2"] and page.agrees()
    page.script("navigator.clipboard.writeText = async (text) => { document.title = text; }")
    state = parse_position(game, "b2 a2").state
    page.find("#share summary")[0].click()
    for what, text in (("moves", "b2 a2"), ("number", f"#{state}")):
        page.find(f"[data-copy={what}]")[0].click()
        page.wait(lambda text=text: page.driver.title == text)
    page.find("[data-copy=json]")[0].click()
    page.wait(lambda: page.driver.title.startswith("{"))
    said = json.loads(page.driver.title)
    value, moves = page.player.examine(state)
    assert (said["state"], said["to_move"], said["value"], said["distance"]) == (state, 0, "win", value.value.distance)
    assert said["best"] == [format_action(game, state, move.action) for move in moves if move.best]
    page.find("#text")[0].clear()
    page.find("#text")[0].send_keys(f"#{game.canonical(state)}")
    page.after(lambda: page.find("#setup button")[0].click())
    assert page.script("return location.hash") == f"#state={game.canonical(state)}"


@one_page(1)
def test_the_theme_is_chosen_and_kept(page):
    page.open(dark=True)  # as the system has it
    paper = "return getComputedStyle(document.body).backgroundColor"
    dark = lambda: sum(map(int, re.findall(r"\d+", page.script(paper))[:3])) < 200  # noqa: E731
    assert dark()
    page.open()
    assert not dark()
    page.find("#theme")[0].click()
    assert dark() and page.find("#theme")[0].get_attribute("aria-pressed") == "true"
    page.open()
    assert dark()
    page.find("#theme")[0].click()
    page.script("localStorage.clear()")
    assert not dark()


@one_page(3)
def test_of_kalah_all_seeds_are_somewhere(page):
    page.open(size=PHONE)
    for _ in range(4):
        counts = [int(one.get_attribute("textContent")) for one in page.find("#board text.count")]
        assert sum(counts) == 12 and len(counts) == 8  # six houses of two, two stores
        page.click("#best")
    assert page.agrees()


@one_page(1)
def test_men_are_put_on_the_board(page):
    """By clicks and keys; what cannot be is said and mended; the player who alone can be to move is."""
    page.open()
    cells = lambda *some: [page.find(".cell")[cell].click() for cell in some]  # noqa: E731
    page.click("#edit")
    assert "Set up pieces" in page.status and not page.find("#moves")[0].is_displayed()
    cells(0, 4)
    page.find("#placed")[0].click()
    page.wait(lambda: page.find("#trouble")[0].text.startswith("Men are put in turn: both have as many"))
    page.find("#palette button")[1].click()
    cells(2)
    assert page.find(".cell")[2].get_attribute("aria-label") == "c3: ring, put ring"
    page.click("#placed")
    assert page.status.startswith("O to move: draw")
    assert page.find("#trouble")[0].text.startswith("O to move: men are put")
    address = page.driver.current_url
    assert "mover=1" in address
    page.find("#edit")[0].click()
    page.wait(lambda: "Set up pieces" in page.status)
    page.script("document.activeElement.blur()")
    page.press("\ue00c")  # Escape
    assert page.status.startswith("O to move") and page.driver.current_url == address
    page.open(address[address.index("#") :])
    assert page.status.startswith("O to move: draw")


@one_page(8)
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("8/8/8/8/8/1k6/8/K1P5 b", "No pawn stands on the first or the last rank."),
        ("8/8/8/8/8/1k6/P7/K7 w", "Black is in check, and it is White's move."),
        ("8/8/8/8/8/1k6/P7/K7", "After the rows stands who is to move: w or b."),
        ("8/8/8 w", "Rows are 8 of 8 cells"),
        ("#99999999999", "The book has no such position: play does not lead to it."),
        ("8/8/8/8/8/1k6/P7/K7 b", ""),
    ],
)
def test_rows_are_typed(page, text, said):
    page.open()
    page.script("document.getElementById('text').value = arguments[0]", text)
    page.find("#setup button")[0].click()
    if said:
        page.wait(lambda: page.find("#trouble")[0].text.startswith(said))
        assert page.status.startswith("White to move: win in 27")
    else:
        page.wait(lambda: page.status.startswith("Black to move: draw"))


@one_page(0)
def test_a_bad_move_is_refuted_on_the_board_step_by_step(page):
    page.open("#moves=2,2,2,1")
    whys = [one for one in page.find("#moves .why") if one.text == "why?"]
    name = re.match(r"why\? (\S+) gives value away", whys[0].get_attribute("aria-label"))[1]
    page.after(whys[0].click)
    assert page.played()[:5] == ["2", "2", "2", "1", name]
    steps = [one.text for one in page.find("#steps button")]
    assert steps[0].startswith(f"Red plays {name}: it makes a loss of a draw.")
    state = page.script("return decodeURIComponent(location.hash)").removeprefix("#moves=")
    page.wait(lambda: page.find("#steps button")[1].get_attribute("aria-current"))  # it plays on by itself
    page.after(page.find("#steps button")[-1].click)
    assert "Yellow wins in" in steps[-1] and "Yellow wins in" in page.status and page.agrees()
    page.press("u")
    assert page.find("#steps button")[-2].get_attribute("aria-current") == "step"
    page.click("#back")
    assert page.played() == ["2", "2", "2", "1"] and not page.find("#why")[0].is_displayed()
    page.after(page.find("#variations button")[0].click)  # the line is kept
    assert ",".join(page.played()) == state and page.agrees()


@one_page(0)
def test_a_line_stays_when_a_move_is_replaced(page):
    page.open("#moves=1,2,3,4")
    for _ in range(2):
        page.press("u")
    page.press("1")
    assert page.played() == ["1", "2", "1"]
    assert [one.text for one in page.find("#variations button")] == ["or 3. 3 4"]
    page.after(page.find("#variations button")[0].click)
    assert page.played() == ["1", "2", "3"]
    page.press("r")
    assert page.played() == ["1", "2", "3", "4"]
    page.press("n")
    assert page.find("#variations button") == []


@one_page(0)
def test_puzzles_are_solved_missed_and_remembered(page, books, host):
    found = find_puzzles(page.book, 4, win_in=(5, 7))
    export(page.book, f"{books}/puzzling/", puzzles=found)
    page.address = f"{host}/puzzling/"

    def verdict():
        return page.find("#verdict")[0].text

    def choose(name):
        page.after(dict(zip(page.moves, page.find("#moves .move"), strict=True))[name].click)

    def solve(puzzle):
        choose(puzzle.move)
        while verdict() == "Right. What comes next?":
            assert {value for value, _ in page.moves.values()} == {""}
            page.wait(lambda: len(page.played()) % 2 == 0 and page.moves)
            state = puzzle.state
            for name in page.played():
                state = page.rules.result(state, legal_actions(page.rules, state)[name])
            choose(format_action(page.book.game, state, page.player.best(state)))
        assert verdict().startswith("Solved") and len(page.played()) == puzzle.distance

    page.open("#puzzle=1")
    score = page.find("#score")[0]
    assert page.find("#task")[0].text.startswith("Puzzle 1 of 4.") and score.text == ""
    assert {value for value, _ in page.moves.values()} == {""} and not page.find("#best")[0].is_displayed()
    assert [*page.moves] == [name for name in "1234567" if name in page.moves]  # in board order: the best is not first
    wrong = next(name for name in page.moves if name != found[0].move)
    page.find("#hint")[0].click()
    assert found[0].move in verdict() and len(verdict()) < 30
    dict(zip(page.moves, page.find("#moves .move"), strict=True))[wrong].click()
    assert f"{wrong} is not it: it makes a" in verdict() and page.played() == []
    page.find("#hint")[0].click()
    assert found[0].move in verdict() and wrong not in verdict()
    assert score.text == "0 of 1 solved at the first try."
    solve(found[0])
    assert score.text == "0 of 1 solved at the first try."
    page.find("#next")[0].click()
    page.wait(lambda: page.find("#task")[0].text.startswith("Puzzle 2 of 4."))
    page.wait(lambda: page.played() == [] and page.moves)
    solve(found[1])
    assert score.text == "1 of 2 solved at the first try."
    page.open("#puzzle=3")
    assert page.find("#score")[0].text == "1 of 2 solved at the first try."  # kept
    page.after(page.find("#solution")[0].click)
    page.wait(lambda: page.played()[:1] == [found[2].move])
    assert "wins in" in page.find("#steps button")[0].text
    page.open("#puzzle=daily")
    assert re.match(r"Puzzle [1-4] of 4\.", page.find("#task")[0].text)
    page.find("#leave")[0].click()
    page.wait(lambda: not page.find("#puzzle")[0].is_displayed())
    page.open("#puzzle=99")
    assert not page.find("#puzzle")[0].is_displayed()


@one_page(0)
def test_the_page_takes_either_side_and_keeps_its_strength(page):
    page.open()
    assert page.find("#strength")[0].text == "easy" and not page.find("#swap")[0].is_enabled()
    page.script("const one = document.getElementById('level'); one.value = 0; one.dispatchEvent(new Event('input'))")
    assert page.find("#strength")[0].text == "beginner"
    page.find("#sides input")[1].click()
    page.find("#moves .move")[0].click()
    page.wait(lambda: len(page.played()) == 2)
    page.wait(lambda: page.find("#swap")[0].is_enabled() and page.find("#undo")[0].is_enabled())
    page.after(page.find("#swap")[0].click)
    page.wait(lambda: len(page.played()) == 3)
    page.open()
    assert page.find("#strength")[0].text == "beginner"


def test_an_opened_page_works_without_a_network(driver, books):
    kept = """const done = arguments[0];
        const names = [location.href, ...performance.getEntriesByType("resource").map(({ name }) => name)];
        Promise.all(names.map((name) => caches.match(name))).then((found) => done(found.every(Boolean)));"""
    with hosted(books) as address:
        page = Page(driver, address, 1, books).open()
        page.wait(lambda: page.driver.execute_async_script(kept))
    page.open("#moves=b2,a2")
    assert page.agrees() and page.played() == ["b2", "a2"]
    driver.get_log("browser")


@one_page(1)
def test_a_position_is_embedded_and_saved_as_a_picture(page):
    page.open("#moves=b2,a1")
    page.script("navigator.clipboard.writeText = async (text) => { document.title = text; }")
    title = page.driver.title
    page.find("#share summary")[0].click()
    page.find("[data-copy=embed]")[0].click()
    page.wait(lambda: page.driver.title.startswith("<iframe"))
    address = re.search(r'src="(.*?)"', page.driver.title)[1]
    assert address == f"{page.address}?embed=1#moves=b2,a1" and title in page.driver.title
    page.open("?embed=1#moves=b2,a1")
    assert page.agrees() and not page.find("#setup")[0].is_displayed()
    assert page.find("#whole")[0].get_attribute("href") == f"{page.address}#moves=b2,a1"
    page.open("#moves=b2,a1")
    size = """const done = arguments[0];
        import(new URL("./picture.js", document.baseURI)).then(async ({ pngOf, svgOf }) => {
          const picture = document.querySelector("#board svg");
          const blob = await pngOf(picture, "t");
          const head = [...new Uint8Array(await blob.slice(0, 24).arrayBuffer())];
          done([svgOf(picture, "a title"), head]);
        });"""
    text, head = page.driver.execute_async_script(size)
    picture = ElementTree.fromstring(text)
    assert "a title" in text and not re.search("class=|style=", text)
    assert len(picture.findall(".//{http://www.w3.org/2000/svg}path")) > 1
    assert bytes(head[:8]) == b"\x89PNG\r\n\x1a\n" and max(struct.unpack(">II", bytes(head[16:24]))) == 1200


@one_page(4)
def test_the_board_is_turned_to_the_second_player(page):
    lower = """const top = (name) => [...document.querySelectorAll("#board .cell")]
        .find((one) => one.ariaLabel.startsWith(name)).getBoundingClientRect().top;
        return top("b1") > top("b3")"""
    page.show(fragment="#")
    page.wait(lambda: "You are White" in page.status)
    assert page.script(lower)
    page.click("#swap")
    page.wait(lambda: "Black to move" in page.status)
    assert not page.script(lower)
