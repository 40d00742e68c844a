"""Our games as games of OpenSpiel, and a player, with its book, as a bot and a policy of theirs.

    register()                                                        # then, from any of its programs:
    game = pyspiel.load_game("solverbook", {"game": "connect-four:4,4"})
    policy = PlayerPolicy(game, "connect-four:4,4")    # or of OpenSpiel's own games, from a book of them
    bot = PlayerBot(player)

A book that was solved from `openspiel:NAME` answers for OpenSpiel's own states, which it finds by their texts; any
other for the states of `load_game("solverbook", ...)`. `pip install 'solverbook[openspiel]'`.
"""

from __future__ import annotations

import random
from typing import Any

import pyspiel
from open_spiel.python.observation import IIGObserverForPublicInfoGame
from open_spiel.python.policy import Policy

from solver.base.errors import PositionError
from solver.book.doors import Source, game_of
from solver.export.planes import surveyed
from solver.games.common.exploration import SECOND
from solver.play.player import Player
from solver.rules.game import Rules, own_method
from solver.rules.notation import format_action, parse_position, show

NAME = "solverbook"
LONGEST = 1000  # moves after which a game of ours without an end is a draw to OpenSpiel
LARGEST = float(1 << 20)  # a bound of margins, which rules do not tell
MOST_OUTCOMES = 1 << 10  # of chance, a bound that rules do not tell either
DEFAULTS = {"game": "tic-tac-toe", "actions": 0, "longest": LONGEST}


def _kind(rules: Rules) -> Any:
    of = pyspiel.GameType
    chance = of.ChanceMode.DETERMINISTIC if rules.chance is None else of.ChanceMode.EXPLICIT_STOCHASTIC
    return of(
        short_name=NAME,
        long_name="Solverbook",
        dynamics=of.Dynamics.SEQUENTIAL,
        chance_mode=chance,
        information=of.Information.PERFECT_INFORMATION,
        utility=of.Utility.ZERO_SUM,
        reward_model=of.RewardModel.TERMINAL,
        max_num_players=2,
        min_num_players=2,
        provides_information_state_string=True,
        provides_information_state_tensor=False,
        provides_observation_string=True,
        provides_observation_tensor=False,
        parameter_specification=DEFAULTS,
    )


class _Shared:
    """What all states of a game have in common; a copy of a state does not copy it."""

    def __init__(self, rules: Rules, longest: int) -> None:
        self.rules, self.longest = rules, longest

    def __deepcopy__(self, memory: Any) -> _Shared:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return _shared, (self.rules.game, self.longest)


def _shared(game: Any, longest: int) -> _Shared:
    return _Shared(Rules(game), longest)


class SolverGame(pyspiel.Game):  # type: ignore[misc]
    """A game of ours. Parameters: `game`, its string, with semicolons for commas where it stands in one of OpenSpiel's,
    `solverbook(game=connect-four:4;4)`; `actions`, how many there are at most (those that the first
    positions and some random games have, if 0); `longest`, the moves after which play without an end is drawn."""

    def __init__(self, parameters: dict[str, Any] | None = None) -> None:
        said = {**DEFAULTS, **(parameters or {})}
        said["game"] = said["game"].replace(",", ";")  # OpenSpiel's own strings have commas between parameters
        rules = Rules(game_of(said["game"].replace(";", ",")))
        actions = said["actions"] or surveyed(rules).actions
        outcomes = 0 if rules.chance is None else MOST_OUTCOMES
        bound = LARGEST if rules.margins else 1.0
        info = pyspiel.GameInfo(
            num_distinct_actions=actions,
            max_chance_outcomes=outcomes,
            num_players=2,
            min_utility=-bound,
            max_utility=bound,
            utility_sum=0.0,
            max_game_length=said["longest"],
        )
        super().__init__(_kind(rules), info, said)
        self.shared = _Shared(rules, said["longest"])

    def new_initial_state(self, state: Any = None) -> SolverState:
        """The start of the game, or the position of a text, as `solver query` takes it."""
        return SolverState(self, state)

    def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> Any:
        return IIGObserverForPublicInfoGame(iig_obs_type, params)


class SolverState(pyspiel.State):  # type: ignore[misc]
    """A position of ours. `number` is the state that books know, `mover` the side to move."""

    def __init__(self, game: SolverGame, text: str | None = None) -> None:
        super().__init__(game)
        self.shared = game.shared
        rules = self.shared.rules
        position = parse_position(rules.game, text or "start")
        self.number: int = position.state
        self.mover = int(position.mover or 0)
        self.played = 0
        self.gained = [0.0, 0.0]

    def current_player(self) -> Any:
        rules = self.shared.rules
        if self.is_terminal():
            return pyspiel.PlayerId.TERMINAL
        return pyspiel.PlayerId.CHANCE if any(True for _ in rules.outcomes(self.number)) else self.mover

    def _legal_actions(self, player: int) -> list[int]:
        return sorted(self.shared.rules.actions(self.number))

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """Outcomes by their number in the rules' order, each with its probability."""
        weights = [weight for weight, _ in self.shared.rules.outcomes(self.number)]
        return [(number, weight / sum(weights)) for number, weight in enumerate(weights)]

    def _apply_action(self, action: int) -> None:
        rules, chances = self.shared.rules, list(self.shared.rules.outcomes(self.number))
        child = chances[action][1] if chances else rules.result(self.number, action)
        decided = None if chances else action
        gain = 0 if chances else rules.gain(self.number, action)
        self.gained[self.mover] += gain
        self.gained[1 - self.mover] -= gain
        if not rules.same_mover(self.number, decided, child):
            self.mover = 1 - self.mover
        self.number, self.played = child, self.played + 1

    def _action_to_string(self, player: int, action: int) -> str:
        return format_action(self.shared.rules.game, self.number, action)

    def is_terminal(self) -> bool:
        return bool(self.shared.rules.is_terminal(self.number)) or self.played >= self.shared.longest

    def returns(self) -> list[float]:
        """What each player has, or 0 before the end and where play did not come to one."""
        rules = self.shared.rules
        if not rules.is_terminal(self.number):
            return [0.0, 0.0]
        worth = float(rules.utility(self.number)) + self.gained[self.mover]
        return [worth, -worth] if self.mover == 0 else [-worth, worth]

    def observation_string(self, player: int) -> str:
        return str(self)

    def __str__(self) -> str:
        return show(self.shared.rules.game, self.number, self.mover)


def register() -> None:
    """Make `pyspiel.load_game("solverbook", {"game": ...})` known to OpenSpiel, once."""
    if NAME not in pyspiel.registered_names():
        pyspiel.register_game(_kind(Rules(game_of(DEFAULTS["game"]))), SolverGame)  # type: ignore[arg-type]


def number_of(player: Player, state: Any) -> int:
    """The state of the player's game that a state of OpenSpiel is. Raises PositionError for one that is none."""
    if isinstance(state, SolverState):
        return state.number
    find = own_method(player.game, "parse_position")
    text = str(state)
    found = None
    if find is not None:
        second = state.current_player() == 1
        found = find(text + SECOND) if second else None
        found = find(text) if found is None else found
    if found is None:
        raise PositionError(f"{text[:60]!r} is no position of the player's book: solve openspiel:{state.get_game()}")
    return int(found)


def moves_of(player: Player, state: Any) -> dict[int, Any]:
    """OpenSpiel's legal actions at a state, each with what the player says of it (`Move`)."""
    moves = {move.action: move for move in player.analyse(number_of(player, state))}
    if isinstance(state, SolverState):
        return dict(sorted(moves.items()))
    return {action: moves[place] for place, action in enumerate(state.legal_actions())}


class PlayerPolicy(Policy):  # type: ignore[misc]
    """A player or a book as a policy: all best moves are equally likely, the quickest wins and the slowest losses."""

    def __init__(self, game: Any, player: Player | Source) -> None:
        super().__init__(game, [0, 1])
        self.player = Player.of(player)

    def action_probabilities(self, state: Any, player_id: int | None = None) -> dict[int, float]:
        """The probability of every legal action."""
        moves = moves_of(self.player, state)
        best = sum(move.best for move in moves.values())
        return {action: move.best / best for action, move in moves.items()}


class PlayerBot(pyspiel.Bot):  # type: ignore[misc]
    """A player or a book as a bot, for either side: it plays one of its best moves, by lot."""

    def __init__(self, player: Player | Source, seed: int = 0) -> None:
        super().__init__()
        self.player, self.chance = Player.of(player), random.Random(seed)

    def provides_policy(self) -> bool:
        return True

    def get_policy(self, state: Any) -> list[tuple[int, float]]:
        """Every legal action and its probability."""
        moves = moves_of(self.player, state)
        best = sum(move.best for move in moves.values())
        return [(action, move.best / best) for action, move in moves.items()]

    def step_with_policy(self, state: Any) -> tuple[list[tuple[int, float]], int]:
        policy = self.get_policy(state)
        return policy, self.chance.choice([action for action, share in policy if share])

    def step(self, state: Any) -> int:
        return self.step_with_policy(state)[1]

    def inform_action(self, state: Any, player_id: int, action: int) -> None:
        """Nothing: a state says all."""

    def restart_at(self, state: Any) -> None:
        """Nothing is kept between moves."""

    def restart(self) -> None:
        """Nothing is kept between games."""
