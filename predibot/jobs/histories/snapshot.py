"""A snapshot: a part of a ledger that is read once and evaluated once, for all histories and pages of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from sqlalchemy import Row

from predibot.jobs.evaluate import evaluate
from predibot.jobs.open_venue import Clock, PartLocation, locate
from predibot.ledger.read.accounts.scoring import account_records
from predibot.ledger.read.details.decisions import list_markets
from predibot.ledger.read.scoring_arrays import track_record
from predibot.ledger.store import Store
from predibot.related.coherence.coherence import Coherence, Groups, coherence_of
from predibot.scoring.accounts.record import AccountsRecord
from predibot.scoring.evaluation.evaluation import Evaluation, Question
from predibot.scoring.evaluation.horizon_series import RunningPoint, running_sums
from predibot.scoring.records.knowledge import Knowledge
from predibot.scoring.records.part import EVERYTHING, Part
from predibot.scoring.records.track_record import TrackRecord

Running = Mapping[str, Mapping[str, tuple[RunningPoint, ...]]]


@dataclass(frozen=True, eq=False)
class PartSnapshot:
    """A part of a ledger as of an instant, with its evaluation."""

    location: PartLocation
    record: TrackRecord
    evaluation: Evaluation
    accounts: tuple[AccountsRecord, ...]
    markets: Sequence[Row[Any]]
    """The venue's markets, in the order of the record."""
    _groups: dict[bytes, Groups] = field(default_factory=dict)
    """By the questions asked."""

    @cached_property
    def sums(self) -> Mapping[Knowledge, tuple[tuple[float, ...], Running]]:
        """Return all scored slots of each ranking, and the running sums of its bots at some of them; one without
        decisions is absent.
        """
        return {name: (scored_slots(each), running_sums(each)) for name, each in rankings_of(self.record).items()}

    def has(self, *bots: str) -> bool:
        """Return whether these bots are scored here; a replicate is not, if it was joined with others."""
        return {*bots} <= {*self.record.bots}

    def record_of(self, *bots: str) -> TrackRecord:
        """Return the record of some of its bots."""
        rows = [row for row, name in enumerate(self.record.bots) if name in bots]
        return self.record.with_bots_of(np.isin(self.record.decision_bot, rows))

    def coherence(self, record: TrackRecord, bot: str) -> Coherence:
        """Return how coherent a bot is by its own record."""
        questions = [each.question for each in self.markets]
        return coherence_of(record, questions, bot, self.evaluation.question.uncertainty, self._groups)


def take_snapshot(
    store: Store, wanted: tuple[str, ...], part: Part = EVERYTHING, *, clock: Clock, archived: bool = False
) -> PartSnapshot:
    """Return a part of a ledger as of now; no venue is asked.

    Args:
        wanted: The parts of the evaluation, some of `WANTED`.
        archived: As of a `Question`.
    """
    there = locate(store, part, clock)
    part, venue, at = there.part, there.venue_name, there.as_of
    question = Question(wanted=wanted, archived=archived)
    # First, as it names rows that contradict each other, and keeps what it found for the state in which it read them.
    evaluation = evaluate(store=store, venue_name=venue, as_of=at, part=part, question=question)
    with store.read() as connection, store.blame_rows():
        record = track_record(connection, venue, at, part)
        kept = account_records(connection, venue, at, part)
        markets = list_markets(connection, venue)
    return PartSnapshot(there, record, evaluation, kept, markets)


def record_of_bots(
    store: Store, bots: tuple[str, ...], part: Part, *, clock: Clock, whole: PartSnapshot | None
) -> tuple[TrackRecord, Sequence[Row[Any]]]:
    """Return the record of some bots and their venue's markets, from a snapshot of the part where that has them."""
    if whole is not None and whole.has(*bots):
        return whole.record_of(*bots), whole.markets
    there = locate(store, replace(part, bots=bots), clock)
    with store.read() as connection, store.blame_rows():
        record = track_record(connection, there.venue_name, there.as_of, there.part)
        return record, list_markets(connection, there.venue_name)


def rankings_of(record: TrackRecord) -> Mapping[Knowledge, TrackRecord]:
    """Return the parts of a record that are ranked by themselves; one without decisions is absent."""
    parts: Mapping[Knowledge, TrackRecord | None] = {"clean": record.without_apart(), "unknown": record.apart()}
    return {knowledge: part for knowledge, part in parts.items() if part is not None}


def scored_slots(record: TrackRecord) -> tuple[float, ...]:
    """Return the slots with scored decisions, in seconds since 1970."""
    return tuple(np.unique(record.slots()[record.scored_mask()]).tolist())
