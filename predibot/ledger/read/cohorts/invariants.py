"""Invariants of weekly cohorts: they and their accounts fit, and what their members bet keeps the rules."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, and_, func, select

from predibot.domain.clock import format_instant
from predibot.errors import UsageError
from predibot.games.cohorts import COHORT, cohort_name, cohort_start
from predibot.ledger.read.cohorts.accounts import KeptCohort, kept_cohorts
from predibot.ledger.read.invariants import Broken, Checked
from predibot.ledger.schema.values import LAST_INSTANT
from predibot.ledger.write.accounts import accounts, journal
from predibot.ledger.write.claims import subjects
from predibot.ledger.write.decisions import decisions, orders
from predibot.ledger.write.events import instruments
from predibot.ledger.write.prices_and_resolutions import resolutions
from predibot.ledger.write.runs import runs
from predibot.plugins.games import stored_game

_FIT, _RULES = "cohorts and accounts fit", "bets of cohorts keep rules"
_Key = tuple[str, str, str, str, str, str]


def broken_cohorts(connection: Connection, checked: Checked) -> Iterator[Broken]:
    """Yield what is wrong with cohorts, with the accounts of their members, and with what these booked."""
    kept = kept_cohorts(connection, LAST_INSTANT)
    played = {
        row.id: row for row in connection.execute(select(runs.c.id, runs.c.recipe, runs.c.game, runs.c.venue_name))
    }
    by_key: dict[_Key, KeptCohort] = {}
    for each in kept:
        checked.count(_FIT)
        by_key[each.recipe, each.game, each.mode, each.methodology, each.venue, each.name] = each
        for seen in _cohort(each, played[each.run_id]):
            yield Broken(_FIT, _name(each), seen)
    columns = (accounts.c.recipe, accounts.c.game, accounts.c.mode, accounts.c.methodology)
    statement = (
        select(*columns, subjects.c.venue, subjects.c.subject_id, accounts.c.bot, accounts.c.id)
        .join(subjects, subjects.c.id == accounts.c.subject_row)
        .where(subjects.c.kind == COHORT)
        .order_by(accounts.c.id)
    )
    for *key, bot, account_id in connection.execute(statement).all():
        checked.count(_FIT)
        cohort = by_key.get(tuple(key))
        name = "/".join((key[0], key[2], bot, key[5]))
        if cohort is None:
            yield Broken(_FIT, name, "there is no cohort that it is of")
            continue
        if bot not in {member.bot_id for member in cohort.members}:
            yield Broken(_FIT, name, f"{bot!r} is not in the line-up of its cohort")
        newer = sorted(each.start for each in kept if each.group == cohort.group and each.start > cohort.start)
        for seen in _account(connection, checked, account_id, cohort, newer):
            yield Broken(_RULES, name, seen)


def _name(cohort: KeptCohort) -> str:
    return f"{cohort.recipe}/{cohort.mode}/{cohort.name}"


def _cohort(cohort: KeptCohort, run: Any) -> Iterator[str]:
    try:
        cohort_start(cohort.name)
        stored_game(cohort.game, "{}", cohort.methodology)
    except UsageError as error:
        yield str(error)
        return
    if cohort_name(cohort.started_at) != cohort.name:
        yield f"it was started at {format_instant(cohort.started_at)}, in the week of another cohort"
    if (run.recipe, run.game, run.venue_name) != (cohort.recipe, cohort.game, cohort.venue):
        yield f"the run that started it is of {run.game} of {run.recipe} at {run.venue_name}"
    ids = [member.bot_id for member in cohort.members]
    if not ids or len(set(ids)) < len(ids):
        yield "its line-up has nobody, or somebody twice"


def _account(
    connection: Connection, checked: Checked, account_id: int, cohort: KeptCohort, newer: Sequence[datetime]
) -> Iterator[str]:
    """Yield what an account did that the rules of its game and of its cohort forbid."""
    rows = connection.execute(_journal(account_id)).all()
    game = cohort.played
    latest = cohort.rules.latest
    for row in rows:
        if row.kind != "fill":
            continue
        checked.count(_RULES, int(row.shares > 0.0))
        if row.paid_at is not None and row.paid_at <= row.at:
            yield f"row {row.number} trades a market that has paid since {format_instant(row.paid_at)}"
        since = sum(start <= row.at for start in newer)
        if latest is not None and since >= latest:
            yield f"row {row.number} trades, {since} cohorts after it: only the latest {latest} do"
    if game is None:
        return
    deposits = sum(row.cash_usd for row in rows if row.kind == "deposit")
    if rows and deposits != game.stake_usd:
        yield f"${deposits:,.2f} were paid in, a cohort begins with ${game.stake_usd:,.2f}"
    yield from game.misplayed(rows, _orders(connection, account_id))


def _journal(account_id: int) -> Any:
    """Return the statement of a journal, with when the market of each row was first known to have paid."""
    paid = (
        select(resolutions.c.market_row, func.min(resolutions.c.effective_at).label("paid_at"))
        .group_by(resolutions.c.market_row)
        .subquery()
    )
    columns = (journal.c.number, journal.c.kind, journal.c.at, journal.c.shares, journal.c.cash_usd)
    return (
        select(*columns, journal.c.decision_id, paid.c.paid_at)
        .select_from(journal)
        .outerjoin(instruments, instruments.c.id == journal.c.instrument_row)
        .outerjoin(paid, paid.c.market_row == instruments.c.market_row)
        .where(journal.c.account_id == account_id)
        .order_by(journal.c.number)
    )


def _orders(connection: Connection, account_id: int) -> Mapping[int, list[Any]]:
    """Return the orders of each decision of which something was filled."""
    booked = select(journal.c.decision_id).where(journal.c.account_id == account_id, journal.c.kind == "fill")
    statement = (
        select(orders.c.decision_id, orders.c.side, orders.c.amount, orders.c.status)
        .join(decisions, and_(decisions.c.id == orders.c.decision_id, decisions.c.status == "recorded"))
        .where(orders.c.decision_id.in_(booked))
        .order_by(orders.c.decision_id, orders.c.number)
    )
    by_decision: defaultdict[int, list[Any]] = defaultdict(list)
    for row in connection.execute(statement):
        by_decision[row.decision_id].append(row)
    return by_decision
