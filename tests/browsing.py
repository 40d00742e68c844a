"""The pages of several games in headless Chromium, and the things that a person finds on them."""

import contextlib
import functools
import http.server
import re
import shutil
import threading

import pytest

from solver.book import Book, shipped
from solver.export import export
from solver.play.player import Player
from solver.rules.game import load_game
from solver.rules.reading import parse_position
from solver.solving import pipeline
from tests.pages import said_of, words_of

GAMES = (
    "connect-four:4,4", "tic-tac-toe", "mu-torere", "kalah:3,2", "hexapawn", "connect-four:4,3 ranked", "pig:10",
    "einstein:3,2", "chess-ending:KPK",
)  # fmt: skip
DESKTOP, PHONE = (1200, 900), (360, 780)
FLAGS = (  # the last one: the 200th change of an address within seconds would end it
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-dev-shm-usage",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--disable-ipc-flooding-protection",
)  # fmt: skip


class Host(http.server.SimpleHTTPRequestHandler):
    """A static host; `ranges` says whether it sends parts of files, as most do and Python's does not."""

    ranges = True
    asked: list = []  # (path, whether a part is asked for)

    def do_GET(self):
        wanted = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
        self.asked.append((self.path, bool(wanted)))
        if not (wanted and self.ranges):
            super().do_GET()
            return
        with open(self.translate_path(self.path), "rb") as file:
            data = file.read()
        part = data[int(wanted[1]) : int(wanted[2]) + 1]
        self.send_response(206)
        self.send_header("Content-Range", f"bytes {wanted[1]}-{int(wanted[1]) + len(part) - 1}/{len(data)}")
        self.send_header("Content-Length", str(len(part)))
        self.end_headers()
        self.wfile.write(part)

    def log_message(self, *arguments):
        """Nothing is printed."""


@pytest.fixture(scope="module")
def books(tmp_path_factory):
    """A folder with the pages of all games in folders of their own, and their books."""
    folder = tmp_path_factory.mktemp("pages")
    for number, name in enumerate(GAMES):
        text, _, codec = name.partition(" ")
        game, path = load_game(text), folder / f"{number}.lmdb"
        if text == "chess-ending:KPK":
            shutil.copy(shipped.path_of(text), path)
        else:
            pipeline.solve(game, path, codec=codec or None).close()
        with Book(path) as book:
            export(book, f"{folder}/{number}/")
    return folder


@contextlib.contextmanager
def hosted(folder):
    """The address of a host of this folder."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Host, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def host(books):
    with hosted(books) as address:
        yield address


@pytest.fixture(scope="module")
def driver(tmp_path_factory):
    webdriver = pytest.importorskip("selenium.webdriver")
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    browser = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
    browser.execute_cdp_cmd("Network.enable", {})
    browser.execute_cdp_cmd("Network.setCacheDisabled", {"cacheDisabled": True})
    yield browser
    browser.quit()


class Page:
    """A page in the browser, as a person finds it: by roles, names and text."""

    def __init__(self, driver, address, number, books):
        self.driver, self.address = driver, f"{address}/{number}/"
        self.book = Book(books / f"{number}.lmdb")
        self.player, self.rules = Player(self.book), self.book.rules

    @property
    def by_chance(self):
        """Whether the position that is looked at is chance's to decide."""
        return "to throw" in self.status

    def throws(self, number):
        """Let the dice fall so from here on: `number` is what the page takes for random, from 0 to 1."""
        self.script(f"Math.random = () => {number}")

    def show(self, size=DESKTOP, dark=False, fragment=""):
        """Load the page at the address: as a place to explore, where `fragment` names no moves."""
        fragment += "" if "#" in fragment else "#moves="
        scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        width, height = size
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": size[0] < 500}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": scheme})
        self.driver.get("about:blank")
        self.driver.get(self.address + fragment)

    def open(self, fragment="", size=DESKTOP, dark=False):
        self.show(size, dark, fragment)
        self.wait(lambda: re.search("to (move|throw)", self.status) or "wins" in self.status or "drawn" in self.status)
        return self

    def wait(self, condition):
        from selenium.webdriver.support.ui import WebDriverWait

        WebDriverWait(self.driver, 600, poll_frequency=0.02).until(lambda _: condition())

    def find(self, selector):
        return self.driver.find_elements("css selector", selector)

    @property
    def status(self):
        return self.driver.execute_script("return document.getElementById('status').textContent")

    @property
    def moves(self):
        """What the list says: {name: (value, whether it is best)}."""
        script = """return [...document.querySelectorAll("#moves .move")].map((one) =>
            [".name", ".value", ".best"].map((part) => one.querySelector(part)?.textContent ?? ""))"""
        return {name: (value.replace("\u2212", "-"), best == "best") for name, value, best in self.script(script)}

    def script(self, text, *arguments):
        return self.driver.execute_script(text, *arguments)

    def played(self):
        """The moves up to the position that is looked at."""
        script = """const all = [...document.querySelectorAll("#history button")];
            return all.slice(1, all.findIndex((one) => one.ariaCurrent) + 1).map((one) => one.textContent)"""
        return [text.split(" ")[-1] for text in self.script(script)]

    def press(self, key):
        from selenium.webdriver import ActionChains

        self.after(lambda: ActionChains(self.driver).send_keys(key).perform())

    def after(self, action):
        """Do something that changes the position, and wait until it has."""
        before = self.status
        action()
        self.wait(lambda: self.status != before)

    def click(self, selector):
        self.after(lambda: self.find(selector)[0].click())

    def agrees(self):
        """Whether the page has the book's values of the position and of all moves."""
        position = parse_position(self.book.game, " ".join(self.played()) or "start")
        said = said_of(self.player, position)
        assert self.moves == {name: (words, best) for name, (words, best) in said.items()}
        value = words_of(self.player, self.player.value(position.state).value)
        assert not said or value in self.status.replace("\u2212", "-")
        return True


@pytest.fixture(params=range(len(GAMES)), ids=GAMES)
def page(request, driver, host, books):
    driver.get_log("browser")
    driver.execute_cdp_cmd("Storage.clearDataForOrigin", {"origin": host, "storageTypes": "local_storage"})
    yield Page(driver, host, request.param, books)
    assert [entry["message"] for entry in driver.get_log("browser")] == []  # errors, and what the policy refuses


def one_page(number):
    return pytest.mark.parametrize("page", [number], indirect=True, ids=[GAMES[number]])
