"""Order books of the CLOB: what is bid and asked for one token at an instant."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError

from predibot.domain.price import MAX_DEPTH_LEVELS, Depth, Level
from predibot.errors import VenueChanged
from predibot.venues import fields


@dataclass(frozen=True, slots=True)
class OrderBook:
    """The book of one token, the best level first on both sides."""

    token_id: str
    at: datetime | None
    """As the venue states it."""
    bids: tuple[Level, ...] = ()
    asks: tuple[Level, ...] = ()

    @property
    def bid(self) -> float | None:
        """Return the highest price somebody pays, or None."""
        return self.bids[0].price if self.bids else None

    @property
    def ask(self) -> float | None:
        """Return the lowest price somebody takes, or None."""
        return self.asks[0].price if self.asks else None

    @property
    def depth(self) -> Depth:
        """Return the levels that are kept with a quote."""
        return Depth(self.bids[:MAX_DEPTH_LEVELS], self.asks[:MAX_DEPTH_LEVELS])


def _milliseconds(value: object) -> datetime | None:
    """Return the instant of a count of milliseconds, or None where none is stated."""
    number = fields.optional_number(value)
    if number is None:
        return None
    if not 0 <= number / 1000 <= fields.LATEST_UNIX_SECONDS:
        raise ValueError(f"{fields.seen(value)} is not a time in milliseconds")
    return datetime.fromtimestamp(number / 1000, UTC)


class _LevelWire(BaseModel):
    """One level as the CLOB writes it."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    price: fields.Price
    size: fields.OptionalAmount = None


_Levels = Annotated[list[_LevelWire], BeforeValidator(fields.json_list)]


class _BookWire(BaseModel):
    """A book as the CLOB writes it: worst level first, whatever its documents say."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    asset_id: fields.TokenId
    timestamp: Annotated[datetime | None, BeforeValidator(_milliseconds)] = None
    bids: _Levels = []
    asks: _Levels = []

    def to_domain(self) -> OrderBook:
        """Return our book, sorted here and without empty levels."""
        return OrderBook(
            self.asset_id,
            self.timestamp,
            bids=_levels(self.bids, key=lambda level: -level.price),
            asks=_levels(self.asks, key=lambda level: level.price),
        )


def _levels(wires: list[_LevelWire], *, key: Callable[[Level], float]) -> tuple[Level, ...]:
    """Return the levels somebody stands behind, in order."""
    return tuple(sorted((Level(level.price, level.size) for level in wires if level.size), key=key))


def parse_book(payload: object) -> OrderBook:
    """Return one order book.

    Raises:
        VenueChanged: If it cannot be read.
    """
    try:
        return _BookWire.model_validate(payload).to_domain()
    except ValidationError as error:
        raise VenueChanged(f"an order book cannot be read: {fields.reason_of(error)}; update predibot") from error
