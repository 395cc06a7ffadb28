"""Tracking and evaluating: a ledger gets prices and resolutions, says its runs, and how good its bots are."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from predibot.contracts import ProgressListener
from predibot.domain.clock import short_instant
from predibot.errors import PluginError, VenueMissing, VenueUnavailable
from predibot.jobs.caller import Caller
from predibot.jobs.deciding.accounts.turn import track_accounts
from predibot.jobs.evaluate import evaluate as evaluate_part
from predibot.jobs.open_venue import PartLocation, locate_each, look_back_at, open_venue
from predibot.jobs.published_roots import publish_voids
from predibot.jobs.receipts import receipt_of_ledger
from predibot.jobs.track import TrackReport
from predibot.jobs.track import track as track_markets
from predibot.jobs.worst_decisions import WorstDecision, worst_decisions
from predibot.ledger.read.rows_for_python import LedgerRun, select_runs
from predibot.ledger.store import Store
from predibot.ledger.write.ledger_receipts import add_ledger_receipt, list_runs_with_receipts
from predibot.ledger.write.paces import SharedPaces
from predibot.ledger.write.runs import find_run
from predibot.ledger.write.runs import void_run as take_out
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
                from predibot.api.evaluate import track_if_reachable

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
        found = _stored(store, part, question, caller, worst)
        found += _of_others(part, question, caller, others, worst)
        yield tuple(found)


def _of_others(
    part: Part, question: Question, caller: Caller, ledgers: Sequence[str], worst: int | None
) -> list[EvaluationReport]:
    """Return the reports on other ledgers; bots and recipe are of the first one alone."""
    found = []
    for ledger in ledgers:
        with caller.reading(ledger) as store:
            found += _stored(store, replace(part, recipe=None, bots=()), question, caller, worst)
    return found


def _stored(store: Store, part: Part, question: Question, caller: Caller, worst: int | None) -> list[EvaluationReport]:
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


def track(part: Part, caller: Caller, *, ledger: str) -> TrackReport:
    """Store new prices and resolutions of every market in the ledger, from a part's venues and by its instant. Raises
    `VenueUnavailable` if some could not be read, after the rest is stored.
    """
    with Store.open(ledger, create=False) as store, caller.following(store) as listener:
        report = TrackReport.sum_of(
            [
                _track_venue(store, spec, part.as_of, caller, listener, own_runs=part.venue is None)
                for there in locate_each(store, part, caller.clock)
                for spec in there.specs
            ]
        )
    if report.incomplete:
        raise VenueUnavailable(f"{'; '.join(report.notes)}. The rest is stored; run `predibot track` again")
    return report


def track_if_reachable(
    store: Store, spec: str, as_of: datetime, caller: Caller, listener: ProgressListener, *, own_runs: bool
) -> tuple[str, ...]:
    """Track and return the notes; an unreachable venue is only a note, as stored decisions can still be scored."""
    try:
        return _track_venue(store, spec, as_of, caller, listener, own_runs=own_runs).notes
    except (PluginError, VenueMissing, VenueUnavailable) as error:
        return (f"the venue could not be reached, so this is what was stored before: {error}",)


def _track_venue(
    store: Store, spec: str, as_of: datetime | None, caller: Caller, listener: ProgressListener, *, own_runs: bool
) -> TrackReport:
    settings, paces = caller.settings(), SharedPaces(store=store)
    with open_venue(spec, settings, as_of=as_of, purpose="look_back", clock=caller.clock, paces=paces) as opened:
        report = track_markets(store=store, opened=opened, settings=settings, listener=listener, own_runs=own_runs)
        failures = track_accounts(store=store, opened=opened, clock=caller.clock)
        receipt_of_ledger(store, caller.clock())
        return replace(report, notes=(*report.notes, *failures), incomplete=report.incomplete or bool(failures))


def list_runs(caller: Caller, *, ledger: str) -> tuple[LedgerRun, ...]:
    """Return every run of a ledger, void ones too, oldest slot first."""
    with caller.reading(ledger) as store:
        return store.run_read(select_runs)


def void_run(key: str, caller: Caller, *, ledger: str, reason: str, file: Path | None = None) -> int:
    """Take a run out of all scores, or only publish it if it is void already; it stays on record. `file`, of published
    roots, gets a line for it. Returns how many lines were appended.
    """
    with caller.writing(ledger) as store:
        with store.write() as connection:
            is_void = find_run(connection, key) is None and any(
                run.void for run in list_runs_with_receipts(connection, key)
            )
            if file is None or not is_void:
                take_out(connection, key, reason=reason, at=caller.clock())
                add_ledger_receipt(connection, now=caller.clock())
        return 0 if file is None else publish_voids(store, file, key)
