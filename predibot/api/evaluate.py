"""The runs of a ledger, and how good its bots are."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from predibot.domain.clock import short_instant
from predibot.jobs.caller import Caller
from predibot.jobs.evaluate import evaluate as evaluate_part
from predibot.jobs.open_venue import PartLocation, locate_each, look_back_at
from predibot.jobs.worst_decisions import WorstDecision, worst_decisions
from predibot.ledger.read.rows_for_python import LedgerRun, select_runs
from predibot.ledger.store import Store
from predibot.plugins.venues import venue_or_defaults
from predibot.scoring.evaluation.evaluation import Evaluation, Question
from predibot.scoring.records.part import Part


@dataclass(frozen=True, slots=True)
class EvaluationReport:
    """The evaluation of a part of a ledger at one venue."""

    evaluation: Evaluation
    worst: tuple[WorstDecision, ...] | None
    """The most expensive decisions; None where no list was requested."""
    venue: str
    """That of its instruments."""
    ledger: str
    runs: tuple[LedgerRun, ...] | None = None
    """None where they were not read."""

    def label(self, among: "Sequence[EvaluationReport]") -> str:
        """Return its venue, and its ledger's file or database where another report is of the same venue."""
        alone = sum(each.venue == self.venue for each in among) == 1
        return self.venue if alone else f"{self.venue} of {self.ledger.rsplit('/', 1)[-1]}"


@contextmanager
def evaluate(
    part: Part,
    question: Question,
    caller: Caller,
    *,
    ledger: str,
    others: Sequence[str] = (),
    track: bool,
    worst: int | None = None,
) -> Iterator[tuple[EvaluationReport, ...]]:
    """Track if wanted, and yield the evaluation of a part: one for each venue, those of other ledgers last. While the
    caller shows it, a malformed row of the ledger is reported as that row's fault.
    """
    found: list[EvaluationReport] = []
    opened = Store.open(ledger, create=False) if track else Store.open_to_read(ledger)
    with opened as store, caller.following(store) as listener:
        for there in locate_each(store, part, caller.clock):
            if there.part.recipe is not None and not found:
                caller.say(f"recipe: {there.part.recipe}")
            remarks: list[str] = []
            if part.as_of is None and venue_or_defaults(there.specs[-1]).invented:
                at = short_instant(there.as_of)
                caller.say(
                    f"the simulated world is looked at when its markets have settled, {at}; --as-of looks earlier"
                )
            if track:
                # Imported here: without tracking none of it is needed.
                from predibot.api.track import track_if_reachable

                own_runs = part.venue is None
                for spec in there.specs:
                    remarks += track_if_reachable(store, spec, there.as_of, caller, listener, own_runs=own_runs)
            # After tracking, so that the quotes from just now count too.
            now = look_back_at(there.specs[-1], part.as_of, caller.clock)
            scored = _evaluate_with_worst(store, replace(there, as_of=now), question, worst)
            found.append(replace(scored, evaluation=replace(scored.evaluation, remarks=tuple(remarks))))
    found += _of_others(part, question, caller, others, worst)
    with store.blame_rows():
        yield tuple(found)


@contextmanager
def report(
    part: Part, question: Question, caller: Caller, *, ledger: str, others: Sequence[str] = (), worst: int | None = None
) -> Iterator[tuple[EvaluationReport, ...]]:
    """Yield the stored runs and the evaluation of a part, as `evaluate` does, without asking a venue."""
    with caller.reading(ledger) as store:
        found = _evaluate_parts(store, part, question, caller, worst)
        found += _of_others(part, question, caller, others, worst)
        yield tuple(found)


def _of_others(
    part: Part, question: Question, caller: Caller, ledgers: Sequence[str], worst: int | None
) -> list[EvaluationReport]:
    """Return the reports on other ledgers; bots and recipe are of the first one alone."""
    found = []
    for ledger in ledgers:
        with caller.reading(ledger) as store:
            found += _evaluate_parts(store, replace(part, recipe=None, bots=()), question, caller, worst)
    return found


def _evaluate_parts(
    store: Store, part: Part, question: Question, caller: Caller, worst: int | None
) -> list[EvaluationReport]:
    rows = store.run_read(select_runs)
    return [
        replace(
            _evaluate_with_worst(store, there, question, worst),
            runs=tuple(row for row in rows if there.part.recipe in (None, row.recipe)),
        )
        for there in locate_each(store, part, caller.clock)
    ]


def _evaluate_with_worst(store: Store, there: PartLocation, question: Question, worst: int | None) -> EvaluationReport:
    """Return an evaluation with its most expensive decisions. Baselines have no reasons, so their decisions are listed
    only if the part names them or has no other bots.
    """
    name, at, part = there.venue_name, there.as_of, there.part
    found = evaluate_part(store=store, venue_name=name, as_of=at, part=part, question=question)
    report = EvaluationReport(found, None, name, store.address)
    if worst is None:
        return report
    cards = [card for each in found.rankings.values() for card in each.cards]
    others = dict.fromkeys(card.bot for card in cards if not card.baseline)
    named = replace(part, bots=part.bots or tuple(others))
    return replace(report, worst=worst_decisions(store, name, at, worst, named))
