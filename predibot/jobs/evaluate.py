"""Evaluating: what the ledger holds, as of an instant, as scores that say on how much they rest."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from predibot.errors import UsageError
from predibot.jobs.recipes import asked_about
from predibot.jobs.venues import Clock, check_spec, look_back_at, venue_name
from predibot.ledger.queries import track_record
from predibot.ledger.runs import RunSummary, list_runs
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
    return evaluation_of(record, as_of, question or Question())


@dataclass(frozen=True, slots=True)
class Stored:
    """What a ledger holds of some runs, and how good the bots of them were."""

    recipe: str | None
    """The name of the only recipe that was asked about; None for all."""
    venue_name: str
    runs: tuple[RunSummary, ...]
    evaluation: Evaluation


def evaluate_stored(
    store: Store,
    *,
    venue: str | None = None,
    recipe: str | None = None,
    bots: Sequence[str] = (),
    as_of: datetime | None = None,
    question: Question | None = None,
    clock: Clock,
) -> Stored:
    """Return the runs somebody asks about and how good the bots were, without asking any venue.

    Args:
        store: The ledger.
        venue: Where its runs were made; left out, where the ledger says.
        recipe: Only its runs; left out, all.
        bots: Only these; empty for all.
        as_of: Nothing later is seen; left out, the end of a sandbox, else now.
        question: What is asked of the evaluation.
        clock: The instant it is.

    Raises:
        UsageError: As `spec_of_ledger`; or if there is no such recipe or bot in the ledger.
    """
    spec = spec_of_ledger(store, venue)
    with store.read() as connection:
        runs = list_runs(connection)
    name = asked_about(recipe, bots, runs)
    at, world = look_back_at(spec, as_of, clock), venue_name(spec)
    found = evaluate(store=store, venue_name=world, as_of=at, recipe=name, bots=bots, question=question)
    return Stored(name, world, tuple(each for each in runs if name in (None, each.run.recipe)), found)


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
