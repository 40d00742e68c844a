"""Our games as environments of PettingZoo whose agents take turns (AEC), with action masks; a book plays or teaches.

    environment = env("connect-four:4,4", teacher="connect-four-4x4.lmdb")
    environment.reset(seed=1)
    for agent in environment.agent_iter():
        observation, reward, terminated, truncated, info = environment.last()
        over = terminated or truncated
        action = None if over else environment.action_space(agent).sample(observation["action_mask"])
        environment.step(action)

`observation["observation"]` are planes of 0 and 1 (`solver.export.planes`), `observation["action_mask"]` says which
actions are legal. With a `teacher`, info has `best_mask`, which of them are best, and `value`, what the position is
worth for whoever moves: 1, 0, -1, the margin or the expectation. Dice are thrown before the next agent moves.
`pip install 'solverbook[pettingzoo]'`.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np
from gymnasium import spaces
from pettingzoo import AECEnv
from pettingzoo.utils import wrappers

from solver.base.errors import GameError
from solver.book.doors import Source, game_of
from solver.export.planes import surveyed
from solver.play.player import Player
from solver.rules.game import Rules
from solver.rules.notation import Position, first_position, format_action, next_position, show

AGENTS = ("player_0", "player_1")
LONGEST = 1000  # moves after which play without an end is cut off
FORMS = ("ansi", "human")


def env(game: Source, **options: Any) -> AECEnv[Any, Any, Any]:
    """The environment of a game, in PettingZoo's usual wrappers: an illegal action loses, what is out of order is an
    error. `options` are those of `SolverEnv`."""
    return wrappers.OrderEnforcingWrapper(
        wrappers.TerminateIllegalWrapper(SolverEnv(game, **options), illegal_reward=-1)
    )


class SolverEnv(AECEnv[str, Any, Any]):  # type: ignore[misc]
    """A game of ours; `position` is where it stands, and `position.state` the state that books know.

    `game` may be a game's name or a book, too. `teacher`: a player or a book, whose verdicts go into the infos.
    `actions`: how many there are at most; those that the first positions and some random games have, if None.
    `longest`: the moves after which a game is cut off. Raises GameError.
    """

    def __init__(
        self,
        game: Source,
        *,
        teacher: Player | Source | None = None,
        actions: int | None = None,
        longest: int = LONGEST,
        render_mode: str | None = None,
    ) -> None:
        super().__init__()
        self.rules = Rules(game_of(game))
        if render_mode not in (None, *FORMS):
            raise GameError(f"no render_mode {render_mode!r}: choose one of {', '.join(FORMS)}")
        self.teacher = None if teacher is None else Player.of(teacher)
        self.longest, self.render_mode = longest, render_mode
        self.planes = surveyed(self.rules, actions)
        self.metadata = {"name": "solverbook_v0", "render_modes": list(FORMS), "is_parallelizable": False}
        self.possible_agents = list(AGENTS)
        shape = self.planes.shape
        seen = {
            "observation": spaces.Box(0, 1, shape, np.int8),
            "action_mask": spaces.Box(0, 1, (self.planes.actions,), np.int8),
        }
        self.observation_spaces = {agent: spaces.Dict(seen) for agent in AGENTS}
        self.action_spaces = {agent: spaces.Discrete(self.planes.actions) for agent in AGENTS}
        self.chance = random.Random()

    def observation_space(self, agent: str) -> Any:
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Any:
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """The start of a game; `seed` is that of the dice."""
        if seed is not None:
            self.chance.seed(seed)
        self.agents = list(AGENTS)
        self.rewards = dict.fromkeys(AGENTS, 0.0)
        self._cumulative_rewards = dict.fromkeys(AGENTS, 0.0)
        self.terminations, self.truncations = dict.fromkeys(AGENTS, False), dict.fromkeys(AGENTS, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in AGENTS}
        self.played = 0
        self.position = first_position(self.rules)
        self._settle()

    def step(self, action: Any) -> None:
        """Make the agent's move. Raises GameError for one that is not legal."""
        if self.terminations[self.agent_selection] or self.truncations[self.agent_selection]:
            self._was_dead_step(action)
            return
        agent, action = self.agent_selection, int(action)
        if action not in self._legal():
            raise GameError(f"action {action} is not legal here: choose one of {', '.join(map(str, self._legal()))}")
        self._cumulative_rewards[agent] = 0.0
        gain = self.rules.gain(self.position.state, action)
        self.rewards = {one: float(gain if one == agent else -gain) for one in AGENTS}
        self.position, self.played = next_position(self.rules, self.position, action), self.played + 1
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
        mover = _mover(position)
        if rules.is_terminal(position.state):
            worth = float(rules.utility(position.state))
            self.rewards[AGENTS[mover]] += worth
            self.rewards[AGENTS[1 - mover]] -= worth
            self.terminations = dict.fromkeys(AGENTS, True)
        elif self.played >= self.longest:
            self.truncations = dict.fromkeys(AGENTS, True)
        self.agent_selection = AGENTS[mover]
        self.infos = {agent: self._taught(agent) for agent in AGENTS}

    def _taught(self, agent: str) -> dict[str, Any]:
        """What the teacher says to whoever moves; its mask has no move of the other's, or of a game that is over."""
        if self.teacher is None:
            return {}
        is_over = any(self.terminations.values()) or any(self.truncations.values())
        if is_over or agent != self.agent_selection:
            return {"best_mask": np.zeros(self.planes.actions, np.int8), "value": None}
        answer, moves = self.teacher.examine(self.position.state)
        best = self.planes.mask(move.action for move in moves if move.best)
        value = None if answer.value is None else answer.value.score
        return {"best_mask": np.frombuffer(bytes(best), np.int8), "value": value}

    def _legal(self) -> list[int]:
        state = self.position.state
        return [] if self.rules.is_terminal(state) else list(self.rules.actions(state))

    def observe(self, agent: str) -> dict[str, Any]:
        """The board; which actions are legal, none for whoever is not to move."""
        own = agent == self.agent_selection
        mask = self.planes.mask(self._legal() if own else ())
        board = np.frombuffer(self.planes.of(self.rules, self.position.state), np.int8)
        return {
            "observation": board.reshape(self.planes.shape).copy(),
            "action_mask": np.frombuffer(bytes(mask), np.int8).copy(),
        }

    def render(self) -> str | None:
        """The board as text, printed where the mode is "human"."""
        board = show(self.rules.game, self.position.state, _mover(self.position))
        if self.render_mode == "human":
            print(board)  # noqa: T201  (what PettingZoo asks for)
            return None
        return board

    def action_name(self, action: int) -> str:
        """An action in the game's notation."""
        return format_action(self.rules.game, self.position.state, action)

    def close(self) -> None:
        """Nothing is held."""


class Opponent:
    """A player or a book as an agent: `Opponent(player)(environment)` is a best action for whoever moves there."""

    def __init__(self, player: Player | Source) -> None:
        self.player = Player.of(player)

    def __call__(self, environment: Any) -> int:
        return self.player.best(environment.unwrapped.position.state)


def _mover(position: Position) -> int:
    return int(position.mover or 0)
