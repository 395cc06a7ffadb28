"""Accounts in the ledger, opened once, with a journal that only grows; and cohorts, archived without any loss."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, Select, bindparam, insert, select, update

from predibot.domain.account import JournalRow, MarkState, Mode
from predibot.domain.clock import EPOCH
from predibot.domain.decision import Subject
from predibot.domain.price import Instrument, Price
from predibot.errors import ClaimLost
from predibot.games.accounts import Journal, value_usd
from predibot.games.cohorts import COHORT, Member, week_of
from predibot.ledger.schema.tables import AccountRow, CohortRow, JournalEntryRow, MarkRow, OrderRow, ValuationRow
from predibot.ledger.schema.upsert import insert_one, table_of
from predibot.ledger.write.claims import Claim, Claimant, claim, is_abandoned, subject_row, subjects, tasks
from predibot.ledger.write.events import NAME_OF_INSTRUMENT, instrument_rows, instruments
from predibot.ledger.write.runs import StoredRun, decisions

accounts, journal = table_of(AccountRow), table_of(JournalEntryRow)
valuations, marks = table_of(ValuationRow), table_of(MarkRow)
_orders, cohorts = table_of(OrderRow), table_of(CohortRow)

VALUED_EVERY = timedelta(minutes=10)
"""The instant of a valuation is floored to this."""


@dataclass(frozen=True, slots=True)
class AccountValue:
    """An account's value at an instant, to be stored as a valuation."""

    at: datetime
    journal: Journal
    prices: Mapping[Instrument, Price] = field(default_factory=dict)
    """Prices of all holdings; further prices are stored too."""
    states: Mapping[Instrument, MarkState] = field(default_factory=dict)
    """State of each instrument; `quoted` where left out."""


def open_account(
    connection: Connection,
    run: StoredRun,
    bot: str,
    subject: Subject,
    *,
    mode: Mode,
    deposit_usd: float,
    at: datetime,
    methodology: str = "",
) -> int:
    """Return the row of a bot's account, opened with a deposit where the bot has none.

    Args:
        run: A run of the recipe and the game; all runs of a recipe share the account.
        subject: The instance of the game, such as a portfolio or a cohort.
        mode: Whether the run is live; a replay has an account of its own.
        methodology: The version of the game's rules, where it has several.
    """
    row = {
        "recipe": run.recipe,
        "game": run.game,
        "mode": mode,
        "methodology": methodology,
        "bot": bot,
        "subject_row": subject_row(connection, run.id, subject),
    }
    opened = insert_one(connection, AccountRow, row)
    if opened is not None:
        add_to_journal(connection, opened, [JournalRow("deposit", at, deposit_usd)])
        return opened
    same = select(accounts.c.id).where(*(accounts.c[name] == value for name, value in row.items()))
    return int(connection.execute(same).scalar_one())


def claim_with_account(
    connection: Connection,
    account_id: int,
    run: StoredRun,
    bot_id: int,
    subject: Subject,
    claimant: Claimant,
    *,
    now: datetime,
    token: str | None = None,
) -> Claim | str:
    """Return the claim on a decision and its account, or why there is none, as `claim` does.

    An account has one writer at a time, in the order of slots. While another run's decision is under way it cannot be
    claimed. Once a later slot had it, an earlier one has `missed` its turn. In a cohort a week has one decision,
    whichever run of the week makes it.
    """
    account = connection.execute(select(accounts).where(accounts.c.id == account_id).with_for_update()).one()
    if account.slot_at is not None and account.slot_at > run.slot_at:
        return "missed"
    before = connection.execute(select(tasks).where(tasks.c.id == account.task_id)).first()
    is_own = before is not None and (before.run_id, before.bot_id) == (run.id, bot_id)
    if before is not None and not is_own and before.status == "claimed" and not is_abandoned(before, claimant, now=now):
        return "claimed"
    is_of_week = account.slot_at is not None and week_of(account.slot_at) == week_of(run.slot_at)
    if before is not None and not is_own and subject.kind == COHORT and is_of_week and before.status != "failed":
        return "missed"
    held = claim(connection, run.id, bot_id, subject, claimant, now=now, token=token)
    if isinstance(held, Claim):
        had = {"task_id": held.task_id, "slot_at": run.slot_at}
        connection.execute(update(accounts).where(accounts.c.id == account_id).values(**had))
    return held


def accounts_at(
    connection: Connection, venue: str, mode: Mode, recipe: str | None = None
) -> tuple[tuple[int, str], ...]:
    """Return row and bot of each account of a venue's runs, of one recipe or of all."""
    at_venue = select(accounts.c.id, accounts.c.bot).join(subjects, subjects.c.id == accounts.c.subject_row)
    of_recipe = [] if recipe is None else [accounts.c.recipe == recipe]
    found = connection.execute(
        at_venue.where(accounts.c.mode == mode, subjects.c.venue == venue, *of_recipe).order_by(accounts.c.id)
    )
    return tuple((row, bot) for row, bot in found)


def free_account(connection: Connection, account_id: int, *, now: datetime) -> bool:
    """Return whether no bot is at work on an account; then none gets it before this transaction ends."""
    query = select(accounts.c.task_id).where(accounts.c.id == account_id).with_for_update()
    task_id = connection.execute(query).scalar_one()
    at_it = (tasks.c.id == task_id, tasks.c.status == "claimed", tasks.c.lease_until > now)
    return connection.execute(select(tasks.c.id).where(*at_it)).first() is None


def has_valuation(connection: Connection, account_id: int, *, at: datetime) -> bool:
    """Return whether an account has a valuation in the interval of an instant."""
    same = (valuations.c.account_id == account_id, valuations.c.at == at - (at - EPOCH) % VALUED_EVERY)
    return connection.execute(select(valuations.c.revision).where(*same)).first() is not None


def last_valued_at(connection: Connection, account_id: int) -> datetime | None:
    """Return the interval of an account's last valuation."""
    found = select(valuations.c.at).where(valuations.c.account_id == account_id).order_by(valuations.c.at.desc())
    return connection.execute(found.limit(1)).scalar()


def is_past(connection: Connection, account_id: int, at: datetime) -> bool:
    """Return whether an account was booked or valued after an instant."""
    later = (
        select(journal.c.number).where(journal.c.account_id == account_id, journal.c.at > at),
        select(valuations.c.revision).where(valuations.c.account_id == account_id, valuations.c.at > at),
    )
    return any(connection.execute(each.limit(1)).first() is not None for each in later)


def lock_account(connection: Connection, account_id: int) -> None:
    """Lock an account, before its task as a claim does: else two transactions may wait for each other."""
    connection.execute(select(accounts.c.id).where(accounts.c.id == account_id).with_for_update())


def require_account(connection: Connection, account_id: int, held: Claim) -> None:
    """Lock an account for a claim, and raise ClaimLost if another claim has it: nothing may be stored then."""
    query = select(accounts.c.task_id).where(accounts.c.id == account_id).with_for_update()
    if connection.execute(query).scalar_one() != held.task_id:
        raise ClaimLost("this account went on with another run, or was never claimed for this one; its journal stands")


def add_to_journal(
    connection: Connection,
    account_id: int,
    rows: Sequence[JournalRow],
    *,
    decision_id: int | None = None,
    resolution: tuple[int, int] | None = None,
    known: Journal | None = None,
) -> None:
    """Add rows to an account's journal; raise `ValueError` if it cannot do that, such as sell what it does not hold.

    Args:
        decision_id: The decision that they follow from.
        resolution: Or market row and revision of the resolution that they follow from.
        known: The journal as it was read before.
    """
    if not rows:
        return
    written = read_account(connection, account_id, known)
    written.with_rows(rows)
    market_row, revision = resolution or (None, None)
    row_of = instrument_rows(connection, dict.fromkeys(row.instrument for row in rows if row.instrument is not None))
    connection.execute(
        insert(journal),
        [
            {
                "account_id": account_id,
                "number": number,
                "kind": row.kind,
                "at": row.at,
                "instrument_row": None if row.instrument is None else row_of[row.instrument],
                "shares": row.shares,
                "cash_usd": row.cash_usd,
                "decision_id": decision_id,
                "market_row": market_row,
                "revision": revision,
            }
            for number, row in enumerate(rows, start=len(written.rows) + 1)
        ],
    )


_JOURNAL_ROWS = (
    select(*journal.c["kind", "at", "cash_usd", "shares", "instrument_row"])
    .add_columns(*journal.c["decision_id", "market_row", "revision"])
    .add_columns(instruments.c.venue, instruments.c.kind.label("instrument_kind"), instruments.c.instrument_id)
    .outerjoin(instruments, instruments.c.id == journal.c.instrument_row)
    .where(journal.c.account_id == bindparam("account_id"), journal.c.number > bindparam("behind"))
    .order_by(journal.c.number)
)


def read_account(connection: Connection, account_id: int, known: Journal | None = None) -> Journal:
    """Return the journal of an account; `known` is what was read before, as no row ever changes."""
    before = known or Journal()
    return before.with_rows(read_journal(connection, account_id, behind=len(before.rows)))


def read_journal(connection: Connection, account_id: int, *, behind: int = 0) -> tuple[JournalRow, ...]:
    """Return the rows of an account's journal in order, those behind a number."""
    rows = list[JournalRow]()
    for row in connection.execute(_JOURNAL_ROWS, {"account_id": account_id, "behind": behind}):
        named = None if row.instrument_row is None else (row.venue, row.instrument_kind, row.instrument_id)
        instrument = None if named is None else Instrument(*named)
        rows.append(JournalRow(row.kind, row.at, row.cash_usd, instrument, row.shares, _origin(row), row.revision))
    return tuple(rows)


def last_prices(connection: Connection, account_id: int) -> Mapping[Instrument, Price]:
    """Return the last price of each instrument an account had, from its valuations and orders."""
    marked: Select[Any] = select(*NAME_OF_INSTRUMENT, marks.c.price, marks.c.priced_at).join(
        instruments, instruments.c.id == marks.c.instrument_row
    )
    ordered: Select[Any] = (
        select(*NAME_OF_INSTRUMENT, _orders.c.price, decisions.c.decided_at)
        .join(instruments, instruments.c.id == _orders.c.instrument_row)
        .join(decisions, decisions.c.id == _orders.c.decision_id)
        .where(
            decisions.c.id.in_(select(journal.c.decision_id).where(journal.c.account_id == account_id)),
            _orders.c.price.is_not(None),
        )
    )
    known = [
        (row[4], Instrument(*row[:3]), row[3])
        for statement in (marked.where(marks.c.account_id == account_id), ordered)
        for row in connection.execute(statement)
    ]
    return {instrument: Price(at, price, source="last") for at, instrument, price in sorted(known)}


def add_valuations(
    connection: Connection, account_id: int, worths: Sequence[AccountValue], *, interval: timedelta = VALUED_EVERY
) -> None:
    """Store an account's value at some instants, each once; raise `ValueError` if a holding has no price.

    Args:
        worths: Oldest first, each in an interval of its own.
        interval: How often the game values accounts; instants are floored to it.
    """
    floored = [each.at - (each.at - EPOCH) % interval for each in worths]
    stored = select(valuations).where(valuations.c.account_id == account_id, valuations.c.at.in_(floored))
    held = {row.at: row for row in connection.execute(stored.order_by(valuations.c.revision))}
    row_of = instrument_rows(connection, dict.fromkeys(instrument for each in worths for instrument in each.prices))
    added, seen = [], []
    for at, each in zip(floored, worths, strict=True):
        account, last = each.journal.account, held.get(at)
        worth_usd = value_usd(account, each.prices)
        if last is not None and (last.cash_usd, last.value_usd) == (account.cash_usd, worth_usd):
            continue
        key = {"account_id": account_id, "at": at, "revision": 1 if last is None else last.revision + 1}
        number = len(each.journal.rows)
        added.append({**key, "journal_number": number, "cash_usd": account.cash_usd, "value_usd": worth_usd})
        seen += [
            {
                **key,
                "instrument_row": row_of[instrument],
                "price": price.mid,
                "priced_at": price.at,
                "state": each.states.get(instrument, "quoted"),
            }
            for instrument, price in each.prices.items()
        ]
    if added:
        connection.execute(insert(valuations), added)
    if seen:
        connection.execute(insert(marks), seen)


def _origin(row: Any) -> str:
    if row.decision_id is not None:
        return f"decision {row.decision_id}"
    return "" if row.market_row is None else f"resolution {row.revision} of market {row.market_row}"


def start_cohort(
    connection: Connection, run: StoredRun, name: str, *, mode: Mode, methodology: str, line_up: Sequence[Member]
) -> bool:
    """Start a cohort of a Sunday, such as `2026-03-01`, whose universe is what a run froze; return whether it is new.

    Its line-up stays, whatever a recipe says later.
    """
    row = {
        **{"recipe": run.recipe, "game": run.game, "mode": mode, "venue": run.venue_name, "name": name},
        **{"methodology": methodology, "run_id": run.id, "started_at": run.as_of},
        "line_up": json.dumps([asdict(member) for member in line_up]),
    }
    return insert_one(connection, CohortRow, row) is not None


def archive_cohorts(connection: Connection, rows: Sequence[int], reason: str, *, at: datetime) -> int:
    """Archive cohorts, and return how many were not; an archived one keeps its first reason."""
    changed = update(cohorts).where(cohorts.c.id.in_(rows), cohorts.c.archived_at.is_(None))
    return connection.execute(changed.values(archived_at=at, archived_reason=reason)).rowcount


def unarchive_cohorts(connection: Connection, rows: Sequence[int]) -> int:
    """Count cohorts in scores again, and return how many were archived."""
    changed = update(cohorts).where(cohorts.c.id.in_(rows), cohorts.c.archived_at.is_not(None))
    return connection.execute(changed.values(archived_at=None, archived_reason=None)).rowcount
