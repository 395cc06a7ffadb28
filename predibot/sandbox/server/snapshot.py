"""The venue as of one minute: its objects as JSON bytes, made when first asked for."""

from predibot.sandbox.server.gamma_payload import Json, event_payload, market_payload, named_payload, tag_payloads
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
        self.bets: dict[int, list[Json]] = {}
        """By event, where the venue serves bets."""
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
            payload = self._event_payload(number)
            payload["tags"] = tag_payloads(self.state(number).plan)
            payload["markets"] = self._market_payloads(number)
            found = self._events[number] = json_bytes(payload)
        return found

    def market_json(self, number: int, index: int) -> bytes:
        """Return a market with a stub of its event and without tags."""
        found = self._markets.get(number)
        if found is None:
            stub = self._event_payload(number)
            found = self._markets[number] = [
                json_bytes(payload | {"events": [stub]}) for payload in self._market_payloads(number)
            ]
        return found[index]

    def is_named(self, number: int) -> bool:
        """Return whether an event is one market of more than two outcomes, which is its market 0."""
        return self.world.is_named(self.state(number).plan)

    def _event_payload(self, number: int) -> Json:
        state = self.state(number)
        is_exclusive = state.plan.is_exclusive and not self.is_named(number)
        return event_payload(self.world.names, state, is_exclusive=is_exclusive)

    def _market_payloads(self, number: int) -> list[Json]:
        state, names, quotes = self.state(number), self.world.names, self.world.quotes(number, self.minute)
        if self.is_named(number):
            return [named_payload(names, state, quotes, self.world.payouts(number, self.minute))]
        return [
            market_payload(names, state, market, quote) for market, quote in zip(state.markets, quotes, strict=True)
        ]
