"""BeliefBench: how related two questions are, told from their words alone."""

from predibot.studies.beliefbench.games.beliefbench.rules import Beliefbench

__all__ = ["Beliefbench"]
