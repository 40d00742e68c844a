"""The reader in C and that for npm: every shipped book, every state, damaged files, and what they refuse."""

import errno
import functools
import json
import os
import random
import re
import shutil
import subprocess
from pathlib import Path

import pytest

import solver
from solver.base.errors import BookError, MethodError
from solver.base.value import is_estimate
from solver.book import Book, shipped
from solver.export import export
from solver.export.readers import HEADER, files_of, write_reader
from solver.play.modules import data_of
from solver.rules.game import Rules, load_game
from tests import ROOT
from tests.books import KEPT, VALUES, book_of, sample_values, write_sample, write_values
from tests.commands import ok, run
from tests.exports import VECTOR, exported, needs_node, read_by_node, with_facts, with_size, with_values
from tests.pages import write_grown
from tests.refusals import raises
from tests.ways import slow_rows

COMPILERS = [name for name in ("gcc", "clang") if shutil.which(name)]
COPIES = [*((one, 30) for one in COMPILERS[:1]), *slow_rows(*((one, 3400) for one in COMPILERS))]
STRICT = ("-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror")
SANITIZED = ("-g", "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
# Those of `make javascript` first
PROGRAMS = os.pathsep.join((str(ROOT / "node_modules" / ".bin"), os.environ["PATH"]))
ESBUILD, TSC = (shutil.which(name, path=PROGRAMS) for name in ("esbuild", "tsc"))
needs_c = pytest.mark.skipif(not COMPILERS, reason="no C compiler")


def compiled(folder, compiler, *flags):
    write_reader("c", folder)
    source = __file__.replace("export/test_readers.py", "reader.c")
    program = folder / "reader"
    command = [compiler, *STRICT, *flags, "-I", folder, source, "-o", program]
    done = subprocess.run(command, capture_output=True, text=True)
    if "-fsanitize" in " ".join(flags) and done.returncode and "cannot find" in done.stderr:
        pytest.skip(f"{compiler} has no sanitizers")
    assert done.returncode == 0, done.stderr
    return program


@pytest.fixture(scope="module")
def reader(tmp_path_factory):
    if not COMPILERS:
        pytest.skip("no C compiler")
    return compiled(tmp_path_factory.mktemp("c"), COMPILERS[0], "-O2")


def printed(*command, **options):
    """The lines that a program prints."""
    return subprocess.run([*command], capture_output=True, text=True, **options).stdout.splitlines()


def asked(program, file, states, wide=0):
    """What the reader says of states: numbers, or so many bytes in hex."""
    lines = [state.to_bytes(wide, "little").hex() if wide else str(state) for state in states]
    return printed(program, "wide" if wide else "ask", file, input="\n".join(lines))


def agree(program, book, file=None):
    """Hold every stored state of a book against the reader, and some numbers that it does not store."""
    file = file or exported(book.path, book.path.with_suffix(".bin"))
    stored, wide, estimates = dict(book.items()), book.header.state_bytes, book.header.estimate is not None
    for line, value in zip(asked(program, file, stored, wide), stored.values(), strict=True):
        score, distance, guess = line.split()
        assert (float(score), bool(int(guess))) == (value.score, estimates and is_estimate(value))
        assert int(distance) == (-1 if value.distance is None else value.distance)
    near = [state + step for state in [*stored][:500] for step in (-1, 1, *((1 << 64,) if wide else ()))]
    strangers = {0, 1 << 63, (1 << 64) - 1, *near} - {-1, *stored}
    assert {*asked(program, file, strangers, wide and wide + 2)} == {"code 0"}


@pytest.mark.parametrize("name", ["hexapawn", "connect-four:3,3,3", "kalah:2,3", "backgammon-bearoff:2,3"])
def test_it_reads_books_of_games(reader, tmp_path, name):
    codec = "compact" if name.startswith("connect") else None
    with solver.solve(name, tmp_path / "book.lmdb", codec=codec) as book:
        agree(reader, book)


def test_it_reads_estimates_and_states_of_many_words(reader, tmp_path):
    write_grown(tmp_path / "grown.lmdb")
    agree(reader, Book(tmp_path / "grown.lmdb"))
    chance = random.Random(7)
    base = chance.getrandbits(500)
    stored = {base + (chance.getrandbits(128) >> chance.choice((0, 60, 100))): value for value in VALUES * 60}
    agree(reader, book_of(tmp_path / "wide.lmdb", stored, state_bytes=64))


@pytest.mark.parametrize("path", [path for path in KEPT if "ranked" not in path.stem], ids=lambda path: path.stem)
def test_it_reads_kept_files(reader, path):
    """Those of format 1, as long as the reader is published."""
    agree(reader, Book(path), path.with_suffix(".bin"))


@pytest.mark.parametrize("spread", [1, 2, 5, 1 << 9, 1 << 17, 1 << 40])
def test_it_reads_expectations_at_any_distance(reader, tmp_path, spread):
    write_sample(tmp_path / "book.lmdb", sample_values(600, spread=spread), "steps")
    agree(reader, Book(tmp_path / "book.lmdb"))


def test_it_refuses_ranked_books_and_other_files(reader, tmp_path):
    (tmp_path / "text.bin").write_text("no book")
    data = KEPT[0].with_suffix(".bin").read_bytes()
    (tmp_path / "old.bin").write_bytes(data[:6] + b"\r" + data[7:])
    for path, words in (
        *((path.with_suffix(".bin"), "code -3 the book is ranked") for path in KEPT if "ranked" in path.stem),
        (tmp_path / "text.bin", "code -1 the file is damaged"),
        (tmp_path / "old.bin", "code -6 the book is older than format 1: make it anew, solver solve"),
        (tmp_path / "none.bin", "code -4 the file cannot be read"),
    ):
        assert asked(reader, path, [])[0].startswith(words)


@pytest.fixture
def whole(tmp_path):
    """The bytes of a small book."""
    write_values(tmp_path / "book.lmdb", VECTOR)
    return exported(tmp_path / "book.lmdb", tmp_path / "book.bin").read_bytes()


def all_damaged(reader, folder, copies):
    """Both readers refuse each of these copies of a file."""
    for copy in copies:
        (folder / "copy.bin").write_bytes(copy)
        assert asked(reader, folder / "copy.bin", [])[0].startswith("code -1 the file is damaged")
    assert read_by_node(folder, copies) == {"DamagedBook": len(copies)}


NO_VALUES = [
    *((1, -2), (-1, -3), (1, -(1 << 63)), (0, -2), (0.5, -2), (1, 1 << 40), (-1, (1 << 63) - 1)),
    *((0, 0), (0, 3), (5, 3), (-(1 << 40), 1)),
]


@needs_node
def test_no_value_is_answered_that_no_game_has(reader, tmp_path, whole):
    """Forged books, all checksums right: only wins and losses have a distance, only grown books have estimates."""
    honest = [(1, 3), (0, -1), (-1, 2)]
    assert with_values(whole, *honest) == whole
    all_damaged(reader, tmp_path, [with_values(whole, *honest[:2], value) for value in NO_VALUES])


@needs_node
def test_facts_name_a_game_and_a_value_and_do_not_speak_to_a_terminal(reader, tmp_path, whole):
    facts = whole[68 : 64 + int.from_bytes(whole[40:44], "little")]
    raw = [b"co\x1b[m", b"co\x7fns", "co\u009bns".encode(), b"co\x00ns"]
    all_damaged(reader, tmp_path, [with_facts(whole, facts.replace(b"coins", name)) for name in raw])
    # Escaped, as JSON has them: the C reader hands out the JSON
    odd = [{"game": name} for name in ("\x1b[2J", "\x7f", "\x9b2J", "\u202e", 5, None)]
    odd += [{"root": root} for root in (None, {}, 1, {"score": None})]
    assert read_by_node(tmp_path, [with_facts(whole, facts) for facts in odd]) == {"DamagedBook": len(odd)}


@needs_node
def test_a_file_is_read_as_far_as_its_prefix_says(reader, tmp_path, whole):
    cut = [whole[:size] for size in (0, 8, 63, 64, 127, 128, 129, len(whole) - 1)]
    told = [with_size(whole, size) for size in (0, 63, 64, len(whole) - 1, len(whole) + 1)]
    all_damaged(reader, tmp_path, [*cut, *told, whole + b"\0", whole + bytes(1 << 20)])
    (tmp_path / "huge.bin").write_bytes(with_size(whole, (1 << 64) - 1))
    assert asked(reader, tmp_path / "huge.bin", [])[0].startswith("code -1")


@pytest.mark.posix("devices")
@pytest.mark.parametrize("begin", [bytes(64), b"no book, and long enough for the prefix of one: " * 2])
def test_what_does_not_begin_as_a_book_is_not_read_to_its_end(reader, begin):
    asking = subprocess.Popen([reader, "ask", "/dev/stdin"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    with asking:
        asking.stdin.write(begin)
        asking.stdin.flush()
        # The pipe stays open: who reads on waits for ever
        assert asking.wait(300) == 1
        assert asking.stdout.read().startswith(b"code -1")


@needs_c
@pytest.mark.interpreted
@pytest.mark.parametrize(("compiler", "copies"), COPIES)
def test_damaged_files_neither_crash_it_nor_yield_a_wrong_value(tmp_path, compiler, copies):
    program = compiled(tmp_path, compiler, *SANITIZED)
    for name, codec in {"tic-tac-toe": "instant", "connect-four:3,3": "compact", "pig:10": None}.items():
        with solver.solve(name, tmp_path / f"{name}.lmdb", codec=codec) as book:
            export(book, tmp_path / "whole.bin")
        done = subprocess.run([program, "damage", tmp_path / "whole.bin", str(copies)], capture_output=True, text=True)
        assert (done.returncode, done.stdout) == (0, "ok\n"), done.stdout + done.stderr[-2000:]


@needs_c
@pytest.mark.slow
@pytest.mark.parametrize("compiler", COMPILERS)
def test_it_reads_every_state_of_every_shipped_book(tmp_path, compiler):
    program = compiled(tmp_path, compiler, "-O2")
    for path in shipped.paths():
        with Book(path) as book:
            assert book.header.codec != "ranked"
            agree(program, book, exported(path, tmp_path / "book.bin"))


def test_the_header_is_one_short_file_without_dependencies():
    text = files_of("c")[HEADER]
    assert len(text.splitlines()) <= 1000
    assert {*re.findall("#include <(.*)[.]h>", text)} == {"stddef", "stdint", "stdio", "stdlib", "string"}


@needs_node
def test_the_reader_for_npm_answers(tmp_path):
    names = ok("export", "--reader", "js", "-o", tmp_path / "npm").splitlines()
    assert any(name.endswith("book.d.ts") for name in names)
    package = json.loads((tmp_path / "npm" / "package.json").read_text())
    for entry in package["exports"].values():
        assert all((tmp_path / "npm" / path).is_file() for path in entry.values())
    export("tic-tac-toe", tmp_path / "book.bin")
    script = (
        f'import {{ readFileSync }} from "node:fs"; import {{ Book }} from "{tmp_path}/npm/book.js";'
        f' const book = await Book.open(readFileSync("{tmp_path}/book.bin"));'
        " console.log(JSON.stringify(await book.get(0n)));"
    )
    (tmp_path / "ask.mjs").write_text(script)
    assert json.loads(printed("node", tmp_path / "ask.mjs")[0])["outcome"] == "draw"


@pytest.mark.parametrize("language", ["c", "js"])
@pytest.mark.parametrize("folder", ["new", "new/inside", "there"])
def test_a_full_disk_leaves_no_folder(tmp_path, monkeypatch, language, folder):
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "mine.txt").write_text("mine")
    written, write = [], Path.write_bytes

    def fill(path, data):
        written.append(path)
        write(path, data[: len(data) // 2 if len(written) == len(files_of(language)) else None])
        if len(written) == len(files_of(language)):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "write_bytes", fill)
    code, out, err = run("export", "--reader", language, "-o", tmp_path / folder)
    assert (code, out, err.count("\n")) == (6, "", 1) and "make room" in err
    left = [path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*")]
    assert {"there", "there/mine.txt"} <= set(left) and not any("new" in path or "partial" in path for path in left)


def test_what_does_not_go_with_a_reader_is_refused(tmp_path):
    (tmp_path / "file").write_text("")
    raises(BookError, "is not a folder", write_reader, "c", tmp_path / "file")
    raises(MethodError, "choose c or js", files_of, "cobol")


@needs_node
@pytest.mark.skipif(ESBUILD is None, reason="esbuild is not installed (make javascript)")
def test_the_reader_for_npm_becomes_a_bundle_for_browsers(tmp_path):
    """Which names nothing of Node that a bundler looks for, and still runs there, in threads as well."""
    write_reader("js", tmp_path)
    game = load_game("connect-four")
    (tmp_path / "game.wasm").write_bytes(data_of(Rules(game)))
    state = game.initial()
    for action in (0, 0, 1, 1, 2, 2):
        state = game.result(state, action)
    (tmp_path / "app.js").write_text(
        'import { Background, Search } from "./search.js"; for (const kind of [Search, Background]) {'
        f' const search = await kind.open("game.wasm"); const value = await search.value({state}n);'
        " console.log(value.outcome, value.distance); search.close?.(); }"
    )
    command = [ESBUILD, "app.js", "worker.js", "--bundle", "--platform=browser", "--format=esm", "--outdir=dist"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0 and "WARNING" not in done.stderr, done.stderr
    assert printed("node", "dist/app.js", cwd=tmp_path) == ["win 1", "win 1"]


@pytest.mark.skipif(TSC is None, reason="TypeScript is not installed (make javascript)")
def test_a_program_in_typescript_takes_the_game_of_a_page(tmp_path):
    export("tic-tac-toe", f"{tmp_path}/site/")
    write_reader("js", tmp_path / "reader")
    (tmp_path / "app.ts").write_text(
        'import { Book } from "./reader/book.js"; import { about, game, rules } from "./site/game.js";'
        " export async function values(book: Uint8Array) {"
        " if (!rules) return game.moves(game.initial, 0).map((move) => game.key(move.child));"
        " const opened = await Book.open(book, { rules }); const start: bigint = rules.initial();"
        " return rules.actions(start).map((action) => opened.get(rules!.canonical(rules!.result(start, action)))); }"
        " export const title: string = about.game;"
    )
    check = [TSC, "--noEmit", "--strict", "--target", "es2022", "--module", "esnext"]
    check += ["--moduleResolution", "bundler", "app.ts"]
    assert printed(*check, cwd=tmp_path) == []
    (tmp_path / "app.ts").write_text('import { game } from "./site/game.js"; export const at: string = game.initial;')
    assert "'bigint' is not assignable" in printed(*check, cwd=tmp_path)[0]


@needs_c
def test_the_example_in_c_has_the_value_of_every_move(tmp_path):
    write_reader("c", tmp_path)
    command = [COMPILERS[0], *STRICT, "-I", tmp_path, ROOT / "examples" / "moves.c", "-o", tmp_path / "moves"]
    subprocess.run(command, check=True)
    export("connect-four:4,4", tmp_path / "c4.bin")
    player = solver.Player("connect-four:4,4")
    for line in ("", "112", "11223", "1111222234333"):
        state = functools.reduce(player.game.result, (int(move) - 1 for move in line), player.game.initial())
        expected = [
            f"{move.action + 1} {move.value.outcome}" + (f" in {move.value.distance}" if move.value.score else "")
            for move in player.analyse(state)
        ]
        assert printed(tmp_path / "moves", tmp_path / "c4.bin", *line) == sorted(expected)


@needs_c
def test_the_example_in_rust_looks_states_up(tmp_path):
    # Where rustup has installed it for another user, a program of that name fails
    if not shutil.which("rustc") or subprocess.run(["rustc", "--version"], capture_output=True).returncode:
        pytest.skip("Rust is not installed")
    write_reader("c", tmp_path)
    compiled_reader = ["-c", "-DSOLVERBOOK_IMPLEMENTATION", "-x", "c", tmp_path / HEADER, "-o", tmp_path / "reader.o"]
    subprocess.run([COMPILERS[0], *compiled_reader], check=True)
    example = ROOT / "examples" / "moves.rs"
    command = ["rustc", "-C", f"link-arg={tmp_path / 'reader.o'}", example, "-o", tmp_path / "moves"]
    subprocess.run(command, check=True)
    export("hexapawn", tmp_path / "book.bin")
    with Book("hexapawn") as book:
        expected = [f"{state} {value.score} {value.distance} 0" for state, value in book.items()]
        assert 0 not in book
    said = printed(tmp_path / "moves", tmp_path / "book.bin", "0", *(line.split()[0] for line in expected))
    assert said == ["0 missing", *expected]
    (tmp_path / "cut.bin").write_bytes((tmp_path / "book.bin").read_bytes()[:-1])
    done = subprocess.run([tmp_path / "moves", tmp_path / "cut.bin", "1"], capture_output=True, text=True)
    assert done.returncode == 1 and "damaged" in done.stderr
