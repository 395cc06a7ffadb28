"""BeliefBench: how related two questions are, told from their words alone."""

from predibot.games.beliefbench.rules import Beliefbench

__all__ = ["Beliefbench"]
