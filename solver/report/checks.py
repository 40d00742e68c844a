"""The results of random games, and of the first steps of a solve, in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from solver.base.value import in_plies
from solver.check.conformance import GAMES
from solver.check.playouts import RandomGame, is_one_sided, states_of, summary
from solver.rules.game import Rules, own_method, own_value
from solver.rules.notation import format_action, show
from solver.rules.protocol import OPTIONAL, VALUES, near_misses


def facts(rules: Rules, games: Sequence[RandomGame]) -> dict[str, Any]:
    """Return the facts known before anything is solved or compiled."""
    return {
        "game": rules.name,
        "states": len(states_of(games)),
        "games": {**summary(games), "wanted": GAMES},
        "optional": [
            name for name in OPTIONAL if (own_value if name in VALUES else own_method)(rules.game, name) is not None
        ],
        "near_misses": near_misses(type(rules.game)),
        "one_sided": is_one_sided(rules, games),
    }


def text(facts: dict[str, Any]) -> str:
    """The same for people."""
    games = facts["games"]
    played, wanted = games["played"], games["wanted"]
    cut = "" if played == wanted else f" (of {wanted}, for lack of time)"
    lines = [f"{facts['game']}: {facts['states']:,} states of {played} random games{cut} keep the protocol"]
    if games["ended"]:
        plies, first_player = games["plies"], games["first_player"]
        lines.append(
            f"{games['ended']} of them ended, after {plies['shortest']} to {in_plies(plies['longest'])},"
            f" {plies['mean']:.1f} on average; the first player won {first_player['win']}, drew {first_player['draw']},"
            f" lost {first_player['loss']}"
        )
    else:
        lines.append("none of them ended")
    lines.append(f"optional methods: {', '.join(facts['optional']) or 'none'}")
    for name, meant in facts["near_misses"].items():
        remedy = f"{meant} may be meant" if meant else "solver calls the methods of docs/reference/rules.md alone"
        lines.append(f"warning: nothing asks for {name}: {remedy}")
    if facts["one_sided"]:
        lines.append("warning: the same player is to move in every state: a move is to pass the turn on")
    if facts["compiled"]:
        lines.append("compiled, they say what plain Python says of all these states")
    elif facts["compiled"] is False:
        lines.append(f"only in plain Python, which is some sixty times slower: {facts['reason']}")
    elif facts["solved"] is not None:
        folded = " folded by symmetry" if "canonical" in facts["optional"] else ""
        lines.append(f"all {facts['solved']:,} states{folded} were solved in plain Python: solve will compile nothing")
    return "\n".join(lines)


def boards(rules: Rules, games: Sequence[RandomGame]) -> str:
    """The positions of the first game that ended, if one did, each after the move that led to it."""
    game = next((each_game for each_game in games if each_game.worth is not None), games[0])
    mover = rules.mover(game.states[0])
    lines = [f"\n{show(rules.game, game.states[0], mover)}"]
    for state, action, child in zip(game.states, game.actions, game.states[1:], strict=False):
        move = "chance" if action is None else format_action(rules.game, state, action)
        mover = mover if rules.same_mover(state, action, child) else 1 - mover
        lines.append(f"\n{move}\n{show(rules.game, child, mover)}")
    worth = "" if game.worth is None else f", {game.worth:+d} for the first player"
    ended = "not ended" if game.worth is None else "the game is over"
    return "\n".join([*lines, f"\n{ended} after {in_plies(game.plies)}{worth}"])
