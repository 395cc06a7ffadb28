"""The Polymarket parser: Gamma's event and market objects become ours, or a skip with its reason, and so do the books
of the CLOB; pure.

Long texts (title 1,000 characters, description 20,000) are cut with an ellipsis: a market stays playable, and its
payload stays whole. Lists above their bound are refused. The payload kept beside an event has no field that states a
result: an archive may contain what was written after its instant.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Annotated, Any, Self, TypeVar

from pydantic import (
    BeforeValidator,
    FailFast,
    Field,
    ValidationError,
    model_validator,
)

from predibot.contracts import PayloadReader
from predibot.domain.event import Event, Market, MarketRef, OrderTerms, Skip, Tag
from predibot.domain.price import MAX_DEPTH_LEVELS, Depth, FeeSchedule, Level, Quote
from predibot.domain.resolution import Resolution
from predibot.errors import VenueChanged
from predibot.net.json_client import Wire
from predibot.venues import fields

MAX_OUTCOMES = 100
MAX_TAGS = 500
MAX_MARKETS = 5_000
SETTLED_TOLERANCE = 1e-4
"""Markets of the AMM years settled at 0.0000008 and 0.999999."""
RESOLVED_TOLERANCE = 1e-3
"""For a market that the venue calls resolved: elsewhere 0.9995 and 0.0005 are a last price."""
KNOWN_STATUSES = frozenset({"", "resolved", "proposed", "disputed", "challenged"})
"""All but the first two mean pending, and so do unknown ones."""
UNKNOWN_ID = "?"
_T = TypeVar("_T")
_EXCLUSIVE = "negRisk"
"""Stands for the id that the venue does not give to a group of exclusive markets; the event's id is added."""

RESULT_FIELDS = frozenset(
    {"eventMetadata", "finalPrice", "score", "period", "elapsed", "ended", "finishedTimestamp", "tweetCount", "winner"}
)
"""Fields that state an outcome, at any depth: closing prices, final scores, counts."""


_List = BeforeValidator(fields.json_list)
"""Behind `FailFast()`, so that of a million wrong entries only the first is reported."""


class _FeeWire(Wire):
    rate: Annotated[fields.Number, Field(ge=0.0, le=1.0)]
    exponent: fields.OptionalAmount = None

    def to_domain(self) -> FeeSchedule:
        return FeeSchedule(rate=self.rate, exponent=1.0 if self.exponent is None else self.exponent)


class _GammaMarket(Wire):
    id: fields.VenueId
    question: fields.StatedText
    condition_id: fields.ConditionId = Field(default=None, alias="conditionId")
    token_ids: Annotated[list[fields.TokenId], FailFast(), _List] = Field(default=[], alias="clobTokenIds")
    outcomes: Annotated[list[fields.StatedText], FailFast(), _List] = Field(default=[])
    prices: Annotated[list[fields.Price], FailFast(), _List] = Field(default=[], alias="outcomePrices")
    description: fields.LongText = ""
    closes_at: fields.KnownEnd = Field(default=None, alias="endDate")
    opened_at: fields.KnownOpening = Field(default=None, alias="startDate")
    closed: fields.OptionalFlag = None
    volume_1wk_usd: fields.KnownVolume = Field(default=None, alias="volume1wk")
    volume_24h_usd: fields.KnownVolume = Field(default=None, alias="volume24hr")
    volume_number_usd: fields.KnownVolume = Field(default=None, alias="volumeNum")
    volume_text_usd: fields.KnownVolume = Field(default=None, alias="volume")
    """The same as text; stated where the number is null."""
    bid: fields.OptionalPrice = Field(default=None, alias="bestBid")
    ask: fields.OptionalPrice = Field(default=None, alias="bestAsk")
    last: fields.OptionalPrice = Field(default=None, alias="lastTradePrice")
    fees_enabled: fields.KnownFlag = Field(default=None, alias="feesEnabled")
    fee_schedule: Annotated[_FeeWire | None, BeforeValidator(fields.json_object)] = Field(
        default=None, alias="feeSchedule"
    )
    active: fields.KnownFlag = None
    accepts_orders: fields.KnownFlag = Field(default=None, alias="acceptingOrders")
    price_step: fields.KnownSize = Field(default=None, alias="orderPriceMinTickSize")
    least_shares: fields.KnownSize = Field(default=None, alias="orderMinSize")
    exclusive: fields.KnownFlag = Field(default=None, alias="negRisk")
    is_other: fields.KnownFlag = Field(default=None, alias="negRiskOther")
    exclusive_id: fields.ShortText = Field(default="", alias="negRiskMarketID")

    @model_validator(mode="after")
    def _check_lists(self) -> Self:
        if len(self.outcomes) > MAX_OUTCOMES:
            raise ValueError(f"{len(self.outcomes)} outcomes are too many")
        for name, entries in (("outcomePrices", self.prices), ("clobTokenIds", self.token_ids)):
            if entries and len(entries) != len(self.outcomes):
                raise ValueError(f"{name} has {len(entries)} entries for {len(self.outcomes)} outcomes")
        if len(set(self.token_ids)) != len(self.token_ids):
            raise ValueError("clobTokenIds names one token twice")
        return self

    def to_domain(self, *, quoted_at: datetime) -> Market:
        return Market(
            ref=MarketRef(self.id, self.condition_id, yes_first(self.outcomes, self.token_ids)),
            question=self.question,
            outcomes=yes_first(self.outcomes, self.outcomes),
            description=self.description,
            closes_at=self.closes_at,
            closed=self.closed,
            volume_1wk_usd=self.volume_1wk_usd,
            volume_24h_usd=self.volume_24h_usd,
            volume_usd=self.volume_text_usd if self.volume_number_usd is None else self.volume_number_usd,
            quote=None if len(self.outcomes) > 2 else self._quote(quoted_at),
            outcome_quotes=self._outcome_quotes(quoted_at),
            fees=self._fees(),
            exclusive_group=(self.exclusive_id or _EXCLUSIVE) if self.exclusive else "",
            orders=OrderTerms(
                False if self.active is False else self.accepts_orders, self.price_step, self.least_shares
            ),
            is_other=bool(self.is_other),
            opened_at=self.opened_at,
        )

    def _outcome_quotes(self, at: datetime) -> tuple[Quote | None, ...]:
        """Return the displayed prices of more than two outcomes; it is unclear which one bid and ask describe."""
        if len(self.outcomes) <= 2:
            return ()
        return tuple(Quote(at=at, displayed=price) for price in self.prices) or (None,) * len(self.outcomes)

    def _quote(self, at: datetime) -> Quote | None:
        """Return the quote of YES, or None. Where NO comes first, it is unclear which outcome bid, ask and last
        describe.
        """
        displayed = next(iter(yes_first(self.outcomes, self.prices)), None)
        quoted = (None, None, None) if _is_no_first(self.outcomes) else (self.bid, self.ask, self.last)
        if displayed is None and not any(each is not None for each in quoted):
            return None
        bid, ask, last = quoted
        return Quote(at=at, bid=bid, ask=ask, displayed=displayed, last=last)

    def _fees(self) -> FeeSchedule | None:
        if self.fees_enabled is False:
            return FeeSchedule(0.0)
        return None if self.fee_schedule is None else self.fee_schedule.to_domain()


class _GammaEvent(Wire):
    """An event as Gamma writes it; its markets are parsed one by one."""

    id: fields.VenueId
    title: fields.StatedText
    slug: fields.ShortText = ""
    description: fields.LongText = ""
    closes_at: fields.KnownEnd = Field(default=None, alias="endDate")
    tags: Annotated[list[object], _List, Field(max_length=MAX_TAGS)] = Field(default=[])
    closed: fields.OptionalFlag = None
    archived: fields.KnownFlag = None
    volume_24h_usd: fields.KnownVolume = Field(default=None, alias="volume24hr")
    volume_1wk_usd: fields.KnownVolume = Field(default=None, alias="volume1wk")
    markets: Annotated[list[object], _List, Field(max_length=MAX_MARKETS)] = Field(default=[])

    def to_domain(self, *, markets: tuple[Market, ...], payload: object) -> Event:
        return Event(
            id=self.id,
            title=self.title,
            markets=markets,
            slug=self.slug,
            description=self.description,
            tags=tuple(_parse_tags(self.tags)),
            closes_at=self.closes_at,
            closed=self.closed,
            archived=bool(self.archived),
            volume_24h_usd=self.volume_24h_usd,
            volume_1wk_usd=self.volume_1wk_usd,
            payload=fields.dumps(fields.strip_fields(payload, RESULT_FIELDS)),
        )


def _parse_tags(entries: Sequence[Any]) -> Iterator[Tag]:
    for entry in entries:
        with suppress(ValueError, AttributeError):
            tag = Tag(*(fields.short_text(entry.get(name)) for name in ("label", "slug")))
            if tag.label or tag.slug:
                yield tag


def _parse_statuses(value: object) -> list[str]:
    try:
        return [str(each).strip() for each in fields.json_list(value) if each not in (None, "")]
    except ValueError:
        return [UNKNOWN_ID]


class _SettlementWire(Wire):
    id: fields.VenueId
    closed: fields.OptionalFlag = None
    outcomes: Annotated[list[object], _List] = Field(default=[])
    prices: Annotated[list[fields.Price], FailFast(), _List] = Field(default=[], alias="outcomePrices")
    closed_at: fields.OptionalInstant = Field(default=None, alias="closedTime")
    status: fields.ShortText = Field(default="", alias="umaResolutionStatus")
    statuses: Annotated[list[str], BeforeValidator(_parse_statuses)] = Field(default=[], alias="umaResolutionStatuses")

    @property
    def latest_status(self) -> str:
        """Return the latest status; the list is history and may lack it."""
        return (self.status or next(reversed(self.statuses), "")).casefold()

    @property
    def payouts(self) -> tuple[float, ...] | None:
        """Return what a share of each outcome paid; None before the settlement, or with an unclear winner."""
        count = len(self.prices)
        is_resolved = self.latest_status == "resolved"
        if not self.closed or not (is_resolved or self.latest_status == ""):
            return None
        if count != (len(self.outcomes) or 2) or not 2 <= count <= MAX_OUTCOMES:
            return None
        even = 1.0 / count
        # A third is rounded, one half is exact.
        if max(abs(price - even) for price in self.prices) <= (0.0 if count == 2 else SETTLED_TOLERANCE):
            # A market that never traded shows the same prices.
            return (even,) * count if is_resolved else None
        paid = tuple(float(round(price)) for price in self.prices)
        most = RESOLVED_TOLERANCE if is_resolved else SETTLED_TOLERANCE
        fits = max(abs(price - payout) for price, payout in zip(self.prices, paid, strict=True)) <= most
        return yes_first(self.outcomes, paid) if fits and sum(paid) == 1.0 else None


def _is_no_first(outcomes: Sequence[object]) -> bool:
    return [str(each).strip().casefold() for each in outcomes] == ["no", "yes"]


def yes_first(outcomes: Sequence[object], listed: Sequence[_T]) -> tuple[_T, ...]:
    """Return what a market lists in the order of its outcomes, with Yes first where they are No, Yes.

    Examples:
        >>> yes_first(["No", "Yes"], ["0.2", "0.8"]), yes_first(["Up", "Down"], ["0.2", "0.8"])
        (('0.8', '0.2'), ('0.2', '0.8'))
    """
    return tuple(reversed(listed)) if _is_no_first(outcomes) else tuple(listed)


def parse_event(payload: object, quoted_at: datetime) -> tuple[Event | None, tuple[Skip, ...]]:
    """Return an event of Gamma with every market that can be read, and a skip for everything that cannot. Markets
    without an end get the event's. Without an event there is a skip of kind `event`.
    """
    try:
        parsed = _GammaEvent.model_validate(payload)
    except ValidationError as error:
        return None, (Skip("event", payload_id(payload), fields.reason_of(error)),)
    markets: dict[str, Market] = {}
    skipped: list[Skip] = []
    for entry in parsed.markets:
        market = parse_market(entry, quoted_at=quoted_at, event_id=parsed.id)
        if isinstance(market, Skip):
            skipped.append(market)
        elif market.id in markets:
            skipped.append(Skip("market", market.id, "the event lists it twice; the first is taken", parsed.id))
        else:
            group = f"{_EXCLUSIVE}:{parsed.id}" if market.exclusive_group == _EXCLUSIVE else market.exclusive_group
            closes_at = market.closes_at or parsed.closes_at
            if (closes_at, group) != (market.closes_at, market.exclusive_group):
                market = replace(market, closes_at=closes_at, exclusive_group=group)
            markets[market.id] = market
    return parsed.to_domain(markets=tuple(markets.values()), payload=payload), tuple(skipped)


def parse_market(payload: object, *, quoted_at: datetime, event_id: str | None = None) -> Market | Skip:
    """Return a market, or why it cannot be read."""
    try:
        return _GammaMarket.model_validate(payload).to_domain(quoted_at=quoted_at)
    except ValidationError as error:
        return Skip("market", payload_id(payload), fields.reason_of(error), event_id)


def parse_resolution(payload: object, *, first_seen_at: datetime) -> Resolution | Skip | None:
    """Return how a market of Gamma settled; None before that, a skip where it cannot be read.

    A market is settled if it is closed, its status is resolved or absent, and its prices are 1 for one outcome and 0
    for the others, to within 1e-4. With the status resolved, 1e-3 is enough, and exactly 0.5/0.5, or equal parts of
    more, count too. All else is unsettled: proposed, disputed, 0/0, 1/1, or open. Without a stated instant,
    `first_seen_at` counts.
    """
    try:
        parsed = _SettlementWire.model_validate(payload)
    except ValidationError as error:
        return Skip("resolution", payload_id(payload), fields.reason_of(error))
    payouts = parsed.payouts
    if payouts is None:
        return None
    closed_at = fields.end_or_none(parsed.closed_at)
    if closed_at is None:
        return Resolution.of_payouts(payouts, first_seen_at, "first_sight", first_seen_at)
    return Resolution.of_payouts(payouts, closed_at, "venue", closed_at)


def tokens_of(payload: object) -> tuple[str, ...]:
    """Return a market object's tokens in the order of its payouts; empty where they cannot be read."""
    if not isinstance(payload, Mapping):
        return ()
    try:
        outcomes, listed = (fields.json_list(payload.get(name)) for name in ("outcomes", "clobTokenIds"))
        return yes_first(outcomes, tuple(fields.token_id(each) for each in listed))
    except ValueError:
        return ()


def no_first_of(payload: object) -> set[str]:
    """Return the `resolution_key`s of an event object's markets that list No before Yes."""
    found = set[str]()
    for entry in payload.get("markets") or () if isinstance(payload, Mapping) else ():
        with suppress(ValueError, AttributeError):
            if _is_no_first(fields.json_list(entry.get("outcomes"))):
                found.add(MarketRef(fields.venue_id(entry.get("id")), entry.get("conditionId")).resolution_key)
    return found


def event_ids_of(payload: object) -> tuple[str, ...]:
    """Return the ids of the events that a market object names; empty where none can be read."""
    events = payload.get("events") if isinstance(payload, Mapping) else None
    ids = map(payload_id, events if isinstance(events, list) else ())
    return tuple(each for each in ids if each != UNKNOWN_ID)


def status_of(payload: object) -> str:
    """Return a market's resolution status in lower case, or ""; raise `ValueError` if it cannot be read."""
    return _SettlementWire.model_validate(payload).latest_status


def payouts_of(payload: object) -> tuple[float, ...] | None:
    """Return the payouts in a market object, None before its settlement; raise `ValueError` if they cannot be read."""
    return _SettlementWire.model_validate(payload).payouts


def payload_id(payload: object) -> str:
    """Return an object's id, or `UNKNOWN_ID` where it has none that can be read."""
    try:
        return fields.venue_id(payload.get("id")) if isinstance(payload, Mapping) else UNKNOWN_ID
    except ValueError:
        return UNKNOWN_ID


class _LevelWire(Wire):
    price: fields.Price
    size: fields.OptionalAmount = None


_Levels = Annotated[list[_LevelWire], _List]


class _BookWire(Wire):
    """A book as the CLOB writes it: worst level first, whatever its documents say."""

    asset_id: fields.TokenId
    bids: _Levels = Field(default=[])
    asks: _Levels = Field(default=[])


def parse_book(payload: object) -> tuple[str, Depth]:
    """Return a token and the levels of its book that a quote keeps; raise `VenueChanged` if it cannot be read."""
    try:
        book = _BookWire.model_validate(payload)
    except ValidationError as error:
        raise VenueChanged(f"an order book cannot be read: {fields.reason_of(error)}; update predibot") from error
    bids = _best_levels(book.bids, key=lambda level: -level.price)
    return book.asset_id, Depth(bids, _best_levels(book.asks, key=lambda level: level.price))


def _best_levels(wires: list[_LevelWire], *, key: Callable[[Level], float]) -> tuple[Level, ...]:
    found = sorted((Level(level.price, level.size) for level in wires if level.size), key=key)
    return tuple(found[:MAX_DEPTH_LEVELS])


PAYLOADS = PayloadReader(
    parse_event, payload_id, partial(fields.strip_stored_payload, names=RESULT_FIELDS), no_first_of
)
