"""A bot's history: its scores over time, accounts, best and worst decisions, and refusals."""

import math
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from sqlalchemy import Row

from predibot.domain.decision import BY_SYSTEM, counted_status
from predibot.jobs.histories.event import MarketHistory, jumping_markets
from predibot.jobs.histories.snapshot import PartSnapshot, rankings_of, record_of_bots, scored_slots, take_snapshot
from predibot.jobs.open_venue import Clock
from predibot.jobs.relatedness.beliefs import cluster_ledger_events
from predibot.jobs.worst_decisions import WorstDecision, instant_of, with_reasons
from predibot.ledger.read.details.bots import evidence_of_bot, list_decision_results
from predibot.ledger.read.event_lists import OpenPosition, open_positions
from predibot.ledger.read.row_filter import RowFilter
from predibot.ledger.store import Store
from predibot.related.coherence.coherence import Coherence
from predibot.related.exposure import Exposures, exposures
from predibot.scoring.accounts.allocation import drawdowns, weights_held
from predibot.scoring.accounts.board import AccountBoard
from predibot.scoring.accounts.cohorts import CohortBoard, CohortBotScore, CohortResult
from predibot.scoring.accounts.implied import implied_risk
from predibot.scoring.accounts.record import AccountRecord, AccountsRecord
from predibot.scoring.accounts.score import AccountScore
from predibot.scoring.arguments import Floats, none_if_nan
from predibot.scoring.evaluation.evaluation import Evaluation, PartScore, evidence_scores, part_scores
from predibot.scoring.evaluation.horizon_series import RunningPoint, running_sums, running_value
from predibot.scoring.evaluation.scorecard import HORIZONS_DAYS, Scorecard
from predibot.scoring.evaluation.verdict import Verdict
from predibot.scoring.inference.power import RequiredEvents, events_needed
from predibot.scoring.inference.uncertainty import Uncertainty
from predibot.scoring.records.horizon_returns import HorizonReturns, horizon_returns
from predibot.scoring.records.knowledge import Knowledge
from predibot.scoring.records.losses import DayGain, daily_gains, largest_gains, largest_losses
from predibot.scoring.records.part import EVERYTHING, Part
from predibot.scoring.records.track_record import Forecasts, TrackRecord, settled_forecasts

_WANTED = ("evidence", "intervals", "by_category", "by_lead_time", "by_confidence")
_NORMAL_95 = 1.959963984540054
_MARKETS = 4
PARTS = ("category", "days before the settlement", "stated confidence, of 10", "searches and pages it rests on")


@dataclass(frozen=True, slots=True)
class ScoredBot:
    """A bot's scores in one ranking, which holds events with the same knowledge of models."""

    knowledge: Knowledge
    card: Scorecard
    verdict: Verdict | None
    parts: Mapping[str, tuple[PartScore, ...]]
    """Scores of parts of its forecasts, by the names of `PARTS`; an unknown part is absent."""
    running: Mapping[str, tuple[RunningPoint, ...]]
    """Running sums by the names of `RUNNING`; one without a value is absent."""


@dataclass(frozen=True, slots=True)
class AccountHistory:
    """An account of a bot and its worth over time."""

    board: AccountBoard
    score: AccountScore
    values: tuple[RunningPoint, ...]
    """In dollars, with the interval at each instant."""
    drawdowns: tuple[tuple[float, float], ...]
    """Instants in seconds since 1970, and how far below its highest value it was then, 0 to -1."""
    cash_shares: tuple[tuple[float, float], ...]
    """Likewise the share of cash in it after the fills of each slot; a slot with an unknown price is absent."""
    moves: tuple[tuple[float, float, float], ...]
    """Start and end of each slot, in seconds since 1970, and the account's relative gain; none from a value <= 0."""
    needed: RequiredEvents | None
    """How many more dates are needed to tell its return from zero; None where that is unknown."""


@dataclass(frozen=True, slots=True)
class CohortsHistory:
    """A bot's results in its weekly cohorts."""

    board: CohortBoard
    score: CohortBotScore

    @property
    def results(self) -> list[CohortResult]:
        """Return its result in each cohort, by start."""
        return sorted(self.score.results, key=lambda each: each.start)


@dataclass(frozen=True, slots=True)
class UnansweredGroup:
    """Decisions that were refused, failed or abstained for the same reason."""

    status: str
    message: str
    """Untrusted text."""
    n: int


@dataclass(frozen=True, slots=True)
class BotHistory:
    """The page of one bot."""

    bot: str
    as_of: datetime
    venue_name: str
    recipe: str | None
    """The recipe of the request; None for all."""
    models: tuple[str, ...]
    strategies: tuple[str, ...]
    first_at: datetime | None
    """The instant of its first decision; None without any."""
    last_at: datetime | None
    statuses: Mapping[str, int]
    cost_known_usd: float
    cost_unknown: int
    """Decisions with a partly unknown cost."""
    unanswered: tuple[UnansweredGroup, ...]
    """The most frequent reason first."""
    scored: tuple[ScoredBot, ...]
    accounts: tuple[AccountHistory, ...]
    cohorts: tuple[CohortsHistory, ...]
    evaluation: Evaluation
    """The scores of this bot alone, or of all bots of the snapshot."""
    best: tuple[WorstDecision, ...]
    worst: tuple[WorstDecision, ...]
    markets: tuple[MarketHistory, ...]
    """The markets it decided on with the largest jumps in price."""
    days: tuple[DayGain, ...]
    """Gains of its bets, by the date of the decisions."""
    coherence: Coherence
    """How far its forecasts break the rules of probability."""
    exposures: Exposures
    """How its stakes are spread over groups of related events."""
    titles: Mapping[str, str]
    """Titles of the events it staked on, by id; untrusted text."""
    positions: tuple[OpenPosition, ...] = ()
    """Its bets on markets that are not settled, the largest stake first."""


def bot_history(
    store: Store,
    bot: str,
    part: Part = EVERYTHING,
    *,
    archived: bool = False,
    clock: Clock,
    most: int = 5,
    related: Mapping[str, str] | None = None,
    whole: PartSnapshot | None = None,
) -> BotHistory:
    """Return what a ledger holds of a bot as of an instant; no venue is asked.

    Args:
        related: The cluster of each event; None computes it.
        whole: That of the part with its evaluation of all bots; None takes one of this bot alone.
    """
    if whole is None or not whole.has(bot):
        whole = take_snapshot(store, _WANTED, replace(part, bots=(bot,)), clock=clock, archived=archived)
    part, venue, at = replace(whole.location.part, bots=(bot,)), whole.location.venue_name, whole.location.as_of
    evaluation, record, listed = whole.evaluation, whole.record_of(bot), whole.markets
    with store.read() as connection, store.blame_rows():
        row_filter = RowFilter(
            since=part.since,
            until=part.until,
            mode=part.mode,
            recipe=part.recipe,
            bots=part.bots,
            as_of=at,
            venue_name=venue,
        )
        decisions = list_decision_results(connection, row_filter)
        gathered = evidence_of_bot(connection, bot)
        positions = tuple(open_positions(connection, row_filter))
        best = with_reasons(connection, venue, largest_gains(record, most))
        worst = with_reasons(connection, venue, largest_losses(record, most))
        if related is None:
            related = cluster_ledger_events(connection, venue, at)
    spread = exposures(record, bot, event_of_market=[each.event_id for each in listed], cluster_of=related)
    silent = Counter(
        (status, each.message or BY_SYSTEM)
        for each in decisions
        if (status := counted_status(each.status, each.reason_kind)) != "recorded"
    )
    commonest = sorted(silent.items(), key=lambda each: (-each[1], each[0]))
    staked_on = {event for group in spread.groups for event in group.events}
    return BotHistory(
        bot=bot,
        as_of=at,
        venue_name=venue,
        recipe=part.recipe,
        models=tuple(dict.fromkeys(each.model for each in decisions if each.model)),
        strategies=tuple(dict.fromkeys(each.strategy for each in decisions)),
        first_at=min((each.decided_at for each in decisions), default=None),
        last_at=max((each.decided_at for each in decisions), default=None),
        statuses=Counter(counted_status(each.status, each.reason_kind) for each in decisions),
        cost_known_usd=sum(each.cost_known_usd for each in decisions),
        cost_unknown=sum(each.cost_usd is None for each in decisions),
        unanswered=tuple(UnansweredGroup(*why, n) for why, n in commonest),
        scored=tuple(_scored_bots(whole, record, bot, gathered)),
        accounts=tuple(account_histories(evaluation, whole.accounts, (bot,))),
        cohorts=tuple(cohort_histories(evaluation, (bot,))),
        evaluation=evaluation,
        best=best,
        worst=worst,
        markets=jumping_markets(record, listed, _MARKETS),
        days=daily_gains(record, bot),
        coherence=whole.coherence(record, bot),
        exposures=spread,
        titles={each.event_id: each.title for each in listed if each.event_id in staked_on},
        positions=positions,
    )


def _sums_of_bot(
    whole: PartSnapshot, knowledge: Knowledge, record: TrackRecord, bot: str
) -> Mapping[str, tuple[RunningPoint, ...]]:
    """Return the running sums of the only bot of a record by name, from those of all bots where these are the same."""
    slots, running = whole.sums.get(knowledge, ((), {}))
    if slots != scored_slots(record) or all(bot not in of for of in running.values()):
        running = running_sums(record)
    return {name: of[bot] for name, of in running.items() if bot in of}


def _implied_until(record: AccountsRecord, account: AccountRecord, row: int) -> float:
    return implied_risk(record, replace(account, slot=account.slot[: row + 1])).deviation


def account_histories(
    evaluation: Evaluation, kept: Sequence[AccountsRecord], bots: Collection[str] = ()
) -> Iterator[AccountHistory]:
    """Yield the accounts of an evaluation, or of some bots, with their values, board by board, best first."""
    for board in evaluation.accounts:
        key = (board.recipe, board.game, board.mode, board.subject)
        record = next(each for each in kept if (each.recipe, each.game, each.mode, each.subject) == key)
        accounts = {each.bot: each for each in record.accounts}
        for score in board.scores:
            if bots and score.bot not in bots:
                continue
            own = accounts[score.bot]
            at = [record.at[number].timestamp() for number in own.slot.tolist()]
            values = running_value(
                at, own.value_usd, evaluation.question.uncertainty, implied=partial(_implied_until, record, own)
            )
            moves = tuple(
                (start, end, after / before - 1.0)
                for (start, end), (before, after) in zip(pairwise(at), pairwise(score.values), strict=True)
                if before > 0.0
            )
            cash = 1.0 - weights_held(record.prices[own.slot][:, own.held], own.shares, own.cash_usd).sum(axis=1)
            yield AccountHistory(
                board,
                score,
                values,
                points_of(at, drawdowns(own.value_usd)) if own.value_usd[0] > 0.0 else (),
                points_of(at, cash),
                moves,
                _dates_needed(score),
            )


def points_of(at: Sequence[float], values: Floats) -> tuple[tuple[float, float], ...]:
    """Return instants with their values, without those that are NaN."""
    return tuple((instant, value) for instant, value in zip(at, values.tolist(), strict=True) if not math.isnan(value))


def cohort_histories(evaluation: Evaluation, bots: Collection[str] = ()) -> Iterator[CohortsHistory]:
    """Yield the results of all bots, or of some, in their cohorts, board by board, best first."""
    for board in evaluation.cohorts:
        for score in board.scores:
            if not bots or score.bot in bots:
                yield CohortsHistory(board, score)


def _scores_by_evidence(
    forecasts: Forecasts,
    listed: Sequence[Row[Any]],
    gathered: Mapping[tuple[str, datetime], int | None],
    uncertainty: Uncertainty,
) -> tuple[PartScore, ...]:
    if not any(gathered.values()) or forecasts.market is None or forecasts.made_at is None:
        return ()
    made = zip(forecasts.market.tolist(), forecasts.made_at.tolist(), strict=True)
    known = [gathered.get((listed[market].event_id, instant_of(at))) for market, at in made]
    return evidence_scores(forecasts, np.array([np.nan if n is None else n for n in known], dtype=float), uncertainty)


def _scored_bots(
    whole: PartSnapshot, record: TrackRecord, bot: str, gathered: Mapping[tuple[str, datetime], int | None]
) -> Iterator[ScoredBot]:
    ranked = rankings_of(record)
    for knowledge, ranking in whole.evaluation.rankings.items():
        verdicts = dict(zip((each.bot for each in ranking.evidence), ranking.verdicts, strict=True))
        own = ranked.get(knowledge)
        for card in ranking.cards:
            if card.bot == bot and card.decisions:
                parts = {} if own is None else _part_scores(ranking, own, bot, whole.markets, gathered)
                running = {} if own is None else _sums_of_bot(whole, knowledge, own, bot)
                yield ScoredBot(knowledge, card, verdicts.get(bot), parts, running)


def _part_scores(
    ranking: Evaluation,
    own: TrackRecord,
    bot: str,
    listed: Sequence[Row[Any]],
    gathered: Mapping[tuple[str, datetime], int | None],
) -> Mapping[str, tuple[PartScore, ...]]:
    """Return the scores of parts of the only bot of a record, by the names of `PARTS`."""
    forecasts, uncertainty = settled_forecasts(own), ranking.question.uncertainty
    scores = (
        *(
            part_scores(name, forecasts, uncertainty, draws=False)
            for name in ("by_category", "by_lead_time", "by_confidence")
        ),
        _scores_by_evidence(forecasts, listed, gathered, uncertainty),
    )
    of_bot = (tuple(each for each in found if each.bot == bot and each.score.n) for found in scores)
    return {name: found for name, found in zip(PARTS, of_bot, strict=True) if found}


def _dates_needed(score: AccountScore) -> RequiredEvents | None:
    """Return how many more dates the growth needs, by the standard error behind its interval."""
    found = score.intervals.get("cumulative_return")
    if found is None or found.low is None or found.high is None or found.low <= -1.0 or score.dates < 2:
        return None
    low, growth, high = (math.log1p(each) / score.dates for each in (found.low, found.estimate, found.high))
    return events_needed(growth, (high - low) / (2.0 * _NORMAL_95), score.dates)


@dataclass(frozen=True, slots=True)
class HorizonGain:
    """The gain of a decision of one dollar by a horizon; None where there is no value."""

    label: str
    """Days, `now` or `settled`."""
    mid: float | None
    quote: float | None
    """Traded against the book, with fees."""
    favourite: float | None
    """A dollar on the side that the price favours."""


@dataclass(frozen=True, eq=False)
class Gains:
    """The gains of a bot's decisions on events."""

    _rows: Mapping[tuple[str, datetime], tuple[Sequence[HorizonReturns], int]]
    """Returns by horizon and the row of the decision, by event id and instant; without decisions that share both."""

    def of(self, event_id: str, decided_at: datetime) -> tuple[HorizonGain, ...]:
        """Return the gains of a decision by horizon; none where it is in no score."""
        returns, row = self._rows.get((event_id, decided_at), ((), 0))
        return tuple(
            HorizonGain(
                each.label, *(none_if_nan(float(of[row])) for of in (each.value, each.quote_value, each.market_value))
            )
            for each in returns
        )


def gains_of_bot(
    store: Store, bot: str, part: Part = EVERYTHING, *, clock: Clock, whole: PartSnapshot | None = None
) -> Gains:
    """Return the gains of a bot's decisions on events, as scores count them; no venue is asked.

    Args:
        whole: That of the part, if it is at hand.
    """
    record, listed = record_of_bots(store, (bot,), part, clock=clock, whole=whole)
    found = dict[tuple[str, datetime], tuple[Sequence[HorizonReturns], int]]()
    for ranking in rankings_of(record).values():
        returns = horizon_returns(ranking, HORIZONS_DAYS)
        decided, first = np.unique(ranking.bet_decision, return_index=True)
        of_bets, at = ranking.bet_market[first].tolist(), ranking.decided_at[decided].tolist()
        keys = [(listed[market].event_id, instant_of(second)) for market, second in zip(of_bets, at, strict=True)]
        scored, alike = ranking.scored_mask(), Counter(keys)
        for key, row in zip(keys, decided.tolist(), strict=True):
            if scored[row] and alike[key] == 1:
                found[key] = returns, row
    return Gains(found)
