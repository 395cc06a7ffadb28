"""The runs of a ledger, and how good its bots are."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from predibot.jobs.caller import Caller
from predibot.jobs.evaluate import evaluate as evaluate_part
from predibot.jobs.open_venue import look_back_at
from predibot.jobs.part_location import PartLocation, locate
from predibot.jobs.worst_decisions import WorstDecision, worst_decisions
from predibot.ledger.read.rows_for_python import LedgerRun, select_runs
from predibot.ledger.store import Store
from predibot.scoring.evaluation.evaluation import Evaluation, Question
from predibot.scoring.records.part import Part


@dataclass(frozen=True, slots=True)
class EvaluationReport:
    """The evaluation of a part of a ledger."""

    evaluation: Evaluation
    worst: tuple[WorstDecision, ...] | None
    """The most expensive decisions; None where no list was requested."""
    runs: tuple[LedgerRun, ...] = ()


@contextmanager
def evaluate(
    part: Part, question: Question, caller: Caller, *, ledger: str, track: bool, worst: int | None = None
) -> Iterator[EvaluationReport]:
    """Track if wanted, and yield the evaluation of a part.

    While the caller shows it, a malformed row of the ledger is reported as that row's fault.
    """
    opened = Store.open(ledger, create=False) if track else Store.open_to_read(ledger)
    with opened as store, caller.following(store) as listener:
        there = locate(store, part, caller.clock)
        if there.part.recipe is not None:
            caller.say(f"recipe: {there.part.recipe}")
        remarks: list[str] = []
        if track:
            # Imported here: without tracking none of it is needed.
            from predibot.api.track import track_if_reachable

            own_runs = part.venue is None
            for each in there.specs:
                remarks += track_if_reachable(store, each, there.as_of, caller, listener, own_runs=own_runs)
            # So that the quotes from just now count too.
            there = replace(there, as_of=look_back_at(there.specs[-1], part.as_of, caller.clock))
        found = _evaluate_with_worst(store, there, question, worst)
    with store.blame_rows():
        yield replace(found, evaluation=replace(found.evaluation, remarks=tuple(remarks)))


@contextmanager
def report(
    part: Part, question: Question, caller: Caller, *, ledger: str, worst: int | None = None
) -> Iterator[EvaluationReport]:
    """Yield the stored runs and the evaluation of a part, without asking a venue."""
    with caller.reading(ledger) as store:
        there = locate(store, part, caller.clock)
        runs = tuple(each for each in store.run_read(select_runs) if there.part.recipe in (None, each.recipe))
        yield replace(_evaluate_with_worst(store, there, question, worst), runs=runs)


def _evaluate_with_worst(store: Store, there: PartLocation, question: Question, worst: int | None) -> EvaluationReport:
    """Return an evaluation with its most expensive decisions.

    Baselines have no reasons, so their decisions are listed only if the part names them or has no other bots.
    """
    name, at, part = there.venue_name, there.as_of, there.part
    found = evaluate_part(store=store, venue_name=name, as_of=at, part=part, question=question)
    if worst is None:
        return EvaluationReport(found, None)
    cards = [card for each in found.rankings.values() for card in each.cards]
    others = dict.fromkeys(card.bot for card in cards if not card.baseline)
    return EvaluationReport(
        found, worst_decisions(store, name, at, worst, replace(part, bots=part.bots or tuple(others)))
    )
