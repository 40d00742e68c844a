"""The server's own interface: what it answers, what it refuses, and that its description says so."""

import asyncio
import gzip
import itertools
import json
import re
import sys
from contextlib import contextmanager
from typing import NamedTuple
from urllib.parse import quote, unquote

import pytest

from tests import ROOT

pytest.importorskip("starlette")

from solver.base.errors import BookError
from solver.book import Book
from solver.games import CATALOGUE
from solver.play.player import Player
from solver.report.answers import Answers
from solver.rules.game import load_game
from solver.serve import application, operations
from solver.serve import shelf as shelves
from solver.serve.application import Application
from solver.serve.pages import Pages
from solver.serve.reply import FOREVER, NO_STORE, Kept, Reply
from solver.serve.shelf import Served, Shelf, all_shipped
from tests.commands import ok
from tests.refusals import failing, fails, raises
from tests.ways import plainly, slow, until

BOOK = "/v1/books/connect-four:4,4"
PARTIAL = "/v1/books/connect-four"
PAGE = ROOT / "docs" / "reference" / "http.md"
STEPS = 20_000  # of a game's rules, at most, for its entry in the lists


class Heard(NamedTuple):
    """A response."""

    status: int
    headers: dict
    body: bytes

    @property
    def text(self):
        return gzip.decompress(self.body) if self.headers.get("content-encoding") == "gzip" else self.body

    @property
    def facts(self):
        return json.loads(self.text)

    @property
    def lines(self):
        return [json.loads(line) for line in self.text.splitlines()]


def scope_of(method, target, **headers):
    """What a server says of a request before its body."""
    path, _, query = target.partition("?")
    return {
        **{"type": "http", "method": method, "path": unquote(path), "raw_path": path.encode(), "root_path": ""},
        **{"query_string": query.encode(), "scheme": "http", "http_version": "1.1", "asgi": {"version": "3.0"}},
        **{"server": ("127.0.0.1", 80), "client": ("127.0.0.1", 1)},
        "headers": [(name.replace("_", "-").lower().encode(), text.encode()) for name, text in headers.items()],
    }


class Client:
    """Asks an ASGI application as a server would."""

    def __init__(self, application):
        self.application = application

    def get(self, target, **headers):
        return self.ask("GET", target, **headers)

    def post(self, target, body, **headers):
        return self.ask("POST", target, body, **headers)

    def ask(self, method, target, body=b"", **headers):
        return asyncio.run(self.asked(method, target, body, **headers))

    async def asked(self, method, target, body, **headers):
        self.heard = heard = []  # whatever is raised
        requests = [{"type": "http.request", "body": body, "more_body": False}]

        async def receive():
            return requests.pop() if requests else await asyncio.Event().wait()

        async def send(message):
            heard.append(message)

        await self.application(scope_of(method, target, **headers), receive, send)
        said = {name.decode(): text.decode() for name, text in heard[0]["headers"]}
        return Heard(heard[0]["status"], said, b"".join(one.get("body", b"") for one in heard[1:]))


def served(*names):
    for name in names:
        book = Book(name) if name != "teeko" else None
        yield Served(load_game(name) if book is None else book.game, book)


@pytest.fixture(scope="module")
def shelf():
    return Shelf(served("connect-four:4,4", "tic-tac-toe", "connect-four", "teeko", "pig:15", "kalah:3"))


@pytest.fixture(scope="module")
def client(shelf, tmp_path_factory):
    return Client(Application(shelf, Pages(shelf, tmp_path_factory.mktemp("pages"))))


@pytest.mark.parametrize(("query", "options"), [("", ()), ("?moves=false", ("--no-moves",))], ids=["moves", "none"])
def test_a_position_is_what_query_prints(client, query, options):
    for text in ("11242", "start", "#99462", "#067813", "1 1,2"):
        heard = client.get(f"{BOOK}/positions/{quote(text)}{query}")
        expected = json.loads(ok("query", "connect-four:4,4", text, "--json", "-q", *options))
        del expected["elapsed_us"]
        assert heard.status == 200 and [*heard.facts.items()] == [*expected.items()]
        assert heard.headers["cache-control"] == FOREVER and heard.headers["access-control-allow-origin"] == "*"


def test_what_has_not_changed_is_not_sent_again(client):
    address = f"{BOOK}/positions/11243"
    first, kept = client.get(address), client.get(address)
    tag = first.headers["etag"]
    assert first == kept and tag == f'"{tag[1:-1]}"'  # strong
    again = client.get(address, if_none_match=tag)
    assert (again.status, again.body, again.headers["etag"]) == (304, b"", tag)
    assert client.get(address, if_none_match='"other"').body == first.body
    head = client.ask("HEAD", address)
    assert (head.status, head.body, head.headers) == (200, b"", first.headers)
    assert client.get(f"{BOOK}/positions/11242").headers["etag"] != tag
    assert client.get(f"{address}?moves=false").headers["etag"] != tag


def test_what_is_long_is_compressed_for_who_takes_that(client):
    address = f"{BOOK}/counts"
    plain, packed = client.get(address), client.get(address, accept_encoding="gzip, br")
    assert packed.headers["content-encoding"] == "gzip" and len(packed.body) < len(plain.body) // 2
    assert packed.facts == plain.facts and packed.headers["etag"] != plain.headers["etag"]
    assert client.get(address, accept_encoding="gzip;q=0").body == plain.body
    assert client.get(address, accept_encoding="gzip", if_none_match=packed.headers["etag"]).status == 304


def test_lists_and_what_a_book_holds(client, shelf):
    games = client.get("/v1/games").facts
    assert [one["name"] for one in games if not one["book"]] == ["teeko"]
    assert client.get("/v1/games/teeko").facts == games[3]
    assert [one["name"] for one in client.get("/v1/books").facts] == [one.name for one, _ in shelf.books]
    expected = json.loads(ok("info", "connect-four:4,4", "--json"))
    del expected["longest"]["line"]
    assert client.get(BOOK).facts == expected
    counts = client.get(f"{BOOK}/counts").facts
    assert counts == {name: expected[name] for name in counts} and counts["tiers"]
    line = json.loads(ok("line", "connect-four:4,4", "11242", "--json"))
    assert client.get(f"{BOOK}/lines/11242").facts == line
    cut = client.get(f"{BOOK}/lines/11242?most=3").facts
    assert cut["moves"] == line["moves"][:3] and "--" not in cut["ending"]


@contextmanager
def few_steps(most):
    """Raise where the rules of built-in games take more steps in this thread, calls and what generators yield."""
    steps = itertools.count(1)

    def count(frame, event, arg):
        if event == "call" and "/solver/games/" in frame.f_code.co_filename:
            assert next(steps) <= most, f"too many steps, the last in {frame.f_code.co_qualname}"

    sys.setprofile(count)
    try:
        yield
    finally:
        sys.setprofile(None)


@pytest.mark.parametrize("names", [["chess-duel:KQKR", "nim:0", "wythoff:0,0"], *slow(None)])
def test_the_first_answers_do_not_wait_for_what_a_game_has_many_of(names, tmp_path):
    """Such as its starts: of one ending they are four million. None stands for every game that comes along."""
    with few_steps(STEPS if names else 10 * STEPS):
        games = Shelf(all_shipped(CATALOGUE) if names is None else (Served(load_game(name), None) for name in names))
        client = Client(Application(games, Pages(games, tmp_path)))
        for address in ("/", "/docs", "/v1/games", "/v1/books"):
            assert client.get(address).status == 200, address
    for name in games:
        with few_steps(STEPS):
            assert client.get(f"/v1/games/{name}").facts["name"] == name


def test_moves_are_rated_against_a_fallible_opponent(client):
    plain, rated, other = (client.get(f"{BOOK}/positions/2{query}") for query in ("", "?opponent=2", "?opponent=4"))
    asked = json.loads(ok("query", "connect-four:4,4", "2", "--opponent", "2", "--json"))
    assert [move["practical"] for move in rated.facts["moves"]] == [move["practical"] for move in asked["moves"]]
    assert all("practical" not in move for move in plain.facts["moves"])
    assert len({heard.headers["etag"] for heard in (plain, rated, other)}) == 3


def test_a_batch_has_a_line_for_each(client, monkeypatch):
    asked = '"11242"\n\n{"position": "start"}\n"99"\n7\n{}\nnonsense\n"#99462"'
    heard = client.post(f"{BOOK}/positions?moves=false", asked.encode())
    assert heard.status == 200 and heard.headers["content-type"].startswith("application/x-ndjson")
    assert [one.get("position") for one in heard.lines] == ["11242", "start", "99", "7", "{}", "nonsense", "#99462"]
    assert ["error" in one for one in heard.lines] == [False, False, True, True, True, True, False]
    assert heard.lines[0] == client.get(f"{BOOK}/positions/11242?moves=false").facts
    assert client.post(f"{BOOK}/positions?moves=false", asked.encode(), accept_encoding="gzip").lines == heard.lines
    assert client.post(f"{BOOK}/positions", b"").lines == []
    many = client.post(f"{BOOK}/positions?moves=false", b'"start"\n' * 1_000)
    assert len(many.lines) == 1_000
    monkeypatch.setattr(operations, "MOST_QUESTIONS", 2)
    assert client.post(f"{BOOK}/positions", asked.encode()).status == 413
    monkeypatch.setattr(operations, "MOST_BYTES", 10)
    assert client.post(f"{BOOK}/positions", asked.encode()).status == 413


def test_a_batch_is_answered_line_by_line_and_its_end_told_by_a_line(client, monkeypatch):
    """The client writes a line, waits for its answer, and writes the next, past the limit in the end."""
    monkeypatch.setattr(operations, "MOST_QUESTIONS", 2)
    heard, lines = [], [b'"1', b'"\n', b'"2"\n"', b'3"\n', b"dropped\n", b""]
    answered = asyncio.Queue()

    async def ask():
        async def receive():
            if len(lines) in (4, 3):  # two lines were sent, one after the other
                heard.append(await answered.get())
            piece = lines.pop(0) if lines else await asyncio.Event().wait()
            return {"type": "http.request", "body": piece, "more_body": bool(lines)}

        async def send(message):
            if message.get("body"):
                answered.put_nowait(json.loads(message["body"]))

        await client.application(scope_of("POST", f"{BOOK}/positions?moves=false"), receive, send)
        while not answered.empty():
            heard.append(answered.get_nowait())

    asyncio.run(asyncio.wait_for(ask(), 600))
    assert [one.get("position") for one in heard] == ["1", "2", None]
    assert heard[2] == {"error": "more than 2 lines: send several batches"} and not lines


REFUSED = [
    ("/v1/books/teeko", 404, "no book 'teeko' is served"),
    ("/v1/books/..%2f..%2fetc%2fpasswd", 404, "nothing"),
    ("/v1/games/chess", 404, "no game 'chess' is served"),
    (f"{BOOK}/positions/9", 400, "choose one of 1, 2, 3, 4"),
    (f"{BOOK}/positions/%23-1", 400, "is not a state"),
    (f"{BOOK}/positions/{'1' * 2001}", 414, "at most 2,000"),
    (f"{BOOK}/positions/1?moves=maybe", 400, "true or false"),
    (f"{BOOK}/positions/start?move=false", 400, "no parameter 'move' here: this request takes moves, opponent"),
    (f"{BOOK}?x", 400, "no parameter 'x' here: this request takes none"),
    *((f"{BOOK}/positions/2?opponent={wrong}", 400, "say 0, 2, 4") for wrong in ("3", "two", "")),
    ("/v1/books/pig:15/positions/start?opponent=2", 400, "game of chance"),
    (f"{BOOK}/lines/1?most=0", 400, "from 1 to 1,000"),
    *((f"{BOOK}/{path}/%2312345", 400, "play cannot reach state 12345") for path in ("lines", "positions")),
    ("/v1/games/connect-four:4,4/positions/%2312345?moves=false", 400, "play cannot reach state 12345"),
    ("/v1/nothing", 404, "v1"),
    ("/v1/boks", 404, "/v1/openapi.json says what there is"),
    ("/teeko/passwd", 404, ""),
    ("/nothing/", 404, "/ lists the games"),
]


def test_bad_input_gets_one_line(client):
    for target, status, said in REFUSED:
        heard = client.get(target)
        (error,) = heard.facts.values()
        assert (heard.status, heard.headers["cache-control"]) == (status, "no-store"), target
        assert [*heard.facts] == ["error"] and said in error and "\n" not in error, target
    assert client.get(f"{BOOK}/positions/%0a").status == 200


def test_methods_and_preflight(client):
    heard = client.ask("DELETE", BOOK)
    assert heard.status == 405 and heard.headers["allow"] == "GET, HEAD" and "GET" in heard.facts["error"]
    assert client.get(f"{BOOK}/positions").status == 405
    heard = client.ask("OPTIONS", f"{BOOK}/positions", origin="https://example.org")
    assert heard.status == 204 and "POST" in heard.headers["access-control-allow-methods"]


def test_what_breaks_is_said_in_a_line_and_no_more(client, monkeypatch):
    monkeypatch.setattr(application.books, "facts", failing(ValueError("secret")))
    with pytest.raises(ValueError, match="secret"):  # for the server's log
        client.get(BOOK)
    start, body = client.heard
    assert start["status"] == 500 and b"its own log" in body["body"] and b"secret" not in body["body"]


def test_where_a_book_that_breaks_lies_is_told_the_log_alone(client, monkeypatch, caplog):
    breaks = failing(BookError("/secret/book.lmdb is damaged"))
    monkeypatch.setattr(Answers, "ask", breaks)
    monkeypatch.setattr("solver.export.site.write", breaks)
    for heard in (client.post(f"{BOOK}/positions", b'"1"\n"2"'), client.get("/kalah:3/")):
        assert heard.status == 500 and heard.facts["error"].startswith("a book cannot be read")
    assert all(f"{place}: /secret/book.lmdb" in caplog.text for place in ("/positions", "/kalah:3/"))


def test_past_the_end_of_a_book_nothing_is_made_up_and_a_live_search_is_not_kept(client, shelf, tmp_path):
    for query in ("", "?opponent=2"):
        heard = client.get(f"{PARTIAL}/positions/32164625441{query}")
        assert (heard.facts["source"], heard.facts["value"]) == ("missing", None)
        assert heard.headers["cache-control"] == "no-cache"  # another server may know
    assert client.get(f"{PARTIAL}/lines/32164625441").status == 404
    caches = [client.get(f"{book}/lines/start").headers["cache-control"] for book in (BOOK, PARTIAL)]
    assert caches == [FOREVER, "no-cache"]
    assert client.get("/v1/games/teeko/positions/start").facts["source"] == "missing"
    assert client.get("/v1/games/connect-four:4,4/positions/1").facts["source"] == "book"
    live = Client(Application(shelf, Pages(shelf, tmp_path), seconds=0.2))
    heard = live.get(f"{PARTIAL}/positions/32164625441?moves=false")
    assert heard.facts["source"] == "search" and heard.headers["cache-control"] == "no-store"
    assert live.get(f"{BOOK}/positions/1").headers["cache-control"] == FOREVER


def test_a_queue_that_is_full_and_clients_that_go():
    """Threads stand for searches: one is under way, one waits, the third is refused; both clients go."""
    found = []

    async def ask():
        pool = shelves.Searches(3, most=2)
        begun, gone = asyncio.Event(), asyncio.Event()
        loop = asyncio.get_running_loop()

        class Request:
            async def receive(self):
                await gone.wait()
                return {"type": "http.disconnect"}

        def search(stop):
            loop.call_soon_threadsafe(begun.set)
            until(stop)
            found.append("stopped")
            return "half"

        first = asyncio.ensure_future(pool.run(Request(), search))
        await begun.wait()
        second = asyncio.ensure_future(pool.run(Request(), search))
        while pool.under_way < 2:
            await asyncio.sleep(0)
        with pytest.raises(shelves.Refused) as refused:
            await pool.run(Request(), search)
        gone.set()
        return refused.value, await first, await asyncio.gather(second, return_exceptions=True), pool.under_way

    refused, first, (second,), left = asyncio.run(asyncio.wait_for(ask(), 600))
    assert refused.status == 503 and refused.headers == {"Retry-After": "6"} and "ask again" in refused.message
    assert (first, found, left) == ("half", ["stopped"], 0)  # the second has never begun
    assert isinstance(second, shelves.Refused)


def test_a_search_ends_when_it_is_told_to(monkeypatch):
    """By the flag that a client who goes sets."""
    plainly(monkeypatch)
    player = Player({}, load_game("neutreeko"), seconds=1e6)
    assert not Answers(player, moves=False).ask("start", player.budget(lambda: True)).exact


def test_searchers_and_replies_are_kept_as_far_as_there_is_room(monkeypatch):
    monkeypatch.setattr(shelves, "MAX_SEARCHES", 2)
    monkeypatch.setattr(shelves, "ANSWERS", 2)
    pool = shelves.Searches(1)
    first, second, third = (Served(load_game(name), None) for name in ("teeko", "hex", "nim"))
    player = pool.player_of(first)
    assert pool.player_of(first) is player and pool.player_of(first) is not player
    for one in (second, third):
        pool.player_of(one)
    assert list(pool.players) == ["hex", "nim"]
    kept, paths = Kept(most=10_000), [*map(str.encode, "0123456789?")]
    for path in paths:
        kept.keep({"query_string": b"", "raw_path": path}, Reply(b"x", cache=NO_STORE if path == b"?" else FOREVER))
    assert [path for path in paths if kept.get((path, b""))] == [*map(str.encode, "6789")]


def fit(document, name, *answers):
    """Answers fit a schema of the document."""
    jsonschema = pytest.importorskip("jsonschema", exc_type=ImportError)
    schema = {"$ref": f"#/components/schemas/{name}", "components": document["components"]}
    validator = jsonschema.Draft202012Validator(schema)
    for facts in answers:
        validator.validate(facts)


def test_the_document_describes_every_route_and_answers_fit_it(client):
    """Each operation's own examples, and every book's facts."""
    document = client.get("/v1/openapi.json").facts
    routed = {
        (route.path, method)
        for route in client.application.routes
        for method in route.methods - {"HEAD"}
        if route.path.startswith("/v1/")
    }
    described = {(path, method.upper()) for path, item in document["paths"].items() for method in item}
    assert routed == described and len(described) == len(operations.OPERATIONS)
    for one in operations.OPERATIONS:
        target = one.path
        for parameter in one.parameters:
            target = target.replace(f"{{{parameter['name']}}}", str(parameter["example"]))
        heard = client.post(target, b'"start"\n"9"\n') if one.method == "POST" else client.get(target)
        assert heard.status == 200, target
        fit(document, one.gives, *heard.lines)
    positions = ("games/teeko/positions/start", "books/pig:15/positions/start", "books/kalah:3/positions/1")
    fit(document, "Position", *(client.get(f"/v1/{target}").facts for target in positions))
    fit(document, "Error", client.get("/v1/games/chess").facts)


def test_the_page_names_every_path_parameter_and_status(client):
    page = PAGE.read_text("utf-8")
    for one in operations.OPERATIONS:
        assert f"`{one.method} {one.path}`" in page, one.path
        for parameter in one.parameters:
            name = parameter["name"]
            assert f"`{name}`" in page or f"`{{{name}}}`" in page, name
    for status in operations.REASONS:
        assert f"\n| {status} | " in page, status
    others = [route.path for route in client.application.routes if not route.path.startswith("/v1")]
    assert [path for path in others if f"{path}" not in page] == []


@pytest.mark.slow
def test_all_that_is_shipped_is_served_once_and_fits_the_document(tmp_path):
    shelf = Shelf(all_shipped(CATALOGUE))
    client = Client(Application(shelf, Pages(shelf, tmp_path)))
    document = client.get("/v1/openapi.json").facts
    assert len(shelf.books) == len(client.get("/v1/books").facts) and len(shelf) > len(shelf.books)
    for name, path in [("Book", ""), ("Counts", "/counts"), ("Position", "/positions/start"), ("Line", "/lines/start")]:
        fit(document, name, *(client.get(f"/v1/books/{one.name}{path}").facts for one, _ in shelf.books))


def test_people_find_what_may_be_asked_and_its_commands_work(client):
    assert b'href="./docs"' in client.get("/").body
    page = client.get("/docs").body.decode()
    commands = re.findall(r"<pre>curl &quot;https?://[^/]+(/[^&]*)&quot;(.*?)</pre>", page)
    assert len(commands) == len(operations.OPERATIONS)
    for path, posted in commands:
        heard = client.post(path, b'"start"') if posted else client.get(path)
        assert heard.status == 200, path


def test_browsers_get_errors_as_pages(client):
    heard = client.get("/v1/nothing", accept="text/html,*/*")
    assert heard.status == 404 and heard.headers["content-type"].startswith("text/html")
    assert b"nothing is here" in heard.body and b'href="../docs"' in heard.body and b'href="../page.css"' in heard.body
    assert b"&lt;b&gt;" in client.get("/<b>", accept="text/html").body


def test_pages_are_there_when_they_are_asked_for(client):
    index = client.get("/")
    assert b'src="list.js"' in index.body and index.headers["content-type"].startswith("text/html")
    assert b'"name": "connect-four:4,4", "family": "Connect Four",' in client.get("/games.js").body
    assert client.get("/page.js").headers["content-type"].startswith("text/javascript")  # what all pages share
    assert client.get("/connect-four:4,4").headers["location"] == "./connect-four:4,4/"  # else it has a scheme
    page = client.get("/connect-four:4,4/")
    assert page.status == 200 and b"Connect Four 4" in page.body and b'src="../page.js"' in page.body
    part = client.get("/connect-four:4,4/book.bin", range="bytes=0-7")
    assert part.status == 206 and len(part.body) == 8


def test_names_are_served_once_and_the_command_says_what_it_needs(monkeypatch):
    raises(BookError, "named twice", Shelf, served("tic-tac-toe", "tic-tac-toe"))
    fails(2, "another book of it on another port", "serve", "tic-tac-toe", "tic-tac-toe", "--port", "0")
    monkeypatch.setattr("solver.base.extras.has", lambda *modules: False)
    fails(2, "pip install 'solverbook[serve]'", "serve", "tic-tac-toe")
