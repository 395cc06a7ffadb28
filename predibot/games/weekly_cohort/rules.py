"""The rules of a weekly cohort: its accounts, its view, and the booking of its answers."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, ClassVar

from predibot.domain.account import Account, JournalRow
from predibot.domain.account_past import AccountPast
from predibot.domain.category import category_of
from predibot.domain.decision import Booking, Decision, Subject
from predibot.domain.event import Event, Market
from predibot.domain.price import Instrument, Price
from predibot.domain.terms import ModelSettings
from predibot.errors import UsageError
from predibot.games.cohorts import COHORT, CohortRules, cohort_start, decision_week
from predibot.games.fills import FillModel
from predibot.games.game import Game
from predibot.games.outcomes import Outcome, outcomes_of
from predibot.games.positions import positions_of
from predibot.games.weekly_cohort.execution import check, execute
from predibot.games.weekly_cohort.form import SYSTEM_HOLD, CohortForm
from predibot.games.weekly_cohort.methodology import (
    CANNOT_BET_USD,
    MAX_SHARE,
    MIN_BET_USD,
    STAKE_USD,
    UNIVERSE_MARKETS,
    Methodology,
    Universe,
    Version,
    methodology_of,
    stored_methodology,
)
from predibot.games.weekly_cohort.view import CohortMarket, CohortView, ShownPosition
from predibot.games.weekly_cohort.words import VIEW_TOKENS, tokens_bound, view_text
from predibot.selection import MARKET_VOLUME, SelectionRules

_MAX_COMPLAINT = 2_000
_TOLERANCE_USD = 1e-6


@dataclass(frozen=True, slots=True)
class WeeklyCohort(Game):
    """$10,000 a cohort, and a new cohort every week: bet, sell or hold once a week."""

    name: ClassVar = "weekly_cohort"
    stake_usd: ClassVar = STAKE_USD
    scores: ClassVar = ("value",)
    most_view_tokens: ClassVar = VIEW_TOKENS
    offers: ClassVar = ()
    repairs: ClassVar = 1
    """How many answers may follow a refused one; then the system holds."""
    model_settings: ClassVar = ModelSettings(temperature=0.0, max_tokens=16_000)
    methodology: Version = "v1"
    """`v1` is Forecaster Arena's as it was published; `v2` has a cap for all bets together, and the next two."""
    weeks: int | None = None
    """In how many weeks a cohort of `v1` decides; left out, 12. With 0 it is the `v1` of older ledgers."""
    universe: Universe | None = None
    """With `v2`: the `frozen` markets of the cohort's start, which is the default, or `fresh` ones each week."""
    fees: bool | None = None
    """With `v2`: whether the venue's fees are charged; left out, they are."""

    def __post_init__(self) -> None:
        """Refuse an unknown version, and parameters that it does not take."""
        methodology_of(self.methodology, weeks=self.weeks, universe=self.universe, fees=self.fees)

    @property
    def terms(self) -> Methodology:
        """Return the rules of its version, with their parameters."""
        return methodology_of(self.methodology, weeks=self.weeks, universe=self.universe, fees=self.fees)

    @property
    def methodology_key(self) -> str:
        """Return the version of its rules with their parameters."""
        return self.terms.key

    def by_methodology(self, key: str) -> "WeeklyCohort":
        """Return the game by the rules that a ledger stores under this name."""
        terms = stored_methodology(key)
        if terms.version == "v1":
            return WeeklyCohort("v1", weeks=terms.weeks or 0)
        return WeeklyCohort("v2", universe=terms.universe, fees=terms.fees)

    @property
    def cohorts(self) -> CohortRules:
        """Return which cohorts decide, on which markets, and the least cash to bet."""
        terms = self.terms
        return CohortRules(terms.latest, terms.weeks, terms.universe == "fresh", CANNOT_BET_USD)

    def price_of(self, price: Price) -> Price:
        """Return a venue's price as bets and sales are booked at it."""
        return self.terms.price_of(price)

    def select(self, rules: SelectionRules) -> SelectionRules:
        """Return the rules for its universe: the 500 open markets with the highest volume since they opened."""
        return replace(
            rules,
            ends_within_days="any",
            min_hours_left="any",
            exclude=(),
            min_volume_24h_usd=0.0,
            rank_by=MARKET_VOLUME,
            max_markets=0,
            events=UNIVERSE_MARKETS,
            named_outcomes=True,
        )

    def subjects(self, events: Sequence[Event]) -> tuple[Subject, ...]:
        """Return nothing: which cohorts decide follows from those that have started."""
        return ()

    def view(
        self,
        subject: Subject,
        events: Sequence[Event],
        *,
        venue: str,
        account: Account | None = None,
        past: AccountPast | None = None,
    ) -> CohortView:
        """Return the account with its positions, and the markets; closed ones have no price.

        `events` has the markets of the universe, in order, and those with positions; `past` has the instant, the
        journal, last prices, and which markets are outside the universe. Raises `UsageError` if it is no cohort with an
        account, or no event shows a position.
        """
        if subject.kind != COHORT or account is None:
            raise UsageError(f"{subject.kind} {subject.id!r} is no cohort with an account")
        known = AccountPast() if past is None else past
        terms = self.terms

        def outcomes(market: Market) -> tuple[Outcome, ...]:
            found = outcomes_of(market, venue)
            return tuple(
                each if (at := each.price) is None else replace(each, price=terms.price_of(at)) for each in found
            )

        markets = tuple(
            CohortMarket(market, outcomes(market), category_of(event.tags), in_universe=market.id not in known.outside)
            for event in events
            for market in event.markets
            if len(market.outcomes) >= 2
        )
        at = known.at or _latest(markets)
        week = decision_week(cohort_start(subject.id), at)
        held = tuple(_shown_positions(account, known, markets))
        return CohortView(at, subject.id, week, account, markets, held, terms)

    def view_tokens(self, view: CohortView) -> int:
        """Return about how many tokens the account and the markets take."""
        return tokens_bound(view_text(view))

    def form(self, view: CohortView, *, price_blind: bool = False) -> CohortForm:
        """Return the form of an answer."""
        return CohortForm(view, price_blind)

    def given_up(self, complaint: str) -> Decision:
        """Return a HOLD with the note that the system made it."""
        note = f"{SYSTEM_HOLD}, as no answer could be taken: {complaint[:_MAX_COMPLAINT]}"
        return Decision(notes=(note,), by_system=True)

    def book(
        self,
        answer: Decision,
        view: CohortView,
        account: Account | None,
        quotes: Mapping[Instrument, Price],
        fills: FillModel,
    ) -> Booking:
        """Return the booking of a decision; raise `AnswerError` that names every broken rule.

        Raises `MarketClosed`, and writes nothing, if nothing can be filled, or only part of what is booked whole or not
        at all: the decision may be tried again.
        """
        check(answer, view)
        return execute(answer, view, view.account if account is None else account, quotes, fills, at=view.at)

    def misplayed(self, journal: Sequence[JournalRow], orders: Mapping[str, Sequence[Any]]) -> Iterator[str]:
        """Yield how an account broke the rules of bets; the cash before each row follows from its journal."""
        rules = self.terms
        cash_usd, before, bet_usd = 0.0, dict[str, float](), defaultdict[str, float](float)
        for number, row in enumerate(journal, start=1):
            if row.kind == "fee" and not rules.fees:
                yield f"row {number} is a fee, and with {rules.version} there are none"
            if row.kind == "fill" and row.shares > 0.0:
                began_usd = before.setdefault(row.follows_from, cash_usd)
                bet_usd[row.follows_from] += -row.cash_usd
                most = MAX_SHARE * (cash_usd if rules.cap == "leg" else began_usd)
                spent = -row.cash_usd if rules.cap == "leg" else bet_usd[row.follows_from]
                if spent > most + _TOLERANCE_USD:
                    yield f"row {number} makes bets of ${spent:,.2f}, of which ${most:,.2f} are allowed"
            cash_usd += row.cash_usd
        for decision, of_one in orders.items():
            if len({row.side for row in of_one}) > 1:
                yield f"{decision} buys and sells at once"
            bought = [row for row in of_one if row.side == "buy"]
            if any(row.amount < MIN_BET_USD - _TOLERANCE_USD for row in bought):
                yield f"{decision} has a bet of less than ${MIN_BET_USD:g}"
            if rules.all_or_nothing and any(row.status != "filled" for row in bought):
                yield f"{decision} has bets that were not booked, beside some that were"


def _latest(markets: Sequence[CohortMarket]) -> datetime:
    instants = [outcome.price.at for market in markets for outcome in market.outcomes if outcome.price is not None]
    if not instants:
        raise UsageError("no market of the cohort is quoted and no instant is given, so nothing can be decided")
    return max(instants)


def _shown_positions(account: Account, past: AccountPast, markets: Sequence[CohortMarket]) -> Iterator[ShownPosition]:
    """Yield the positions, the earliest opened first."""
    shown = {outcome.instrument: (market, outcome) for market in markets for outcome in market.outcomes}
    opened = {each.instrument: each for each in positions_of(past.journal) if each.is_open}
    for instrument, held in account.positions.items():
        position, found = opened.get(instrument), shown.get(instrument)
        if found is None or position is None or position.shares != held.shares:
            what = "no market of it is shown" if found is None else "its journal does not say so"
            raise UsageError(f"the account holds {held.shares:g} shares of {instrument.id}, and {what}")
    for instrument, position in opened.items():
        market, outcome = shown[instrument]
        held = account.position(instrument)
        price = outcome.price or past.last_prices.get(instrument)
        yield ShownPosition(
            position.id,
            market,
            outcome,
            held.shares,
            held.cost_usd,
            price,
            is_stale=outcome.price is None,
            is_closed=bool(market.market.closed),
        )
