"""A ledger filled by hand: a few events, a run, bots, and decisions with numbers one can check in the head."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import select

from predibot.domain.decision import (
    Abstention,
    BookedBet,
    BookedOrder,
    Booking,
    Decision,
    Fill,
    MarketDecision,
    Order,
    Subject,
)
from predibot.domain.event import Event, Market, MarketRef
from predibot.domain.price import EntryPrice, PricePoint, Quote
from predibot.domain.resolution import Resolution
from predibot.ledger.store import Store
from predibot.ledger.write.claims import Claim, Claimant, claim
from predibot.ledger.write.decisions import DecisionResult, store_decision
from predibot.ledger.write.events import Catalogue, catalogue, instruments, markets
from predibot.ledger.write.prices_and_resolutions import ObservationSource, add_observations, add_resolutions
from predibot.ledger.write.runs import BotPlan, StoredRun, add_bots, freeze_run, void_run
from tests.jobs.tiny import recipe_of

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
DAY = timedelta(days=1)
LEASE = timedelta(seconds=60)


def claimant(owner: str = "me", *, began_at: datetime = NOW, gone: str = "") -> Claimant:
    """Return somebody who asks for claims and knows that one owner is gone."""
    return Claimant(owner, LEASE, began_at, lambda other: other == gone)


def event_of(number: int, markets: int = 1, *, price: float = 0.4) -> Event:
    """Return an event `e1` with markets `m1a`, `m1b`, ... quoted at a price."""
    listed = []
    for index in range(markets):
        name = f"m{number}{'abcdefgh'[index]}"
        tokens = (f"{number}{index}0", f"{number}{index}1")
        quote = Quote(NOW, displayed=price)
        listed.append(Market(MarketRef(name, None, tokens), f"{name}?", ("Yes", "No"), quote=quote))
    return Event(f"e{number}", f"Event {number}", tuple(listed), payload="{}")


def plan(*, key: str = "daily@2026-03-01T00:00Z", as_of: datetime = NOW, game: str = "dollar_per_event") -> StoredRun:
    """Return a run of the recipe `daily` that is not stored."""
    recipe = replace(recipe_of(), name=key.partition("@")[0], game=game, seed=2**62)
    return StoredRun(
        key=key,
        recipe=key.partition("@")[0],
        slot_at=as_of.replace(hour=0),
        as_of=as_of,
        venue="polymarket",
        venue_name="polymarket",
        game=game,
        seed=2**62,
        digest=recipe.digest,
        recipe_json=recipe.as_json(),
        overrides={},
        code_version="1",
        created_at=NOW,
        passed_over=({"event_id": "e9", "title": "Nine", "rule": "crypto", "reason": "bitcoin"},),
        notes=(),
    )


def void(store: Store, key: str = "daily@2026-03-01T00:00Z", reason: str = "wrong") -> None:
    """Void the run of a key."""
    store.run_write(lambda connection: void_run(connection, key, reason=reason, at=NOW))


def bot(name: str | BotPlan, **arguments: object) -> BotPlan:
    """Return a bot that plays the strategy of its name; a bot stays as it is."""
    return name if isinstance(name, BotPlan) else BotPlan(name, name, arguments, "s")


def a_run(store: Store, *events: Event, bots: tuple[str, ...] = ("a",), **changes: Any) -> StoredRun:
    """Store a run with its bots."""
    frozen = replace(plan(game=changes.pop("game", "dollar_per_event")), **changes)
    with store.write() as connection:
        run = freeze_run(connection, frozen, events)
        add_bots(connection, run, [bot(name) for name in bots])
    return run


def rows_of(store: Store, run: StoredRun, who: str | BotPlan) -> tuple[int, Catalogue]:
    """Return the row of a bot and the catalogue of its run."""
    plan = bot(who)
    with store.write() as connection:
        return add_bots(connection, run, [plan])[plan.name], catalogue(connection, run.id)


def finished_with(
    event: Event, said: Mapping[str, tuple[float, float]], *, price: float = 0.4, at: datetime = NOW
) -> DecisionResult:
    """Return a recorded decision: by market id its bet in dollars and its probability."""
    markets = {market.id: market for market in event.markets}
    decision = Decision(tuple(MarketDecision(name, p, usd) for name, (usd, p) in said.items()), rationale="why")
    bets, orders = [], []
    for name, (usd, _) in said.items():
        instrument = markets[name].ref.instrument("polymarket", "YES" if usd > 0 else "NO")
        cost = price if usd > 0 else 1 - price
        bets.append(BookedBet(name, usd, usd, EntryPrice(price, "displayed")))
        if usd:
            fill = Fill(instrument, abs(usd) / cost, cost, 0.0, -abs(usd))
            orders.append(BookedOrder(Order(instrument, abs(usd)), (fill,)))
    staked = sum(abs(usd) for usd, _ in said.values())
    shown = {market.id: market.quote for market in event.markets if market.quote is not None}
    booking = Booking(tuple(bets), tuple(orders), unallocated_usd=1.0 - staked)
    return DecisionResult("recorded", at, (event,), decision=decision, booking=booking, shown=shown, booked=shown)


def abstained(event: Event, *, at: datetime = NOW) -> DecisionResult:
    """Return how a bot ended that did not decide."""
    return DecisionResult("abstained", at, (event,), Abstention("no idea").reason)


def failed(event: Event, *, at: datetime = NOW, message: str = "broke") -> DecisionResult:
    """Return how a bot ended that crashed."""
    return DecisionResult("failed", at, (event,), message)


def take(
    store: Store, run: StoredRun, bot_name: str | BotPlan, event: Event, who: Claimant, *, now: datetime = NOW
) -> object:
    """Ask for the claim on one decision."""
    bot_id, _ = rows_of(store, run, bot_name)
    with store.write() as connection:
        return claim(connection, run.id, bot_id, Subject("event", event.id), who, now=now)


def put(store: Store, run: StoredRun, bot_name: str | BotPlan, held: Claim, finished: DecisionResult) -> None:
    """Store how a claimed decision ended."""
    bot_id, known = rows_of(store, run, bot_name)
    with store.write(durable=finished.was_paid) as connection:
        store_decision(
            connection,
            held,
            finished,
            run_id=run.id,
            bot_id=bot_id,
            catalogue=known,
            now=finished.decided_at,
        )


def decide(store: Store, run: StoredRun, bot_name: str | BotPlan, finished: DecisionResult) -> None:
    """Claim and store one decision."""
    held = take(
        store, run, bot_name, finished.events[0], claimant(began_at=finished.decided_at), now=finished.decided_at
    )
    assert isinstance(held, Claim)
    put(store, run, bot_name, held, finished)


def settle(store: Store, market_id: str, *revisions: tuple[float, float | None], stored: int = 0) -> None:
    """Store what a market paid, each revision known so many days after `NOW`; it settled at the first."""
    settled_at = NOW + revisions[0][0] * DAY
    made = [Resolution(paid, settled_at, "venue", NOW + days * DAY) for days, paid in revisions]
    with store.write() as connection:
        row = connection.execute(select(markets.c.id).where(markets.c.market_id == market_id)).scalar_one()
        add_resolutions(connection, row, made, stored=stored, seen_at=NOW + 99 * DAY)


def observe(store: Store, market_id: str, *points: tuple[float, float], source: ObservationSource = "history") -> None:
    """Store prices of a market's YES, each so many days after `NOW`."""
    own = instruments.join(markets, markets.c.id == instruments.c.market_row)
    yes = select(instruments.c.id).select_from(own).where(markets.c.market_id == market_id, instruments.c.side == "YES")
    with store.write() as connection:
        row = connection.execute(yes).scalar_one()
        add_observations(connection, {row: [PricePoint(NOW + days * DAY, price) for days, price in points]}, source)
