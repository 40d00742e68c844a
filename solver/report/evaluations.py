"""A learned evaluation and its quality, in words."""

from __future__ import annotations

import os
from typing import Any

MEASURES = {"sign": "sign", "correlation": "correlation", "best_moves": "best moves"}


def facts(evaluation: Any, path: str) -> dict[str, Any]:
    """The facts of an evaluation (`compiled.lookahead.evaluation`) that was written to a file."""
    return {
        "game": evaluation.game,
        "rules": evaluation.rules,
        "features": evaluation.features,
        "shape": evaluation.shape(),
        "training": evaluation.training,
        "figures": evaluation.figures,
        "file": path,
        "bytes": os.path.getsize(path),
    }


def text(facts: dict[str, Any]) -> str:
    """The same for people."""
    training, figures = facts["training"], facts["figures"]
    lines = [f"game     {facts['game']}", f"model    {training['model']}, {facts['features']} features"]
    if "generations" in training:
        lines.append(f"source   {training['source']}, {training['generations']} generations")
        for name, share in figures.items():
            lines.append(f"{share:8.2%} of the points against {name.replace('_', ' ')}")
    else:
        lines.append(f"source   {training['source']}, {training['states']:,} states")
        names = "".join(f"{name:>13}" for name in MEASURES.values())
        lines += [f"on {figures['states']:,} states that it never saw:", f"{'':9}{names}"]
        # A row for the model, one for the rules' own `evaluate`
        for name, prefix in (("learned", ""), ("evaluate", "evaluate_")):
            if f"{prefix}sign" in figures:
                cells = (_cell(measure, figures[prefix + measure]) for measure in MEASURES)
                lines.append(f"{name:9}" + "".join(f"{cell:>13}" for cell in cells))
    return "\n".join([*lines, f"written  {facts['file']}, {facts['bytes']:,} bytes"])


def _cell(measure: str, figure: float | None) -> str:
    if figure is None:
        return "-"
    return f"{figure:.3f}" if measure == "correlation" else f"{figure:.2%}"
