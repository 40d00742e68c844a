"""`--help` of every command, colours of values, and completion in a shell."""

import importlib
import os
import re
import subprocess
import sys

import click
import pytest

from solver.cli import COMMANDS, SECTIONS, common, main
from tests import ROOT
from tests.commands import ok


def test_every_command_is_in_one_section():
    named = [name for names in SECTIONS.values() for name in names]
    assert sorted(named) == sorted(COMMANDS)
    shown = ok("--help")
    for title, names in SECTIONS.items():
        section = shown.partition(f"\n{title}:\n")[2].partition("\n\n")[0]
        assert [line.split()[0] for line in section.splitlines()] == list(names)


def commands():
    """Every command and subcommand, by its words."""
    for name, (module, _) in COMMANDS.items():
        command = importlib.import_module(module).command
        yield name, command
        if isinstance(command, click.Group):
            yield from ((f"{name} {child}", one) for child, one in command.commands.items())


ALL = dict(commands())


@pytest.mark.parametrize(("words", "command"), [*ALL.items()], ids=ALL)
def test_help_opens_with_a_sentence_and_two_examples(words, command):
    first, examples, *_ = command.help.split("\n\n")
    assert first.endswith(".") and "\n" not in first and len(first) <= 100
    lines = [line.strip() for line in examples.replace("\b", "").splitlines() if line.strip()]
    assert len(lines) >= 2 and all(re.search(r"\bsolver |^curl ", line) for line in lines)
    assert any(line.startswith(f"solver {words.split()[0]}") for line in lines)


@pytest.mark.parametrize(("words", "command"), [*ALL.items()], ids=ALL)
def test_every_option_has_a_sentence_that_begins_with_a_capital_or_a_choice(words, command):
    for option in command.params:
        if isinstance(option, click.Option):
            assert option.help and option.help.endswith("."), (words, option.opts)
            assert option.help[0].isupper() or ":" in option.help, (words, option.opts)


def test_values_have_colours_on_a_terminal_alone(monkeypatch, capsys):
    text = "win in 3 for the side to move\n*  a  draw\n   b  loss in 12, not lost"
    common.echo_values(text)
    assert capsys.readouterr().out == text + "\n"
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setattr(click, "echo", print)  # click itself looks at the descriptor
    common.echo_values(text)
    green, yellow, red, end = (f"\x1b[{code}m" for code in (32, 33, 31, 0))
    colourful = (
        f"{green}win in 3{end} for the side to move\n*  a  {yellow}draw{end}\n   b  {red}loss in 12{end}, not lost"
    )
    assert capsys.readouterr().out == colourful + "\n"
    monkeypatch.setenv("NO_COLOR", "1")
    common.echo_values(text)
    assert capsys.readouterr().out == text + "\n"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_completes_commands_and_options(shell):
    words = {"bash": ("solver qu", "1"), "zsh": ("solver qu", "1"), "fish": ("solver qu", "qu")}[shell]
    asked = {"_SOLVER_COMPLETE": f"{shell}_complete", "COMP_WORDS": words[0], "COMP_CWORD": words[1]}
    script = "from solver.cli import main; main(prog_name='solver')"
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, cwd=ROOT, env={**os.environ, **asked}, capture_output=True, text=True)
    assert "query" in done.stdout and "solve" not in done.stdout.split(), done
    assert main.name
