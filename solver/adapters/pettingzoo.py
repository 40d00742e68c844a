"""Our games as environments of PettingZoo whose agents take turns (AEC), with action masks; a book plays or teaches.

    environment = env("connect-four:4,4", teacher="connect-four-4x4.lmdb")
    environment.reset(seed=1)
    for agent in environment.agent_iter():
        observation, reward, terminated, truncated, info = environment.last()
        over = terminated or truncated
        action = None if over else environment.action_space(agent).sample(observation["action_mask"])
        environment.step(action)

`observation["observation"]` holds planes of 0 and 1, `observation["action_mask"]` marks the legal actions. Both follow
the game's layout (`solver.export.layout`), which numbers the actions densely from 0. With a `teacher`, info has
`best_mask`, which marks the best actions. `value` is the position's worth for whoever moves: 1, 0, -1, the margin or
the expectation. `exact` tells whether the teacher knows both. Dice are thrown before the next agent moves.
`pip install 'solverbook[pettingzoo]'`.
"""

from __future__ import annotations

import io
import operator
import random
from typing import Any

import numpy as np
from gymnasium import spaces
from pettingzoo import AECEnv
from pettingzoo.utils import wrappers

from solver.base.errors import GameError, PositionError
from solver.book import Book, Source, game_of
from solver.export.layout import layout_of
from solver.play.player import Player
from solver.play.practical import level_of
from solver.rules.boards.scene import scene
from solver.rules.game import Rules, own_method
from solver.rules.notation import Position, first_position, next_position, show
from solver.rules.reading import parse_position
from solver.rules.width import as_integer

AGENTS = ("player_0", "player_1")
ILLEGAL = -1.0  # the reward of an action that is not legal
MAX_GAME_LENGTH = 1000  # moves after which play without an end is cut off
FORMS = ("ansi", "human", "rgb_array")
OPTIONS = ("position",)  # of `reset`
PROBE = "options"  # the one that PettingZoo's api_test hands to every environment
PLACING = 10_000  # draws of a start, of which one in some dozens is legal
DRAWS = 1 << 62
SCALE = 0.48  # pixels of a unit: 48 for a cell


def env(game: Source, **options: Any) -> AECEnv[Any, Any, Any]:
    """Return the environment of a game, in PettingZoo's usual wrappers.

    An illegal action loses. A call out of order is an error, and so is something that is not an action at all
    (GameError). `options` are those of `SolverEnv`.
    """
    return wrappers.OrderEnforcingWrapper(_Acting(SolverEnv(game, **options), illegal_reward=ILLEGAL))


class _Acting(wrappers.TerminateIllegalWrapper):
    """Ends the game at an illegal action, and refuses one outside the space of actions before its mask is read."""

    def step(self, action: Any) -> None:
        inner = self.unwrapped
        if not (inner.terminations[inner.agent_selection] or inner.truncations[inner.agent_selection]):
            action = action_in(action, len(inner.layout.actions))
        super().step(action)


def action_in(action: Any, actions: int) -> int:
    """Return an action as an `int`. Raises GameError if it is not one of so many."""
    try:
        number = -1 if isinstance(action, (bool, np.bool_)) else operator.index(action)
    except TypeError:
        number = -1
    if not 0 <= number < actions:
        raise GameError(f"{str(action)[:60]} is not an action: give a whole number from 0 to {actions - 1}")
    return number


class SolverEnv(AECEnv[str, Any, Any]):
    """A game of ours. It stands at `position`, whose `position.state` books know, and where `legal` actions are left.

    Actions are dense numbers: `layout.actions[action]` is the number that the rules and books use.

    Args:
        game: a game, its name or a book of it. A complete `Book` gives the layout of rules that declare none.
        teacher: a player or a book of the same game, whose verdicts go into the infos.
        longest: the moves after which a game is cut off.
        render_mode: "ansi" and "human" show text, "rgb_array" gives a picture.

    Raises:
        GameError: There is no such game or form of rendering, or nothing gives the game's layout.
        ForeignBook: The teacher is of another game.
    """

    played: int
    position: Position
    legal: list[int]

    def __init__(
        self,
        game: Source,
        *,
        teacher: Player | Source | None = None,
        longest: int = MAX_GAME_LENGTH,
        render_mode: str | None = None,
    ) -> None:
        super().__init__()
        self.rules: Rules = Rules(game_of(game))
        if render_mode not in (None, *FORMS):
            raise GameError(f"no render_mode {render_mode!r}: choose one of {', '.join(FORMS)}")
        self.teacher: Player | None = None if teacher is None else self.agreeing(Player.of(teacher), "the teacher")
        self.longest, self.render_mode = longest, render_mode
        self.layout = layout_of(self.rules, game if isinstance(game, Book) else None)
        self.metadata = {"name": "solverbook_v0", "render_modes": list(FORMS), "is_parallelizable": False}
        self.possible_agents = list(AGENTS)
        shape, actions = self.layout.shape, len(self.layout.actions)
        spaces_of: dict[str, spaces.Space[Any]] = {
            "observation": spaces.Box(0, 1, shape, np.int8),
            "action_mask": spaces.Box(0, 1, (actions,), np.int8),
        }
        self.observation_spaces = {agent: spaces.Dict(spaces_of) for agent in AGENTS}
        self.action_spaces = {agent: spaces.Discrete(actions) for agent in AGENTS}
        self.chance = random.Random()

    def agreeing(self, player: Player, role: str) -> Player:
        """Return a player of this game. Raises ForeignBook for one of another, in this role."""
        remedy = f"take a player or a book of {self.rules.name}"
        player.rules.check_same(role, self.rules, remedy, "the environment by")
        return player

    def observation_space(self, agent: str) -> Any:
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Any:
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin a game.

        Args:
            seed: of dice, and of placements in games such as `chess-ending`, which start anywhere.
            options: `position`, where the game begins: moves from the start, a notation of the game's own, or a state.

        Raises:
            GameError: There is no such option.
            PositionError: There is no such position, or the game is over there.
        """
        if seed is not None:
            self.chance.seed(seed)
        for option in options or {}:
            if option not in (*OPTIONS, PROBE):
                raise GameError(f"reset has no option {str(option)[:60]!r}: choose one of {', '.join(OPTIONS)}")
        said, rules = (options or {}).get("position"), self.rules
        if said is None:
            placed, position = own_method(rules.game, "placed"), first_position(rules)
            for _ in range(PLACING if placed else 0):
                state = placed(self.chance.randrange(DRAWS))
                if state >= 0 and not rules.is_terminal(state):
                    position = first_position(rules, state)
                    break
        else:
            position = parse_position(rules, said if isinstance(said, str) else f"#{as_integer(said)}")
            if rules.is_terminal(position.state):
                raise PositionError(f"the game is over at {str(said)[:60]!r}: begin before its end")
            if self.teacher is not None:
                self.teacher.check(position.state)
        self.agents = list(AGENTS)
        self.rewards = dict.fromkeys(AGENTS, 0.0)
        self._cumulative_rewards = dict.fromkeys(AGENTS, 0.0)
        self.terminations, self.truncations = dict.fromkeys(AGENTS, False), dict.fromkeys(AGENTS, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in AGENTS}
        self.played = 0
        self.position = position
        self._settle()

    def step(self, action: Any) -> None:
        """Make the agent's move. Raises GameError for one that is not legal."""
        if self.terminations[self.agent_selection] or self.truncations[self.agent_selection]:
            self._was_dead_step(action)
            return
        agent, action = self.agent_selection, action_in(action, len(self.layout.actions))
        if action not in self.legal:
            raise GameError(f"action {action} is not legal here: choose one of {', '.join(map(str, self.legal))}")
        self._cumulative_rewards[agent] = 0.0
        played = self.layout.actions[action]
        gain = self.rules.gain(self.position.state, played)
        self.rewards = {each_agent: float(gain if each_agent == agent else -gain) for each_agent in AGENTS}
        self.position, self.played = next_position(self.rules, self.position, played), self.played + 1
        self._settle()
        self._accumulate_rewards()
        if self.render_mode == "human":
            self.render()

    def _settle(self) -> None:
        """Throw the dice, see whether the game has ended, and whose turn it is."""
        rules, position = self.rules, self.position
        while not rules.is_terminal(position.state) and (outcomes := list(rules.outcomes(position.state))):
            (number,) = self.chance.choices(range(len(outcomes)), [weight for weight, _ in outcomes])
            position = next_position(rules, position, number)
        self.position = position
        over = rules.is_terminal(position.state)
        self.legal = [] if over else [self.layout.number(action) for action in rules.actions(position.state)]
        mover = _mover(position)
        if not self.legal:
            worth = float(rules.utility(position.state))
            self.rewards[AGENTS[mover]] += worth
            self.rewards[AGENTS[1 - mover]] -= worth
            self.terminations = dict.fromkeys(AGENTS, True)
        elif self.played >= self.longest:
            self.truncations = dict.fromkeys(AGENTS, True)
        self.agent_selection = AGENTS[mover]
        self.infos = {agent: {} for agent in AGENTS}
        if self.teacher is None:
            return
        # The verdict is for whoever moves. Estimates that put all moves on a level are none
        is_over = any(self.terminations.values()) or any(self.truncations.values())
        for agent in AGENTS:
            mask, value, exact = self.layout.mask(()), None, False
            if agent == self.agent_selection and not is_over:
                answer, moves = self.teacher.examine(position.state)
                best = [move for move in moves if move.best]
                exact = answer.exact and bool(best) and all(move.exact for move in best)
                mask = self.layout.mask(move.action for move in best if exact or len(best) < len(moves))
                value = None if answer.value is None else answer.value.score
            verdict = {"best_mask": np.frombuffer(bytes(mask), np.int8), "value": value, "exact": exact}
            self.infos[agent] = verdict

    def observe(self, agent: str) -> dict[str, Any]:
        """The board; which actions are legal, none for whoever is not to move."""
        mask = np.zeros(len(self.layout.actions), np.int8)
        if agent == self.agent_selection:
            mask[self.legal] = 1
        board = np.frombuffer(self.layout.planes(self.rules, self.position.state), np.int8)
        return {"observation": board.reshape(self.layout.shape).copy(), "action_mask": mask}

    def render(self) -> Any:
        """Draw the board.

        Returns:
            Text, which is printed as well, in the mode "human". A (height, width, 3) uint8 array in the mode
            "rgb_array".
        """
        if self.render_mode == "rgb_array":
            return picture(self.rules.game, self.position.state, _mover(self.position))
        board = show(self.rules.game, self.position.state, _mover(self.position))
        if self.render_mode == "human":
            print(board)  # noqa: T201  (what PettingZoo asks for)
            return None
        return board

    def close(self) -> None:
        """Nothing is held."""


class Opponent:
    """A player or a book as an agent: `Opponent(player)(environment)` is an action for whoever moves there.

    It is a best one, or now and then a mistake as in `solver play --level`: `level` is a name from beginner to perfect,
    or a number from 1 to 10. The draws are those of `seed`. Raises GameError for another level, and ForeignBook in an
    environment of another game.
    """

    def __init__(self, player: Player | Source, level: int | str = "perfect", seed: int | None = None) -> None:
        try:
            self.level = level_of(str(level))
        except ValueError as error:
            raise GameError(str(error)) from None
        self.player, self.chance = Player.of(player), random.Random(seed)

    def __call__(self, environment: Any) -> int:
        inner = environment.unwrapped
        state = inner.position.state
        inner.agreeing(self.player, "the opponent")
        worse = self.level.slip(self.player, state, self.chance)
        best: int = inner.layout.number(self.player.best(state) if worse is None else worse)
        return best


def picture(game: Any, state: int, mover: int) -> Any:
    """Draw a position: the SVG of `solver.rules.boards`, painted by resvg.

    Args:
        game: its rules. Those without `cells` have their text in place of a board.
        state: the position.
        mover: who moves there, 0 or 1, where states do not tell.

    Returns:
        Pixels, (height, width, 3) of uint8. All positions of one game that has cells have the same size.
    """
    import resvg_py
    from PIL import Image

    drawn = scene(Rules(game), Position(state, None, mover), bare=True)
    png = resvg_py.svg_to_bytes(svg_string=drawn.svg(""), width=round(drawn.width * SCALE), background="white")
    return np.asarray(Image.open(io.BytesIO(bytes(png))).convert("RGB"))


def _mover(position: Position) -> int:
    return int(position.mover or 0)
