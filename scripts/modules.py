"""Build the modules that come with the package, of all built-in games that live search can take: books/modules/.

python scripts/modules.py [GAME ...]     builds those that are missing or of other rules, or the named ones anew
python scripts/modules.py --scores connect-four    reads lines of moves and prints their scores, as Pons has them: what
                                         `bench_search.py --against` times beside the compiled search
python scripts/modules.py --check        holds each against the compiled search: the same values on positions of play
"""

from __future__ import annotations

import argparse
import gzip
import random
import sys
from typing import Any

from bench_search import score_of

from solver.base.errors import BudgetExceeded, GameError, MethodError, UncompiledRules
from solver.book import shipped
from solver.compiled.exact.searcher import Searcher
from solver.compiled.module.building import build, searches
from solver.games import CATALOGUE
from solver.play import modules
from solver.rules.game import Rules, game_text, load_game
from solver.rules.reading import parse_position
from solver.wasm.host import Module

POSITIONS = 1000
NODES = 20_000  # beyond which a position is left out


def main() -> None:
    """Build or check."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("games", nargs="*", metavar="GAME")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--scores", action="store_true")
    given = parser.parse_args()
    if given.scores:
        _score(given.games[0])
        return
    (shipped.folder() / "modules").mkdir(exist_ok=True)
    names = given.games or [name for name in CATALOGUE if _has_defaults(name)]
    total = 0
    for name in names:
        rules = Rules(load_game(name))
        if rules.plain_only or not searches(rules):
            continue
        path = modules.path_of(name)
        if not given.check and (given.games or modules.find(rules) is None):
            path.write_bytes(gzip.compress(build(rules), mtime=0))
        total += path.stat().st_size
        print(f"{name:24} {path.stat().st_size:8,} bytes", _compared(rules) if given.check else "", flush=True)
    print(f"{'together':24} {total:8,} bytes")


def _score(name: str) -> None:
    """Answer lines of moves, the table emptied before each."""
    rules = Rules(load_game(name))
    module = modules.find(rules)
    assert isinstance(module, Module)
    for line in sys.stdin:
        state, ply, *_ = parse_position(rules.game, line.strip())
        module.ask("forget")
        print(line.strip(), score_of(rules.game, ply or 0, module.value(state)), flush=True)


def _has_defaults(name: str) -> bool:
    """Whether a game needs no parameters."""
    try:
        return game_text(load_game(name)) == name
    except GameError:
        return False


def _compared(rules: Rules) -> str:
    """How many positions of random games had the same value in both."""
    module, native, same, chance = modules.find(rules), Searcher(rules), 0, random.Random(0)
    assert isinstance(module, Module)
    for _ in range(POSITIONS):
        state = _position(rules, chance)
        try:
            value, found = native.value(state, nodes=NODES), module.value(state, nodes=10 * NODES)
        except (BudgetExceeded, MethodError, UncompiledRules):  # too hard, or play goes round
            continue
        if found != value:
            raise SystemExit(f"{rules.name}: state {state} is worth {value}, the module says {found}")
        same += 1
    return f"{same} of {POSITIONS} positions asked, all right"


def _position(rules: Rules, chance: random.Random) -> Any:
    """An unfinished position of a random game, from its second half."""
    path: list[Any] = []
    while not path:  # play may begin where it has ended
        state = chance.choice(rules.roots())
        while not rules.is_terminal(state) and len(path) < 300:
            path.append(state)
            state = rules.result(state, chance.choice(list(rules.actions(state))))
    return chance.choice(path[len(path) // 2 :])


if __name__ == "__main__":
    main()
