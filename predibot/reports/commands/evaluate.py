"""What a ledger holds and how good its bots are, in one call."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TypeVar

from predibot.jobs.commands.caller import Caller
from predibot.jobs.evaluate import asked_venues, evaluate, evaluate_stored
from predibot.jobs.open_venue import look_back_at
from predibot.jobs.requested_recipe import asked_about
from predibot.jobs.worst import WorstDecision, worst_decisions
from predibot.ledger.store import Store
from predibot.ledger.write.runs import list_runs
from predibot.reports.views.decide import RunRow
from predibot.reports.views.from_jobs import run_row
from predibot.scoring.evaluation.evaluation import Evaluation, Question
from predibot.scoring.records.narrowing import EVERYTHING, Narrowing

Shown = TypeVar("Shown")


@dataclass(frozen=True, slots=True)
class Evaluated:
    """How good the bots of a ledger are."""

    evaluation: Evaluation
    worst: tuple[WorstDecision, ...] | None
    """The decisions that cost most; None where nobody asked."""
    runs: tuple[RunRow, ...] = ()


@dataclass(frozen=True, slots=True)
class Asking:
    """What somebody wants to know of a ledger."""

    venue: str | None
    """Left out, that of its runs."""
    recipe: str | None
    """Only its runs; left out, all."""
    bots: Sequence[str]
    """Only these; empty for all."""
    as_of: datetime | None
    question: Question
    worst: int | None = None
    """How many decisions are listed that cost most; None for no list."""
    only: Narrowing = EVERYTHING
    """Only the decisions of this part."""


def evaluate_as_asked(
    asking: Asking, caller: Caller, *, ledger: str, track: bool, show: Callable[[Evaluated], Shown]
) -> Shown:
    """Track, unless that is not wanted, and show how good the bots are by what is known then.

    What fails over a row that predibot did not write, also where it is shown, is that row's fault.

    Raises:
        PredibotError: As `asked_venues` and `evaluate`; or if the ledger cannot be opened.
    """
    settings = caller.settings() if track else None
    opened = Store.open_to_read(ledger) if settings is None else Store.open(ledger, create=False)
    with opened as store, caller.following(store) as listener:
        there = asked_venues(store, asking.venue)
        spec, own_runs, name = there.specs[-1], asking.venue is None, None
        if asking.recipe is not None or asking.bots:
            with store.read() as connection:
                name = asked_about(asking.recipe, asking.bots, list_runs(connection))
        if name is not None:
            caller.say(f"recipe: {name}")
        at = look_back_at(spec, asking.as_of, caller.clock)
        remarks: list[str] = []
        if settings is not None:
            # Who asks no venue needs nothing of all that tracking knows.
            from predibot.jobs.commands.track import tracked_if_reached

            for each in there.specs:
                remarks += tracked_if_reached(store, each, at, settings, caller, listener, own_runs=own_runs)
            # Quotes that were taken just now count too.
            at = look_back_at(spec, asking.as_of, caller.clock)
        found = evaluate(
            store=store,
            venue_name=there.name,
            as_of=at,
            recipe=name,
            bots=asking.bots,
            question=asking.question,
            only=asking.only,
        )
        worst = _worst(found, store, there.name, asking, recipe=name)
    with store.rows_blamed():
        return show(Evaluated(replace(found, remarks=tuple(remarks)), worst))


def report_as_asked(asking: Asking, caller: Caller, *, ledger: str, show: Callable[[Evaluated], Shown]) -> Shown:
    """Show the runs that are stored and how good the bots are by what is stored, asking no venue.

    Raises:
        PredibotError: As `evaluate_stored`; or if the ledger cannot be opened.
    """
    with Store.open_to_read(ledger) as store:
        caller.say(f"ledger: {store.address}")
        found = evaluate_stored(
            store,
            venue=asking.venue,
            recipe=asking.recipe,
            bots=asking.bots,
            as_of=asking.as_of,
            question=asking.question,
            only=asking.only,
            clock=caller.clock,
        )
        worst = _worst(found.evaluation, store, found.venue_name, asking, recipe=found.recipe)
    with store.rows_blamed():
        return show(Evaluated(found.evaluation, worst, tuple(run_row(summary) for summary in found.runs)))


def runs_as_asked(caller: Caller, *, ledger: str, show: Callable[[tuple[RunRow, ...]], Shown]) -> Shown:
    """Show every run of a ledger, void ones too."""
    with Store.open_to_read(ledger) as store:
        caller.say(f"ledger: {store.address}")
        with store.read() as connection:
            rows = tuple(run_row(summary) for summary in list_runs(connection))
    with store.rows_blamed():
        return show(rows)


def _worst(
    evaluation: Evaluation, store: Store, venue_name: str, asking: Asking, *, recipe: str | None
) -> tuple[WorstDecision, ...] | None:
    """Return the decisions that cost most; None where nobody asked.

    Those of baselines are among them only where they are named, or there are no others: they have no reasons.
    """
    if asking.worst is None or evaluation.as_of is None:
        return None
    cards = [card for each in evaluation.rankings.values() for card in each.cards]
    others = dict.fromkeys(card.bot for card in cards if not card.baseline)
    bots = tuple(asking.bots) or tuple(others)
    return worst_decisions(
        store, venue_name, evaluation.as_of, asking.worst, recipe=recipe, bots=bots, only=asking.only
    )
