"""The page in headless Chromium: played by mouse and by keyboard, on a phone, over hosts with range requests or none.

`make browser` installs what it needs.
"""

import functools
import re
import shutil
import time
from collections import defaultdict
from pathlib import Path

import pytest

import solver
from solver.book import Book
from solver.export import export, site
from solver.export.site import title_of
from solver.rules.notation import format_action
from solver.rules.reading import parse_position
from tests import DATA
from tests.browsing import DESKTOP, PHONE, Host, Page, books, driver, host, one_page, page
from tests.pages import write_grown

__all__ = ["books", "driver", "host", "page"]  # fixtures

pytestmark = pytest.mark.browser


def test_the_best_moves_are_played_to_the_end_and_taken_back(page):
    page.open()
    page.throws(0.3)
    for _ in range(40):
        assert page.agrees()
        if not page.moves or "repeats" in page.status:
            break
        page.click("#best")
    line = page.played()
    assert len(line) > 4 and ("repeats" in page.status) != bool(re.search("wins|drawn", page.status))
    assert not (page.rules.tiered and "repeats" in page.status)
    assert page.script("return decodeURIComponent(location.hash)") == "#moves=" + ",".join(line)
    last = page.status
    for _ in line:
        page.press("u")
    assert page.agrees() and page.script("return location.hash") == ""
    assert page.find("#undo")[0].get_attribute("disabled")
    for _ in line:
        page.press("r")
    assert page.status == last and page.played() == line


def test_a_link_leads_to_its_position(page):
    page.open().click("#moves .move")
    page.click("#moves .move")
    status, address, line = page.status, page.find("#link")[0].get_attribute("href"), page.played()
    assert address == page.address + "#moves=" + ",".join(line) and len(line) == 2
    page.open(address.removeprefix(page.address))
    assert page.status == status and page.played() == line and page.agrees()
    page.open("#moves=" + ",".join([*line, "nonsense", line[0]]))
    assert page.status == status
    assert "Move 3 of the link, nonsense, is not legal" in page.find("#trouble")[0].text


def test_everything_has_a_name_and_a_role(page):
    page.open()
    page.find("#share summary")[0].click()
    tree = page.driver.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
    names = defaultdict(list)
    for node in tree:
        if not node["ignored"]:
            names[node["role"]["value"]].append(node.get("name", {}).get("value", ""))
    controls = {"Undo", "Redo", "Play best", "Watch", "New game", "Dark theme", "Set up", "Copy JSON"}
    assert all(names["button"]) and controls <= set(names["button"])
    dice = page.book.expectation is not None
    shown = ["Show values", "Real dice"] if dice else ["Show values"]
    assert len(names["checkbox"]) == 2 + len(shown) and set(shown) < set(names["checkbox"])
    assert dice or names["slider"][0].startswith("Strength")
    assert ("Throw" in names["button"]) == dice
    listed = "Throws" if page.by_chance else "Moves"
    assert names["heading"] == [title_of(page.book.game), listed, "This game", "This position"]
    for name, (value, best) in page.moves.items():
        said = [one.replace("\u2212", "-") for one in names["button"]]
        assert any(name in one and value in one and (not best or "best" in one) for one in said), name
    assert names["status"] and page.find("#status")[0].get_attribute("aria-live") == "polite"


def test_axe_finds_nothing(page):
    """At the start, within a game and at its end, in both themes: WCAG 2.2 A and AA, and the rules beyond it."""
    axe = pytest.importorskip("axe_core_python")
    script = Path(axe.__file__).with_name("axe.min.js").read_text("utf-8")
    rules = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice", "experimental"]
    for dark in (False, True):
        page.open(dark=dark)
        page.throws(0.3)
        for moves in range(12):
            if moves in (0, 3, 11):
                page.script(script)
                found = page.driver.execute_async_script(
                    "axe.run({ runOnly: { type: 'tag', values: arguments[0] } }).then(arguments[1])", rules
                )
                assert [(one["id"], one["nodes"][0]["html"]) for one in found["violations"]] == []
            if page.find("#best")[0].is_enabled():
                page.click("#best")
    page.driver.get_log("browser")  # axe itself asks for what the policy refuses


CROWDED, CONTRASTS = ((DATA / f"{name}.js").read_text("utf-8") for name in ("crowded", "contrasts"))


@one_page(0)
def test_stones_fall_where_a_column_is_clicked_and_two_clicks_at_once_are_one_move(page):
    page.open()
    page.click(".cell[aria-label^='column 2, row 4']")  # the top of the second column
    page.click(".cell[aria-label^='column 2, row 1']")  # the lowest cell of the same, which is taken
    assert page.played() == ["2", "2"] and page.agrees()
    labels = [cell.get_attribute("aria-label") for cell in page.find(".cell")]
    value, best = page.moves["2"]
    assert labels[13] == f"column 2, row 1: red, play 2: {value}" + (", best" if best else "")
    assert labels[9].startswith("column 2, row 2: yellow, play 2") and len(labels) == 16
    twice = "for (const one of [1, 2]) document.querySelector(arguments[0]).click()"
    for button in ("#moves .move", "#best"):
        page.after(functools.partial(page.script, twice, button))
    assert len(page.played()) == 4 and page.agrees()


@one_page(0)
def test_arrows_and_enter_play(page):
    from selenium.webdriver import ActionChains, Keys

    page.open()
    keys = [Keys.ARROW_DOWN, Keys.ARROW_RIGHT, Keys.ARROW_RIGHT]  # the first arrow goes to the board
    for key in keys:
        ActionChains(page.driver).send_keys(key).perform()
    page.press(Keys.ENTER)
    assert page.played() == ["3"]
    assert "column 3" in page.script("return document.activeElement.getAttribute('aria-label')")
    assert len(page.find(".cell[tabindex='0']")) == 1
    page.press("4")
    page.press("n")
    assert page.played() == [] and page.agrees()


@one_page(4)
def test_men_are_moved_by_two_clicks(page):
    page.open()
    cells = page.find(".cell")
    cells[7].click()
    assert cells[7].get_attribute("aria-pressed") == "true"
    assert cells[4].get_attribute("aria-label") == "b2: empty, play b1b2: loss in 6, best"
    cells[7].click()  # let go
    assert cells[7].get_attribute("aria-pressed") == "false"
    cells[7].click()
    page.after(cells[4].click)
    assert page.played() == ["b1b2"] and page.agrees()


@one_page(1)
def test_the_page_answers_for_the_other_side(page):
    page.open()
    page.find("#sides [value='0']")[0].click()
    page.wait(lambda: len(page.played()) == 1)
    page.find(".cell.open")[0].click()
    page.wait(lambda: len(page.played()) == 3)
    page.wait(lambda: not page.status.startswith("O played"))
    page.press("u")  # takes the answer back with it
    page.wait(lambda: len(page.script("return location.hash").split(",")) == 1)
    page.find("#values")[0].click()
    page.wait(lambda: page.status.endswith("to move."))
    assert {value for value, _ in page.moves.values()} == {""} and not page.find(".chip.win, .chip.draw, .chip.loss")


@one_page(1)
def test_a_state_of_the_book_may_be_the_start(page):
    game = page.book.game
    state = game.canonical(parse_position(game, "b2 a1").state)
    move = format_action(game, state, next(game.actions(state)))
    page.open(f"#state={state}&moves={move}")
    assert page.played() == [move]
    assert page.script("return location.hash") == f"#state={state}&moves={move}"
    for other in ("4611686018427387904", "1234567890123456789012", "-1", "x", ""):
        page.open(f"#state={other}&moves=a1")
        page.wait(lambda: "not in the book" in page.find("#trouble")[0].text)
        assert page.agrees() and page.played() == []


@one_page(6)
def test_dice_are_thrown_or_chosen(page):
    page.open()
    assert not page.find("#throw")[0].is_enabled() and page.moves["roll"][1]
    page.press("1")
    assert page.by_chance and page.find("#throw")[0].is_enabled()
    assert [one.text for one in page.find(".odds")] == ["1/6"] * 6
    page.press("5")  # as real dice show it
    assert page.status.startswith("Blue threw 5. Blue to move") and len(page.find("#dice .pip")) == 5
    page.click("#moves .move")
    page.throws(0.999)
    page.press("t")
    assert page.played() == ["roll", "5", "roll", "6"] and page.status.endswith("Blue wins.")
    page.press("u")
    page.throws(0)
    page.press("b")  # throws, too
    assert page.played()[-1] == "1" and "Red to move" in page.status and page.agrees()


@one_page(6)
def test_the_page_throws_for_the_other_side_unless_the_dice_are_real(page):
    page.open()
    page.throws(0)  # always a 1
    page.find("#sides [value='1']")[0].click()
    for real in (False, True):
        before = len(page.played())
        if real:
            page.find("#real")[0].click()
        page.press("1")
        page.press("t")
        if real:
            page.wait(lambda: "Red to throw" in page.status)
            assert len(page.played()) == before + 3
            page.find("#moves .move")[0].click()
        page.wait(lambda: page.status.endswith("Best: roll.") and "Blue to move" in page.status)
        assert page.played()[before:] == ["roll", "1", "roll", "1"]


@one_page(7)
def test_what_was_thrown_stands_beside_the_board(page):
    page.open()
    assert page.find("#dice .pip-text")[0].text == "?" and not page.find(".cell.open")
    page.press("2")
    assert page.find("#dice svg")[0].get_attribute("aria-label") == "thrown: 2"
    assert [one.text for one in page.find(".edge")] == ["3", "2", "1", "a", "b", "c"]
    cells = page.find(".cell")
    cells[7].click()
    page.after(cells[8].click)
    assert page.played() == ["2", "b1c1"] and page.by_chance and page.agrees()


@pytest.fixture(scope="module")
def short(books):
    """A book of two plies, of the game of the first page."""
    solver.trim(books / "0.lmdb", books / "short.lmdb", solver.Trim(max_ply=1))
    return books / "short.lmdb"


@one_page(1)
def test_without_a_book_the_page_searches_all_the_way(page, books, host):
    export(page.book.game, f"{books}/alone/")
    page.address = f"{host}/alone/"
    page.open("#state=3")
    assert "not in a book" in page.find("#trouble")[0].text
    for _ in range(9):
        page.wait(lambda: "Searching" not in page.status)
        assert page.agrees()
        page.click("#best")
    assert "drawn" in page.status and page.find("#share")[0].is_displayed()
    page.find("footer details:last-child summary")[0].click()
    assert "there is no book" in page.find("#facts")[0].text and not page.find(".of-book")[0].is_displayed()
    page.find("#sides [value='1']")[0].click()
    page.press("n")
    page.find("#moves .move")[0].click()
    page.wait(lambda: len(page.played()) == 2 and "Searching" not in page.status)
    assert page.agrees()


@one_page(1)
def test_of_a_grown_book_estimates_are_told_from_what_is_exact(page, books, host):
    """And shown so that they can be read, by their sign and size; past it the module knows all."""
    write_grown(books / "grown.lmdb")
    with Book(books / "grown.lmdb") as book:
        export(book, f"{books}/grown/")
    page.address = f"{host}/grown/"
    kinds, words = set(), set()
    for size in (PHONE, DESKTOP):
        for moves in ("", "a1,b2", "b2", "a2", "b2,a1"):
            page.open(f"#moves={moves}", size)
            words |= {value for value, _ in page.moves.values()} | {page.status.replace("\u2212", "-")}
            kinds |= {one.get_attribute("class") for one in page.find("#moves .value")}
            assert [entry for entry in page.script(CONTRASTS) if entry[1] < 4.5] == []
            for part in ("html", "#moves"):
                inner, outer = page.script(
                    "return [arguments[0].scrollWidth, arguments[0].clientWidth]", page.find(part)[0]
                )
                assert inner <= outer, (part, size, moves)
    assert all(re.search(r"estimate [-+]?\d\.\d\d, depth 4|win|loss|draw", one) for one in words)
    assert {"value unknown better", "value unknown far worse"} <= kinds
    assert any("Likely best" in one for one in words) and any("estimate" not in one for one in words)
    page.open("#moves=b2,a1,a2,c2,b1,b3")
    page.wait(lambda: "Searching" not in page.status)
    assert all("estimate" not in value and value != "unknown" for value, _ in page.moves.values())


@one_page(0)
def test_a_module_of_another_export_is_said_and_nothing_is_answered(page, books, host, short, monkeypatch):
    monkeypatch.setattr(site, "module_of", lambda *asked: b"\0asm\1\0\0\0")
    with solver.Book(short) as book:
        export(book, f"{books}/strange/")
    for altered, said in ((b"\0asm\1\0\0\0", "not a module of `solver build`"), (b"", "fails its checksum")):
        (books / "strange" / "game.wasm").write_bytes(altered)
        page.driver.get("about:blank")
        page.driver.get(f"{host}/strange/")
        page.wait(lambda: page.find("#trouble")[0].text)
        assert said in page.find("#trouble")[0].text and page.moves == {}


@one_page(0)
def test_where_the_book_ends_the_page_says_so_and_plays_on(page, books, host, short, monkeypatch):
    monkeypatch.setattr(site, "module_of", lambda *asked: None)  # as without Numba
    with solver.Book(short) as book:
        export(book, f"{books}/short/")
    page.address = f"{host}/short/"
    page.open()
    assert "The book ends here" not in page.status
    for _ in range(3):
        page.click("#moves .move")
    assert "unknown. The book ends here: no move is known to be best." in page.status
    assert not page.find("#best")[0].is_enabled() and {value for value, _ in page.moves.values()} == {"unknown"}
    page.find("#sides [value='1']")[0].click()
    page.wait(lambda: len(page.played()) == 4)  # the page's side has moved
    page.wait(lambda: "Red to move" in page.status)
    assert page.status.endswith("The page plays on as well as it can.")


@one_page(0)
def test_a_damaged_book_is_said(page, books, host):
    shutil.copytree(books / "0", books / "damaged", dirs_exist_ok=True)
    data = (books / "damaged" / "book.bin").read_bytes()
    rules = (books / "damaged" / "game.js").read_text("utf-8")
    damaged = {
        "the head fails its checksum": {"book.bin": data[:100] + bytes([data[100] ^ 1]) + data[101:]},
        "fails its checksum: fetch the book again": {"book.bin": data[:5000] + bytes(len(data) - 5000)},
        "are of two exports": {"book.bin": (books / "1" / "book.bin").read_bytes()},
        "The rules run otherwise here than in Python": {
            "game.js": rules.replace("[py.Name(1), py.Name(2)]", "[py.Name(1), py.Name(1)]").encode()
        },
    }
    for said, files in damaged.items():
        for name, altered in {"book.bin": data, "game.js": rules.encode(), **files}.items():
            (books / "damaged" / name).write_bytes(altered)
        page.driver.get("about:blank")
        page.driver.get(f"{host}/damaged/")
        page.wait(lambda: any(part.text for part in page.find("#trouble")))
        assert said in page.find("#trouble")[0].text and page.moves == {}


@pytest.mark.parametrize("ranges", [True, False])
def test_the_book_is_read_in_parts_where_the_host_sends_them(driver, host, books, ranges, monkeypatch):
    monkeypatch.setattr(Host, "ranges", ranges)
    driver.get("about:blank")
    before = -1
    while before != len(Host.asked):  # the service worker may still keep files of an earlier page
        before = len(Host.asked)
        time.sleep(1)
    Host.asked.clear()
    page = Page(driver, host, 0, books).open()
    for _ in range(5):
        assert page.agrees()
        page.click("#best")
    asked = [partial for path, partial in Host.asked if path.endswith("book.bin")]
    assert asked[0] and len(page.book.directory) == 2
    assert asked.count(False) <= 1  # the service worker keeps the whole, for use without a network
    assert asked.count(True) == 1 if not ranges else 2 <= asked.count(True) <= 3
