"""The demonstration: the main job over the sandbox, a month of it, from nothing."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from predibot.config import Settings
from predibot.contracts import ProgressListener
from predibot.jobs.decide import DecideReport
from predibot.jobs.deciding.open_run import RunRequest
from predibot.jobs.open_venue import open_past
from predibot.jobs.replay.replay import Turn, look_back, play
from predibot.ledger.store import Store
from predibot.recipe.recipe import Recipe
from predibot.scoring.evaluation.evaluation import Evaluation, Question

DAYS = 30
"""How many days are played."""


@dataclass(frozen=True, slots=True)
class Demo:
    """What the demonstration came to."""

    runs: tuple[DecideReport, ...]
    evaluation: Evaluation


def demonstrate(
    recipes: tuple[Recipe, ...],
    *,
    store: Store,
    settings: Settings,
    clock: Callable[[], datetime],
    listener: ProgressListener,
    told: Callable[[DecideReport], None],
    question: Question | None = None,
) -> Demo:
    """Decide on each of thirty days by every recipe that is due, track, and evaluate.

    Args:
        recipes: Their venue is one sandbox.
        store: An empty ledger.
        settings: Those of the installation.
        clock: The time, for claims.
        listener: Who wants to know how far it is.
        told: Called after each run with what was decided.
        question: What is asked of the evaluation.
    """
    past = open_past(recipes[0].venue, settings, clock)
    reports = []
    for report in play(
        _turns(recipes, past.first_at), past, store=store, settings=settings, clock=clock, listener=listener
    ):
        told(report)
        reports.append(report)
    # As `report` and `evaluate` do where nobody names an instant, so that they show the same.
    evaluation = look_back(
        past, past.known_until(), store=store, settings=settings, listener=listener, question=question
    )
    return Demo(tuple(reports), evaluation)


def _turns(recipes: tuple[Recipe, ...], first_at: datetime) -> Iterator[Turn]:
    """Yield each day for every recipe whose turn it is: for all of them on the first."""
    for day in range(DAYS):
        since = timedelta(days=day)
        for recipe in recipes:
            if since % recipe.every == timedelta(0):
                yield Turn(first_at + since, RunRequest(recipe, recipe.digest))
