"""Our games as environments of Gymnasium for a single agent, with a book, or a level of play, on the other side.

    environment = SoloEnv("connect-four:4,4", level=5, reward="given away")
    observation, info = environment.reset(seed=1)
    while not over:
        action = environment.action_space.sample(observation["action_mask"])
        observation, reward, terminated, truncated, info = environment.step(action)

Observations are those of `solver.adapters.pettingzoo`. Importing this file registers `gymnasium.make("Solverbook-v0",
game="connect-four:4,4")`. `pip install 'solverbook[pettingzoo]'`.
"""

from __future__ import annotations

from typing import Any

import gymnasium

from solver.adapters.pettingzoo import AGENTS, ILLEGAL, Opponent, SolverEnv, action_in
from solver.base.errors import GameError, MissingState, PositionError
from solver.book import Source
from solver.play.player import Player

NAME = "Solverbook-v0"
REWARDS = ("result", "given away")
MAX_OPENING_GAMES = 100  # that the other side may end before the agent has moved, one after the other


class SoloEnv(gymnasium.Env[Any, Any]):
    """A game of ours for one agent.

    An illegal action ends the game, as lost; something that is not an action at all raises GameError.

    Args:
        game: a game, its name or a book of it.
        opponent: the player or the book that moves for the other side, and judges the agent; the game's own, if None.
        level: how well the other side plays: a name from beginner to perfect, or a number from 1 to 10.
        seat: whom the agent plays, 0, who begins, or 1; drawn for each game, if None.
        reward: "result": 1, 0, -1 or the margin, as they come. "given away": after each move the value that it has
            lost, as a number that is 0 or below; a best move has 0.
        options: of `SolverEnv`: `teacher`, `longest`, `render_mode`.

    Raises:
        GameError: There is no such game, level, seat or reward.
        ForeignBook: The opponent is of another game.
    """

    render_mode: str | None

    metadata: dict[str, list[str]] = {"render_modes": ["ansi", "human", "rgb_array"]}

    def __init__(
        self,
        game: Source,
        *,
        opponent: Player | Source | None = None,
        level: int | str = "perfect",
        seat: int | None = 0,
        reward: str = "result",
        **options: Any,
    ) -> None:
        if seat not in (None, 0, 1):
            raise GameError(f"there is no seat {seat!r}: choose 0 or 1, or None for either by lot")
        if reward not in REWARDS:
            raise GameError(f"there is no reward {reward!r}: choose one of {', '.join(map(repr, REWARDS))}")
        self.inner: SolverEnv = SolverEnv(game, **options)
        self.opponent: Opponent = Opponent(game if opponent is None else opponent, level)
        self.inner.agreeing(self.opponent.player, "the opponent")
        self.seat, self.reward, self.render_mode = seat, reward, self.inner.render_mode
        self.agent = AGENTS[seat or 0]
        self.observation_space: Any = self.inner.observation_space(self.agent)
        self.action_space: Any = self.inner.action_space(self.agent)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin a game, and play it to the agent's first move.

        Args:
            seed: of dice, placements, seats and the opponent's level.
            options: `position`, where the game begins, as `SolverEnv.reset` takes it.

        Raises:
            GameError: There is no such option.
            PositionError: There is no such position, or the game ends before the agent can move.
        """
        super().reset(seed=seed)
        if seed is not None:
            self.opponent.chance.seed(seed)
        for _ in range(MAX_OPENING_GAMES):
            if self.seat is None:
                self.agent = AGENTS[int(self.np_random.integers(2))]
            self.inner.reset(seed, options)
            self._answered()
            if not self._is_over():
                return self._observed(), self._info()
            seed = None
        raise PositionError("the game ends before the agent can move: choose another position, or the other seat")

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Make the agent's move and the opponent's replies, up to the agent's next move.

        Raises:
            GameError: That is not an action.
            MissingState: The opponent does not know the value that the move gives away.
        """
        action = action_in(action, len(self.inner.layout.actions))
        if self._is_over():
            raise GameError("the game is over: reset the environment")
        best, values = 0.0, dict[int, float]()
        if self.reward == REWARDS[1]:
            answer, moves = self.opponent.player.examine(self.inner.position.state)
            values = {move.action: float(move.value.score) for move in moves if move.value is not None}
            # Expectations of positions are rounded
            if len(values) == len(moves):
                best = max(values.values())
            elif answer.value is None:
                raise self._unknown()
            else:
                best = float(answer.value.score)
        if action not in self.inner.legal:
            self.inner.terminations = dict.fromkeys(AGENTS, True)
            return self._observed(), ILLEGAL - best, True, False, {"illegal": True}
        played = self.inner.layout.actions[action]
        if self.reward == REWARDS[1] and played not in values:
            raise self._unknown()
        self.inner.step(action)
        gained = self.inner.rewards[self.agent] + self._answered()
        over = self.inner.terminations[self.agent], self.inner.truncations[self.agent]
        return self._observed(), gained if self.reward == REWARDS[0] else values[played] - best, *over, self._info()

    def action_masks(self) -> Any:
        """Return which actions are legal, as booleans. MaskablePPO of sb3-contrib calls this."""
        return self._observed()["action_mask"].astype(bool)

    def render(self) -> Any:
        """As `SolverEnv.render`."""
        return self.inner.render()

    def _answered(self) -> float:
        """Play the other side until the agent is to move, or the game is over; return the agent's rewards."""
        gained = 0.0
        while not self._is_over() and self.inner.agent_selection != self.agent:
            self.inner.step(self.opponent(self.inner))
            gained += self.inner.rewards[self.agent]
        return gained

    def _is_over(self) -> bool:
        return bool(self.inner.terminations[self.agent] or self.inner.truncations[self.agent])

    def _observed(self) -> Any:
        return self.inner.observe(self.agent)

    def _info(self) -> dict[str, Any]:
        return dict(self.inner.infos[self.agent])

    def _unknown(self) -> MissingState:
        state = self.inner.position.state
        return MissingState(f"the opponent does not know how much each move from state {state} loses: give it a book")


gymnasium.register(NAME, f"{__name__}:{SoloEnv.__name__}")
