"""The server in the dialects of others: what their documents say, and what their clients rely on."""

import random

import pytest

pytest.importorskip("starlette")

from solver.serve.application import Application
from solver.serve.gamesman import ORDER
from solver.serve.pages import Pages
from solver.serve.shelf import Shelf
from tests.serve.test_serve import served
from tests.serving import Client

ENDINGS = ("chess-ending:KQK", "chess-ending:KRK", "chess-ending:KPK")
GAMES = ("connect-four:4,4", "tic-tac-toe", "mu-torere", "dots-and-boxes", "kalah:3", "chess-ending:KQK", "hexapawn")


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    shelf = Shelf(served("connect-four", "pig:15", *{*GAMES, *ENDINGS}))
    return Client(Application(shelf, Pages(shelf, tmp_path_factory.mktemp("pages"))))


def variant(name):
    game, _, parameters = name.partition(":")
    return f"/uwapi/{game}/{parameters or 'regular'}"


def test_gamesman_lists_games_and_variants(client):
    games = client.get("/uwapi/").facts
    assert [one["name"] for one in games] == sorted(one["name"] for one in games)
    assert {"id": "connect-four", "name": "Connect Four", "type": "twoPlayer", "gui": "v3"} in games
    assert "pig" not in [one["id"] for one in games]  # there are no values for chance
    game = client.get("/uwapi/connect-four/").facts
    variants = game.pop("variants")
    assert game == {
        "id": "connect-four",
        "name": "Connect Four",
        "allowCustomVariantCreation": False,
        "supportsWinBy": False,
    }
    assert {"id": "regular", "name": "Standard", "gui": "v3"} in variants
    assert {"id": "4,4", "name": "Connect Four 4 \u00d7 4", "gui": "v3"} in variants
    assert "Connect Four" in client.get("/uwapi/connect-four/4,4/instructions/?locale=en").facts["instructions"]


@pytest.mark.parametrize(
    ("target", "what"),
    [
        ("/uwapi/chess/", "Game"),
        ("/uwapi/chess/regular/", "Game"),
        ("/uwapi/connect-four/9,9/", "Variant"),
        ("/uwapi/connect-four/4,4/positions/", "Position"),
        ("/uwapi/connect-four/4,4/positions/?p=3_1", "Position"),
        ("/uwapi/connect-four/4,4/positions/?p=1_0", "Position"),
        ("/uwapi/connect-four/4,4/positions/?p=1_99999999999999999999", "Position"),
    ],
)
def test_gamesman_errors_have_status_200(client, target, what):
    heard = client.get(target)
    assert (heard.status, heard.facts) == (200, {"error": f"Invalid {what}"})


@pytest.mark.parametrize("name", GAMES)
def test_gamesman_positions_are_what_the_page_wants(client, name):
    """From the start to the end by random moves: names lead back, sides and values agree, the order is the page's."""
    start = client.get(f"{variant(name)}/").facts
    drawing = start["imageAutoGUIData"]
    assert (drawing is None) == (name == "kalah:3")  # whose cells are numbers
    if drawing is not None:
        assert len(start["autoguiStartPosition"]) == 2 + len(drawing["themes"]["regular"]["centers"])
    position, chosen = start["startPosition"], random.Random(0)
    for _ in range(20):
        facts = client.get(f"{variant(name)}/positions/?p={position}").facts
        assert facts["position"] == position
        assert drawing is None or len(facts["autoguiPosition"]) == len(start["autoguiStartPosition"])
        keys = [(ORDER.index(move["moveValue"]), move["deltaRemoteness"]) for move in facts["moves"]]
        assert keys == sorted(keys)
        if not facts["moves"]:
            assert facts["remoteness"] == 0 or facts["positionValue"] in ("win", "lose")
            break
        assert facts["moves"][0]["moveValue"] == facts["positionValue"] or facts["positionValue"] == "draw"
        for move in facts["moves"]:
            again = client.get(f"{variant(name)}/positions/?p={move['position']}").facts
            same = {key: move[key] for key in again if key != "moves"}
            assert same == {key: again[key] for key in same}
            turns = move["position"][0] != position[0]
            opposite = {"win": "lose", "lose": "win"}.get(move["positionValue"], move["positionValue"])
            assert move["moveValue"] == (opposite if turns else move["positionValue"])
            assert not set("&#+%;:") & set(move["position"] + move["move"].replace("+", ""))
        position = chosen.choice(facts["moves"])["position"]


def test_gamesman_codes_of_draws(client):
    """Play that may go on for ever is a draw; a tie ends, though nobody knows when."""
    cyclic = client.get("/uwapi/mu-torere/regular/").facts["startPosition"]
    facts = client.get(f"/uwapi/mu-torere/regular/positions/?p={cyclic}").facts
    assert (facts["positionValue"], facts["remoteness"]) == ("draw", -200)
    start = client.get("/uwapi/tic-tac-toe/regular/").facts["startPosition"]
    facts = client.get(f"/uwapi/tic-tac-toe/regular/positions/?p={start}").facts
    assert (facts["positionValue"], facts["remoteness"]) == ("tie", -100)
    start = client.get("/uwapi/connect-four/regular/").facts["startPosition"]
    facts = client.get(f"/uwapi/connect-four/regular/positions/?p={start}").facts
    assert (facts["positionValue"], facts["remoteness"], facts["moves"][0]["move"]) == ("win", 41, "4")
    assert facts["moves"][0]["autoguiMove"].startswith("A_-_")


def test_columns_have_the_scores_of_the_published_solver(client):
    """Of the start, and of two positions whose scores INTERFACES and the solver's own page give."""
    assert client.get("/solve?pos=").facts == {"pos": "", "score": [-2, -1, 0, 1, 0, -1, -2]}
    assert client.get("/solve?pos=475").facts["score"] == [-18, -2, -2, -18, -18, -2, -18]
    assert client.get("/solve?pos=1111&book=connect-four:4,4").facts["score"][0] == 100
    for target, status in [
        ("/solve?pos=x", 400),
        ("/solve?pos=9", 400),
        ("/solve?pos=1&book=hex", 404),
        ("/solve?pos=3216462544", 404),
        ("/solve?pos=1212121&book=connect-four:4,4", 400),
    ]:
        assert client.get(target).status == status, target


def test_a_tablebase_speaks_of_mates(client):
    facts = client.get("/standard?fen=8/8/8/8/8/k1K5/8/1Q6_w_-_-_0_1").facts
    assert (facts["category"], facts["dtm"], facts["dtz"], facts["checkmate"]) == ("win", 1, 1, False)
    first = facts["moves"][0]
    assert first["san"].endswith("#") and first["checkmate"]
    assert (first["category"], first["dtm"], first["dtz"]) == ("loss", 0, -1)
    line = client.get("/standard/mainline?fen=8/8/8/3k4/8/3K4/8/7R_b").facts
    assert line["winner"] == "w" and line["mainline"][-1]["san"].endswith("#") and line["mainline"][-1]["dtz"] == -1
    assert [abs(one["dtz"]) for one in line["mainline"][:-1]] == list(range(-line["dtz"] - 1, 0, -1))
    drawn = client.get("/standard/mainline?fen=8/8/8/8/8/2k5/1R6/6K1_b").facts
    assert drawn == {"dtz": 0, "mainline": [], "winner": None}


def test_a_tablebase_takes_either_colour(client):
    white = client.get("/standard?fen=8/4P3/8/8/8/k7/8/2K5_w").facts
    black = client.get("/standard?fen=2k5/8/K7/8/8/8/4p3/8_b").facts
    assert white["dtz"] is None and white["dtm"] == black["dtm"]
    pairs = [(one["uci"], other["uci"]) for one, other in zip(white["moves"], black["moves"], strict=True)]
    assert ("e7e8q", "e2e1q") in pairs and all(one["zeroing"] for one in white["moves"] if one["uci"][:2] == "e7")
    assert client.get("/standard?fen=8/8/8/8/8/k1K5/8/1q6_w").facts["category"] == "loss"


@pytest.mark.parametrize(
    ("fen", "status"), [("", 400), ("x", 400), ("8/8/8/8/8/k1K5/8/1QQ5_w", 404), ("8/8/8/8/8/8/kK6/1Q6_w", 400)]
)
def test_a_tablebase_refuses_the_rest(client, fen, status):
    assert client.get(f"/standard?fen={fen}").status == status


@pytest.mark.slow
def test_moves_are_written_as_chess_players_do(client):
    """By python-chess: notation, mates, and the legal moves of random positions of each ending."""
    chess = pytest.importorskip("chess")
    chosen = random.Random(1)
    for name in ENDINGS:
        game = next(one.game for one in served(name))
        starts = list(game.starts())
        for state in chosen.sample(starts, 40):
            fen = game.format_position(state)
            board = chess.Board(fen)
            if chosen.random() < 0.5:
                board = board.mirror()
            facts = client.get(f"/standard?fen={board.fen().replace(' ', '_')}").facts
            assert {one["uci"] for one in facts["moves"]} == {move.uci() for move in board.legal_moves}
            assert facts["checkmate"] == board.is_checkmate() and facts["stalemate"] == board.is_stalemate()
            for one in facts["moves"]:
                move = chess.Move.from_uci(one["uci"])
                assert one["san"] == board.san(move) and one["zeroing"] == board.is_zeroing(move)
                board.push(move)
                assert one["checkmate"] == board.is_checkmate() and one["stalemate"] == board.is_stalemate()
                assert one["insufficient_material"] == board.is_insufficient_material()
                board.pop()
