"""Players of matches by their names: files of evaluations or books, `evaluate`, `random`, `alphabeta`, engines."""

from __future__ import annotations

import os
import re
from typing import NamedTuple

from solver.base.errors import MethodError
from solver.book import Book, shipped
from solver.book.pages import is_lmdb
from solver.compiled.lookahead.evaluation import Evaluation, game_of, is_evaluation, read
from solver.learning import SOLVE_IT
from solver.learning.contest import Chooser
from solver.learning.engines import Engine, Limits
from solver.learning.moves import Board
from solver.learning.players import Asked, AtLevel, ByBook, Deep, Random
from solver.play.player import Player
from solver.play.practical import LEVELS, Level
from solver.rules.game import Game, GameOrName, Rules, rules_for
from solver.search import refuse_chance

CONTENDERS = ("evaluate", "random", "alphabeta")
ENGINE = "engine:"  # before a command
MAX_DEPTH = 99


class Contender(NamedTuple):
    """A player of a match: an evaluation, or a book if its name is a file; its own depth or level."""

    name: str
    file: Evaluation | Book | None
    depth: int | None
    level: Level | None = None


class Setting(NamedTuple):
    """The setting that all players of a match share."""

    rules: Rules
    depth: int = 1
    seed: int = 0
    seconds: float = 1.0
    workers: int | None = None
    evaluation: Evaluation | None = None  # by which grown books go on where they end


def contender(text: str, game: GameOrName | None = None) -> Contender:
    """The player that NAME, NAME@DEPTH or BOOK@LEVEL names; `game` is needed for files of a game of your own.

    Raises MethodError with the choice there is, BookError for a file that cannot be used.
    """
    levelled = re.fullmatch(f"(.+)@({'|'.join(LEVELS)})", text)
    if levelled and not os.path.exists(text):
        one = contender(levelled[1], game)
        if not isinstance(one.file, Book) or not one.file.header.is_gapless or one.file.header.estimate is not None:
            raise MethodError(f"{text}: only complete books play at a level")
        return one._replace(level=LEVELS[levelled[2]])
    found = re.fullmatch(r"(.+)@([0-9]{1,3})", text)
    name, depth = (found[1], int(found[2])) if found and not os.path.exists(text) else (text, None)
    if depth is not None and not 1 <= depth <= MAX_DEPTH:
        raise MethodError(f"{text}: look ahead 1 to {MAX_DEPTH} plies")
    file: Evaluation | Book | None = None
    if name.startswith(ENGINE):
        return Contender(name, None, depth)
    if os.path.isfile(name) and is_evaluation(name):
        file = read(name)
    elif not shipped.is_path(name) or (os.path.isfile(name) and (is_lmdb(name) or name not in CONTENDERS)):
        file = Book(name, game)
    elif name not in CONTENDERS:
        choice = (
            f"a file of an evaluation or a book, a game whose book comes with the package, {', '.join(CONTENDERS)},"
            f" or {ENGINE}COMMAND"
        )
        raise MethodError(f"no player {name!r}: name {choice}")
    exact = isinstance(file, Book) and file.header.estimate is None
    if depth is not None and (exact or name in ("random", "alphabeta")):
        raise MethodError(f"{text}: only evaluations look some plies ahead, and grown books where they end")
    return Contender(name, file, depth)


def game_between(contenders: tuple[Contender, Contender], text: str | None) -> Game:
    """The game that the files of a match are of, or that `text` names. Raises MethodError, ForeignBook."""
    files = [one.file for one in contenders if one.file is not None]
    stated = next((file.header.game if isinstance(file, Book) else file.game for file in files), "")
    named = None if text is None else rules_for(text, stated)
    for one in contenders:
        if isinstance(one.file, Book):
            named = one.file.game if named is None else named
            one.file.check_rules(named)
        elif one.file is not None:
            named = game_of(one.file, named)
    if named is None:
        raise MethodError("no player names its game: add --game")
    return named


def chooser(one: Contender, setting: Setting) -> Chooser:
    """Who plays under that name. An engine has to be closed.

    Raises MethodError for games of chance, where the rules have no `evaluate`, and for an engine that does not start.
    """
    rules, depth = setting.rules, one.depth or setting.depth
    refuse_chance(rules, "a match", SOLVE_IT)
    if setting.evaluation is not None:
        game_of(setting.evaluation, rules.game)
    if one.name.startswith(ENGINE):
        limits = Limits(setting.seconds, one.depth)
        return Engine(rules, one.name.removeprefix(ENGINE), limits, setting.workers or 1)
    if one.name == "random" and one.file is None:
        return Random(setting.seed)
    if one.name == "alphabeta" and one.file is None:
        player = Player({}, rules.game, seconds=setting.seconds)
        return Asked(rules, player.best)
    if isinstance(one.file, Book):
        if one.level is not None:
            one.file.check_rules(rules.game)
            return AtLevel(Player(one.file, rules.game, live=False), one.level, setting.seed)
        board, estimate = Board(rules), one.file.header.estimate
        if one.file.header.trim is not None and one.file.header.is_gapless:
            # A look ahead settles what it omits
            return Asked(rules, Player(one.file, rules.game, live=False).best)
        if estimate is None:
            return ByBook(board, one.file)
        if estimate.evaluation != "evaluate" and setting.evaluation is None:
            raise MethodError(f"{one.name} was grown by {estimate.evaluation}: --evaluate names it for where it ends")
        return ByBook(board, one.file, Deep(board, setting.evaluation, depth, setting.workers))
    if one.file is None and rules.evaluate is None:
        raise MethodError(f"{rules.name} has no evaluate(state): name an evaluation's file")
    return Deep(Board(rules), one.file, depth, setting.workers)
