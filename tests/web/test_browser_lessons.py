"""The page as a place to learn: why a move is bad, other lines, puzzles, and an opponent of a chosen strength."""

import functools
import http.server
import re
import struct
import threading
from xml.etree import ElementTree

import pytest

from solver.export import export
from solver.puzzles import find_puzzles
from solver.rules.notation import format_action, legal_actions
from tests.browsing import Host, Page, books, driver, host, one_page, page

__all__ = ["books", "driver", "host", "page"]  # fixtures

pytestmark = pytest.mark.browser


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


@pytest.fixture
def puzzling(page, books, host):
    export(page.book, f"{books}/puzzling/", puzzles=find_puzzles(page.book, 4, win_in=(5, 7)))
    page.address = f"{host}/puzzling/"
    return page


@one_page(0)
def test_puzzles_are_solved_missed_and_remembered(puzzling):
    page: Page = puzzling
    found = find_puzzles(page.book, 4, win_in=(5, 7))

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
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Host, directory=str(books)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    page = Page(driver, f"http://127.0.0.1:{server.server_port}", 1, books)
    page.open()  # once
    kept = """const done = arguments[0];
        const names = [location.href, ...performance.getEntriesByType("resource").map(({ name }) => name)];
        Promise.all(names.map((name) => caches.match(name))).then((found) => done(found.every(Boolean)));"""
    page.wait(lambda: page.driver.execute_async_script(kept))
    server.shutdown()
    server.server_close()
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
