"""Text as people have it: marks, encodings and line ends of every system, wherever text comes in; tables go out."""

import io
import json
import os
import threading
from pathlib import Path

import pytest

from solver import PositionError, load_game, solve
from solver.base.text import MOST_LINE, TextError, file_lines, read_text, text_lines, waiting_lines
from solver.export import export
from solver.rules.reading import parse_position
from tests import DATA
from tests.commands import ok, run
from tests.refusals import fails, raises

LINES = ["5", "5 1", "", "é ☃ 🎲", "x" * 100]
ENCODINGS = ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"]
ENDS = ["\n", "\r\n", "\r"]


class Trickle(io.BytesIO):
    """A stream of which only so many bytes arrive at a time."""

    def __init__(self, data, step):
        super().__init__(data)
        self.step = step

    def read1(self, size=-1):
        return super().read1(min(size, self.step))


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_lines_are_the_same_in_every_encoding(tmp_path, encoding, end):
    data = end.join([*LINES, ""]).encode(encoding)
    for step in (1, 2, 3, 7, 1 << 16):
        if step > 1 or encoding not in ("utf-16-le", "utf-16-be"):  # which have no mark: two bytes tell them
            assert list(text_lines(Trickle(data, step))) == LINES
    (tmp_path / "lines.txt").write_bytes(data)
    assert list(file_lines(tmp_path / "lines.txt")) == LINES
    assert read_text(tmp_path / "lines.txt", 1 << 20) == "\n".join([*LINES, ""])


def test_a_last_line_needs_no_end_and_joined_files_may_have_marks_inside():
    assert list(text_lines(io.BytesIO(b"a\nb"))) == ["a", "b"]
    assert list(text_lines(io.BytesIO(b""))) == list(text_lines(io.BytesIO(b"\xef\xbb\xbf"))) == []
    assert list(text_lines(io.BytesIO("\ufeffa\n\ufeffb\n".encode()))) == ["a", "b"]
    assert list(text_lines(io.BytesIO(b"\r\n\r\n\n\r"))) == [""] * 4


def test_a_line_is_there_before_more_is_waited_for():
    """A program may write a line, whatever ends it, and wait for the answer."""
    for end in ENDS:
        reader, writer = os.pipe()
        with os.fdopen(reader, "rb") as stream, os.fdopen(writer, "wb", buffering=0) as pipe:
            lines = waiting_lines(stream)
            for text in ("5", "5 1"):
                pipe.write(f"{text}{end}".encode())
                assert next(lines) == [text]


@pytest.mark.parametrize(
    ("data", "line"),
    [(b"a\nb\xe9\nc", 2), (b"\xff\xfea\0\n\0b\0\n\0c", 3), (b"\xff\xfe\n\0\x00\xd8\n\0", 2), (b"a\r\xffb\r", 2)],
)
def test_what_is_no_text_is_named_by_its_line(tmp_path, data, line):
    (tmp_path / "lines.txt").write_bytes(data)
    for read in (lambda path: list(file_lines(path)), lambda path: read_text(path, 1 << 20)):
        raises(TextError, f"line {line}: not UTF-8 or UTF-16: save the file as UTF-8", read, tmp_path / "lines.txt")


def test_a_line_without_an_end_is_not_waited_for():
    for before, line in ((b"", 1), (b"a\rb\n", 3)):
        endless = Trickle(before + b"1" * (2 * MOST_LINE), 1 << 16)
        raises(TextError, f"line {line}: it has more than", list, text_lines(endless))
    assert len(next(text_lines(io.BytesIO(b"1" * MOST_LINE + b"\n")))) == MOST_LINE


@pytest.fixture(params=[(encoding, end) for encoding in ("utf-8-sig", "utf-16") for end in ("\r\n", "\r")])
def write(request, tmp_path, monkeypatch):
    """A function that writes a file as other systems do, and gives its bytes."""
    encoding, end = request.param
    monkeypatch.chdir(tmp_path)

    def write(name, *lines):
        data = end.join([*lines, ""]).encode(encoding)
        Path(name).write_bytes(data)
        return data

    return write


def test_every_command_that_reads_text_takes_it(write, tmp_path):
    positions = write("positions.txt", "start", "5", "5 1")
    answers = [json.loads(line) for line in ok("query", "tic-tac-toe", "-", "-q", stdin=positions).splitlines()]
    assert [answer["ply"] for answer in answers] == [0, 1, 2]
    games = write("games.txt", "5 1", "", "1 5 9")
    for said in (ok("grade", "tic-tac-toe", "games.txt", "-q"), ok("grade", "tic-tac-toe", "-", "-q", stdin=games)):
        assert said.startswith("2 games, 5 moves judged, 0 not known")
    write("moves.csv", "state,action,next,reward", "2,one,1,", "2,two,0,1", "1,one,0,1")
    assert "first player wins in 1 ply" in ok("solve", "moves.csv")
    write("exercise.json", "[[3, 12],", "[2, 4]]")
    assert "first player wins by 3" in ok("solve", "exercise.json")
    write("take.kif", *(DATA / "nim.kif").read_text("utf-8").splitlines())
    assert "first player wins in 5 plies" in ok("solve", "take.kif")
    ugi = write("ugi.txt", "ugi", "isready", "quit")
    assert "readyok" in ok("ugi", "tic-tac-toe", stdin=ugi)


def test_play_takes_a_mark_and_names_what_is_no_utf_8():
    assert "computer: " in ok("play", "tic-tac-toe", stdin="5\r\nquit\r\n".encode("utf-8-sig"))
    code, _, err = run("play", "tic-tac-toe", stdin="5\n".encode("utf-16"))
    assert code == 4 and "standard input is not UTF-8" in err


@pytest.mark.parametrize(
    ("game", "columns"),
    [("coins", None), ("kalah:2,2", "state score distance"), ("mu-torere", "distance board score state")],
)
def test_import_takes_the_csv_that_export_writes(write, tmp_path, game, columns):
    with solve(game, tmp_path / "book.lmdb") as book:
        export(book, tmp_path / "book.csv", columns and columns.split())
    write("again.csv", *(tmp_path / "book.csv").read_text("utf-8").split("\n"))
    ok("import", "again.csv", game, "-o", "again.lmdb")
    assert (tmp_path / "again.lmdb").read_bytes() == (tmp_path / "book.lmdb").read_bytes()


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (["state,value", "0,draw"], "line 1: neither a JSON object nor names of columns, state and score among them"),
        (["state,score,distance", "", "0,0"], "line 3: 2 fields under 3 columns"),
        (["state,score", "0,x"], "line 2: score 'x' is not a value"),
        (["", "state,score", "0,0", "-5,0"], "line 4: '-5' is not a state"),
        (["state,score", '0,0,"'], "line 2: "),
        (['{"state": 0, "score": 0}', "", "nothing"], "line 3: "),
    ],
)
def test_wrong_lines_are_named(tmp_path, lines, words):
    (tmp_path / "wrong").write_text("\n".join(lines))
    code, out, err = run("import", tmp_path / "wrong", "tic-tac-toe", "-o", tmp_path / "book.lmdb")
    assert (code, out) == (2, "") and words in err and "give state, score and distance" in err
    fails(4, "line 3: not UTF-8", "grade", "tic-tac-toe", "-", "-q", stdin=b"5\n1\n\xe9\n")


def test_export_writes_to_standard_output_and_to_pipes(tmp_path):
    read = []
    for form in ("csv", "jsonl"):
        ok("export", "hexapawn", "-o", tmp_path / f"book.{form}", "-q")
        whole = (tmp_path / f"book.{form}").read_bytes().decode()
        assert ok("export", "hexapawn", "-o", "-", "--format", form, "-q") == whole
        ok("export", "hexapawn", "-o", tmp_path / f"{form}.txt", "--format", form, "-q")
        assert (tmp_path / f"{form}.txt").read_text("utf-8") == whole
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe")
        reader = threading.Thread(target=lambda: read.append((tmp_path / "pipe").read_bytes()), daemon=True)
        reader.start()
        ok("export", "hexapawn", "-o", tmp_path / "pipe", "--format", "jsonl", "-q")
        reader.join(300)
        assert read == [(tmp_path / "book.jsonl").read_bytes()]
    assert ok("export", "hexapawn", "-o", "-", "-q") == (tmp_path / "book.csv").read_text("utf-8")
    columns = ok("export", "hexapawn", "-o", "-", "--columns", "state,score", "-q")
    assert columns.startswith("state,score\n8232,1\n") and columns.count("\n") == 38
    file = io.StringIO()
    export("hexapawn", file, form="jsonl")
    assert file.getvalue() == (tmp_path / "book.jsonl").read_text("utf-8")


FEN = "8/8/8/8/8/2k5/8/K2Q4 b - -"


@pytest.mark.parametrize(
    "text",
    [FEN, f"{FEN} 0 1", f'{FEN} bm Kb3; id "KQK; 1";', f"{FEN}; dm 10", f"{FEN} 0 1; dm 10", f"{FEN} dm 10;", FEN[:-4]],
)
def test_fen_may_have_operations_of_epd_behind_it(text):
    game = load_game("chess-ending:KQK")
    assert game.parse_position(text) == game.parse_position(FEN)
    raises(PositionError, "FEN is the ranks", parse_position, game, f"{FEN} 0 1 dm 10; id")
