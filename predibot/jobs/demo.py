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
from predibot.jobs.requested_recipe import AskedRecipe
from predibot.ledger.store import Store
from predibot.scoring.evaluation.evaluation import Evaluation, Question

DAYS = 30
"""How many days are played where nobody says how many."""


@dataclass(frozen=True, slots=True)
class Demo:
    """What the demonstration came to."""

    runs: tuple[DecideReport, ...]
    evaluation: Evaluation


def demonstrate(
    asked: tuple[AskedRecipe, ...],
    *,
    store: Store,
    settings: Settings,
    clock: Callable[[], datetime],
    listener: ProgressListener,
    told: Callable[[DecideReport], None],
    question: Question | None = None,
    days: int = DAYS,
) -> Demo:
    """Decide on each of some days by every recipe that is due, track, and evaluate.

    Args:
        asked: The recipes; their venue is one sandbox.
        store: An empty ledger.
        settings: Those of the installation.
        clock: The time, for claims.
        listener: Who wants to know how far it is.
        told: Called after each run with what was decided.
        question: What is asked of the evaluation.
        days: How many are played.
    """
    past = open_past(asked[0].recipe.venue, settings, clock)
    reports = []
    for report in play(
        _turns(asked, past.first_at, days), past, store=store, settings=settings, clock=clock, listener=listener
    ):
        told(report)
        reports.append(report)
    # As `report` and `evaluate` do where nobody names an instant, so that they show the same.
    evaluation = look_back(
        past, past.known_until(), store=store, settings=settings, listener=listener, question=question
    )
    return Demo(tuple(reports), evaluation)


def _turns(asked: tuple[AskedRecipe, ...], first_at: datetime, days: int) -> Iterator[Turn]:
    """Yield each day for every recipe whose turn it is: for all of them on the first."""
    for day in range(days):
        since = timedelta(days=day)
        for each in asked:
            if since % each.recipe.every == timedelta(0):
                yield Turn(first_at + since, RunRequest(each.recipe, each.digest, each.overrides))
