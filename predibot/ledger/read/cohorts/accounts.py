"""The cohorts of a ledger and the accounts of their members, as of an instant, in a few queries for all of them."""

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, and_, func, select

from predibot.domain.account import Account, JournalRow, MarkState
from predibot.domain.price import Instrument
from predibot.games.accounts import account_of
from predibot.games.weekly_cohort.cohorts import Member, cohort_start
from predibot.games.weekly_cohort.positions import CohortPosition, Standing, positions_of, standing_of
from predibot.games.weekly_cohort.rules import COHORT
from predibot.ledger.schema.tables import CohortRow
from predibot.ledger.schema.upsert import table_of
from predibot.ledger.write.accounts import accounts, journal, marks, valuations
from predibot.ledger.write.claims import subjects
from predibot.ledger.write.events import instruments

cohorts = table_of(CohortRow)
_SHARED = ("recipe", "game", "mode", "methodology")
"""What an account has in common with its cohort, beside the venue and the name."""


@dataclass(frozen=True, slots=True)
class KeptCohort:
    """A cohort as it is stored."""

    row: int
    recipe: str
    game: str
    mode: str
    venue: str
    name: str
    methodology: str
    run_id: int
    """Its universe is what this run froze."""
    started_at: datetime
    members: tuple[Member, ...]
    archived_at: datetime | None = None
    archived_reason: str | None = None

    @property
    def start(self) -> datetime:
        """Return its Sunday, 00:00 UTC."""
        return cohort_start(self.name)

    @property
    def group(self) -> tuple[str, str, str, str]:
        """Return recipe, game, mode and methodology: only of one such group results may be compared."""
        return self.recipe, self.game, self.mode, self.methodology


@dataclass(frozen=True, slots=True)
class Mark:
    """What a position was marked at in the last valuation of its account."""

    price: float
    priced_at: datetime
    state: MarkState


@dataclass(frozen=True, slots=True)
class MemberAccount:
    """The account of a member of a cohort, as of an instant."""

    row: int
    cohort: int
    """The row of its cohort."""
    bot: str
    account: Account
    positions: tuple[CohortPosition, ...]
    """In the order in which they were opened, ended ones too."""
    booked_at: datetime
    """When its journal was last written to."""
    valued_at: datetime | None
    valued_usd: float | None
    marks: Mapping[Instrument, Mark]
    """Of the last valuation."""

    @property
    def stake_usd(self) -> float:
        """Return what it began with."""
        return self.account.paid_in_usd

    @property
    def value_usd(self) -> float | None:
        """Return what it is worth: as it was last valued, its cash where it holds nothing; None if nobody knows."""
        return self.valued_usd if self.account.positions else self.account.cash_usd

    @property
    def standing(self) -> Standing:
        """Return whether it can still bet."""
        return standing_of(self.account)


def kept_cohorts(
    connection: Connection,
    as_of: datetime,
    *,
    venue: str | None = None,
    recipe: str | None = None,
    name: str | None = None,
) -> tuple[KeptCohort, ...]:
    """Return the cohorts that have started by an instant, archived ones too, oldest first in each group.

    Args:
        connection: A reading transaction.
        as_of: Those that start later are left out.
        venue: Only of this venue, as runs name it.
        recipe: Only of the recipe with this name.
        name: Only of this Sunday.

    Raises:
        ValueError, TypeError, UsageError: If a row is not as predibot writes it.
    """
    asked = {"venue": venue, "recipe": recipe, "name": name}
    statement = (
        select(cohorts)
        .where(cohorts.c.started_at <= as_of)
        .where(*(cohorts.c[column] == value for column, value in asked.items() if value is not None))
        .order_by(*(cohorts.c[column] for column in (*_SHARED, "venue", "name")))
    )
    return tuple(
        KeptCohort(
            row=row.id,
            members=tuple(Member(**member) for member in json.loads(row.line_up)),
            **{
                column: getattr(row, column)
                for column in (*_SHARED, "venue", "name", "run_id", "started_at", "archived_at", "archived_reason")
            },
        )
        for row in connection.execute(statement)
    )


def member_accounts(
    connection: Connection, found: Sequence[KeptCohort], as_of: datetime, *, bot_names: Sequence[str] = ()
) -> tuple[MemberAccount, ...]:
    """Return the accounts of cohorts as they were at an instant, in the order of their rows.

    Args:
        connection: A reading transaction.
        found: The cohorts.
        as_of: Nothing that was booked or valued later is read.
        bot_names: Only of these bots; empty for all.

    Raises:
        ValueError: If a journal cannot be folded: `predibot ledger verify` says why.
    """
    statement = (
        select(accounts.c.id, cohorts.c.id, accounts.c.bot)
        .select_from(accounts)
        .join(subjects, subjects.c.id == accounts.c.subject_row)
        .join(
            cohorts,
            and_(
                *(cohorts.c[name] == accounts.c[name] for name in _SHARED),
                cohorts.c.venue == subjects.c.venue,
                cohorts.c.name == subjects.c.subject_id,
            ),
        )
        .where(subjects.c.kind == COHORT, cohorts.c.id.in_([each.row for each in found]))
        .where(*([accounts.c.bot.in_(bot_names)] if bot_names else []))
        .order_by(accounts.c.id)
    )
    named = connection.execute(statement).all()
    own = [row for row, *_ in named]
    journals = _journals(connection, own, as_of)
    valued = _valued(connection, own, as_of)
    marked = _marked(connection, own, as_of)
    made = []
    for row, cohort, bot in named:
        if not (rows := journals.get(row)):
            # It was opened later.
            continue
        at, value = valued.get(row, (None, None))
        its_marks = marked.get(row, {})
        closed = {instrument for instrument, mark in its_marks.items() if mark.state in ("closed", "settled")}
        made.append(
            MemberAccount(
                row=row,
                cohort=cohort,
                bot=bot,
                account=account_of(rows),
                positions=positions_of(rows, closed),
                booked_at=rows[-1].at,
                valued_at=at,
                valued_usd=value,
                marks=its_marks,
            )
        )
    return tuple(made)


def _journals(connection: Connection, own: Sequence[int], as_of: datetime) -> Mapping[int, list[JournalRow]]:
    statement = (
        select(journal.c.account_id, journal.c.kind, journal.c.at, journal.c.cash_usd, journal.c.shares)
        .add_columns(journal.c.instrument_row, journal.c.revision)
        .where(journal.c.account_id.in_(own), journal.c.at <= as_of)
        .order_by(journal.c.account_id, journal.c.number)
    )
    rows = connection.execute(statement).all()
    named = _instruments(connection, {row.instrument_row for row in rows if row.instrument_row is not None})
    found = defaultdict[int, list[JournalRow]](list)
    for account, kind, at, cash_usd, shares, instrument, revision in rows:
        entry = JournalRow(kind, at, cash_usd, named.get(instrument), shares, revision=revision)
        found[account].append(entry)
    return found


def _instruments(connection: Connection, rows: set[int]) -> Mapping[int, Instrument]:
    columns = (instruments.c.id, instruments.c.venue, instruments.c.kind, instruments.c.instrument_id)
    statement = select(*columns)
    if len(rows) < 10_000:
        statement = statement.where(instruments.c.id.in_(rows))
    return {row: Instrument(*name) for row, *name in connection.execute(statement)}


def _last_valued(as_of: datetime) -> Any:
    """Return the instant of an account's last valuation, for the statement that it stands in."""
    return (
        select(func.max(valuations.c.at))
        .where(valuations.c.account_id == accounts.c.id, valuations.c.at <= as_of)
        .correlate(accounts)
        .scalar_subquery()
    )


def _valued(connection: Connection, own: Sequence[int], as_of: datetime) -> Mapping[int, tuple[datetime, float]]:
    inner = valuations.alias("last")
    statement = (
        select(accounts.c.id, inner.c.at, inner.c.value_usd)
        .select_from(accounts)
        .join(inner, and_(inner.c.account_id == accounts.c.id, inner.c.at == _last_valued(as_of)))
        .where(accounts.c.id.in_(own))
        .order_by(accounts.c.id, inner.c.revision)
    )
    # Of several revisions the last one stays.
    return {account: (at, value) for account, at, value in connection.execute(statement)}


def _marked(connection: Connection, own: Sequence[int], as_of: datetime) -> Mapping[int, dict[Instrument, Mark]]:
    statement = (
        select(accounts.c.id, marks.c.instrument_row, marks.c.price, marks.c.priced_at, marks.c.state)
        .select_from(accounts)
        .join(marks, and_(marks.c.account_id == accounts.c.id, marks.c.at == _last_valued(as_of)))
        .where(accounts.c.id.in_(own))
        .order_by(accounts.c.id, marks.c.revision)
    )
    rows = connection.execute(statement).all()
    named = _instruments(connection, {row.instrument_row for row in rows})
    found = defaultdict[int, dict[Instrument, Mark]](dict)
    for account, instrument, *mark in rows:
        found[account][named[instrument]] = Mark(*mark)
    return found
