"""Results of cohorts for scoring: returns on stakes, forecasts, bets, and costs."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import chain

import numpy as np
from sqlalchemy import Connection, literal, select

from predibot.domain.decision import STATUSES
from predibot.domain.replicates import joined_bots, split_replicate
from predibot.games.positions import list_resolved_bets
from predibot.ledger.read.accounts.cohorts import MemberAccount, StoredCohort, cohorts_as_of
from predibot.ledger.read.accounts.scoring import (
    HELD_BY_SYSTEM,
    count_statuses,
    decisions_by,
    decisions_of_accounts,
    sum_costs,
)
from predibot.ledger.read.accounts.slot_prices import price_deviations
from predibot.ledger.read.columns import Columns, read_columns
from predibot.ledger.schema.column_types import to_microseconds
from predibot.ledger.write.accounts import accounts
from predibot.ledger.write.decisions import bots, decisions, forecasts
from predibot.ledger.write.prices_and_resolutions import resolutions
from predibot.rows import grouped
from predibot.scoring.accounts.cohorts import CohortBoard, CohortBot, CohortResult, mean_result
from predibot.scoring.records.knowledge import KNOWLEDGE, Knowledge
from predibot.scoring.records.part import EVERYTHING, Part

_RECORDED = STATUSES.index("recorded")
_WEEK = timedelta(days=7)


def cohort_records(
    connection: Connection, venue: str, as_of: datetime, part: Part = EVERYTHING, *, archived: bool = False
) -> tuple[CohortBoard, ...]:
    """Return the results of cohorts, by recipe, game, mode and methodology, as known at an instant.

    Args:
        part: Only its bots, and cohorts of its recipe and mode that began then; a category has none.
        archived: Whether archived cohorts are in it too.

    Raises:
        ValueError, LookupError, TypeError: If a row is malformed: a ledger may be anybody's file.
    """
    kept = cohorts_as_of(connection, as_of, venue=venue, recipe=part.recipe)
    asked = [
        each for each in kept if part.has_slot(each.start) and part.mode in (None, each.mode) and part.category is None
    ]
    counted = [each for each in asked if archived or each.archived_at is None]
    if not asked:
        return ()
    every = sorted((each for cohort in kept for each in cohort.accounts.values()), key=lambda each: each.row)
    own = [each for each in every if part.has_bot(each.bot)]
    groups = grouped((each.group, each) for each in kept)
    rows = [each.row for each in own]
    decided = decisions_of_accounts(connection, venue, rows, as_of)
    forecast_rows = _read_forecasts(connection, rows, as_of)
    of_runs = bots.c.run_id.in_([each.run_id for each in kept])
    played = connection.execute(select(*bots.c["run_id", "name", "strategy"]).where(of_runs))
    strategies = {(run_id, name): strategy for run_id, name, strategy in played}
    found = []
    for group, of_group in sorted(groups.items()):
        in_it = {each.row: each for each in of_group if each in counted}
        if not in_it:
            continue
        of_bots = [each for each in own if each.cohort in in_it]
        found.append(
            CohortBoard(
                *group,
                bots=tuple(_cohort_bots(connection, venue, of_bots, in_it, decided, forecast_rows, strategies, as_of)),
                cohorts=len(in_it),
                complete=sum(each.ended_at is not None for each in in_it.values()),
                archived=sum(each in asked for each in of_group) - len(in_it),
                remarks=tuple(_remarks(of_bots, in_it, part.bots, decided)),
            )
        )
    return tuple(found)


def _cohort_bots(
    connection: Connection,
    venue: str,
    members: Sequence[MemberAccount],
    cohorts: Mapping[int, StoredCohort],
    decided: Columns,
    forecast_rows: Columns,
    strategies: Mapping[tuple[int, str], str],
    as_of: datetime,
) -> Iterator[CohortBot]:
    """Yield each bot, replicates as one, with its accounts; accounts with other knowledge of models are a bot apart."""
    joined = joined_bots({each.bot for each in members})
    of_account = {int(row): decided[decided["account_id"] == row] for row in np.unique(decided["account_id"])}
    alike: defaultdict[tuple[str, Knowledge], list[MemberAccount]] = defaultdict(list)
    for each in members:
        known = of_account.get(each.row, decided[:0])["knowledge"]
        bot, _ = split_replicate(each.bot)
        alike[bot if bot in joined else each.bot, KNOWLEDGE[int(known.max(initial=0))]].append(each)
    counted = {key: [each for each in own if each.value_usd is not None] for key, own in alike.items()}
    # The return of a bot is the mean over its cohorts of the mean over its accounts in each.
    sizes = {key: Counter(each.cohort for each in own) for key, own in counted.items()}
    parts = {
        key: [(each.known.rows, 1.0 / (each.stake_usd * len(sizes[key]) * sizes[key][each.cohort])) for each in own]
        for key, own in counted.items()
    }
    implied = price_deviations(connection, venue, parts, as_of)
    for (bot, knowledge), own in sorted(alike.items()):
        latest = max(own, key=lambda each: cohorts[each.cohort].start)
        names = {member.bot_id: member.display_name for member in cohorts[latest.cohort].members}
        results = grouped(
            (each.bot, result) for each in own if (result := _result(each, cohorts[each.cohort], as_of)) is not None
        )
        of_cohorts = grouped((result.start, result) for result in chain.from_iterable(results.values()))
        rows = np.concatenate([of_account.get(each.row, decided[:0]) for each in own])
        own_forecasts = forecast_rows[np.isin(forecast_rows["account_id"], [each.row for each in own])]
        yield CohortBot(
            bot=bot,
            display_name=split_replicate(names.get(latest.bot, bot))[0] if bot in joined else names.get(bot, bot),
            strategy=strategies.get((cohorts[latest.cohort].run_id, latest.bot), ""),
            results=tuple(map(mean_result, of_cohorts.values())),
            first_bets=tuple(
                bets
                for each in own
                if (bets := _first_bets(each, cohorts[each.cohort], of_account.get(each.row, decided[:0]))) is not None
            ),
            results_apart=tuple(map(tuple, results.values())) if len(results) > 1 else (),
            forecasts=tuple(own_forecasts[["probability", "payout_yes"]].tolist()),
            bets=tuple(bet for each in own for bet in list_resolved_bets(each.positions)),
            cannot_bet=sum(each.standing == "cannot bet" for each in own),
            bankrupt=sum(each.standing == "bankrupt" for each in own),
            owing=sum(each.account.owing for each in own),
            decisions=count_statuses(rows["status"]),
            cost_usd=sum_costs(rows["cost_usd"]),
            cost_known_usd=float(rows["cost_known_usd"].sum()),
            knowledge=knowledge,
            deviation=implied[bot, knowledge],
        )


def _first_bets(
    member: MemberAccount, cohort: StoredCohort, decided: Columns
) -> tuple[datetime, Mapping[str, float]] | None:
    """Return the start of a cohort and what an account bet in its first week, as shares of the stake by outcome; None
    if no answer of it was recorded then.
    """
    end = cohort.start + _WEEK
    if not ((decided["status"] == _RECORDED) & (decided["decided_at"] < to_microseconds(end))).any():
        return None
    weights = defaultdict[str, float](float)
    for row in member.known.rows:
        if row.kind == "fill" and row.shares > 0.0 and row.instrument is not None and row.at < end:
            weights[row.instrument.id] -= row.cash_usd / member.stake_usd
    return cohort.start, dict(weights)


def _result(member: MemberAccount, cohort: StoredCohort, as_of: datetime) -> CohortResult | None:
    if member.value_usd is None:
        return None
    states = member.states
    return CohortResult(
        start=cohort.start,
        end=cohort.ended_at or as_of,
        stake_usd=member.stake_usd,
        value_usd=member.value_usd,
        won=states.get("WON", 0),
        lost=states.get("LOST", 0),
        cancelled=states.get("CANCELLED", 0),
    )


def _remarks(
    members: Sequence[MemberAccount], cohorts: Mapping[int, StoredCohort], bot_names: Sequence[str], decided: Columns
) -> Iterator[str]:
    """Yield remarks on members without a result, which are not zero, and on decisions by the system."""
    of_them = np.isin(decided["account_id"], [each.row for each in members])
    if held := int((decided["status"][of_them] == HELD_BY_SYSTEM).sum()):
        was = "1 decision is a HOLD" if held == 1 else f"{held:,} decisions are HOLDs"
        yield f"{was} of the system, because no answer could be taken: counted as failed"
    for each in members:
        if each.value_usd is None:
            yield f"{each.bot} in {cohorts[each.cohort].name} was never valued, so it counts in no return"
    there = {(each.cohort, each.bot) for each in members}
    for row, cohort in cohorts.items():
        named = [member.bot_id for member in cohort.members if not bot_names or member.bot_id in bot_names]
        absent = [bot for bot in named if (row, bot) not in there]
        if absent == named:
            yield f"nobody has an account in {cohort.name}, where nothing was decided, so it counts in no return"
        elif absent:
            yield f"without an account in {cohort.name}, and so in no return of it: {', '.join(absent)}"


def _read_forecasts(connection: Connection, own: Sequence[int], as_of: datetime) -> Columns:
    """Return account, probability and payout of forecasts on markets that paid 0 or 1."""
    revisions = (
        select(resolutions.c.market_row, resolutions.c.payout_yes)
        .where(resolutions.c.effective_at <= as_of)
        .order_by(resolutions.c.market_row, resolutions.c.revision)
    )
    # The last revision stays. Joined here, because a database would read all revisions for every forecast.
    paid = dict(read_columns(connection, revisions, nullable="payout_yes").tolist())
    settled = np.array(sorted(market for market, payout in paid.items() if payout in (0.0, 1.0)), dtype=np.float64)
    payouts = np.array([paid[market] for market in settled.tolist()], dtype=np.float64)
    statement = (
        decisions_by(as_of, accounts.c.id.label("account_id"), *forecasts.c["probability", "market_row"])
        .add_columns(literal(0).label("payout_yes"))
        .join(forecasts, forecasts.c.decision_id == decisions.c.id)
        .where(accounts.c.id.in_(own), decisions.c.status == "recorded")
        .order_by(accounts.c.id, decisions.c.id, forecasts.c.market_row)
    )
    stated = read_columns(connection, statement)
    known = stated[np.isin(stated["market_row"], settled)]
    known["payout_yes"] = payouts[np.searchsorted(settled, known["market_row"])]
    return known
