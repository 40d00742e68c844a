"""An engine of the Universal Game Interface for tic-tac-toe, apart from the package: the first free square, or worse.

    python tests/scripted.py [crash|illegal|silence|mute] [N]

The last word is when it does worse: with so many stones on the board, or never.
"""

import sys

manner, stones = sys.argv[1] if len(sys.argv) > 1 else "", int(sys.argv[2]) if len(sys.argv) > 2 else -1
SQUARES = [column + row for row in "123" for column in "abc"]
played = []


def say(text):
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


for line in sys.stdin:
    word, *rest = line.split()
    if word == "ugi" and manner != "mute":
        say("id name scripted\nugiok")
    elif word == "isready":
        say("readyok")
    elif word == "position":
        played = rest[2:]
    elif word == "quit":
        break
    elif word == "go":
        worse = len(played) == stones
        if worse and manner == "crash":
            sys.exit(1)
        if not (worse and manner == "silence"):
            free = next(square for square in SQUARES if square not in played)
            say(f"info depth 1 score cp 0 pv {free}")
            say(f"bestmove {played[0] if worse and manner == 'illegal' else free}")
