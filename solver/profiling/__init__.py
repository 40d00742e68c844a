"""A game in numbers for its designer: results of players of several strengths, length, branching, and good moves."""

from solver.profiling.measuring import Profile, profile, refuse_chance

__all__ = ["Profile", "profile", "refuse_chance"]
