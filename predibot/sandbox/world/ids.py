"""The names a world gives: numeric ids, condition ids and token ids that tell seed, event, market and side."""

import hashlib
from dataclasses import dataclass

MAX_EVENTS = 1_000_000
_LOW_BITS = 64


@dataclass(frozen=True, slots=True)
class TokenPlace:
    """Where a token belongs: event number, market index, side 0 (first outcome) or 1."""

    event: int
    market: int
    side: int


@dataclass(frozen=True, slots=True)
class Names:
    """The ids of one seed; two seeds share none, because each id contains its seed or a digest of it."""

    seed: int

    def event_id(self, event: int) -> str:
        """Return the id of an event, a numeric string."""
        return f"{self.seed + 1}{event:06d}"

    def market_id(self, event: int, market: int) -> str:
        """Return the id of a market, a numeric string."""
        return f"{self.seed + 1}{event:06d}{market:02d}"

    def condition_id(self, event: int, market: int) -> str:
        """Return the condition id of a market, 0x and 64 hexadecimal digits."""
        return f"0x{self._sealed('condition', event * 256 + market * 2):064x}"

    def neg_risk_id(self, event: int) -> str:
        """Return the id that the mutually exclusive markets of an event share."""
        return f"0x{self._sealed('negrisk', event * 256):064x}"

    def token_id(self, event: int, market: int, side: int) -> str:
        """Return the token id of one outcome, a numeric string of up to 78 digits."""
        return str(self._sealed("token", event * 256 + market * 2 + side))

    def event_of(self, event_id: str) -> int | None:
        """Return the number of the event with this id, or None when it is not of this seed."""
        number = self._tail(event_id, 6)
        return number if number is not None and self.event_id(number) == event_id else None

    def market_of(self, market_id: str) -> tuple[int, int] | None:
        """Return event number and index of the market with this id, or None."""
        tail = self._tail(market_id, 8)
        return divmod(tail, 100) if tail is not None and self.market_id(*divmod(tail, 100)) == market_id else None

    def condition_of(self, condition_id: str) -> tuple[int, int] | None:
        """Return event number and index of the market with this condition id, or None."""
        if len(condition_id) != 66 or not condition_id.startswith("0x"):
            return None
        try:
            place = self._opened("condition", int(condition_id, 16))
        except ValueError:
            return None
        return None if place is None else (place.event, place.market)

    def token_of(self, token_id: str) -> TokenPlace | None:
        """Return where a token belongs, or None when it is not of this seed."""
        if not (token_id.isascii() and token_id.isdigit() and len(token_id) <= 78):
            return None
        return self._opened("token", int(token_id))

    def _tail(self, text: str, digits: int) -> int | None:
        """Return the last digits of an id as a number, or None when it is no number."""
        return int(text[-digits:]) if text.isascii() and text.isdigit() and len(text) > digits else None

    def _sealed(self, purpose: str, place: int) -> int:
        """Return 256 bits: a digest of the place, then the place itself under a mask.

        The mask can be taken off again, so that no index of all markets is needed to find one.
        """
        digest = hashlib.sha256(f"{self.seed}|{purpose}|{place}".encode()).digest()
        return (int.from_bytes(digest[:24], "big") << _LOW_BITS) | (place ^ self._mask(purpose))

    def _opened(self, purpose: str, sealed: int) -> TokenPlace | None:
        """Return the place within 256 bits, or None when they were not sealed with this seed."""
        place = (sealed & (2**_LOW_BITS - 1)) ^ self._mask(purpose)
        if place >= MAX_EVENTS * 256 or self._sealed(purpose, place) != sealed:
            return None
        return TokenPlace(event=place // 256, market=place % 256 // 2, side=place % 2)

    def _mask(self, purpose: str) -> int:
        """Return the 64 bits that hide a place."""
        return int.from_bytes(hashlib.sha256(f"{self.seed}|{purpose}|mask".encode()).digest()[:8], "big")
