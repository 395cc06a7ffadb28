"""Weekly cohorts: every week a fresh $10,000 for each bot on the same markets, until everything is settled."""

from predibot.games.weekly_cohort.rules import WeeklyCohort

__all__ = ["WeeklyCohort"]
