"""Helpers of the tests of pages: rules and pages in Node."""

import decimal
import functools
import json
import random
import re
import shutil

import pytest

from solver.base.expectations import Estimate, Estimated
from solver.base.value import merit_of
from solver.book import Book, shipped
from solver.export import export, script, site
from solver.rules.game import Rules, game_text, load_game
from solver.rules.notation import chances, first_position, format_action, in_words, next_position
from solver.solving import pipeline
from tests import DATA, naive
from tests.books import write_values
from tests.exports import node as of_script

STRANGE = (DATA / "strange.txt").read_text("utf-8")  # rules that show what Python has

node = functools.partial(of_script, script="port.mjs")


def ask(command, folder, asked, *more):
    """What a command of port.mjs answers to a list of questions about the page in `folder`/site."""
    (folder / "asked").write_text(json.dumps(asked))
    return node(command, folder / "site", folder / "asked", *more)


def ask_positions(command, folder, positions, *more):
    """The same of positions, and the answers beside them, with minus signs of ASCII."""
    asked = [[str(one.state), one.mover or 0, one.gained or 0] for one in positions]
    answers = json.loads(json.dumps(ask(command, folder, asked, *more), ensure_ascii=False).replace("\u2212", "-"))
    return zip(positions, answers, strict=True)


def export_page(source, folder):
    """Write the page of a book or a game into `folder`/site, beside what says to Node that it has modules."""
    shutil.copy(site.WEB / "package.json", folder)
    return export(source, f"{folder}/site/")


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Makes the page of a game, or of its book of another codec or method, once, and gives its folder."""
    made = {}

    def folder_of(name, game=None):
        if name not in made:
            folder = made[name] = tmp_path_factory.mktemp("page")
            text, _, said = name.partition(" ")
            options = {"method" if said == "nimbers" else "codec": said} if said else {}
            if text == "awari":  # whose solve takes long
                shutil.copy(shipped.path_of(game_text(load_game(text))), folder / "book.lmdb")
            else:
                pipeline.solve(game or load_game(text), folder / "book.lmdb", **options).close()
            with Book(folder / "book.lmdb", game) as book:
                export_page(book, folder)
        return made[name]

    return folder_of


@pytest.fixture(scope="module")
def modules(tmp_path_factory):
    """A folder in which Node finds what a game.js imports."""
    folder = tmp_path_factory.mktemp("modules")
    for path in (*(site.WEB / "site").iterdir(), site.WEB / "package.json"):
        shutil.copy(path, folder)
    return folder


def named(rules):
    """The methods that a page has of a game without a module."""
    return [*script.numbers_of(rules), *script.text_of(rules)]


def ported(folder, name, rules, records):
    path = folder / f"{re.sub('[^a-z0-9]', '_', name)}.js"
    path.write_text(script.ported({}, *script.translation(rules, named(rules)), records))
    return path


def positions_of(rules, count, seed=3):
    """Positions along random games, as `solver query` would be told them; all outcomes of chance are as likely."""
    chance, found = random.Random(seed), []
    while len(found) < count:
        position = first_position(rules)
        while not rules.is_terminal(position.state) and position.ply < 40 and len(found) < count:
            outcomes = chances(rules.game, position.state)
            choices = range(len(outcomes)) if outcomes else list(rules.actions(position.state))
            position = next_position(rules, position, chance.choice(choices))
            found.append(position)
    return found


def words_of(player, value):
    """A value as a page has it; an expectation by decimals, as they are written."""
    expectation = player.solution.expectation
    if expectation is None:
        return in_words(value, player.rules)
    score = decimal.Decimal(value.score)
    if expectation.of == "margin":
        shown = abs(score).quantize(decimal.Decimal("0.01"), "ROUND_HALF_UP")
        return ("+" if score > 0 else "-") * bool(shown) + str(shown)
    number = 50 * (1 + score)
    shown = number.quantize(decimal.Decimal("0.1"), "ROUND_HALF_UP")
    if number in (0, 100):
        return f"{int(number)} %"
    low, high = decimal.Decimal("0.1"), decimal.Decimal("99.9")
    return "< 0.1 %" if number < low else "> 99.9 %" if number > high else f"{shown} %"


def said_of(player, position):
    """What a page says of all moves, or of all that chance may do: {name: [value in words, whether it is best]}."""
    state = position.state
    said = {
        format_action(player.game, state, move.action): [words_of(player, move.value), move.best]
        for move in player.analyse(state)
    }
    outcomes = enumerate(player.outcomes(state), 1)
    return said | {str(number): [words_of(player, one.value), False] for number, one in outcomes}


def write_grown(path):
    """A book of tic-tac-toe as if it had grown: exact values, and estimates, some of them certain; no plies 6 and 7."""
    game, chance = load_game("tic-tac-toe"), random.Random(5)
    kind, rules, values = Estimate("outcome", 4, "evaluate", "0" * 64), Rules(game), {}
    for state, value in sorted(naive.solve(game, True).items()):
        if not game.is_terminal(state) and rules.tier(state) not in (6, 7) and rules.canonical(state) == state:
            sure = [float(value.score)] * bool(value.score)
            guess = chance.choice([kind.estimated(one) for one in (-0.5, -0.1, 0, 0.1, 0.5)] + sure)
            values[state] = value if state % 5 == 0 else Estimated(guess, None)
    signs = [(one.score > 0) - (one.score < 0) for one in values.values()]
    length, place = max((one.distance, -state) for state, one in values.items() if one.score > 0 and one.distance)
    facts = {"game": rules.name, "rules": rules.fingerprint, "method": "drop-out", "scope": "grown", "symmetry": True}
    facts |= {"states": None, "terminal": None, "tiers": None, "estimate": kind, "score_game": False}
    facts |= {"counts": {"win": signs.count(1), "draw": signs.count(0), "loss": signs.count(-1)}}
    facts |= {"palette": sorted({*values.values()}, key=merit_of, reverse=True), "longest": (length, -place)}
    facts |= {"root": values[rules.canonical(game.initial())]}
    write_values(path, values, facts=facts)
