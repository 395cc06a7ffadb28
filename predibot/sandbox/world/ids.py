"""The ids of a world, which encode seed, event, market and side."""

import hashlib
from dataclasses import dataclass
from functools import lru_cache

MAX_EVENTS = 1_000_000
_LOW_BITS = 64


@dataclass(frozen=True, slots=True)
class TokenPlace:
    """The place of a token: event number, market index, side 0 (first outcome) or 1."""

    event: int
    market: int
    side: int


@dataclass(frozen=True, slots=True)
class Names:
    """The ids of a seed; each contains the seed or a digest of it, so that two seeds share none."""

    seed: int

    def event_id(self, event: int) -> str:
        """Return an event's id, a numeric string."""
        return f"{self.seed + 1}{event:06d}"

    def market_id(self, event: int, market: int) -> str:
        """Return a market's id, a numeric string."""
        return f"{self.seed + 1}{event:06d}{market:02d}"

    def condition_id(self, event: int, market: int) -> str:
        """Return a market's condition id, 0x and 64 hexadecimal digits."""
        return f"0x{_seal(self.seed, 'condition', event * 256 + market * 2):064x}"

    def neg_risk_id(self, event: int) -> str:
        """Return the id that the exclusive markets of an event share."""
        return f"0x{_seal(self.seed, 'negrisk', event * 256):064x}"

    def token_id(self, event: int, market: int, side: int) -> str:
        """Return the token id of an outcome, a numeric string of up to 78 digits."""
        return str(_seal(self.seed, "token", event * 256 + market * 2 + side))

    def event_of(self, event_id: str) -> int | None:
        """Return the number of the event with this id; None if it is not of this seed."""
        number = self._tail(event_id, 6)
        return number if number is not None and self.event_id(number) == event_id else None

    def market_of(self, market_id: str) -> tuple[int, int] | None:
        """Return event number and market index of a market id, or None."""
        tail = self._tail(market_id, 8)
        return divmod(tail, 100) if tail is not None and self.market_id(*divmod(tail, 100)) == market_id else None

    def condition_of(self, condition_id: str) -> tuple[int, int] | None:
        """Return event number and market index of a condition id, or None."""
        if len(condition_id) != 66 or not condition_id.startswith("0x"):
            return None
        try:
            place = self._unseal("condition", int(condition_id, 16))
        except ValueError:
            return None
        return None if place is None else (place.event, place.market)

    def token_of(self, token_id: str) -> TokenPlace | None:
        """Return the place of a token; None if it is not of this seed."""
        if not (token_id.isascii() and token_id.isdigit() and len(token_id) <= 78):
            return None
        return self._unseal("token", int(token_id))

    def _tail(self, text: str, digits: int) -> int | None:
        return int(text[-digits:]) if text.isascii() and text.isdigit() and len(text) > digits else None

    def _unseal(self, purpose: str, sealed: int) -> TokenPlace | None:
        """Return the place in 256 bits; None if another seed sealed them."""
        place = (sealed & (2**_LOW_BITS - 1)) ^ _mask(self.seed, purpose)
        if place >= MAX_EVENTS * 256 or _seal(self.seed, purpose, place) != sealed:
            return None
        return TokenPlace(event=place // 256, market=place % 256 // 2, side=place % 2)


@lru_cache(maxsize=16_384)
def _seal(seed: int, purpose: str, place: int) -> int:
    """Return 256 bits: a digest of the place, then the place under a mask that comes off again without an index."""
    digest = hashlib.sha256(f"{seed}|{purpose}|{place}".encode()).digest()
    return (int.from_bytes(digest[:24], "big") << _LOW_BITS) | (place ^ _mask(seed, purpose))


@lru_cache(maxsize=64)
def _mask(seed: int, purpose: str) -> int:
    return int.from_bytes(hashlib.sha256(f"{seed}|{purpose}|mask".encode()).digest()[:8], "big")
