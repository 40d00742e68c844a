"""Levels of play in matches: each is stronger than the one below, and the same seed plays the same."""

import json

import pytest

from solver.play.levels import LEVELS
from tests.commands import ok, run


def elo(*words):
    return json.loads(ok("match", *words, "--games", "100", "-q", "--json"))


def test_each_level_beats_the_one_below():
    names = [f"connect-four:4,4@{name}" for name in LEVELS]
    for weak, strong in zip(names[:3], names[1:4], strict=True):
        assert elo(strong, weak)["low"] > 0.5, (strong, weak)


def test_the_same_seed_plays_the_same():
    words = ("tic-tac-toe@easy", "tic-tac-toe@beginner")
    assert elo(*words) == elo(*words) != elo(*words, "--seed", "1")


@pytest.mark.parametrize("name", ["connect-four@easy", "random@easy", "tic-tac-toe@strong"])
def test_what_has_no_levels_is_refused(name):
    code, _, said = run("match", name, "random", "--game", "connect-four")
    assert code == 2 and ("only complete books play at a level" in said or "no player" in said)
