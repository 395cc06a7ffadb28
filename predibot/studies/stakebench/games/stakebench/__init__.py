"""StakeBench: what comments reveal about who wrote them, what these do next, and where the odds go."""

from predibot.studies.stakebench.games.stakebench.rules import Stakebench

__all__ = ["Stakebench"]
