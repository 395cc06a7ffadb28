"""The rules of a weekly cohort: its accounts, its view, what it accepts as an answer, and how it books one."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, ClassVar

from predibot.domain.account import Account, JournalRow
from predibot.domain.account_past import AccountPast
from predibot.domain.category import category_of
from predibot.domain.decision import Booking, Decision, Forecast, Order, Subject
from predibot.domain.event import Event, Market
from predibot.domain.price import Instrument, Price, PricePoint
from predibot.domain.terms import ModelSettings
from predibot.errors import UsageError
from predibot.games.answers import (
    REASONING,
    AnswerComplaint,
    Words,
    final_answer,
    join_complaints,
    quoted,
    read_object,
    reasoning_complaints,
    show_value,
)
from predibot.games.cohorts import COHORT, CohortRules, cohort_start, decision_week
from predibot.games.fills import FillModel
from predibot.games.game import AnswerForm, Game
from predibot.games.outcomes import Outcome, outcomes_of, side_of_yes
from predibot.games.positions import positions_of
from predibot.games.weekly_cohort.execution import check, execute
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
from predibot.games.weekly_cohort.words import VIEW_TOKENS, cohort_words, tokens_bound, view_text
from predibot.selection import MARKET_VOLUME, SelectionRules

ACTION, BETS, SELLS, PROBABILITIES = "action", "bets", "sells", "probabilities"
ACTIONS = ("BET", "SELL", "HOLD")
_BET_FIELDS = ("market_id", "side", "amount")
_SELL_FIELDS = ("position_id", "percentage")
FIELDS = frozenset({ACTION, BETS, SELLS, REASONING, PROBABILITIES, *_BET_FIELDS, *_SELL_FIELDS})
_TOP = (ACTION, BETS, SELLS, REASONING, PROBABILITIES)
MAX_ENTRIES = 500
_LISTED_SIDES = 12


def parse_answer(answer: object, view: CohortView) -> Decision:
    """Return the decision of an answer: an object, or its JSON text, which also shows a field that is given twice.

    A second sale of a position is a part of what the first one leaves. Raises `AnswerError` if it is wrong or breaks a
    rule at the view's prices; the message says what to fix.
    """
    data = read_object(answer, FIELDS, f"{ACTION} and {REASONING}")
    complaints = list(_field_complaints(data))
    action = data.get(ACTION)
    orders, notes = list[Order](), list[str]()
    if action == "BET":
        orders = list(_bets(data.get(BETS), view, complaints))
    elif action == "SELL":
        orders = list(_sales(data.get(SELLS), view, complaints, notes))
    forecasts = tuple(_forecasts(data.get(PROBABILITIES), view, complaints))
    if complaints:
        raise AnswerComplaint(join_complaints(complaints))
    decision = Decision(forecasts, tuple(orders), rationale=data.get(REASONING, ""), notes=tuple(notes))
    check(decision, view)
    return decision


def _field_complaints(data: Mapping[Any, Any]) -> Iterator[str]:
    """Yield complaints about the fields of an answer, apart from the entries of its lists."""
    for name in data:
        if name not in _TOP:
            yield f"the field {quoted(name)} is unknown; take it out, the fields are {', '.join(_TOP)}"
    action = data.get(ACTION)
    if ACTION not in data:
        yield f"{ACTION} is missing; give one of {', '.join(ACTIONS)}"
    elif not isinstance(action, str) or action not in ACTIONS:
        yield f"{ACTION} is {quoted(action)}; give one of {', '.join(ACTIONS)}, in capitals"
    yield from reasoning_complaints(data.get(REASONING, ""))
    for name, wanted in ((BETS, "BET"), (SELLS, "SELL")):
        # An empty list beside another action is harmless: some models send every field.
        if isinstance(action, str) and action in ACTIONS and action != wanted and data.get(name, []) not in ([], None):
            yield f"{name} stands beside {ACTION} {action}; take it out, or make the {ACTION} {wanted}"


def _entries(
    said: object, name: str, of: tuple[str, ...], complaints: list[str]
) -> Iterator[tuple[int, Mapping[Any, Any]]]:
    """Yield the entries of a list that are objects with the right fields, numbered from 1."""
    one = f"objects with {', '.join(of)}"
    if said is None:
        complaints.append(f"{name} is missing; give a list of {one}")
    elif not isinstance(said, list):
        complaints.append(f"{name} is {quoted(said)}; give a list of {one}")
    elif not said:
        complaints.append(f"{name} is empty; name at least one, or answer HOLD")
    elif len(said) > MAX_ENTRIES:
        complaints.append(f"{name} has {len(said):,} entries; give at most {MAX_ENTRIES}")
    else:
        for number, entry in enumerate(said, 1):
            if not isinstance(entry, Mapping):
                complaints.append(f"entry {number} of {name} is {quoted(entry)}; give an object with {', '.join(of)}")
                continue
            wrong = [f"{field} of entry {number} of {name} is missing" for field in of if field not in entry]
            wrong += [
                f"the field {quoted(field)} of entry {number} of {name} is unknown; take it out"
                for field in entry
                if field not in of
            ]
            complaints += wrong
            if not wrong:
                yield number, entry


def _bets(said: object, view: CohortView, complaints: list[str]) -> Iterator[Order]:
    markets = view.by_id
    for number, entry in _entries(said, BETS, _BET_FIELDS, complaints):
        where = f"of entry {number} of {BETS}"
        market_id, side, amount = (entry[field] for field in _BET_FIELDS)
        market = markets.get(market_id) if isinstance(market_id, str) else None
        if not isinstance(market_id, str) or not market_id:
            complaints.append(f"market_id {where} is {quoted(market_id)}; give the market's id as text, in quotes")
        elif market is None:
            complaints.append(f"market {quoted(market_id)} {where} is not shown; give an id from the list of markets")
        outcome = None if market is None or not isinstance(side, str) else market.outcome(side)
        if not isinstance(side, str) or not side.strip() or (market is not None and outcome is None):
            complaints.append(f"side {where} is {quoted(side)}; give {_sides(market)}")
        if isinstance(amount, bool) or not isinstance(amount, int | float):
            complaints.append(f"amount {where} is {_describe(amount)}; give dollars as a number, without quotes")
        elif outcome is not None:
            yield Order(outcome.instrument, amount, "usd", "buy")


def _sales(said: object, view: CohortView, complaints: list[str], notes: list[str]) -> Iterator[Order]:
    positions = {position.id: position for position in view.positions}
    sold = defaultdict[Instrument, float](float)
    for number, entry in _entries(said, SELLS, _SELL_FIELDS, complaints):
        where = f"of entry {number} of {SELLS}"
        position_id, percentage = (entry[field] for field in _SELL_FIELDS)
        position = positions.get(position_id) if isinstance(position_id, str) else None
        if not isinstance(position_id, str) or not position_id:
            complaints.append(
                f"position_id {where} is {quoted(position_id)}; give the position's id as text, in quotes"
            )
        elif position is None:
            known = f"your positions are {', '.join(positions)}" if positions else "you hold none"
            complaints.append(f"position {quoted(position_id)} {where} is not one of yours; {known}")
        if isinstance(percentage, bool) or not isinstance(percentage, int | float):
            complaints.append(f"percentage {where} is {_describe(percentage)}; give a number from 1 to 100")
        elif not 1 <= percentage <= 100:
            complaints.append(f"percentage {where} is {show_value(percentage)}; give a number from 1 to 100")
        elif position is not None:
            # A part of what earlier entries leave.
            left = position.shares - sold[position.outcome.instrument]
            shares = left if percentage == 100 else left * (percentage / 100)
            if shares <= 0.0:
                complaints.append(f"position {position.id} {where} is sold whole before; take this entry out")
                continue
            sold[position.outcome.instrument] += shares
            notes.append(f"sells {percentage:g} % of {position.id}")
            yield Order(position.outcome.instrument, shares, "shares", "sell")


def _forecasts(said: object, view: CohortView, complaints: list[str]) -> Iterator[Forecast]:
    if said is None:
        return
    if not isinstance(said, Mapping) or len(said) > MAX_ENTRIES:
        complaints.append(f"{PROBABILITIES} is {quoted(said)}; give an object with a number for each market id")
        return
    markets = view.by_id
    for market_id, probability in said.items():
        name = f"the probability of market {quoted(market_id)}"
        market = markets.get(market_id) if isinstance(market_id, str) else None
        if market is None:
            complaints.append(f"{name} is of none that is shown; take it out")
        elif len(market.outcomes) != 2:
            complaints.append(f"{name} is of one with {len(market.outcomes)} outcomes; give it for YES or NO ones only")
        elif isinstance(probability, bool) or not isinstance(probability, int | float) or not 0 <= probability <= 1:
            complaints.append(f"{name} is {_describe(probability)}; give a number between 0 and 1")
        else:
            # A forecast is of the first outcome, which is not YES where the venue lists No first.
            is_first = side_of_yes(market.market) == "YES"
            yield Forecast(market.id, float(probability) if is_first else 1.0 - probability)


def _sides(market: CohortMarket | None) -> str:
    if market is None or len(market.outcomes) == 2:
        return "YES or NO, in capitals"
    names = [quoted(outcome.side) for outcome in market.outcomes]
    more = f" or one of {len(names) - _LISTED_SIDES} more" if len(names) > _LISTED_SIDES else ""
    return f"one of its outcomes by name, {', '.join(names[:_LISTED_SIDES])}{more}"


def _describe(value: object) -> str:
    return f"the text {quoted(value)}" if isinstance(value, str) else show_value(value)


SCHEMA = final_answer(
    "Hand in your decision, once, alone. It is checked; a complaint says what to fix. "
    f"It is {ACTION} with what belongs to it and {REASONING}, or else abstain and nothing beside it.",
    {
        ACTION: {"type": "string", "enum": list(ACTIONS)},
        BETS: {
            "type": "array",
            "description": "With BET only.",
            "items": {
                "type": "object",
                "properties": {
                    "market_id": {"type": "string"},
                    "side": {"type": "string", "description": "YES or NO; of more outcomes the name of one."},
                    "amount": {"type": "number", "description": f"Dollars, at least {MIN_BET_USD:g}."},
                },
                "required": ["market_id", "side", "amount"],
            },
        },
        SELLS: {
            "type": "array",
            "description": "With SELL only.",
            "items": {
                "type": "object",
                "properties": {
                    "position_id": {"type": "string"},
                    "percentage": {"type": "number", "description": "Of the position, from 1 to 100."},
                },
                "required": ["position_id", "percentage"],
            },
        },
        REASONING: {"type": "string", "description": "Why, in a few sentences."},
        PROBABILITIES: {
            "type": "object",
            "description": "By market id, the probability of YES, between 0 and 1; you may leave it out.",
        },
    },
)
SHAPE = """{"action": "BET", "bets": [{"market_id": "...", "side": "YES", "amount": 500.0}], "reasoning": "..."}
or {"action": "SELL", "sells": [{"position_id": "p1", "percentage": 100}], "reasoning": "..."}
or {"action": "HOLD", "reasoning": "..."}"""


SYSTEM_HOLD = "held by the system"
"""The start of the note on a HOLD that no bot decided."""


@dataclass(frozen=True, slots=True)
class CohortForm(AnswerForm):
    """The prompt and the parser for an answer in a cohort."""

    schema: ClassVar = SCHEMA
    shape: ClassVar = SHAPE
    fields: ClassVar[Collection[str]] = FIELDS
    enough_tokens: ClassVar = 2_000
    seen: CohortView
    price_blind: bool = False

    @property
    def question(self) -> str:
        """Return the questions of the markets."""
        return "\n".join(each.market.question for each in self.seen.markets)

    @property
    def market_ids(self) -> Sequence[str]:
        """Return the ids of the markets."""
        return [each.market.id for each in self.seen.markets]

    def words(self, *, history: Callable[[str], tuple[PricePoint, ...]], untrusted: Callable[[str], str]) -> Words:
        """Return the text for a model; it shows no history of prices."""
        return cohort_words(self.seen, price_blind=self.price_blind, untrusted=untrusted)

    def parse(self, answer: object) -> Decision:
        """Return the decision of an answer; AnswerError says what breaks a rule at the prices of the view."""
        return parse_answer(answer, self.seen)


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
