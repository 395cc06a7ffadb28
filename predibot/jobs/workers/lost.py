"""What processes leave behind that are gone: what they had set aside is booked, and what they were at is settled."""

import logging
from concurrent.futures import Future
from dataclasses import replace
from functools import partial

from predibot.errors import LedgerError, PredibotError
from predibot.jobs.deciding.decide_one import WorkResult, give_up
from predibot.jobs.deciding.worker import DecideJob, Worker
from predibot.ledger.write.claims import has_ended_since
from predibot.ledger.write.spending import book_reservations

_log = logging.getLogger(__name__)


def book_lost(worker: Worker, holder: str, what: str) -> bool:
    """Book what a process had under way, at its worst case: nobody is there to hear how its calls end.

    Args:
        worker: Whose ledger it is.
        holder: Under which name it set amounts aside.
        what: What the process is called in the log.

    Returns:
        Whether it is booked; what is not stays set aside, and is booked at the end of the call.
    """
    try:
        usd = worker.store.run_write(partial(book_reservations, owner=holder), durable=True)
    except LedgerError as error:
        _log.warning("could not book what a %s that ended had under way: %s", what, error)
        return False
    if usd:
        _log.warning("a %s ended while calls were under way: $%.6f booked for them, their worst case", what, usd)
    return True


def give_up_lost(job: DecideJob, worker: Worker, owner: str, message: str, seconds: float) -> bool:
    """Record a decision as failed that a process claimed which is gone, as `give_up` does."""
    return give_up(job, replace(worker, claimant=replace(worker.claimant, owner=owner)), message, seconds)


def settle(future: "Future[WorkResult]", result: WorkResult, worker: Worker, *, was_lost: bool) -> None:
    """Tell a future how its job ended.

    Args:
        future: Who waits for it.
        result: How it ended.
        worker: Whose ledger it is.
        was_lost: Whether a process that did it may be gone, having stored the decision that another then found: it is
            made by this call then, if it came during it.
    """
    try:
        if result.error is not None:
            raise result.error
        if was_lost and not result.made_here and result.status not in ("claimed", "missed"):
            job, since = result.job, worker.claimant.began_at
            about = (worker.run.id, job.bot_id, job.subject, since)
            is_ours = worker.store.run_read(lambda connection: has_ended_since(connection, *about))
            result = replace(result, made_here=is_ours)
    except PredibotError as error:
        future.set_exception(error)
    else:
        future.set_result(result)
