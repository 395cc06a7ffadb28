"""Invariants: conditions on a ledger's rows, checked by computing them anew."""

import hashlib
import json
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache, partial
from typing import Any

from sqlalchemy import Connection, func, select

from predibot.agents.budget.account import Exact
from predibot.domain.clock import parse_instant
from predibot.domain.price import QUOTE_PRICES, EntryPrice, Quote
from predibot.domain.replicates import sampled_bot
from predibot.errors import LedgerUnusable, PluginError, UsageError
from predibot.ledger.read.export import export_rows
from predibot.ledger.schema.packed_points import merge_points, unpack_points
from predibot.ledger.write.accounts import accounts, journal
from predibot.ledger.write.claims import attempts, subjects, tasks
from predibot.ledger.write.decisions import bots, decisions, question_sha256
from predibot.ledger.write.events import events, instruments, markets
from predibot.ledger.write.prices_and_resolutions import price_paths
from predibot.ledger.write.runs import IMPORTED, frozen_events, runs, with_decisions
from predibot.ledger.write.spending import reservations, spending
from predibot.plugins.games import game_names, make_game
from predibot.plugins.strategies import spec_of, starts_program
from predibot.rows import grouped

SHARES_TOLERANCE, STAKE_TOLERANCE_USD = 1e-9, 2e-6
"""For products and sums of floats; a game itself accepts a stake a millionth of a dollar too high."""
_COST_TOLERANCE_USD, _PAID_TOLERANCE_USD = 1e-6, 1e-9
_CLOCK_SLACK = timedelta(minutes=1)
"""A clock may be set back so far while a decision is made."""
_NO_RULES = {"event"}
"""Overrides that change no digest of a run's recipe."""
_ENDED = ("recorded", "refused", "failed", "abstained")

Row = Mapping[str, Any]
_Held = set[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Violation:
    """A row that breaks an invariant."""

    check: str
    row: str
    seen: str


Checked = Counter[str]
"""How many rows each check looked at."""


def checks_of_rows(connection: Connection, checked: Checked) -> Iterator[Iterator[Violation]]:
    """Yield checks, each of which yields the rows that break it; one run at a time is in memory."""
    held = cache(partial(_ever_held, connection))
    for run_id in connection.execute(select(runs.c.id).order_by(runs.c.id)).scalars().all():
        yield _check_run(connection, checked, run_id, held)
    of_tables = (_check_tasks, _check_spending, _check_prices, _check_resolutions)
    for check in (*of_tables, _check_recipes, _check_bots, _check_subjects, _check_decisions):
        yield check(connection, checked)


def _check_run(
    connection: Connection, checked: Checked, run_id: int, ever_held: Callable[[str], _Held]
) -> Iterator[Violation]:
    named = select(*runs.c["key", "game", "recipe"]).where(runs.c.id == run_id)
    key, game, recipe = connection.execute(named).one()

    def rows(table: str) -> dict[tuple[str, str, str], list[Row]]:
        return grouped(
            ((row["bot"], row["subject_kind"], row["subject_id"]), row)
            for row in export_rows(connection, table, run_ids=[run_id])
        )

    forecast_rows, bet_rows, fill_rows, quote_rows = rows("forecasts"), rows("bets"), rows("fills"), rows("quotes")
    questions_of = {
        event.id: {market.id: question_sha256(event, market) for market in event.markets}
        for event in frozen_events(connection, run_id)
    }
    # A decision on no event is about all that the run plays.
    anywhere = {market: digest for of_event in questions_of.values() for market, digest in of_event.items()}
    held = ever_held(recipe)
    rules = make_game(game) if game in game_names() else None
    stake_usd = None if rules is None else rules.stake_usd
    for (bot, kind, subject), (decision, *others) in rows("decisions").items():
        name = f"{key}/{bot}/{subject}"
        if others:
            yield Violation("work has its decision", name, f"it has {len(others) + 1} decisions")
        own = [table.get((bot, kind, subject), []) for table in (forecast_rows, bet_rows, fill_rows, quote_rows)]
        is_bet = kind == "event" and stake_usd is not None
        is_said = is_bet and rules is not None and "forecasts" in rules.scores
        known = [row for row in own[0] if row["market_id"] in anywhere or (bot, row["market_id"]) not in held]
        questions = questions_of.get(subject, {}) if kind == "event" else anywhere
        to_forecast = own[1] if is_said else []
        money = _check_money(decision, own[1], own[2], stake_usd or 0.0) if is_bet else iter(())
        found = (
            ("forecasts in range", len(own[0]), _check_forecasts(own[0], decision)),
            ("forecasts of orders", len(to_forecast), _check_order_forecasts(own[0], to_forecast)),
            ("questions as asked", len(own[0]), _check_questions(known, questions)),
            ("quotes of bets", len(own[1]), _check_quotes(own[1], own[3])),
            # Accounts have journals instead.
            ("money conserved", is_bet and decision["status"] == "recorded", money),
        )
        for check, rows_checked, all_seen in found:
            checked[check] += rows_checked
            yield from (Violation(check, name, seen) for seen in all_seen)


def _ever_held(connection: Connection, recipe: str) -> _Held:
    """Return bots with the markets their accounts ever held: those are asked about until they settle.

    The words they were shown are frozen with an earlier run.
    """
    statement = (
        select(accounts.c.bot, markets.c.market_id)
        .join(journal, journal.c.account_id == accounts.c.id)
        .join(instruments, instruments.c.id == journal.c.instrument_row)
        .join(markets, markets.c.id == instruments.c.market_row)
        .where(accounts.c.recipe == recipe)
        .distinct()
    )
    return {(bot, market) for bot, market in connection.execute(statement)}


def _check_forecasts(forecast_rows: list[Row], decision: Row) -> Iterator[str]:
    for row in forecast_rows:
        if not _is_within(row["probability"], 1.0):
            yield f"{row['market_id']}: the probability is {row['probability']!r}, not in [0, 1]"
        if row["confidence"] is not None and not _is_within(row["confidence"], 10.0):
            yield f"{row['market_id']}: the confidence is {row['confidence']!r}, not in [0, 10]"
    if forecast_rows and decision["status"] != "recorded":
        yield f"it {decision['status']} and has {len(forecast_rows)} forecasts"


def _check_order_forecasts(forecast_rows: list[Row], bet_rows: list[Row]) -> Iterator[str]:
    for market in sorted({row["market_id"] for row in bet_rows} - {row["market_id"] for row in forecast_rows}):
        yield f"{market}: it has an order and no forecast, by which its game is scored"


def _is_within(value: object, most: float) -> bool:
    return isinstance(value, int | float) and 0.0 <= value <= most


def _check_questions(forecast_rows: list[Row], hashes: Mapping[str, str]) -> Iterator[str]:
    for row in forecast_rows:
        known = hashes.get(row["market_id"])
        if known is None:
            yield f"{row['market_id']}: the run plays no such market of this event"
        elif known != row["question_sha256"]:
            yield f"{row['market_id']}: its question does not have the hash that is stored with the forecast"


def _check_quotes(bet_rows: list[Row], quote_rows: list[Row]) -> Iterator[str]:
    """Yield bets with another price than the booked quote; a bet of zero may have that of the shown quote."""
    prices: dict[tuple[str, str], EntryPrice | None] = {}
    for row in quote_rows:
        values = {name: row[name] for name in ("at", *QUOTE_PRICES)}
        try:
            prices[row["market_id"], row["role"]] = Quote(**{**values, "at": parse_instant(row["at"])}).price
        except (ValueError, TypeError) as error:
            yield f"{row['market_id']}: its {row['role']} quote is none: {error}"
    for row in bet_rows:
        market, booked = row["market_id"], EntryPrice(row["price_yes"], row["price_source"])
        price = prices.get((market, "booked"))
        if price is None and row["booked_usd"] == 0.0:
            price = prices.get((market, "shown"))
        if price is None:
            yield f"{market}: the bet has no quote with a price"
        elif price != booked:
            yield f"{market}: booked at {booked.yes!r} ({booked.source}), its quote says {price.yes!r} ({price.source})"


def _check_money(decision: Row, bet_rows: list[Row], fill_rows: list[Row], stake_usd: float) -> Iterator[str]:
    """Yield breaches of three rules: bets and rest add up to the stake, fills to bets, and cash is shares by price."""
    if decision["status"] != "recorded":
        if bet_rows or fill_rows:
            yield f"it {decision['status']} and has {len(bet_rows)} bets and {len(fill_rows)} fills"
        return
    total_usd = math.fsum([decision["unallocated_usd"], *(abs(row["booked_usd"]) for row in bet_rows)])
    if not abs(total_usd - stake_usd) <= STAKE_TOLERANCE_USD:
        yield f"bets and the rest are ${total_usd:.6f}, the stake is ${stake_usd:.2f}"
    paid_usd: dict[str, float] = defaultdict(float)
    bets = {row["market_id"]: row for row in bet_rows}
    for row in fill_rows:
        market, bet = row["market_id"], bets.get(row["market_id"])
        paid_usd[market] -= row["cash_usd"]
        cost_usd = row["shares"] * row["price"] + row["fee_usd"]
        if not math.isclose(-row["cash_usd"], cost_usd, rel_tol=SHARES_TOLERANCE, abs_tol=SHARES_TOLERANCE):
            yield f"{market}: its shares and fee cost ${cost_usd!r}, paid was ${-row['cash_usd']!r}"
        if bet is None or row["side"] != ("YES" if bet["booked_usd"] > 0 else "NO"):
            yield f"{market}: the fill of {row['side']} belongs to no bet"
    for market, bet in bets.items():
        if not math.isclose(bet["booked_usd"], bet["asked_usd"] * decision["scale"], abs_tol=SHARES_TOLERANCE):
            yield f"{market}: booked ${bet['booked_usd']!r} is not what was asked by the scale of the decision"
        if not math.isclose(paid_usd[market], abs(bet["booked_usd"]), abs_tol=SHARES_TOLERANCE):
            yield f"{market}: booked ${abs(bet['booked_usd'])!r}, the fills paid ${paid_usd[market]!r}"


def _check_tasks(connection: Connection, checked: Checked) -> Iterator[Violation]:
    query = (
        select(runs.c.key, bots.c.name, subjects.c.subject_id, tasks.c.status, decisions.c.status.label("decided"))
        .join(runs, runs.c.id == tasks.c.run_id)
        .join(bots, bots.c.id == tasks.c.bot_id)
        .join(subjects, subjects.c.id == tasks.c.subject_row)
        .outerjoin(decisions, decisions.c.task_id == tasks.c.id)
        .where(tasks.c.status.in_(_ENDED))
        .order_by(tasks.c.id)
    )
    for key, bot, subject, status, decided in connection.execute(query):
        checked["work has its decision"] += 1
        if status != decided:
            yield Violation(
                "work has its decision", f"{key}/{bot}/{subject}", f"it {status}, its decision is {decided}"
            )


def _check_spending(connection: Connection, checked: Checked) -> Iterator[Violation]:
    """Yield spending accounts below zero, or below the known costs of their decisions."""
    check = "spending counted"
    for table in (spending, reservations):
        for row in connection.execute(select(table)).mappings():
            checked[check] += 1
            amount = Exact(**{name: row[name] for name in Exact.__slots__})
            if min(amount.usd, amount.tokens, amount.steps, amount.searches, amount.seconds) < 0:
                yield Violation(check, row["account"], f"{amount} is less than nothing")
    settled = {row.account: row.usd for row in connection.execute(select(spending.c.account, spending.c.usd))}
    costs = (
        select(runs.c.key, bots.c.name, func.sum(decisions.c.cost_known_usd))
        .join(runs, runs.c.id == decisions.c.run_id)
        .join(bots, bots.c.id == decisions.c.bot_id)
        .group_by(runs.c.key, bots.c.name)
    )
    known: dict[str, float] = defaultdict(float)
    for key, bot, usd in connection.execute(costs):
        known[f"run/{key}"] += usd
        known[f"bot/{key}/{sampled_bot(bot)}"] += usd
    for account, usd in known.items():
        if account not in settled:
            continue
        booked = Exact(usd=settled[account]).spending()
        if usd > booked.usd + _COST_TOLERANCE_USD:
            yield Violation(
                check, account, f"its decisions cost ${usd:.6f}, ${booked.usd:.6f} is counted against its limit"
            )


def _check_prices(connection: Connection, checked: Checked) -> Iterator[Violation]:
    check = "prices in order"
    statement = (
        select(price_paths.c.instrument_row, price_paths.c.points, instruments.c.highest_price)
        .join(instruments, instruments.c.id == price_paths.c.instrument_row)
        .order_by(price_paths.c.instrument_row)
    )
    for row, blob, highest in connection.execute(statement):
        try:
            points, _ = unpack_points([blob], highest=math.inf if highest is None else highest)
        except LedgerUnusable as error:
            checked[check] += 1
            yield Violation(check, f"instrument {row}", str(error))
            continue
        checked[check] += len(points)
        if merge_points(points[:0], points).tobytes() != points.tobytes():
            yield Violation(check, f"instrument {row}", "its prices are not in order of time, each once")


def _check_resolutions(connection: Connection, checked: Checked) -> Iterator[Violation]:
    check, before = "resolutions whole", ("", 0)
    for row in export_rows(connection, "resolutions"):
        checked[check] += 1
        name = f"{row['venue']}/{row['market_id']}"
        expected = before[1] + 1 if before[0] == name else 1
        if row["revision"] != expected:
            yield Violation(check, name, f"revision {row['revision']} stands where {expected} belongs")
        # None is a market voided without a payout.
        if row["payout_yes"] is not None and not _is_within(row["payout_yes"], 1.0):
            yield Violation(check, name, f"it pays {row['payout_yes']!r}, not in [0, 1]")
        before = (name, row["revision"])


def _check_recipes(connection: Connection, checked: Checked) -> Iterator[Violation]:
    check = "runs are their recipes"
    columns = runs.c["key", "recipe", "game", "seed", "digest", "recipe_json"]
    for run in connection.execute(select(*columns, runs.c.overrides_json).order_by(runs.c.id)):
        checked[check] += 1
        recipe = json.loads(run.recipe_json)
        for name, stored in (("name", run.recipe), ("game", run.game), ("seed", run.seed)):
            if recipe[name] != stored:
                yield Violation(check, run.key, f"its {name} is {stored!r}, in its recipe {recipe[name]!r}")
        is_known = {*json.loads(run.overrides_json)} <= _NO_RULES and not run.digest.startswith(IMPORTED)
        del recipe["bots"]
        text = json.dumps(recipe, sort_keys=True, separators=(",", ":"))
        if is_known and hashlib.sha256(text.encode()).hexdigest() != run.digest:
            yield Violation(check, run.key, "its digest is not that of its recipe")


def _check_bots(connection: Connection, checked: Checked) -> Iterator[Violation]:
    """Yield bots that pool others than their arguments name, if their strategy's code is the same."""
    check = "members as named"
    columns = (runs.c.key, *bots.c["name", "strategy", "arguments_json", "source_sha256"])
    statement = select(*columns, bots.c.members_json).join(runs, runs.c.id == bots.c.run_id)
    for bot in connection.execute(statement.where(bots.c.members_json.is_not(None)).order_by(bots.c.id)):
        try:
            if starts_program(bot.strategy):
                # Such a strategy starts a program when it is made, and a ledger may come from anybody.
                continue
            spec = spec_of(bot.strategy, json.loads(bot.arguments_json))
        except (PluginError, UsageError):
            continue
        if spec.source_sha256 != bot.source_sha256:
            continue
        checked[check] += 1
        members = json.loads(bot.members_json)
        if members != [*spec.needs.members]:
            yield Violation(
                check, f"{bot.key}/{bot.name}", f"it pools {members}, its arguments name {[*spec.needs.members]}"
            )


def _check_subjects(connection: Connection, checked: Checked) -> Iterator[Violation]:
    """Yield subjects whose kind and id do not agree with the event that their row refers to."""
    check = "subjects are what they say"
    of = (events.c.venue.label("of_venue"), events.c.event_id)
    statement = select(subjects, *of).outerjoin(events, events.c.id == subjects.c.event_row).order_by(subjects.c.id)
    for row in connection.execute(statement):
        checked[check] += 1
        expected = (row.venue, row.subject_id) if row.kind == "event" else (None, None)
        if (row.of_venue, row.event_id) != expected:
            is_of = "no event" if row.event_id is None else f"event {row.event_id} of {row.of_venue}"
            yield Violation(check, f"{row.venue}/{row.kind}/{row.subject_id}", f"its row says that it is {is_of}")


def _check_decisions(connection: Connection, checked: Checked) -> Iterator[Violation]:
    """Yield decisions outside the time of their run and tries, and those with two costs."""
    check = "decisions in their time"
    tried = (
        select(
            attempts.c.task_id,
            func.min(attempts.c.started_at).label("began_at"),
            func.max(attempts.c.ended_at).label("ended_at"),
        )
        .group_by(attempts.c.task_id)
        .subquery()
    )
    columns = (runs.c.key, bots.c.name, subjects.c.subject_id, runs.c.as_of, tried.c.began_at, tried.c.ended_at)
    costs = decisions.c["decided_at", "cost_usd", "cost_known_usd"]
    statement = with_decisions(*columns, *costs).outerjoin(tried, tried.c.task_id == decisions.c.task_id)
    for row in connection.execute(statement.order_by(decisions.c.id).execution_options(yield_per=1_000)):
        name = f"{row.key}/{row.name}/{row.subject_id}"
        checked[check] += 1
        # A replay decides at the instant of its run; any other decision is made during its tries.
        if row.decided_at != row.as_of and not _is_in_time(row.decided_at, row.began_at or row.as_of, row.ended_at):
            yield Violation(
                check,
                name,
                f"decided at {row.decided_at.isoformat()}, which is neither the instant of its run nor within its "
                "attempts",
            )
        checked["costs are what was paid"] += 1
        if row.cost_usd is not None and not math.isclose(
            row.cost_usd, row.cost_known_usd, rel_tol=_PAID_TOLERANCE_USD, abs_tol=_PAID_TOLERANCE_USD
        ):
            yield Violation(
                "costs are what was paid", name, f"it cost ${row.cost_usd!r}, and ${row.cost_known_usd!r} are known"
            )


def _is_in_time(at: datetime, began_at: datetime, ended_at: datetime | None) -> bool:
    return began_at - _CLOCK_SLACK <= at and (ended_at is None or at <= ended_at + _CLOCK_SLACK)
