"""Rules, one game a file, and nothing else. This table is the catalogue: name, module and class."""

CATALOGUE = {
    "tic-tac-toe": "tic_tac_toe:TicTacToe",
    "connect-four": "connect_four:ConnectFour",
    "coins": "coins:Coins",
    "nim": "nim:Nim",
    "hexapawn": "hexapawn:Hexapawn",
    "breakthrough": "breakthrough:Breakthrough",
    "dots-and-boxes": "dots_and_boxes:DotsAndBoxes",
    "kalah": "kalah:Kalah",
    "othello": "othello:Othello",
    "mu-torere": "mu_torere:MuTorere",
    "three-mens-morris": "three_mens_morris:ThreeMensMorris",
    "nine-holes": "nine_holes:NineHoles",
    "achi": "achi:Achi",
    "tapatan": "tapatan:Tapatan",
    "pong-hau-ki": "pong_hau_ki:PongHauKi",
    "l-game": "l_game:LGame",
    "hare-and-hounds": "hare_and_hounds:HareAndHounds",
    "fox-and-hounds": "fox_and_hounds:FoxAndHounds",
    "neutreeko": "neutreeko:Neutreeko",
    "teeko": "teeko:Teeko",
    "animal-shogi": "animal_shogi:AnimalShogi",
    "quixo": "quixo:Quixo",
    "chess-ending": "chess_ending:ChessEnding",
    "tree": "tree:Tree",
}
FROM_FILES = frozenset({"tree"})  # games whose text names a file, which is opened
