"""Random numbers that are looked up by key, each with the minute at which it becomes known."""

import hashlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

_EVENT_FACTOR = np.uint64(0x9E3779B97F4A7C15)
_ITEM_FACTOR = np.uint64(0xD1B54A32D192ED03)
_FIRST_FACTOR = 0xBF58476D1CE4E5B9
_SECOND_FACTOR = 0x94D049BB133111EB
_WORD = 2**64 - 1


@dataclass(frozen=True, slots=True)
class Draws:
    """Every random number of a world, keyed by (seed, purpose, event, item), in any order.

    Each becomes known at a minute. A copy with `altered_after_minute` has the same numbers up to then and others later,
    so that tests see whether an answer looks ahead.
    """

    seed: int
    altered_after_minute: int | None = None

    def uniform(
        self, purpose: str, *, event: ArrayLike, item: ArrayLike, known_at_minute: ArrayLike
    ) -> NDArray[np.float64]:
        """Return numbers in (0, 1); event and item broadcast to their shape, which has at least one dimension.
        `known_at_minute` has that shape too, or is one number for all.
        """
        mixed = _mix(self._seeds(purpose, event, known_at_minute) ^ _words(item) * _ITEM_FACTOR)
        return (mixed >> np.uint64(11)).astype(np.float64) * 2.0**-53 + 2.0**-54

    def normal(
        self, purpose: str, *, event: ArrayLike, item: ArrayLike, known_at_minute: ArrayLike
    ) -> NDArray[np.float64]:
        """Return standard normal numbers, by the keys of `uniform` (Box and Muller 1958, the cosine half)."""
        radius = self.uniform(f"{purpose}|radius", event=event, item=item, known_at_minute=known_at_minute)
        angle = self.uniform(f"{purpose}|angle", event=event, item=item, known_at_minute=known_at_minute)
        return np.sqrt(-2.0 * np.log(radius)) * np.cos(2.0 * np.pi * angle)

    def _seeds(self, purpose: str, event: ArrayLike, known_at_minute: ArrayLike) -> np.uint64 | NDArray[np.uint64]:
        key = self._key(purpose)
        if self.altered_after_minute is not None:
            is_later = np.atleast_1d(np.asarray(known_at_minute)) > self.altered_after_minute
            return _mix(_words(event) * _EVENT_FACTOR ^ np.where(is_later, self._key(f"{purpose}|altered"), key))
        if isinstance(event, int):
            # The usual case; an array of one element takes ten times as long.
            return np.uint64(_mix_one(event * int(_EVENT_FACTOR) ^ int(key)))
        return _mix(_words(event) * _EVENT_FACTOR ^ key)

    def _key(self, purpose: str) -> np.uint64:
        digest = hashlib.sha256(f"{self.seed}|{purpose}".encode()).digest()
        return np.uint64(int.from_bytes(digest[:8], "big"))


def _words(values: ArrayLike) -> NDArray[np.uint64]:
    """Return integers as 64-bit words; an array, because a scalar would warn of overflow."""
    return np.atleast_1d(np.asarray(values)).astype(np.uint64)


def _mix(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return 64-bit words in which every bit depends on every given bit. Source: The finaliser of splitmix64 (Steele,
    Lea, Flood 2014; Stafford's mix 13).
    """
    values = (values ^ (values >> np.uint64(30))) * np.uint64(_FIRST_FACTOR)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(_SECOND_FACTOR)
    return values ^ (values >> np.uint64(31))


def _mix_one(value: int) -> int:
    """Return `_mix` of the lowest 64 bits of one number."""
    value &= _WORD
    value = (value ^ value >> 30) * _FIRST_FACTOR & _WORD
    value = (value ^ value >> 27) * _SECOND_FACTOR & _WORD
    return value ^ value >> 31
