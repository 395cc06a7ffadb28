"""What a ledger holds and how good its bots are."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from predibot.jobs.caller import Caller
from predibot.jobs.evaluate import evaluate as evaluate_part
from predibot.jobs.located import Located, located
from predibot.jobs.open_venue import look_back_at
from predibot.jobs.worst import WorstDecision, worst_decisions
from predibot.ledger.read.rows_for_python import LedgerRun, told_runs
from predibot.ledger.store import Store
from predibot.scoring.evaluation.evaluation import Evaluation, Question
from predibot.scoring.records.part import Part


@dataclass(frozen=True, slots=True)
class Evaluated:
    """How good the bots of a ledger are."""

    evaluation: Evaluation
    worst: tuple[WorstDecision, ...] | None
    """The decisions that cost most; None where nobody asked."""
    runs: tuple[LedgerRun, ...] = ()


@contextmanager
def evaluate(
    part: Part, question: Question, caller: Caller, *, ledger: str, track: bool, worst: int | None = None
) -> Iterator[Evaluated]:
    """Track, unless that is not wanted, and yield how good the bots are by what is known then.

    What fails over a row that predibot did not write, also where it is shown, is that row's fault.

    Args:
        part: Of which decisions.
        question: What is asked.
        track: Whether the venues are asked.
        worst: How many decisions are listed that cost most; None for no list.

    Raises:
        PredibotError: As `located` and `evaluate` of the jobs; or if the ledger cannot be opened.
    """
    opened = Store.open(ledger, create=False) if track else Store.open_to_read(ledger)
    with opened as store, caller.following(store) as listener:
        there = located(store, part, caller.clock)
        if there.part.recipe is not None:
            caller.say(f"recipe: {there.part.recipe}")
        remarks: list[str] = []
        if track:
            # Who asks no venue needs nothing of all that tracking knows.
            from predibot.api.track import tracked_if_reached

            own_runs = part.venue is None
            for each in there.specs:
                remarks += tracked_if_reached(store, each, there.as_of, caller, listener, own_runs=own_runs)
            # Quotes that were taken just now count too.
            there = replace(there, as_of=look_back_at(there.specs[-1], part.as_of, caller.clock))
        found = _evaluated(store, there, question, worst)
    with store.rows_blamed():
        yield replace(found, evaluation=replace(found.evaluation, remarks=tuple(remarks)))


@contextmanager
def report(
    part: Part, question: Question, caller: Caller, *, ledger: str, worst: int | None = None
) -> Iterator[Evaluated]:
    """Yield the runs that are stored and how good the bots are by what is stored, asking no venue."""
    with caller.reading(ledger) as store:
        there = located(store, part, caller.clock)
        runs = tuple(each for each in store.run_read(told_runs) if there.part.recipe in (None, each.recipe))
        yield replace(_evaluated(store, there, question, worst), runs=runs)


def _evaluated(store: Store, there: Located, question: Question, worst: int | None) -> Evaluated:
    """Return an evaluation with the decisions that cost most.

    Those of baselines are among them only where they are named, or there are no others: they have no reasons.
    """
    name, at, part = there.venue_name, there.as_of, there.part
    found = evaluate_part(store=store, venue_name=name, as_of=at, part=part, question=question)
    if worst is None:
        return Evaluated(found, None)
    cards = [card for each in found.rankings.values() for card in each.cards]
    others = dict.fromkeys(card.bot for card in cards if not card.baseline)
    return Evaluated(found, worst_decisions(store, name, at, worst, replace(part, bots=part.bots or tuple(others))))
