"""Helpers of the tests of modules: a game's module, forged ones, and Node to ask them."""

import functools
import hashlib
import json
import random
from unittest import mock

import pytest

from solver.play import modules
from solver.rules.game import Rules, load_game
from solver.wasm import binary, exports
from tests.exports import node as of_script


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


FOR_EVER = bytes([0, 0x03, 0x40, 0x0C, 0, 0x0B, 0x42, 0, 0x0B])  # no locals; loop br 0 end; i64.const 0
GREEDY = bytes([0, 0x41, 0xFF, 0xFF, 0, 0x40, 0, 0xAC, 0x0B])  # i32.const 16383, memory.grow, i64.extend_i32_s
IDLE = bytes([0, 0x42, 0, 0x0B])  # i64.const 0
NAN = bytes([0, 0x44, *(0, 0, 0, 0, 0, 0, 0xF8, 0x7F), 0x0B])  # f64.const nan

FACTS = {
    "a list": "[]",
    "a number": "7",
    "nothing": "null",
    "brackets": "[" * 100_000,
    "brackets in an object": '{"win": 1, "game": ' + "[" * 100_000 + "]" * 100_000 + "}",
    "a list in an object": '{"win": 1, "game": [1]}',
    "a fraction": '{"win": 1.0}',
    "no number": '{"win": NaN}',
    "too large a number": '{"win": 1' + "0" * 5000 + "}",
}


def nested(depth=5000):
    """A body of so many loops, one in the other, and as many locals that the innermost uses: gigabytes, a minute."""
    places = map(binary.number, range(depth))
    use = b"".join(bytes([0x20]) + place + bytes([0x21]) + place for place in places)  # local.get, local.set
    loops = bytes([0x03, 0x40]) * depth + use + bytes([0x41, 0, 0x0D, 0, 0x0B]) * depth  # i32.const 0, br_if 0, end
    return binary.vector([binary.number(depth) + bytes([0x7E])]) + loops + bytes([0x42, 0, 0x0B])


def with_sections(data, **changes):
    """A module with sections of other contents, by their names; None leaves one out; sealed anew."""
    parts = dict(binary.sections(data[: -binary.SEAL_BYTES - 7]))
    for name, contents in changes.items():
        parts[getattr(binary, name)] = contents
    return binary.sealed(binary.joined({kind: contents for kind, contents in parts.items() if contents is not None}))


def crowded(data, count=5000):
    """A module of so many functions more, all empty, which nobody calls."""
    parts = dict(binary.sections(data[: -binary.SEAL_BYTES - 7]))
    added = {}
    for name, more in (("FUNCTION", bytes([0])), ("CODE", bytes([4, 0, 0x42, 0, 0x0B]))):  # of the first type
        reader = binary.Reader(parts[getattr(binary, name)])
        number = reader.number()
        added[name] = binary.number(number + count) + reader.data[reader.at :] + more * count
    return with_sections(data, **added)


def forged(data, bodies=None, memory=None, facts=None):
    """A module with other bodies of functions, by names, another section of memory, or other facts, sealed anew."""
    parts = dict(binary.sections(data[: -binary.SEAL_BYTES - 7]))
    reader, places = binary.Reader(parts[binary.EXPORT]), {}
    for _ in range(reader.number()):
        name = reader.name()
        reader.byte()
        places[name] = reader.number()
    code = binary.Reader(parts[binary.CODE])
    functions = [code.take(code.number()) for _ in range(code.number())]
    for name, body in (bodies or {}).items():
        functions[places[name]] = body
    parts[binary.CODE] = binary.vector([binary.number(len(body)) + body for body in functions])
    parts[binary.MEMORY] = memory or parts[binary.MEMORY]
    told = facts if isinstance(facts, str) else json.dumps(binary.facts_of(data) | (facts or {}))
    parts[binary.CUSTOM] = binary.text(binary.FACTS) + told.encode()
    return binary.sealed(binary.joined(parts))


def mutants(data, count, seed=1):
    """Copies of a module with a bit or a byte altered, sealed as if they were whole."""
    chance, end = random.Random(seed), len(data) - binary.SEAL_BYTES
    for _ in range(count):
        altered = bytearray(data[:end])
        altered[chance.randrange(end)] ^= chance.choice([1 << chance.randrange(8), chance.randrange(1, 256)])
        yield bytes(altered) + hashlib.sha256(altered).digest()


def built(rules):
    from solver.compiled.module.building import build

    return build(rules)


def of_rules_alone(rules):
    """A module without searches, which is quick to build."""
    with mock.patch.multiple(exports, EXACT={}, DEPTH={}):
        return built(rules)


def exporting(data, *names):
    """A module that exports its first function by these names as well."""
    parts = dict(binary.sections(data[: -binary.SEAL_BYTES - 7]))
    reader = binary.Reader(parts[binary.EXPORT])
    number = reader.number()
    added = [binary.text(name) + bytes([binary.OF_FUNCTION, 0]) for name in names]
    exports = binary.number(number + len(added)) + reader.data[reader.at :] + b"".join(added)
    return with_sections(data, EXPORT=exports)


node = functools.partial(of_script, script="search.mjs")
