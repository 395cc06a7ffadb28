"""Small events and markets to select from; what is not said is playable."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from predibot.domain.category import parse_crypto_words
from predibot.domain.event import Event, Market, MarketRef, Tag
from predibot.domain.price import Quote
from predibot.selection import SelectionRules

NOW = datetime(2026, 2, 13, 19, 30, tzinfo=UTC)
DAY, HOUR = timedelta(days=1), timedelta(hours=1)
_LIST = Path(__file__).resolve().parents[2] / "predibot" / "recipes" / "crypto_words.txt"


WORDS = parse_crypto_words(_LIST.read_text(encoding="utf-8"))
RULES = SelectionRules(crypto=WORDS)


def quoted(price_yes: float = 0.4, *, hours_ago: float = 0.0) -> Quote:
    return Quote(at=NOW - timedelta(hours=hours_ago), displayed=price_yes)


def market(
    market_id: str = "m",
    *,
    quote: Quote | None = None,
    volume: float | None = None,
    closed: bool = False,
    outcomes: tuple[str, ...] = ("Yes", "No"),
    closes_at: datetime | None = None,
) -> Market:
    return Market(
        MarketRef(market_id), f"{market_id}?", outcomes, closes_at=closes_at, closed=closed,
        volume_1wk_usd=volume, quote=quote or quoted(),
    )  # fmt: skip


def event(
    event_id: str = "1",
    title: str = "Who wins?",
    *,
    markets: Sequence[Market] = (),
    slug: str = "",
    tags: Sequence[str] = (),
    closes_at: datetime | None = NOW + 10 * DAY,
    closed: bool = False,
    archived: bool = False,
    volume_24h: float | None = None,
    volume: float | None = None,
) -> Event:
    return Event(
        event_id, title, tuple(markets) or (market(f"{event_id}m"),), slug=slug,
        tags=tuple(Tag(label, label.lower().replace(" ", "-")) for label in tags), closes_at=closes_at,
        closed=closed, archived=archived, volume_24h_usd=volume_24h, volume_1wk_usd=volume,
    )  # fmt: skip
