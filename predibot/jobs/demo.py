"""The demonstration: the main job over the sandbox, a month of it, from nothing."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from predibot.config import Settings
from predibot.contracts import ProgressListener
from predibot.jobs.decide import DecideReport, decide
from predibot.jobs.evaluate import Evaluation, evaluate
from predibot.jobs.run import RunRequest
from predibot.jobs.track import track
from predibot.jobs.venues import open_venue
from predibot.ledger.store import Store
from predibot.recipe import Recipe
from predibot.sandbox.calendar import SANDBOX_OPENS_AT

DAYS = 30
"""How many days are played."""
LOOK_BACK = timedelta(days=68)
"""How long after the first run all are evaluated."""


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
) -> Demo:
    """Decide on each of thirty days by every recipe that is due, track, and evaluate.

    Args:
        recipes: Their venue is one sandbox.
        store: An empty ledger.
        settings: Those of the installation.
        clock: The time, for claims.
        listener: Who wants to know how far it is.
        told: Called after each run with what was decided.
    """
    spec = recipes[0].venue
    reports = []
    for at, due in _days(recipes):
        with open_venue(spec, settings, as_of=at, purpose="decide", clock=clock) as opened:
            for recipe in due:
                request = RunRequest(recipe, recipe.digest)
                report = decide(request, store=store, opened=opened, settings=settings, clock=clock, listener=listener)
                told(report)
                reports.append(report)
    end = SANDBOX_OPENS_AT + LOOK_BACK
    with open_venue(spec, settings, as_of=end, purpose="look_back", clock=clock) as opened:
        track(store=store, opened=opened, settings=settings, listener=listener)
    evaluation = evaluate(store=store, venue_name=reports[0].run.venue_name, as_of=end)
    return Demo(tuple(reports), evaluation)


def _days(recipes: tuple[Recipe, ...]) -> Iterator[tuple[datetime, tuple[Recipe, ...]]]:
    """Yield each day with the recipes whose turn it is: all of them on the first."""
    for day in range(DAYS):
        played = timedelta(days=day)
        yield SANDBOX_OPENS_AT + played, tuple(each for each in recipes if played % each.every == timedelta(0))
