"""Evaluating: what the ledger holds, as of an instant, as scores that say on how much they rest."""

import logging
from collections.abc import Sequence
from datetime import datetime
from functools import partial

from predibot.errors import LedgerUnusable, UsageError
from predibot.jobs.venues import check_spec
from predibot.ledger.packs import RUNS_AT_ONCE, pack_runs, runs_to_pack
from predibot.ledger.queries import track_record
from predibot.ledger.runs import list_runs
from predibot.ledger.store import Store
from predibot.scoring.evaluation import Evaluation, Question, evaluation_of

_log = logging.getLogger(__name__)


def evaluate(
    *,
    store: Store,
    venue_name: str,
    as_of: datetime,
    recipe: str | None = None,
    bots: Sequence[str] = (),
    question: Question | None = None,
) -> Evaluation:
    """Return how good the bots were, from what is stored; nothing is fetched."""
    pack(store, venue_name)
    with store.read() as connection:
        record = track_record(connection, venue_name, as_of, recipe=recipe, bot_names=bots)
    return evaluation_of(record, as_of, question or Question())


def pack(store: Store, venue_name: str) -> None:
    """Pack the runs that were decided on since, for who reads them next; where that cannot be, rows are read."""
    rows = store.run_read(lambda connection: runs_to_pack(connection, venue_name))
    try:
        for start in range(0, len(rows), RUNS_AT_ONCE):
            store.run_write(partial(pack_runs, run_ids=rows[start : start + RUNS_AT_ONCE]))
    except LedgerUnusable as error:
        _log.info("%s; nothing was packed, which takes longer and changes no number", error)


def specs_of_ledger(store: Store, spec: str | None) -> tuple[str, ...]:
    """Return every venue to ask: the one asked for, else each that runs of the ledger were made on.

    Raises:
        UsageError: As `spec_of_ledger`.
    """
    last = spec_of_ledger(store, spec)
    if spec is not None:
        return (last,)
    with store.read() as connection:
        made_on = [each.run.venue for each in list_runs(connection) if each.run.voided_at is None]
    return tuple(dict.fromkeys(made_on))


def spec_of_ledger(store: Store, spec: str | None) -> str:
    """Return the venue to look back on: the one asked for, else the one the ledger's runs were made on.

    Raises:
        UsageError: If there is no such venue, or the ledger has no run, or runs of several worlds and none was
            asked for.
    """
    if spec is not None:
        check_spec(spec)
        return spec
    with store.read() as connection:
        live = [summary.run for summary in list_runs(connection) if summary.run.voided_at is None]
    names = {run.venue_name for run in live}
    if not live:
        raise UsageError(f"the ledger {store.address} has no run that counts. Run `predibot decide` first")
    if len(names) > 1:
        raise UsageError(
            f"the ledger {store.address} has runs of {' and '.join(sorted(names))}, which must not be mixed. "
            "Say which with --venue"
        )
    return live[-1].venue
