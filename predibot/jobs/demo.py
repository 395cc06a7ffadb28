"""The demonstration: the main job over the sandbox, a week of it, from nothing."""

from collections.abc import Callable
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

DAYS = 7
"""How many daily runs are made."""
LOOK_BACK = timedelta(days=45)
"""How long after the first run it is evaluated."""


@dataclass(frozen=True, slots=True)
class Demo:
    """What the demonstration came to."""

    runs: tuple[DecideReport, ...]
    evaluation: Evaluation


def demonstrate(
    recipe: Recipe,
    *,
    store: Store,
    settings: Settings,
    clock: Callable[[], datetime],
    listener: ProgressListener,
    told: Callable[[DecideReport], None],
) -> Demo:
    """Decide on each of seven days, track, and evaluate.

    Args:
        recipe: One whose venue is a sandbox.
        store: An empty ledger.
        settings: Those of the installation.
        clock: The time, for claims.
        listener: Who wants to know how far it is.
        told: Called after each day with what was decided.
    """
    reports = []
    for day in range(DAYS):
        at = SANDBOX_OPENS_AT + timedelta(days=day)
        with open_venue(recipe.venue, settings, as_of=at, purpose="decide", clock=clock) as opened:
            request = RunRequest(recipe, recipe.digest)
            report = decide(request, store=store, opened=opened, settings=settings, clock=clock, listener=listener)
        told(report)
        reports.append(report)
    end = SANDBOX_OPENS_AT + LOOK_BACK
    with open_venue(recipe.venue, settings, as_of=end, purpose="look_back", clock=clock) as opened:
        track(store=store, opened=opened, settings=settings, listener=listener)
    evaluation = evaluate(store=store, venue_name=reports[0].run.venue_name, as_of=end)
    return Demo(tuple(reports), evaluation)
