"""Evaluations by evolution through self-play, from random weights, without values of any kind (CMA-ES, Hansen 2001).

A generation's linear models all play the same openings, both colours, against the mean of the generations so far and
some of its predecessors, each one ply ahead: a model's fitness is its share of the points. Weights are for features
divided by their spread in random play; those of the first generation are random around 0. Every `CHECKED` generations
the mean enters a league, in which all such means have met, from openings that no generation sees. The leader in the
end is the result; it ends early when `PATIENCE` newcomers in a row have not taken the lead. Of the covariance
only the diagonal is kept, which takes fewer games.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from solver.base import extras
from solver.base.errors import MethodError
from solver.base.progress import Progress, silent
from solver.compiled.lookahead.evaluation import LIMIT, Evaluation, identity
from solver.learning import moves, training
from solver.learning.matches import standing
from solver.learning.moves import Board, States, Worths, best_moves, guess_of
from solver.learning.players import Greedy, Random
from solver.rules.game import Game, Rules, game_text
from solver.search import refuse_chance

POPULATION = 40
OPENINGS = 16  # of a generation
RIVALS = 2  # that each model plays from each of them, with both colours
FORMER = 12  # former means to choose rivals from
POOL = 240  # openings, as few plies deep as there are that many: the deeper, the more of them are decided
SPREAD = 1.0  # of the first generation's weights
CHECKED = 10
PATIENCE = 12
SCALING = 5_000  # states of random play that tell the spread of features
Weights = NDArray[np.float64]


class Evolved(NamedTuple):
    """Weights and bias last, (features + 1,), of features divided by their spread; and the generations they took."""

    weights: Weights
    generations: int


class _Field:
    """The field of a contest: the board, the spread of the features, and the openings.

    `pool` has openings for generations, `held` for checks, and `judged` those that the outcome is judged by.
    """

    def __init__(self, rules: Rules, seed: int) -> None:
        self.board = Board(rules)
        drawn = training.by_play(self.board, SCALING, seed=seed)
        self.board.compare(drawn)
        spread = self.board.tabulate(drawn).std(axis=0, dtype=np.float64)
        self.spread = np.where(spread == 0, 1.0, spread)
        self.scale = 1.0
        if rules.scores:
            # The largest margin of random games is what an estimate of 1 stands for
            starts = drawn[:POOL]
            games = moves.play(self.board, starts, np.zeros((len(starts), 2), np.int64), [Random(seed)])
            self.scale = float(np.abs(games.scores).max()) or 1.0
        opened = training.openings(Board(rules, rules.symmetry), POOL, seed=seed)
        if len(opened) < 3:
            raise MethodError(f"{rules.name} is over too soon to evolve by play: solve it")
        self.judged, self.held, self.pool = np.array_split(opened, 3)

    def points(self, models: Sequence[Weights], pairs: NDArray[np.int64], starts: States) -> Worths:
        """The points of the first of each pair of models (n, 2), mean of both colours from all the starts: (n,)."""
        seats = np.repeat(np.concatenate([pairs, pairs[:, ::-1]]), len(starts), axis=0)
        begun = np.tile(starts, 2 * len(pairs))
        crowd = _Crowd(self, models)
        played = moves.play(self.board, begun, seats, [crowd] * len(models))
        points = (np.sign(played.scores) + 1) / 2
        both = points.reshape(2, len(pairs), len(starts)).mean(axis=2)
        points_of_first: Worths = (both[0] + 1 - both[1]) / 2
        return points_of_first


class _Crowd:
    """Linear models that play one ply ahead, all of whose moves are chosen together."""

    def __init__(self, field: _Field, models: Sequence[Weights]) -> None:
        self.board, self.scale = field.board, LIMIT * field.scale
        weights = np.array(models)
        self.weights, self.biases = (weights[:, :-1] / field.spread).astype(np.float32), weights[:, -1]

    def choose(self, turn: moves.Turn) -> NDArray[np.int64]:
        children = turn.children
        models = turn.movers[children.parents[~children.ended]]

        def guess(states: States) -> Worths:
            # Models come to the same states
            distinct, places = np.unique(states, return_inverse=True)
            table = self.board.tabulate(distinct).astype(np.float32)[places]
            sums = np.einsum("ij,ij->i", table, self.weights[models]) + self.biases[models]
            worths: Worths = np.tanh(sums).astype(np.float64) * self.scale
            return worths

        return best_moves(children.parents, self.board.worths(children, guess), len(turn.states))


class _League:
    """Means of generations, each of which has met all others from the openings that are held out."""

    def __init__(self, field: _Field) -> None:
        self.field = field
        self.entered: list[Evolved] = []
        self.points = np.zeros((0, 0))

    def enter(self, mean: Weights, generation: int) -> None:
        """Let a newcomer meet all others."""
        number = len(self.entered)
        self.entered.append(Evolved(mean, generation))
        self.points = np.pad(self.points, (0, 1), constant_values=0.5)
        if number:
            pairs = np.array([(number, other) for other in range(number)])
            points = self.field.points([one.weights for one in self.entered], pairs, self.field.held)
            self.points[number, :number] = points
            self.points[:number, number] = 1 - points

    def leader(self) -> int:
        """The place of who has the most points, the latest of equals."""
        totals = self.points.sum(axis=1)
        return int(np.flatnonzero(totals == totals.max())[-1])


def evolve(game: Game, *, generations: int = 400, seed: int = 0, progress: Progress = silent) -> Evaluation:
    """A linear evaluation that has evolved by play against its like; figures say how it fares against its beginnings.

    The same seed evolves the same. Raises MethodError for games of chance, without the extra [learn], or where the game
    has too few openings.
    """
    extras.require_learning()
    rules = Rules(game)
    refuse_chance(rules, "evolution", moves.SOLVE_IT)
    field = _Field(rules, seed)
    first, evolved = _evolve(field, generations, seed, progress)
    board, weights = field.board, evolved.weights
    layer = (weights[:-1] / field.spread).astype(np.float32).reshape(-1, 1), weights[-1:].astype(np.float32)
    facts: dict[str, Any] = {"source": "evolution by self-play", "model": "linear", "seed": seed}
    facts["generations"] = evolved.generations
    whole = Evaluation(game_text(game), identity(game), board.features, "relu", [layer], field.scale, facts, {})
    guess = guess_of(board, whole)

    def share(other: moves.Chooser) -> float:
        pairs, _ = moves.both_colours(board, field.judged, (Greedy(board, guess), other))
        return standing(pairs).share

    # The share of points, with both colours, from openings that were used for nothing else: against the first
    # generation (each model alike, and its best), random moves, and the rules' own `evaluate`
    pairs = np.array([(0, model) for model in range(1, len(first) + 1)])
    beginnings = field.points([weights, *first], pairs, field.judged)
    figures: dict[str, Any] = {
        "first_generation": float(np.mean(beginnings)),
        "first_generation_best": float(np.min(beginnings)),
        "random": share(Random(seed)),
    }
    if board.rules.evaluate is not None:
        figures["evaluate"] = share(Greedy(board, board.guesses))
    return whole._replace(figures=figures)


def _evolve(field: _Field, generations: int, seed: int, progress: Progress) -> tuple[list[Weights], Evolved]:
    """The first generation, and the mean that leads the league."""
    import cma

    draw = np.random.default_rng(seed)
    start = np.zeros(field.board.features + 1)
    options = {"popsize": POPULATION, "seed": seed + 1, "verbose": -9, "CMA_diagonal": True}
    strategy = cma.CMAEvolutionStrategy(start, SPREAD, options)
    first: list[Weights] = []
    former: list[Weights] = []
    league = _League(field)
    for generation in range(1, generations + 1):
        models = strategy.ask()
        first = first or [np.array(model) for model in models]
        former = [*former[-FORMER + 1 :], np.array(strategy.mean)]
        # A model's fitness is its share of the points, against the last mean and former ones
        chosen = draw.choice(len(former), min(RIVALS - 1, len(former)), replace=False).tolist()
        rivals = [former[-1], *(former[place] for place in chosen)]
        starts = draw.choice(field.pool, min(OPENINGS, len(field.pool)), replace=False)
        pairs = np.array([(model, len(models) + rival) for model in range(len(models)) for rival in range(len(rivals))])
        points = field.points([*models, *rivals], pairs, starts).reshape(len(models), len(rivals))
        strategy.tell(models, (-points.mean(axis=1)).tolist())
        if generation % CHECKED == 0 or generation == generations:
            league.enter(np.array(strategy.mean), generation)
            if len(league.entered) - league.leader() > PATIENCE:
                break
        leading = league.entered[league.leader()].generations if league.entered else 0
        progress("evolving", generation, generations, f"generation {leading} leads")
    return first, league.entered[league.leader()]
