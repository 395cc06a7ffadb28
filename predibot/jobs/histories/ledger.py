"""A ledger's history: its bots slot by slot, and the prices that jumped."""

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np
from sqlalchemy import Connection

from predibot.jobs.histories.bot import AccountHistory, CohortsHistory, account_histories, cohort_histories
from predibot.jobs.histories.event import MarketHistory, jumping_markets
from predibot.jobs.histories.snapshot import PartSnapshot, Running, rankings_of, take_snapshot
from predibot.jobs.open_venue import Clock, locate
from predibot.ledger.read.details.decisions import market_of
from predibot.ledger.read.details.events import list_shown
from predibot.ledger.read.scoring_arrays import track_record
from predibot.ledger.store import Store
from predibot.scoring.accounts.market_weights import MarketWeights, market_weights
from predibot.scoring.accounts.record import AccountsRecord
from predibot.scoring.evaluation.evaluation import Evaluation
from predibot.scoring.evaluation.horizon_series import EDGE, RunningPoint, running_sums
from predibot.scoring.records.knowledge import Knowledge
from predibot.scoring.records.part import EVERYTHING, Part
from predibot.scoring.records.track_record import DAY_SECONDS

_WANTED = ("evidence", "intervals", "effort")
_MARKETS = 6
_WEIGHTS = 3
"""Markets of each board whose weights are shown over time."""
_NEWS = 8


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
    weights: tuple["WeightsHistory", ...]
    """The markets that moved most in accounts, board by board."""


@dataclass(frozen=True, slots=True)
class WeightsHistory:
    """The weights of one market in the accounts of a board, by bot, and the news that bots were shown of it."""

    question: str
    """Untrusted text, as the titles of the news."""
    bots: Mapping[str, bool]
    """Whether each is a baseline, best first."""
    at: tuple[float, ...]
    """The slots, in seconds since 1970."""
    weights: MarketWeights
    news: tuple[tuple[float, str], ...]
    """Publication and title, by time: of each of the slots that moved most, the last news before it."""


@dataclass(frozen=True, slots=True)
class EdgeHistory:
    """How the edge of each bot stood slot by slot, and what it rests on."""

    running: Mapping[Knowledge, Mapping[str, tuple[RunningPoint, ...]]]
    """The running sums of each ranking, by bot."""
    events: int
    """Number of events that somebody decided on."""
    settled: int
    """Number of those that paid, at least one market of each."""
    first_at: datetime | None
    """The first slot and the last; None without any."""
    last_at: datetime | None
    days: int
    """Number of days on which somebody decided."""


def edge_history(
    store: Store, part: Part = EVERYTHING, *, clock: Clock, whole: PartSnapshot | None = None
) -> EdgeHistory:
    """Return how the edges of a part of a ledger stood slot by slot, as of now; no venue is asked.

    Args:
        whole: That of the part; None reads and computes only what is needed.
    """
    if whole is None:
        there = locate(store, part, clock)
        with store.read() as connection, store.blame_rows():
            record = track_record(connection, there.venue_name, there.as_of, there.part)
    else:
        record = whole.record
    paid = ~np.isnan(record.payouts())
    slots = record.slots()
    first_at, last_at = (
        (datetime.fromtimestamp(at, UTC) for at in (slots.min(), slots.max())) if slots.size else (None, None)
    )
    if whole is None:
        ranked = rankings_of(record).items()
        running = {name: running_sums(each, wanted=(EDGE,))[EDGE] for name, each in ranked}
    else:
        running = {name: each[EDGE] for name, (_, each) in whole.sums.items()}
    return EdgeHistory(
        running,
        np.unique(record.decision_event).size,
        np.unique(record.decision_event[record.bet_decision[paid[record.bet_market]]]).size,
        first_at,
        last_at,
        np.unique(slots // DAY_SECONDS).size,
    )


def ledger_history(
    store: Store, part: Part = EVERYTHING, *, archived: bool = False, clock: Clock, whole: PartSnapshot | None = None
) -> LedgerHistory:
    """Return the bots of a ledger over time, as of an instant; no venue is asked.

    Args:
        whole: That of the part; None takes one.
    """
    whole = whole or take_snapshot(store, _WANTED, part, clock=clock, archived=archived)
    venue, at, evaluation, sums = whole.location.venue_name, whole.location.as_of, whole.evaluation, whole.sums
    with store.read() as connection, store.blame_rows():
        weights = tuple(_weights_histories(connection, venue, at, evaluation, whole.accounts))
    return LedgerHistory(
        as_of=at,
        evaluation=evaluation,
        running={knowledge: sums[knowledge][1] if knowledge in sums else {} for knowledge in evaluation.rankings},
        accounts=tuple(account_histories(evaluation, whole.accounts)),
        cohorts=tuple(cohort_histories(evaluation)),
        markets=jumping_markets(whole.record, whole.markets, _MARKETS),
        weights=weights,
    )


def _weights_histories(
    connection: Connection, venue: str, as_of: datetime, evaluation: Evaluation, kept: Sequence[AccountsRecord]
) -> Iterator[WeightsHistory]:
    boards = {(each.recipe, each.game, each.mode, each.subject): each for each in evaluation.accounts}
    for record in kept:
        board = boards.get((record.recipe, record.game, record.mode, record.subject))
        if board is None:
            continue
        at = tuple(each.timestamp() for each in record.at)
        for found in market_weights(record, _WEIGHTS):
            market = market_of(connection, venue, found.instruments[0])
            news = [
                (each.published_at, each.name)
                for each in list_shown(connection, market.market_id)
                if each.recipe == record.recipe and each.published_at is not None and each.slot_at <= as_of
            ]
            yield WeightsHistory(
                market.question or market.market_id,
                {score.bot: score.baseline for score in board.scores},
                at,
                found,
                _telling_news(at, found, news),
            )


def _telling_news(
    at: Sequence[float], found: MarketWeights, shown: Sequence[tuple[datetime, str]]
) -> tuple[tuple[float, str], ...]:
    """Return the last news before each of the slots at which bots moved most."""
    moved = dict(zip(at, found.moved.tolist(), strict=True))
    last = dict[float, tuple[float, str]]()
    for published_at, title in sorted(shown):
        following = bisect_left(at, published_at.timestamp())
        if following < len(at):
            last[at[following]] = (published_at.timestamp(), title)
    return tuple(sorted(last[slot] for slot in sorted(last, key=lambda slot: -moved[slot])[:_NEWS]))
