"""Order books of the CLOB: the bids and asks of a token."""

from collections.abc import Callable
from typing import Annotated

from pydantic import BeforeValidator, Field, ValidationError

from predibot.domain.price import MAX_DEPTH_LEVELS, Depth, Level
from predibot.errors import VenueChanged
from predibot.net.json_client import Wire
from predibot.venues import fields


class _LevelWire(Wire):
    price: fields.Price
    size: fields.OptionalAmount = None


_Levels = Annotated[list[_LevelWire], BeforeValidator(fields.json_list)]


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
