"""Run the code blocks of a page in its order, in a folder of their own: a page shows only commands that were tried.

| block | how it runs |
| --- | --- |
| `console` | each `$ command` runs and must print the lines below it, or fail with the `Error: ` below it |
| `sh` | each command runs and must succeed |
| `pycon` | as a doctest, with `...` |
| any language whose first line is a comment with a file's name | is written to that file |
| `python` otherwise | runs; names are shared by the `python` and `pycon` blocks of a page |
| `json` otherwise | must be JSON, with `...` for what is left out |
| `text` | shows shapes, not code |

In expected output `...` stands for anything on a line. A last line of `...` alone stands for the rest of the output. A
comment on the line above a block changes how it runs: `<!-- not run: reason -->`, or `<!-- needs: module -->`, which
skips the rest of the page where the Python module is not installed. A program that is not on the PATH skips the rest
as well. A block without a language fails: it would not run.
"""

from __future__ import annotations

import doctest
import json
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.commands import run

BUILT_IN = {"cd", "echo", "export", "printf"}  # in every shell
BLOCK = re.compile(
    r"^(?:<!-- (?P<note>.*?) -->\n)?^(?P<indent> *)```(?P<kind>\w+)\n(?P<text>.*?)^(?P=indent)```$",
    re.MULTILINE | re.DOTALL,
)
NAMED = re.compile(r"(?:#|//|;+|<!--|/\*) ?([\w./-]+\.\w+|Dockerfile)(?::[^\n]*)?(?: -->| \*/)?\n")


class Block(NamedTuple):
    """A fenced block of a page: its language, its text, its line, and the comment above it ("" without one)."""

    kind: str
    text: str
    line: int
    note: str


def blocks(page: Path) -> Iterator[Block]:
    """Yield the code blocks of a Markdown page in order. Directives of MyST, such as `{toctree}`, are none."""
    text = page.read_text("utf-8")
    opened = [line.strip() for line in text.split("\n") if line.strip().startswith("```")][::2]
    assert "```" not in opened, f"{page.name} has a block without a language: it would not run"
    for match in BLOCK.finditer(text):
        body = re.sub(f"^{match['indent']}", "", match["text"], flags=re.MULTILINE)
        yield Block(match["kind"], body, text.count("\n", 0, match.start("kind")) + 1, match["note"] or "")


def commands(block: str) -> Iterator[tuple[str, str]]:
    """Yield (command, expected output) of a console session."""
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        lines = part.split("\n")
        count = 1
        while lines[count - 1].endswith("\\"):
            count += 1
        yield "\n".join(lines[:count]), "\n".join(lines[count:])


def matches(expected: str, printed: str) -> bool:
    """Whether a command's output is the page's."""
    if f"\n{expected}".endswith("\n...\n"):  # the rest is left out
        expected = expected[: -len("...\n")]
        printed = "\n".join(printed.split("\n")[: expected.count("\n")])
    pattern = r"[^\n]*".join(re.escape(part) for part in expected.rstrip().split("..."))
    return re.fullmatch(pattern, printed.rstrip()) is not None


def shell(command: str, text: str | None = None) -> subprocess.CompletedProcess[str]:
    """Run a command in a shell with a text for its input."""
    return subprocess.run(["bash", "-c", command], input=text, capture_output=True, text=True)


def by_shell(command: str, text: str | None = None, fails: bool = False) -> str:
    """Run a command that must succeed in a shell, and return what it prints, or one that must fail, and its error."""
    done = shell(command, text)
    assert (done.returncode != 0) == fails, f"$ {command}\n{done.stdout}{done.stderr}"
    return done.stderr[max(0, done.stderr.find("Error: ")) :] if fails else done.stdout


def in_process(command: str) -> str:
    """The same without a process for each `solver`."""
    if re.search(r"[<>;&(\\]|\$|\|\||^\w+=", command):
        return by_shell(command)
    text, *parts = "", *re.split(r" \| ", command)
    for part in parts:
        words = shlex.split(part, comments=True)
        if words[0] == "solver":
            code, text, error = run(*words[1:], stdin=text)
            assert code == 0 or part is not parts[-1], f"$ {command}\n{error}"
        else:
            text = by_shell(part, text)
    return text


def lacking(command: str) -> str | None:
    """The first program of a command that is not there."""
    first = [words[0] for part in command.split(" | ") if (words := shlex.split(part, comments=True))]
    return next((word for word in first if word not in BUILT_IN and "=" not in word and not shutil.which(word)), None)


def sources(page: Path) -> dict[str, str]:
    """The Python of a page by the names of its files; that of blocks without a name is `page.py`, in their order.

    Examples that show an error are left out.
    """
    files: dict[str, str] = {}
    for block in blocks(page):
        named = NAMED.match(block.text)
        if block.kind == "python" and named:
            files[named[1]] = block.text
        elif block.kind in ("python", "pycon"):
            code = block.text
            if block.kind == "pycon":
                examples = doctest.DocTestParser().get_examples(code)
                code = "".join(example.source for example in examples if example.exc_msg is None)
            files["page.py"] = files.get("page.py", "") + f"# line {block.line}\n{code}"
    return files


def run_page(page: Path, output_of: Callable[[str], str] = in_process, leave: frozenset[str] = frozenset()) -> int:
    """Run the blocks of a page in the working folder, and return how many commands and examples ran.

    Commands in `leave` are passed over. Skips the test at a block that needs what is not there.
    """
    ran, names = 0, {"__name__": "page"}
    for block in blocks(page):
        where = f"{page.name}, line {block.line}"
        word, _, reason = block.note.partition(": ")
        if word == "not run" and reason:
            continue
        if word == "needs":
            pytest.importorskip(reason)
        ran += _run(block, where, names, output_of, leave)
    return ran


def _run(
    block: Block, where: str, names: dict[str, Any], output_of: Callable[[str], str], leave: frozenset[str]
) -> int:
    named = NAMED.match(block.text)
    if block.kind in ("console", "sh"):
        pairs = list(commands(block.text)) if block.kind == "console" else [(line, "") for line in _lines(block.text)]
        for command, expected in pairs:
            if command in leave:
                continue
            if program := lacking(command):
                pytest.skip(f"{where}: there is no {program}")
            fails = expected.startswith("Error: ") and "2>&1" not in command
            printed = by_shell(command, fails=True) if fails else output_of(command)
            assert block.kind == "sh" or matches(expected, printed), f"{where}: $ {command}\n{printed}"
        return len(pairs)
    if block.kind == "pycon":
        test = doctest.DocTestParser().get_doctest(block.text, names, where, where, 0)
        report: list[str] = []
        runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
        failed = runner.run(test, out=report.append, clear_globs=False).failed
        names.update(test.globs)
        assert failed == 0, f"{where}:\n{''.join(report)}"
    elif named:
        path = Path(named[1])
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(block.text, encoding="utf-8")
        return 0
    elif block.kind == "python":
        exec(compile(block.text, where, "exec"), names)  # noqa: S102 -- our own pages
    elif block.kind == "json":
        json.loads(block.text.replace("...", '"..."') if "..." in block.text else block.text)
    elif block.kind == "text":
        return 0
    else:
        raise AssertionError(f"{where}: name the file of this {block.kind} in its first line, or say why it is not run")
    return 1


def _lines(text: str) -> list[str]:
    joined = text.replace("\\\n", "")
    return [line for line in joined.split("\n") if line.strip() and not line.lstrip().startswith("#")]
