"""The page besides board and list: pictures, the chart, best play to watch, positions to take along, an index."""

import json
import os
import re

import pytest

from solver.base.value import Value
from solver.book import Book, shipped
from solver.export import export, export_all
from solver.games import CATALOGUE, FROM_FILES
from solver.rules.game import Rules, load_game
from solver.rules.notation import format_action, in_words
from solver.rules.reading import parse_position
from tests import DATA
from tests.books import write_values
from tests.browsing import PHONE, books, driver, host, one_page, page

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
        page.open(size=NARROW)
        wrong[name] = page.script(MISFITS) + page.script(CROWDED)
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
    page.open()
    paper = "return getComputedStyle(document.body).backgroundColor"
    dark = lambda: sum(map(int, re.findall(r"\d+", page.script(paper))[:3])) < 200  # noqa: E731
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
    page.wait(
        lambda: (
            page.find("#trouble")[0].text == "Men are put in turn: both have as many, or the first player one"
            " more, and the second moves."
        )
    )
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
