"""Cohorts with the accounts of their members, as of an instant, in a few queries for all; and as rows for Python."""

import json
import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cache
from typing import Any

from sqlalchemy import Connection, and_, func, select

from predibot.contracts import Game
from predibot.domain.account import Account
from predibot.domain.event import Market
from predibot.games.cohorts import COHORT, Cohort, CohortRules, Member, cohort_start
from predibot.games.positions import CohortPosition, PositionState, Standing, positions_of, standing_of
from predibot.ledger.read.accounts.as_of import AccountAsOf, accounts_as_of
from predibot.ledger.schema.values import LAST_INSTANT
from predibot.ledger.write.accounts import accounts, cohorts
from predibot.ledger.write.claims import subjects
from predibot.ledger.write.events import markets
from predibot.ledger.write.prices_and_resolutions import resolutions
from predibot.ledger.write.runs import frozen_events, runs
from predibot.ledger.write.turns import turns
from predibot.plugins.games import load_stored_game
from predibot.rows import grouped

_SHARED = ("recipe", "game", "mode", "methodology")
"""Columns that an account and its cohort share, beside venue and name."""


@dataclass(frozen=True, slots=True)
class StoredCohort:
    """A cohort as it is stored, and with its accounts where they are read."""

    row: int
    recipe: str
    game: str
    mode: str
    venue: str
    name: str
    methodology: str
    run_id: int
    """The run that froze its universe."""
    started_at: datetime
    members: tuple[Member, ...]
    played: Game | None
    """None where the game is not installed any more."""
    archived_at: datetime | None = None
    archived_reason: str | None = None
    accounts: Mapping[str, "MemberAccount"] = field(default_factory=dict)
    """Accounts of its members by bot, in the order of rows; read as of an instant, as all that follows."""
    ended_at: datetime | None = None
    """When nothing could happen in it any more; None while it goes on."""
    decides: bool = False

    @property
    def rules(self) -> CohortRules:
        """Return its rules; without a game, all cohorts decide as long as they can."""
        return (None if self.played is None else self.played.cohorts) or CohortRules()

    @property
    def start(self) -> datetime:
        """Return its Sunday, 00:00 UTC."""
        return cohort_start(self.name)

    def to_cohort(self, open_positions: int = 0, open_markets: int = 1) -> Cohort:
        """Return the cohort as its rules see it."""
        return Cohort(self.start, self.archived_at is not None, open_positions, open_markets)

    @property
    def group(self) -> tuple[str, str, str, str]:
        """Return recipe, game, mode and methodology: only results of one group may be compared."""
        return self.recipe, self.game, self.mode, self.methodology

    @property
    def open_positions(self) -> int:
        """Return the number of all members' positions."""
        return sum(len(each.account.positions) for each in self.accounts.values())

    @property
    def values_usd(self) -> Mapping[str, float | None]:
        """Return the members' values by bot."""
        return {bot: each.value_usd for bot, each in self.accounts.items()}

    @property
    def mean_profit_usd(self) -> float | None:
        """Return the mean over all members; None where one has no account or no value."""
        gained = [each.profit_usd for each in self.accounts.values() if each.profit_usd is not None]
        return math.fsum(gained) / len(gained) if gained and len(gained) == len(self.members) else None


@dataclass(frozen=True, slots=True)
class MemberAccount:
    """The account of a cohort's member, as of an instant."""

    row: int
    cohort: int
    bot: str
    known: AccountAsOf
    positions: tuple[CohortPosition, ...]
    """In the order in which they were opened, ended ones too."""
    standing: Standing
    """Whether it can still bet."""

    @property
    def account(self) -> Account:
        """Return the fold of its journal."""
        return self.known.account

    @property
    def stake_usd(self) -> float:
        """Return the cash it began with."""
        return self.account.paid_in_usd

    @property
    def cash_usd(self) -> float:
        """Return its cash."""
        return self.account.cash_usd

    @property
    def value_usd(self) -> float | None:
        """Return its value, its cash where it holds nothing; None if unknown."""
        return self.known.value_usd if self.account.positions else self.cash_usd

    @property
    def profit_usd(self) -> float | None:
        """Return its gain."""
        return None if self.value_usd is None else self.value_usd - self.stake_usd

    @property
    def valued_at(self) -> datetime | None:
        """Return when its value was last known."""
        return self.known.valued_at

    @property
    def states(self) -> Mapping[PositionState, int]:
        """Return the number of positions in each state."""
        return Counter(position.state for position in self.positions)


def read_cohorts(
    connection: Connection, as_of: datetime, *, venue: str | None = None, recipe: str | None = None
) -> tuple[StoredCohort, ...]:
    """Return the cohorts that have started by an instant, archived ones too, oldest first in each group.

    Raises:
        ValueError, TypeError, UsageError: If a row is malformed.
    """
    filters = {"venue": venue, "recipe": recipe}
    statement = (
        select(cohorts, runs.c.recipe_json)
        .join(runs, runs.c.id == cohorts.c.run_id)
        .where(cohorts.c.started_at <= as_of)
        .where(*(cohorts.c[column] == value for column, value in filters.items() if value is not None))
        .order_by(*(cohorts.c[column] for column in (*_SHARED, "venue", "name")))
    )
    played = cache(load_stored_game)
    return tuple(
        StoredCohort(
            row=row.id,
            members=tuple(Member(**member) for member in json.loads(row.line_up)),
            played=played(row.game, row.recipe_json, row.methodology),
            **{
                column: getattr(row, column)
                for column in (*_SHARED, "venue", "name", "run_id", "started_at", "archived_at", "archived_reason")
            },
        )
        for row in connection.execute(statement)
    )


def member_accounts(
    connection: Connection,
    found: Sequence[StoredCohort],
    as_of: datetime,
    *,
    bot_names: Sequence[str] = (),
    as_booked: bool = False,
) -> tuple[MemberAccount, ...]:
    """Return the accounts of cohorts at an instant, of all bots or some, in the order of their rows."""
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
    least_cash_usd = {each.row: each.rules.least_cash_usd for each in found}
    found_accounts = accounts_as_of(connection, [row for row, *_ in named], as_of, as_booked=as_booked)
    made = []
    for row, cohort, bot in named:
        if (own := found_accounts.get(row)) is None:
            # It was opened later.
            continue
        closed = {instrument for instrument, mark in own.marks.items() if mark.state in ("closed", "settled")}
        standing = standing_of(own.account, least_cash_usd[cohort])
        made.append(MemberAccount(row, cohort, bot, own, positions_of(own.rows, closed), standing))
    return tuple(made)


def cohorts_as_of(
    connection: Connection, as_of: datetime, *, venue: str | None = None, recipe: str | None = None
) -> tuple[StoredCohort, ...]:
    """Return `read_cohorts` with their accounts; archived ones too, as newer cohorts end the window of older ones."""
    kept = read_cohorts(connection, as_of, venue=venue, recipe=recipe)
    own = defaultdict[int, dict[str, MemberAccount]](dict)
    for member in member_accounts(connection, kept, as_of):
        own[member.cohort][member.bot] = member
    # Cohorts of a recipe go on by their own methodology, and newer ones of any end the window of older ones.
    groups = grouped(((cohort.venue, *cohort.group[:3]), cohort) for cohort in kept)
    found = {}
    for of_group in groups.values():
        every = [each.to_cohort() for each in of_group]
        for each in of_group:
            rules, held = each.rules, sum(len(one.account.positions) for one in own[each.row].values())
            # Only where neither weeks nor newer cohorts end the window, the markets do.
            by_markets = rules.latest is None and rules.weeks is None and not held
            _, unpaid, paid_at = count_markets(connection, each, (), as_of) if by_markets else (0, 1, None)
            known = each.to_cohort(held, unpaid)
            ended_at = None
            if rules.is_complete(known, every, as_of):
                booked = [one.known.rows[-1].at for one in own[each.row].values()]
                window = paid_at if by_markets else rules.window_end(known, every)
                ended_at = max(at for at in (each.started_at, *booked, window) if at is not None)
            decides = ended_at is None and rules.decides(known, every, as_of)
            found[each.row] = replace(each, accounts=own[each.row], ended_at=ended_at, decides=decides)
    return tuple(found[each.row] for each in kept)


def read_universe(
    connection: Connection, cohort: StoredCohort, account_rows: Sequence[int], as_of: datetime
) -> Mapping[str, Market]:
    """Return the markets that a cohort played up to an instant, by id: of its first run, or of every run it plays.

    Args:
        account_rows: The accounts whose turns tell in which runs it plays.
    """
    of_runs = {cohort.run_id}
    if cohort.rules.fresh:
        own = (turns.c.account_id.in_(account_rows), turns.c.at <= as_of)
        of_runs.update(connection.execute(select(turns.c.run_id).where(*own).distinct()).scalars())
    return {
        market.id: market
        for run_id in sorted(of_runs)
        for event in frozen_events(connection, run_id)
        for market in event.markets
    }


def count_markets(
    connection: Connection, cohort: StoredCohort, account_rows: Sequence[int], as_of: datetime
) -> tuple[int, int, datetime | None]:
    """Return how many markets a cohort played, how many have not paid, and when the last one paid."""
    universe = read_universe(connection, cohort, account_rows, as_of)
    statement = (
        select(markets.c.market_id, func.min(resolutions.c.effective_at))
        .join(resolutions, resolutions.c.market_row == markets.c.id)
        .where(markets.c.venue == cohort.venue, resolutions.c.effective_at <= as_of)
        .group_by(markets.c.market_id)
    )
    resolved = {market: at for market, at in connection.execute(statement) if market in universe}
    return len(universe), len(universe) - len(resolved), max(resolved.values(), default=None)


_COHORT_FIELDS = ("recipe", "game", "mode", "methodology", "started_at", "archived_reason")
_ACCOUNT_FIELDS = ("stake_usd", "cash_usd", "value_usd", "profit_usd", "standing", "valued_at")


@dataclass(frozen=True, slots=True)
class LedgerCohort:
    """A member's result in one weekly cohort."""

    cohort: str
    """Its Sunday, as `2026-03-01`."""
    recipe: str
    game: str
    mode: str
    methodology: str
    bot: str
    display_name: str
    started_at: datetime
    complete_at: datetime | None
    """When nothing could happen in it any more; None while it goes on."""
    archived_reason: str | None
    """Why it is in no score; None if it is."""
    stake_usd: float | None
    """None for a member without an account, as the next five."""
    cash_usd: float | None
    value_usd: float | None
    """None also where a position has no known value."""
    profit_usd: float | None
    standing: Standing | None
    valued_at: datetime | None
    open: int
    """Number of positions held, also in markets closed and not settled."""
    won: int
    lost: int
    exited: int
    cancelled: int


def select_cohorts(
    connection: Connection, *, recipe: str | None = None, as_of: datetime | None = None
) -> tuple[LedgerCohort, ...]:
    """Return all members of cohorts, archived ones too, by recipe, mode and Sunday, in line-up order."""
    found = []
    for cohort in cohorts_as_of(connection, as_of or LAST_INSTANT, recipe=recipe):
        for member in cohort.members:
            own = cohort.accounts.get(member.bot_id)
            states = {} if own is None else own.states
            of_account: dict[str, Any] = {name: getattr(own, name, None) for name in _ACCOUNT_FIELDS}
            found.append(
                LedgerCohort(
                    cohort=cohort.name,
                    bot=member.bot_id,
                    display_name=member.display_name,
                    complete_at=cohort.ended_at,
                    **{name: getattr(cohort, name) for name in _COHORT_FIELDS},
                    **of_account,
                    open=states.get("open", 0) + states.get("PENDING", 0),
                    won=states.get("WON", 0),
                    lost=states.get("LOST", 0),
                    exited=states.get("EXITED", 0),
                    cancelled=states.get("CANCELLED", 0),
                )
            )
    return tuple(found)
