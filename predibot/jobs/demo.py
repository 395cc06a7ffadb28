"""The demonstration: a month of the main job over the sandbox, from nothing."""

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
from predibot.plugins.venues import check_venue_spec
from predibot.sandbox.stocks.folder import write_stock_folder
from predibot.scoring.evaluation.evaluation import Evaluation, Question

DAYS = 30
"""The default length of a demonstration."""
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
        days: How many are played; trading days for stocks.
        stocks: A folder for simulated stocks, which are then played; None for a recipe's own venue.
    """
    venue = asked[0].recipe.venue if stocks is None else _write_stocks(stocks, asked, days)
    past = open_past(venue, resources.settings, resources.clock)
    for _, report in play(_turns(asked, past, days), past, resources):
        told(report)
    # The same instant as the default of `report` and `evaluate`, so that all show the same.
    return look_back(past, past.known_until(), resources, question=question)


def _turns(requests: tuple[RunRequest, ...], past: Past, days: int) -> Iterator[tuple[datetime, RunRequest]]:
    """Yield each day, or each trading day, with every recipe that is due; on the first all are."""
    since, played = timedelta(0), 0
    while played < days:
        at = past.first_at + since
        if not isinstance(past, SessionPast) or past.is_session(at):
            played += 1
            for each in requests:
                if since % each.recipe.every == timedelta(0):
                    yield at, each
        since += timedelta(days=1)


def _write_stocks(folder: Path, requests: tuple[RunRequest, ...], days: int) -> str:
    tickers = [name for each in requests for name in each.recipe.selection.only]
    try:
        write_stock_folder(folder, seed=STOCKS_SEED, days=days, tickers=tickers, start=STOCKS_BEGIN_ON)
    except OSError as error:
        raise UsageError(f"{folder} cannot be written: {error}; call it where it can") from None
    return check_venue_spec(f"stocks:{folder}")
