"""The options of a solve, as they travel from `pipeline.solve` to the code that heeds them."""

from __future__ import annotations

from typing import NamedTuple

from solver.base.kinds import AUTO
from solver.base.progress import Progress, Say, quiet, silent

PLAINLY = "in plain Python, some sixty times slower, on one core and without checkpoints"
CHECKPOINT_SECONDS = 30.0


class Options(NamedTuple):
    """The options of `pipeline.solve`, whose docstring tells of each."""

    method: str = AUTO
    max_ply: int | None = None
    symmetry: bool = True
    workers: int | None = None
    memory: int | None = None
    table: int | None = None
    restart: bool = False
    checkpoint: float | None = None
    anyway: bool = False
    codec: str | None = None
    wdl: bool = False
    conversion: bool = False
    cluster: str | None = None
    store: str | None = None
    progress: Progress = silent
    say: Say = quiet

    @property
    def checkpoint_seconds(self) -> float:
        """Seconds between two checkpoints."""
        return CHECKPOINT_SECONDS if self.checkpoint is None else self.checkpoint

    def say_plainly(self, reason: str) -> None:
        """That the work is done in plain Python, and why."""
        self.say(f"{PLAINLY}: {reason}")
