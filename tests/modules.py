"""What tests of modules in JavaScript share: a game's module, and Node to ask it."""

import json
import subprocess
from pathlib import Path

import pytest

from solver.play import modules
from solver.rules.game import Rules, load_game


@pytest.fixture(scope="session")
def module_of(tmp_path_factory):
    """The file of a game's module, a shipped one if there is one."""
    made = {}

    def module(name):
        if name not in made:
            rules = Rules(load_game(name))
            made[name] = tmp_path_factory.mktemp("module") / "game.wasm"
            made[name].write_bytes(modules.data_of(rules) or built(rules))
        return made[name]

    return module


def built(rules):
    from solver.compiled.module.building import build

    return build(rules)


def node(command, *arguments):
    script = Path(__file__).parent / "search.mjs"
    done = subprocess.run(["node", script, command, *map(str, arguments)], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
