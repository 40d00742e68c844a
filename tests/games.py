"""The games that tests run over: adding a game adds a name."""

import random
from pathlib import Path

STORES = f"{Path(__file__).parent / 'stores.py'}::Stores"  # kalah whose states tell who is to move, and may again

ACYCLIC = (
    "tic-tac-toe", "tic-tac-toe:3,3,3,true", "tic-tac-toe:3,2,2", "connect-four:4,3", "connect-four:3,4,3", "coins",
    "coins:20,3,false", "nim", "nim:1,2,3,misere=true", "hexapawn", "hexapawn:3,4", "breakthrough:3,3,1",
    "breakthrough:2,4,2", "dots-and-boxes:2,1", "dots-and-boxes:2,2", "kalah:2,3", "kalah:2,4,false", "kalah:3,2",
    "othello:4,2", "fox-and-hounds:4", "hex:2",
)  # fmt: skip
CYCLIC = (
    "mu-torere", "mu-torere:false", "three-mens-morris:1", "nine-holes", "achi", "tapatan", "pong-hau-ki", "quixo:2",
    "quixo:2,true", "hare-and-hounds", "checkers:4",
)  # fmt: skip
SMALL_GAMES = ACYCLIC + CYCLIC

# what came later: each quickly here, and through all that SMALL_GAMES go through among the slow tests
MORE_GAMES = (
    "kayles:6", "kayles:8,2,2", "dawson:7", "chomp:3", "chomp:3,3", "cram:3,2", "cram:3", "nogo:2,2", "nogo:4,1",
    "nogo:3,2,true", "notakto:1", "wythoff:4,3", "euclid:9,5", "subtraction", "treblecross:6", "grundy:9",
    "fibonacci-nim:10", "domineering:3,3", "domineering:4,2", "col:3,2", "col:2,2", "snort:3,2", "snort:2,2",
    "clobber:3,2", "clobber:3,3", "toads-and-frogs:2,2,2", "toads-and-frogs:2,3,1", "sim:4", "y:2", "y:3",
    "amazons:2,2", "amazons:3,2", "konane:3,3", "konane:4,2", "popout:2,2,2", "popout:2,3", "wild-tic-tac-toe:3,2,2",
    "wild-tic-tac-toe:2,2,2,true", "order-and-chaos:2,2,2", "order-and-chaos:3,2", "othello:3,3", "othello:4,3",
    "five-field-kono:3,3",
)  # fmt: skip

# too many states for the naive twin: their rules are played out only
LARGE_GAMES = (
    "l-game", "neutreeko", "teeko", "teeko:true,false", "animal-shogi", "animal-shogi:true", "micro-shogi:1",
    "micro-shogi", "fox-and-hounds", "gobblet-gobblers", "gobblet-gobblers:3,2", "six-mens-morris:6,true",
    "nine-mens-morris", "nine-mens-morris:4,false", "dodgem:5", "nocca-nocca", "mini-shobu:1", "chinese-checkers:3,1",
    "dao", "chung-toi", "tsoro-yematatu", "rota", "picaria", "picaria:9", "bagh-chal", "bagh-chal:20,5", "chopsticks",
    "one-dimensional-chess", "quoridor", "awari:5", "chess-duel", "chess-duel:KPKP", "minichess", "five-field-kono",
)  # fmt: skip

# boards at the limits of what their rules take
EDGE_GAMES = (
    "tic-tac-toe:26,1,3", "tic-tac-toe:1,15,31", "tic-tac-toe:4,4,20", "connect-four:31,1", "connect-four:1,61",
    "connect-four:2,30", "connect-four:3,3,62", "coins:100,65536", "hexapawn:15,2", "hexapawn:1,30",
    "breakthrough:1,30,15", "breakthrough:15,2,1", "dots-and-boxes:12,2", "dots-and-boxes:1,20", "kalah:1,200",
    "kalah:6,4", "kalah:12,1", "othello:14,2", "othello:2,2", "quixo:5",
)  # fmt: skip

MORE_EDGE_GAMES = (
    "kayles:62,1,62", "kayles:3,3,5", "dawson:62", "chomp:26,36", "chomp:2,300", "nim:1023,1,1,1,1,1,1",
    "nim:1,2,1,2,1,2,1,2,1,2", "cram:8,7", "cram:1,1", "nogo:6,5", "notakto:7", "wythoff:500,300", "euclid:1000000,999",
    "subtraction:1,2,62,coins=100", "treblecross:62", "grundy:62", "fibonacci-nim:100", "domineering:8,7", "col:6,5",
    "snort:5,6", "clobber:26,1", "toads-and-frogs:10,10,10", "sim:8", "y:5", "y:6", "fox-and-hounds:10,5",
    "nocca-nocca:5,5", "nocca-nocca:2,14", "amazons:10,3", "amazons:4,5,4", "konane:10,6", "konane:1,61", "konane:26,1",
    "popout:7,6,4", "popout:1,61", "quarto", "wild-tic-tac-toe:6,5,5", "order-and-chaos:5,6,5",
)  # fmt: skip

# dice or coins decide in some of their states; in the second ones a state may come again
CHANCE_ACYCLIC = (
    "backgammon-bearoff:1", "backgammon-bearoff:2,4", "backgammon-bearoff:3,2,true", "einstein:2,1", "einstein:3,1",
    "einstein:3,2", "einstein:5,1",
)  # fmt: skip
CHANCE_CYCLIC = (
    "piglet:2", "piglet:3", "piglet:10", "pig:2", "pig:15", "pig:7,4", "nannon:3,2,3", "nannon:4,2,4",
)  # fmt: skip
CHANCE_GAMES = CHANCE_ACYCLIC + CHANCE_CYCLIC
LARGE_CHANCE_GAMES = (
    "pig", "backgammon-bearoff:15", "nannon", "nannon:26,3,26", "einstein:5,6", "ur:7", "ur:5,1", "shut-the-box",
    "hypergammon",
)  # fmt: skip

# one of each kind of rules: what all games are asked, the quick tests ask these
KINDS = (
    "tic-tac-toe:3,2,2", "connect-four:3,4,3", "nim:1,2,3,misere=true", "dots-and-boxes:2,1", "kalah:2,3", "hex:2",
    "three-mens-morris:1", "hare-and-hounds", "toads-and-frogs:2,2,2", "othello:3,3", "animal-shogi", "quoridor",
    "chess-duel", "kalah:6,4", "chomp:3", "einstein:3,1", "nannon:3,2,3", "shut-the-box",
)  # fmt: skip


def play_outs(game, count, seed=1, length=60):
    """States along random games."""
    chance = random.Random(seed)
    for _ in range(count):
        state = game.initial()
        yield state
        for _ in range(length):
            if game.is_terminal(state):
                break
            state = chance.choice(following(game, state))
            yield state


def following(game, state):
    """The states that come next: by chance where it decides, else by the actions."""
    thrown = [child for _, child in game.chance(state)] if hasattr(game, "chance") else []
    return thrown or [game.result(state, action) for action in game.actions(state)]
