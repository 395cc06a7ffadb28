"""A ledger's history: its bots slot by slot, and the prices that jumped."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from predibot.jobs.evaluate import evaluate
from predibot.jobs.histories.bot import (
    AccountHistory,
    CohortsHistory,
    Running,
    account_histories,
    cohort_histories,
    running_sums_of,
)
from predibot.jobs.histories.event import MarketHistory, jumping_markets
from predibot.jobs.open_venue import Clock
from predibot.jobs.part_location import locate
from predibot.ledger.read.accounts.scoring import account_records
from predibot.ledger.read.details.decisions import list_markets
from predibot.ledger.read.scoring_arrays import track_record
from predibot.ledger.store import Store
from predibot.scoring.evaluation.evaluation import Evaluation, Question
from predibot.scoring.records.knowledge import Knowledge
from predibot.scoring.records.part import EVERYTHING, Part

_WANTED = ("evidence", "intervals")
_MARKETS = 6


@dataclass(frozen=True, slots=True)
class LedgerHistory:
    """The bots of a ledger over time."""

    as_of: datetime
    evaluation: Evaluation
    running: Mapping[Knowledge, Running]
    """The running sums of each ranking."""
    accounts: tuple[AccountHistory, ...]
    """Board by board, best first, as are the cohorts."""
    cohorts: tuple[CohortsHistory, ...]
    markets: tuple[MarketHistory, ...]
    """The markets with decisions that have the largest jumps in price."""


def ledger_history(
    store: Store,
    part: Part = EVERYTHING,
    *,
    archived: bool = False,
    clock: Clock,
) -> LedgerHistory:
    """Return the bots of a ledger over time, as of an instant; no venue is asked."""
    question = Question(wanted=_WANTED, archived=archived)
    there = locate(store, part, clock)
    part, venue, at = there.part, there.venue_name, there.as_of
    evaluation = evaluate(store=store, venue_name=venue, as_of=at, part=part, question=question)
    with store.read() as connection, store.blame_rows():
        record = track_record(connection, venue, at, part)
        kept = account_records(connection, venue, at, part)
        listed = list_markets(connection, venue)
    return LedgerHistory(
        as_of=at,
        evaluation=evaluation,
        running={knowledge: running_sums_of(record, knowledge) for knowledge in evaluation.rankings},
        accounts=tuple(account_histories(evaluation, kept, question.uncertainty)),
        cohorts=tuple(cohort_histories(evaluation)),
        markets=jumping_markets(record, listed, _MARKETS),
    )
