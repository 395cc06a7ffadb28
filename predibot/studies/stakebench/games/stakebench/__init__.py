"""The game of StakeBench."""

from predibot.studies.stakebench.games.stakebench.rules import Stakebench

__all__ = ["Stakebench"]
