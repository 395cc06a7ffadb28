"""Weekly cohorts stored by hand: what each bot answered, at which prices, and what markets paid."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime, timedelta

from sqlalchemy import insert, select, update

from predibot.domain.account import JournalRow
from predibot.domain.account_past import AccountPast
from predibot.domain.decision import Subject
from predibot.domain.event import Event, Market, MarketRef, prices_of
from predibot.domain.price import SIDES, Quote
from predibot.domain.resolution import Resolution
from predibot.errors import AnswerError
from predibot.games.accounts import account_of
from predibot.games.cohorts import Member, cohort_name
from predibot.games.fills import FillModel
from predibot.games.weekly_cohort import WeeklyCohort
from predibot.jobs.deciding.accounts.advance import MarketSnapshot, bring_up_to_date
from predibot.ledger.schema.tables import AccountRow, CohortRow
from predibot.ledger.schema.upsert import insert_one, table_of
from predibot.ledger.store import Store
from predibot.ledger.write.accounts import add_to_journal, claim_with_account, read_journal
from predibot.ledger.write.claims import Claim, subject_row
from predibot.ledger.write.decisions import DecisionResult, store_decision
from predibot.ledger.write.events import markets
from predibot.ledger.write.runs import StoredRun
from predibot.ledger.write.turns import add_turn
from tests.games.weekly_cohort.world import bets, sells
from tests.ledger.by_hand import a_run, claimant, plan, rows_of

SUNDAY = datetime(2026, 3, 1, tzinfo=UTC)
WEEK = timedelta(weeks=1)
VENUE = "polymarket"
_PENDING = -1.0
"""What a market is said to have paid that is closed and not resolved."""
cohorts = table_of(CohortRow)

__all__ = ["HOLD", "SUNDAY", "VENUE", "WEEK", "Weeks", "bets", "sells"]
HOLD = {"action": "HOLD", "reasoning": "wait"}


@dataclass
class Weeks:
    """Weekly cohorts of the recipe `weekly` in a store, on markets `a` to `d` of two outcomes."""

    store: Store
    version: str = "v2"
    mode: str = "replay"
    recipe: str = "weekly"
    ids: Sequence[str] = ("a", "b", "c", "d")
    prices: dict[str, float] = field(default_factory=dict)
    last: dict[str, float] = field(default_factory=dict)
    """The last trade of a market, where one is known beside its price."""
    paid: dict[str, float | None] = field(default_factory=dict)
    runs: dict[str, StoredRun] = field(default_factory=dict)
    opened: dict[tuple[str, str], int] = field(default_factory=dict)

    def start(self, week: int, bots: Sequence[str] = ("one", "two"), *, names: Mapping[str, str] | None = None) -> str:
        """Start the cohort of a week, with an account of $10,000 for each bot, and return its name."""
        start = SUNDAY + week * WEEK
        name, at = cohort_name(start), start + timedelta(minutes=5)
        self.run(week, bots)
        row = {
            **{"recipe": self.recipe, "game": "weekly_cohort", "mode": self.mode, "venue": VENUE, "name": name},
            **{"methodology": self.version, "run_id": self.runs[f"{week}"].id, "started_at": at},
            "line_up": json.dumps([asdict(Member(bot, (names or {}).get(bot, bot))) for bot in bots]),
        }
        with self.store.write() as connection:
            connection.execute(insert(cohorts).values(**row))
            subject = subject_row(connection, self.runs[f"{week}"].id, Subject("cohort", name))
            for bot in bots:
                account = {
                    **{key: row[key] for key in ("recipe", "game", "mode", "methodology")},
                    **{"bot": bot, "subject_row": subject},
                }
                opened = insert_one(connection, AccountRow, account)
                assert opened is not None
                self.opened[name, bot] = opened
                add_to_journal(connection, opened, [JournalRow("deposit", at, WeeklyCohort.stake_usd)])
        return name

    def run(self, week: int, bots: Sequence[str]) -> StoredRun:
        """Return the run of a week, which is made where there is none."""
        if f"{week}" not in self.runs:
            at = SUNDAY + week * WEEK + timedelta(minutes=5)
            named = plan(key=f"{self.recipe}@{at:%Y-%m-%dT%H:%MZ}", game="weekly_cohort")
            said = {name: getattr(named, name) for name in ("key", "game", "recipe", "recipe_json", "digest")}
            self.runs[f"{week}"] = a_run(self.store, *self.events(at), bots=tuple(bots), slot_at=at, as_of=at, **said)
        return self.runs[f"{week}"]

    def events(self, at: datetime) -> tuple[Event, ...]:
        """Return the markets as they are listed: those that paid are closed."""
        return tuple(Event(f"e-{name}", f"Will {name} happen?", (self.market(name, at),)) for name in self.ids)

    def market(self, name: str, at: datetime) -> Market:
        quote = None if name in self.paid else Quote(at, displayed=self.prices.get(name, 0.5), last=self.last.get(name))
        return Market(MarketRef(name), f"Will {name} happen?", ("Yes", "No"), quote=quote, closed=name in self.paid)

    def known(self, at: datetime) -> MarketSnapshot:
        """Return what the venue says at an instant."""
        events = self.events(at)
        with self.store.read() as connection:
            rows = {
                name: row
                for row, name in connection.execute(select(markets.c.id, markets.c.market_id))
                if name in self.paid
            }
        return MarketSnapshot(
            at,
            {instrument: price for event in events for instrument, price in prices_of(event, VENUE).items()},
            frozenset(
                market.ref.instrument(VENUE, side)
                for event in events
                for market in event.markets
                if market.closed
                for side in SIDES
            ),
            {
                row: (Resolution(self.paid[name], at, "venue", at),)
                for name, row in rows.items()
                if self.paid[name] != _PENDING
            },
        )

    def value(self, at: datetime) -> None:
        """Settle what is paid, and value every account."""
        known = self.known(at)
        with self.store.write() as connection:
            for account in self.opened.values():
                bring_up_to_date(connection, account, known)

    def decide(self, week: int, cohort: str, bot: str, answer: object, *, cost_usd: float | None = 0.01) -> str:
        """Have a bot answer in a cohort, in the run of a week; return how that ended."""
        at = SUNDAY + week * WEEK + timedelta(minutes=5)
        run, account_id = self.run(week, (bot,)), self.opened[cohort, bot]
        bot_id, catalogue = rows_of(self.store, run, bot)
        subject, events = Subject("cohort", cohort), self.events(at)
        who = claimant(began_at=at)
        with self.store.write() as connection:
            held = claim_with_account(connection, account_id, run, bot_id, subject, who, now=at)
            assert isinstance(held, Claim)
            bring_up_to_date(connection, account_id, self.known(at))
            add_turn(connection, account_id, run.slot_at, run.id, at=at)
            journal = read_journal(connection, account_id)
        game, account = WeeklyCohort().by_methodology(self.version), account_of(journal)
        view = game.view(subject, events, venue=VENUE, account=account, past=AccountPast(journal=journal, at=at))
        quotes = {market.id: market.quote for event in events for market in event.markets if market.quote is not None}
        try:
            decision = game.form(view).parse(answer)
            booking = game.book(decision, view, account, view.prices, FillModel("mid"))
            done = DecisionResult(
                *("recorded", at, events),
                decision=decision,
                booking=booking,
                booked={name: quote for name, quote in quotes.items() if quote is not None},
                prices=view.prices,
                account_id=account_id,
                cost_usd=cost_usd,
                cost_known_usd=cost_usd or 0.0,
            )
        except AnswerError as error:
            done = DecisionResult("refused", at, events, str(error), account_id=account_id, cost_usd=cost_usd)
        with self.store.write() as connection:
            store_decision(connection, held, done, run_id=run.id, bot_id=bot_id, catalogue=catalogue, now=at)
        return done.status

    def close(self, name: str) -> None:
        """Close a market that is not resolved yet."""
        self.paid[name] = _PENDING

    def archive(self, cohort: str, reason: str = "the prices were wrong") -> None:
        with self.store.write() as connection:
            changed = update(cohorts).where(cohorts.c.name == cohort)
            connection.execute(changed.values(archived_at=SUNDAY + WEEK, archived_reason=reason))
