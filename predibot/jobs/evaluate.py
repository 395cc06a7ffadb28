"""Evaluating: what the ledger holds, as of an instant, as scores that say on how much they rest."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from predibot.errors import UsageError
from predibot.jobs.venues import check_spec
from predibot.ledger.queries import track_record
from predibot.ledger.runs import imported_decisions, list_runs
from predibot.ledger.store import Store
from predibot.scoring.evaluation import Evaluation, Question, evaluation_of


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
    with store.read() as connection:
        record = track_record(connection, venue_name, as_of, recipe=recipe, bot_names=bots)
        imported = imported_decisions(connection, venue_name, as_of)
    found = evaluation_of(record, as_of, question or Question())
    return found if not imported else replace(found, notes=(*found.notes, _on_imported(imported)))


def _on_imported(n: int) -> str:
    decisions = "1 decision of the ledger was" if n == 1 else f"{n:,} decisions of the ledger were"
    return f"{decisions} imported: when they were made, and at which prices, is what their files say"


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
