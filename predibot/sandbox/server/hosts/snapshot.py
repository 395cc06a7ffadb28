"""The simulated venue at one minute: its objects as JSON, each made on first use."""

from collections.abc import Callable
from functools import cache, partial

from predibot.sandbox.server.hosts.gamma_payload import (
    Json,
    event_payload,
    market_payload,
    multi_outcome_payload,
    tag_payloads,
)
from predibot.sandbox.server.reply import json_bytes
from predibot.sandbox.world.world import EventState, World


class Snapshot:
    """A world at a minute; nothing in it depends on anything later."""

    def __init__(self, world: World, minute: int) -> None:
        """Take a world at a minute."""
        self.world = world
        self.minute = minute
        self.sorted_keys: dict[tuple[object, ...], list[tuple[float, ...]]] = {}
        self.bets: dict[int, list[Json]] = {}
        self.state: Callable[[int], EventState] = cache(partial(world.event, minute=minute))
        self.event_json = cache(self._event_json)
        self._markets_json = cache(self._make_markets_json)

    def numbers(self, *, closed: bool | None) -> list[int]:
        """Return the numbers of listed events, oldest first: the closed, the open, or all (None)."""
        if closed is None:
            return self.world.event_numbers(self.minute)
        candidates = self.world.event_numbers(self.minute) if closed else self.world.maybe_open_numbers(self.minute)
        return [number for number in candidates if self.world.is_closed(number, self.minute) is closed]

    def is_listed(self, number: int) -> bool:
        """Return whether the venue lists this event yet."""
        return self.world.is_born(number, self.minute)

    def market_json(self, number: int, index: int) -> bytes:
        """Return a market with a stub of its event, without tags."""
        return self._markets_json(number)[index]

    def is_named(self, number: int) -> bool:
        """Return whether the event is a single market of more than two outcomes."""
        return self.world.is_named(self.state(number).plan)

    def _event_json(self, number: int) -> bytes:
        tags = tag_payloads(self.state(number).plan)
        return json_bytes(self._event_payload(number) | {"tags": tags, "markets": self._market_payloads(number)})

    def _make_markets_json(self, number: int) -> list[bytes]:
        stub = self._event_payload(number)
        return [json_bytes(payload | {"events": [stub]}) for payload in self._market_payloads(number)]

    def _event_payload(self, number: int) -> Json:
        state = self.state(number)
        is_exclusive = state.plan.is_exclusive and not self.is_named(number)
        return event_payload(self.world.names, state, is_exclusive=is_exclusive)

    def _market_payloads(self, number: int) -> list[Json]:
        state, names, quotes = self.state(number), self.world.names, self.world.quotes(number, self.minute)
        if self.is_named(number):
            return [multi_outcome_payload(names, state, quotes, self.world.payouts(number, self.minute))]
        return [
            market_payload(names, state, market, quote) for market, quote in zip(state.markets, quotes, strict=True)
        ]
