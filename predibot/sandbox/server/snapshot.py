"""The venue as of one minute: its objects as JSON bytes, made when first asked for."""

from predibot.sandbox.server.gamma_payload import event_payload, market_payload, tag_payloads
from predibot.sandbox.server.reply import json_bytes
from predibot.sandbox.world.world import EventState, World


class Snapshot:
    """A world at a minute. Nothing in it depends on anything later."""

    def __init__(self, world: World, minute: int) -> None:
        """Look at a world as of a minute."""
        self.world = world
        self.minute = minute
        self.sorted_keys: dict[tuple[object, ...], list[tuple[float, ...]]] = {}
        """Lists already put in order, by what was asked for."""
        self._states: dict[int, EventState] = {}
        self._events: dict[int, bytes] = {}
        self._markets: dict[int, list[bytes]] = {}

    def numbers(self, *, closed: bool | None) -> list[int]:
        """Return the events listed by now, oldest first: the closed ones, the others, or all."""
        if closed is None:
            return self.world.born(self.minute)
        candidates = self.world.born(self.minute) if closed else self.world.maybe_open(self.minute)
        return [number for number in candidates if self.world.is_closed(number, self.minute) is closed]

    def is_listed(self, number: int) -> bool:
        """Return whether the venue shows this event by now."""
        return self.world.is_born(number, self.minute)

    def state(self, number: int) -> EventState:
        """Return a listed event."""
        state = self._states.get(number)
        if state is None:
            state = self._states[number] = self.world.event(number, self.minute)
        return state

    def event_json(self, number: int) -> bytes:
        """Return an event with its tags and markets."""
        found = self._events.get(number)
        if found is None:
            state = self.state(number)
            names = self.world.names
            quotes = self.world.quotes(number, self.minute)
            payload = event_payload(names, state)
            payload["tags"] = tag_payloads(state.plan)
            payload["markets"] = [
                market_payload(names, state, market, quote) for market, quote in zip(state.markets, quotes, strict=True)
            ]
            found = self._events[number] = json_bytes(payload)
        return found

    def market_json(self, number: int, index: int) -> bytes:
        """Return a market with a stub of its event and without tags."""
        found = self._markets.get(number)
        if found is None:
            state = self.state(number)
            names = self.world.names
            stub = event_payload(names, state)
            quotes = self.world.quotes(number, self.minute)
            found = self._markets[number] = [
                json_bytes(market_payload(names, state, market, quote) | {"events": [stub]})
                for market, quote in zip(state.markets, quotes, strict=True)
            ]
        return found[index]
