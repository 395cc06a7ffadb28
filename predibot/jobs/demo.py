"""The demonstration: the main job over the sandbox, a month of it, from nothing."""

from collections.abc import Callable, Iterator
from datetime import date, datetime, timedelta
from pathlib import Path

from predibot.contracts import Past, SessionPast
from predibot.errors import UsageError
from predibot.jobs.decide import DecideReport
from predibot.jobs.deciding.open_run import RunRequest
from predibot.jobs.deciding.worker import Resources
from predibot.jobs.open_venue import open_past
from predibot.jobs.replay.replay import look_back, play
from predibot.plugins.venues import checked
from predibot.sandbox.stocks.folder import write_stock_folder
from predibot.scoring.evaluation.evaluation import Evaluation, Question

DAYS = 30
"""How many days are played where nobody says how many."""
STOCKS_SEED, STOCKS_BEGIN_ON = 7, date(2025, 1, 6)


def demonstrate(
    asked: tuple[RunRequest, ...],
    resources: Resources,
    *,
    told: Callable[[DecideReport], None],
    question: Question | None = None,
    days: int = DAYS,
    stocks: Path | None = None,
) -> Evaluation:
    """Decide on each of some days by every recipe that is due, track, and return how good the bots were.

    Args:
        asked: The recipes; their venue is one sandbox.
        told: Called after each run with what was decided.
        question: What is asked of the evaluation.
        days: How many are played; of stocks, trading days.
        stocks: The folder that simulated stocks are written to and played from; None for a recipe's own venue.

    Raises:
        UsageError: If that folder cannot be written.
    """
    venue = asked[0].recipe.venue if stocks is None else _written(stocks, asked, days)
    past = open_past(venue, resources.settings, resources.clock)
    for _, report in play(_turns(asked, past, days), past, resources):
        told(report)
    # As `report` and `evaluate` do where nobody names an instant, so that they show the same.
    return look_back(past, past.known_until(), resources, question=question)


def _turns(asked: tuple[RunRequest, ...], past: Past, days: int) -> Iterator[tuple[datetime, RunRequest]]:
    """Yield each day, of stocks each trading day, for every recipe whose turn it is: for all of them on the first."""
    since, played = timedelta(0), 0
    while played < days:
        at = past.first_at + since
        if not isinstance(past, SessionPast) or past.is_session(at):
            played += 1
            for each in asked:
                if since % each.recipe.every == timedelta(0):
                    yield at, each
        since += timedelta(days=1)


def _written(folder: Path, asked: tuple[RunRequest, ...], days: int) -> str:
    """Write the simulated stocks that recipes play, and return their venue."""
    tickers = [name for each in asked for name in each.recipe.selection.only]
    try:
        write_stock_folder(folder, seed=STOCKS_SEED, days=days, tickers=tickers, start=STOCKS_BEGIN_ON)
    except OSError as error:
        raise UsageError(f"{folder} cannot be written: {error}; call it where it can") from None
    return checked(f"stocks:{folder}")
