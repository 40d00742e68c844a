"""The games that tests run over: adding a game adds a line."""

from pathlib import Path

STORES = f"{Path(__file__).parent / 'stores.py'}::Stores"  # kalah whose states tell who is to move, and may again

ACYCLIC = (
    "tic-tac-toe",
    "tic-tac-toe:3,3,3,true",
    "tic-tac-toe:3,2,2",
    "connect-four:4,3",
    "connect-four:3,4,3",
    "coins",
    "coins:20,3,false",
    "nim",
    "nim:1,2,3,misere=true",
    "hexapawn",
    "hexapawn:3,4",
    "breakthrough:3,3,1",
    "breakthrough:2,4,2",
    "dots-and-boxes:2,1",
    "dots-and-boxes:2,2",
    "kalah:2,3",
    "kalah:2,4,false",
    "kalah:3,2",
    "othello:4,2",
    "fox-and-hounds:4",
    "hex:2",
)
CYCLIC = (
    "mu-torere",
    "mu-torere:false",
    "three-mens-morris:1",
    "nine-holes",
    "achi",
    "tapatan",
    "pong-hau-ki",
    "quixo:2",
    "quixo:2,true",
    "hare-and-hounds",
    "checkers:4",
)
SMALL_GAMES = ACYCLIC + CYCLIC

# too many states for the naive twin: their rules are played out only
LARGE_GAMES = (
    "l-game",
    "neutreeko",
    "teeko",
    "teeko:true,false",
    "animal-shogi",
    "animal-shogi:true",
    "fox-and-hounds",
    "gobblet-gobblers",
    "gobblet-gobblers:3,2",
    "six-mens-morris:6,true",
    "dodgem:5",
    "nocca-nocca",
    "mini-shobu:1",
    "chinese-checkers:3,1",
    "dao",
    "chung-toi",
    "tsoro-yematatu",
    "rota",
    "chopsticks",
    "one-dimensional-chess",
)

# boards at the limits of what their rules take
EDGE_GAMES = (
    "tic-tac-toe:26,1,3",
    "tic-tac-toe:1,15,31",
    "tic-tac-toe:4,4,20",
    "connect-four:31,1",
    "connect-four:1,61",
    "connect-four:2,30",
    "connect-four:3,3,62",
    "coins:100,65536",
    "hexapawn:15,2",
    "hexapawn:1,30",
    "breakthrough:1,30,15",
    "breakthrough:15,2,1",
    "dots-and-boxes:12,2",
    "dots-and-boxes:1,20",
    "kalah:1,200",
    "kalah:6,4",
    "kalah:12,1",
    "othello:14,2",
    "othello:2,2",
    "quixo:5",
)

# dice or coins decide in some of their states; in the second ones a state may come again
CHANCE_ACYCLIC = (
    "backgammon-bearoff:1",
    "backgammon-bearoff:2,4",
    "backgammon-bearoff:3,2,true",
    "einstein:2,1",
    "einstein:3,1",
    "einstein:3,2",
    "einstein:5,1",
)
CHANCE_CYCLIC = (
    "piglet:2",
    "piglet:3",
    "piglet:10",
    "pig:2",
    "pig:15",
    "pig:7,4",
    "nannon:3,2,3",
    "nannon:4,2,4",
)
CHANCE_GAMES = CHANCE_ACYCLIC + CHANCE_CYCLIC
LARGE_CHANCE_GAMES = ("pig", "backgammon-bearoff:15", "nannon", "einstein:5,6", "ur:7", "ur:5,1", "shut-the-box")
