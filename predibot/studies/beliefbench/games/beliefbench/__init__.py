"""The game of BeliefBench."""

from predibot.studies.beliefbench.games.beliefbench.rules import Beliefbench

__all__ = ["Beliefbench"]
