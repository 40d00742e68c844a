"""Our games as games of OpenSpiel, and a player, with its book, as a bot, a policy and an evaluator of theirs.

    register()                                                        # then, from any of its programs:
    game = pyspiel.load_game("solverbook", {"game": "connect-four:4,4"})
    policy = PlayerPolicy(game, "connect-four:4,4")    # or of OpenSpiel's own games, from a book of them
    bot = PlayerBot(player)

Any player answers for the states of `load_game("solverbook", ...)`. For OpenSpiel's own states answer books solved from
`openspiel:NAME`, which know positions by their texts, and players of the four games that both have, by the moves of a
state's history: `SHARED` gives for each the name of ours and our names of its moves.
`pip install 'solverbook[openspiel]'`.
"""

from __future__ import annotations

import functools
import random
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np
import pyspiel
from open_spiel.python.algorithms.mcts import Evaluator
from open_spiel.python.observation import IIGObserverForPublicInfoGame
from open_spiel.python.policy import Policy

from solver.base.errors import ForeignBook, GameError, MissingState, PositionError
from solver.book import Source, game_of
from solver.export.layout import Layout, layout_of
from solver.games import OPENSPIEL
from solver.games.common.exploration import SECOND
from solver.play.player import Player
from solver.rules.game import Rules, game_text, load_game, own_method
from solver.rules.notation import Position, format_action, legal_actions, next_position, show
from solver.rules.reading import parse_position

NAME = "solverbook"
MAX_GAME_LENGTH = 1000  # moves after which a game of ours without an end is a draw to OpenSpiel
LARGEST = float(1 << 20)  # a bound of margins, which rules do not tell
MOST_OUTCOMES = 1 << 10  # of chance, a bound that rules do not tell either
EXPLORED = f"graph:{OPENSPIEL}"  # how the name of an explored game begins
DEFAULTS = {"game": "tic-tac-toe", "longest": MAX_GAME_LENGTH}


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
        provides_observation_tensor=True,
        parameter_specification=DEFAULTS,
    )


class _Shared:
    """The data that all states of a game share. A copy of a state does not copy it."""

    def __init__(self, rules: Rules, longest: int) -> None:
        self.rules, self.longest = rules, longest
        self.layout: Layout = layout_of(rules)

    def __deepcopy__(self, memory: Any) -> _Shared:
        return self


class SolverGame(pyspiel.Game):
    """A game of ours.

    Parameters: `game`, its string, with semicolons for commas where it stands in one of OpenSpiel's,
    `solverbook(game=connect-four:4;4)`; `longest`, the moves after which play without an end is drawn. An action is a
    dense number: `shared.layout.actions[action]` is that of the rules and of books.
    """

    def __init__(self, parameters: dict[str, Any] | None = None) -> None:
        options = {**DEFAULTS, **(parameters or {})}
        # OpenSpiel's own strings have commas between parameters
        text = options["game"] = options["game"].replace(",", ";")
        # A named tuple; the protocol does not say so
        game: Any = game_of(text.rstrip(";").replace(";", ","))
        values = text.rpartition("::")[2].partition(":")[2]
        takes_more = len(game) > 1 or isinstance(next(iter(game), None), tuple)
        # OpenSpiel drops silently what follows a comma. So of a game that can take more, one parameter alone has to end
        # with a semicolon
        if values and ";" not in values and takes_more and not own_method(game, "to_text"):
            raise GameError(
                f"{text} may lack what OpenSpiel cuts off at a comma: write semicolons for commas, as in"
                f" {NAME}(game=connect-four:4;4), or {text}; if that is all"
            )
        rules = Rules(game)
        self.shared: _Shared = _Shared(rules, options["longest"])
        outcomes = 0 if rules.chance is None else MOST_OUTCOMES
        bound = LARGEST if rules.margins else 1.0
        info = pyspiel.GameInfo(
            num_distinct_actions=len(self.shared.layout.actions),
            max_chance_outcomes=outcomes,
            num_players=2,
            min_utility=-bound,
            max_utility=bound,
            utility_sum=0.0,
            max_game_length=options["longest"],
        )
        super().__init__(_kind(rules), info, options)

    def new_initial_state(self, state: Any = None) -> SolverState:
        """The start of the game, or the position of a text, as `solver query` takes it."""
        return SolverState(self, state)

    def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> Any:
        """The planes of the board, where no history is asked for."""
        if iig_obs_type is None or (iig_obs_type.public_info and not iig_obs_type.perfect_recall):
            return _Observer(self.shared)
        return IIGObserverForPublicInfoGame(iig_obs_type, params)


class _Observer:
    """The board as planes of 0 and 1, the same for both players: `solver.export.layout`."""

    def __init__(self, shared: _Shared) -> None:
        self.shared = shared
        self.dict = {"observation": np.zeros(shared.layout.shape, np.float32)}
        self.tensor = self.dict["observation"].reshape(-1)

    def set_from(self, state: SolverState, player: int) -> None:
        self.tensor[:] = np.frombuffer(self.shared.layout.planes(self.shared.rules, state.number), np.int8)

    def string_from(self, state: SolverState, player: int) -> str:
        return str(state)


class SolverState(pyspiel.State):
    """A position of ours. `number` is the state that books know, `mover` the side to move."""

    is_over: bool

    def __init__(self, game: SolverGame, text: str | None = None) -> None:
        super().__init__(game)
        self.shared: _Shared = game.shared
        rules = self.shared.rules
        position = parse_position(rules, text or "start")
        mover, gained = int(position.mover or 0), None if rules.reward is None else 0
        self._stand_at(Position(position.state, 0, mover, gained))

    def _stand_at(self, position: Position) -> None:
        """Make this the position; its `ply` counts the moves from where the game began."""
        self.position = position
        played = position.ply or 0
        self.is_over = bool(self.shared.rules.is_terminal(position.state)) or played >= self.shared.longest

    @property
    def number(self) -> int:
        return self.position.state

    @property
    def mover(self) -> int:
        return self.position.mover or 0

    def current_player(self) -> Any:
        if self.is_terminal():
            return pyspiel.PlayerId.TERMINAL
        is_chance = any(True for _ in self.shared.rules.outcomes(self.number))
        return pyspiel.PlayerId.CHANCE if is_chance else self.mover

    def _legal_actions(self, player: int) -> list[int]:
        return sorted(map(self.shared.layout.number, self.shared.rules.actions(self.number)))

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """Outcomes by their number in the rules' order, each with its probability."""
        weights = [weight for weight, _ in self.shared.rules.outcomes(self.number)]
        return [(number, weight / sum(weights)) for number, weight in enumerate(weights)]

    def _apply_action(self, action: int) -> None:
        """Raise PositionError for an action that is not legal, or is none of the outcomes."""
        if self.is_over:
            raise PositionError("the game is over: no action is left")
        legal = self.legal_actions()
        if action not in legal:
            raise PositionError(f"action {action} is not legal here: choose one of {', '.join(map(str, legal))}")
        number = action if self.is_chance_node() else self.shared.layout.actions[action]
        self._stand_at(next_position(self.shared.rules, self.position, number))

    def _action_to_string(self, player: int, action: int) -> str:
        number = action if player == pyspiel.PlayerId.CHANCE else self.shared.layout.actions[action]
        return format_action(self.shared.rules.game, self.number, number)

    def is_terminal(self) -> bool:
        return self.is_over

    def returns(self) -> list[float]:
        """Return each player's result. 0 before the end, and if play did not come to one."""
        rules = self.shared.rules
        if not rules.is_terminal(self.number):
            return [0.0, 0.0]
        worth = float(rules.utility(self.number)) + (self.position.gained or 0)
        return [-worth, worth] if self.mover else [worth, -worth]

    def observation_string(self, player: int) -> str:
        return str(self)

    def __str__(self) -> str:
        return show(self.shared.rules.game, self.number, self.mover)


def register() -> None:
    """Make `pyspiel.load_game("solverbook", {"game": ...})` known to OpenSpiel, once."""
    if NAME not in pyspiel.registered_names():
        pyspiel.register_game(_kind(Rules(game_of(DEFAULTS["game"]))), SolverGame)  # type: ignore[arg-type]


class Reader(Protocol):
    """How a player of ours reads the states of one game of OpenSpiel."""

    def number(self, state: Any) -> int:
        """The player's state. Raises PositionError where there is none."""

    def actions(self, state: Any) -> dict[int, int]:
        """OpenSpiel's legal actions in its order, each with the player's."""

    def mover(self, state: Any) -> int:
        """Who is to move, 0 or 1."""


def reader_of(player: Player, game: Any) -> Reader:
    """Return how a player reads the states of a game of OpenSpiel. Raises ForeignBook for a player of another game."""
    if isinstance(game, SolverGame):
        rules = game.shared.rules
        player.rules.check_same("the player", rules, f"take a player or a book of {rules.name}", "the game by")
        return _Ours()
    name = game_text(player.game)
    if name.startswith(EXPLORED):
        if str(pyspiel.load_game(name.removeprefix(EXPLORED))) == str(game):
            return _Explored(player)
    elif game.get_type().short_name in SHARED:
        shared = SHARED[game.get_type().short_name]
        ours = _rules(shared.name(game.get_parameters()))
        player.rules.check_same("the player", ours, f"take a player of {ours.name}", f"{game} is played by")
        return _Replayed(player.rules, shared)
    raise ForeignBook(f"the player is of {name}, the state of {game}: solve {OPENSPIEL}{game}")


class _Ours:
    """The states of our games are the player's own."""

    def number(self, state: SolverState) -> int:
        return state.number

    def actions(self, state: SolverState) -> dict[int, int]:
        return {action: state.shared.layout.actions[action] for action in state.legal_actions()}

    def mover(self, state: SolverState) -> int:
        return state.mover


@functools.lru_cache(maxsize=64)
def _rules(name: str) -> Rules:
    return Rules(load_game(name))


class _Explored:
    """By the texts of positions."""

    def __init__(self, player: Player) -> None:
        self.rules, self.find = player.rules, own_method(player.game, "parse_position")

    def number(self, state: Any) -> int:
        text = str(state)
        node = self.find(text + SECOND) if state.current_player() == 1 else None
        node = self.find(text) if node is None else node
        if node is None:
            raise PositionError(f"{text[:60]!r} is not a position of the player's book: solve {self.rules.name}")
        return int(node)

    def actions(self, state: Any) -> dict[int, int]:
        return {action: index for index, action in enumerate(state.legal_actions())}

    def mover(self, state: Any) -> int:
        player = state.current_player()
        return int(player) if player >= 0 else self.rules.mover(self.number(state))


class Shared(NamedTuple):
    """A game that both have: ours by OpenSpiel's parameters, and our name of a move by theirs."""

    name: Callable[[dict[str, Any]], str]
    move: Callable[[str, int], str]  # of their name, and the number of rows


def _turned(move: str, rows: int) -> str:
    """Squares with their rows counted from the other edge: theirs begins at the top."""
    squares = move.removesuffix("*")
    if squares == "pass":
        return squares
    pairs = zip(squares[::2], squares[1::2], strict=True)
    return "".join(f"{column}{rows + 1 - int(row)}" for column, row in pairs)


SHARED = {
    "connect_four": Shared(
        lambda said: f"connect-four:{said['columns']},{said['rows']},{said.get('x_in_row', 4)}",
        lambda move, rows: str(int(move[1:]) + 1),  # x0
    ),
    "tic_tac_toe": Shared(
        lambda said: "tic-tac-toe",
        lambda move, rows: f"{'abc'[int(move[4])]}{3 - int(move[2])}",  # x(0,1)
    ),
    "breakthrough": Shared(
        lambda said: f"breakthrough:{said['columns']},{said['rows']},{2 if said['rows'] >= 6 else 1}", _turned
    ),  # a7b6, a7b6* if it takes
    "othello": Shared(lambda said: "othello:8,8", _turned),  # d3, pass
}


class _Replayed:
    """By the moves of a state's history."""

    def __init__(self, rules: Rules, shared: Shared) -> None:
        self.rules, self.shared = rules, shared

    def number(self, state: Any) -> int:
        state_there, number = state.get_game().new_initial_state(), self.rules.game.initial()
        for action in state.history():
            number = self.rules.result(number, self._ours(state_there, number)[action])
            state_there.apply_action(action)
        if str(state_there) != str(state):
            raise PositionError("the state did not come from the start by its moves: play it from there")
        return int(number)

    def actions(self, state: Any) -> dict[int, int]:
        return self._ours(state, self.number(state))

    def mover(self, state: Any) -> int:
        return int(state.current_player())

    def _ours(self, state: Any, number: int) -> dict[int, int]:
        """OpenSpiel's legal actions, each with ours, at the same position."""
        rows, ours = state.get_game().get_parameters().get("rows", 8), legal_actions(self.rules, number)
        names = {action: self.shared.move(state.action_to_string(action), rows) for action in state.legal_actions()}
        return {action: ours[name] for action, name in names.items()}


def policy_at(player: Player, state: Any) -> dict[int, float]:
    """Return the probability of every legal action: all best moves are equally likely.

    Raises:
        PositionError: The game is over, or chance decides.
        MissingState: The player does not know which moves are best.
        ForeignBook: The player is of another game.
    """
    reader = reader_of(player, state.get_game())
    if state.is_terminal():
        raise PositionError("the game is over: no action is left")
    if state.is_chance_node():
        raise PositionError("chance decides here: no action is left to a player")
    number = reader.number(state)
    is_best = {move.action: move.best for move in player.analyse(number)}
    best = sum(is_best.values())
    if not best:
        remedy = "give it a book, or let it search live"
        raise MissingState(f"the player knows no best move from state {number}: {remedy}")
    return {action: is_best[ours] / best for action, ours in reader.actions(state).items()}


class PlayerPolicy(Policy):
    """A player or a book as a policy: all best moves are equally likely, the quickest wins and the slowest losses.

    Raises ForeignBook where the player is of another game than the policy.
    """

    def __init__(self, game: Any, player: Player | Source) -> None:
        super().__init__(game, [0, 1])
        self.player: Player = Player.of(player)
        reader_of(self.player, game)

    def action_probabilities(self, state: Any, player_id: int | None = None) -> dict[int, float]:
        """The probability of every legal action."""
        return policy_at(self.player, state)


class PlayerBot(pyspiel.Bot):
    """A player or a book as a bot, for either side: it plays one of its best moves, by lot."""

    def __init__(self, player: Player | Source, seed: int = 0) -> None:
        super().__init__()
        self.player, self.chance = Player.of(player), random.Random(seed)

    def provides_policy(self) -> bool:
        return True

    def get_policy(self, state: Any) -> list[tuple[int, float]]:
        """Every legal action and its probability."""
        return list(policy_at(self.player, state).items())

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


class PlayerEvaluator(Evaluator):
    """A player or a book as the evaluator of OpenSpiel's MCTS in Python, `open_spiel.python.algorithms.mcts`.

    `evaluate` gives a state's worth for each player, or its estimate where the player knows no value. `prior` has all
    best moves equally likely.
    """

    def __init__(self, player: Player | Source) -> None:
        self.player: Player = Player.of(player)

    def evaluate(self, state: Any) -> Any:
        """Return the worth for the first player and for the second.

        Raises:
            MissingState: The player has neither a value nor an estimate.
        """
        if state.is_terminal():
            return np.array(state.returns())
        reader = reader_of(self.player, state.get_game())
        number = reader.number(state)
        answer = self.player.value(number)
        worth = answer.estimate if answer.value is None else float(answer.value.score)
        if worth is None:
            raise MissingState(f"the player knows nothing of state {number}: give it a book, or let it search live")
        # Our othello has margins, theirs has winners
        max_utility = state.get_game().max_utility()
        worth = max(-max_utility, min(max_utility, worth))
        if isinstance(state, SolverState):
            worth += state.position.gained or 0
        return np.array([-worth, worth] if reader.mover(state) else [worth, -worth])

    def prior(self, state: Any) -> list[tuple[int, float]]:
        """Return every legal action, or outcome of chance, with its probability."""
        if state.is_chance_node():
            outcomes: list[tuple[int, float]] = state.chance_outcomes()
            return outcomes
        return list(policy_at(self.player, state).items())
