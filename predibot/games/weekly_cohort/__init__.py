"""Weekly cohorts: every week a fresh $10,000 for each bot on the same markets, until everything is settled.

Nothing plays it yet: recipes cannot name it, see `predibot.plugins.games`.
"""

from predibot.games.weekly_cohort.rules import WeeklyCohort

__all__ = ["WeeklyCohort"]
