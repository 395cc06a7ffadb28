"""Payloads as Gamma and the CLOB write them, for tests to bend."""

import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime

import httpx

from predibot.domain.resolution import Resolution
from predibot.venues.polymarket.client import Polymarket
from predibot.venues.polymarket.parse import parse_resolution

NOW = datetime(2026, 2, 13, 19, 30, tzinfo=UTC)
GAMMA = "https://gamma.test"
CLOB = "https://clob.test"


def condition_of(number: int) -> str:
    """Return the condition id of a numbered market."""
    return f"0x{number:064x}"


def market_payload(number: int = 1, /, **changes: object) -> dict[str, object]:
    """Return an open market; its tokens are ten times its number, and one more."""
    return {
        "id": str(number),
        "question": f"Will it happen by {number}?",
        "conditionId": condition_of(number),
        "outcomes": '["Yes", "No"]',
        "outcomePrices": '["0.41", "0.59"]',
        "clobTokenIds": f'["{10 * number}", "{10 * number + 1}"]',
        "endDate": "2026-03-01T00:00:00Z",
        "closed": False,
        "active": True,
        "bestBid": 0.4,
        "bestAsk": 0.42,
        "lastTradePrice": 0.43,
        "volume1wk": 1234.5,
        "feesEnabled": False,
    } | changes


def named_payload(number: int = 1, /, **changes: object) -> dict[str, object]:
    """Return a market of three outcomes, the second of which is called No."""
    named = {
        "outcomes": '["Reds", "No", "Blues"]',
        "outcomePrices": '["0.5", "0", "0.25"]',
        "clobTokenIds": '["101", "102", "103"]',
    }
    return market_payload(number, **(named | changes))


def settled_payload(number: int = 1, prices: str = '["1", "0"]', **changes: object) -> dict[str, object]:
    """Return a market that settled on 10 February 2026."""
    settled = {"closed": True, "outcomePrices": prices, "closedTime": "2026-02-10 20:56:36+00"}
    return market_payload(number, **(settled | changes))


def event_payload(number: int = 1, /, *markets: dict[str, object], **changes: object) -> dict[str, object]:
    """Return an open event; without markets it has one with its own number."""
    return {
        "id": str(number),
        "title": f"Event {number}",
        "slug": f"event-{number}",
        "endDate": "2026-03-02T00:00:00Z",
        "closed": False,
        "archived": False,
        "volume24hr": 5000,
        "volume1wk": 1_000_000 - number,
        "tags": [{"id": "2", "label": "Politics", "slug": "politics"}],
        "markets": list(markets) or [market_payload(number)],
    } | changes


class Asked:
    """A transport that answers by a function of the request and remembers what it was asked."""

    def __init__(self, answer: Callable[[httpx.Request], object]) -> None:
        """Answer with what the function returns: a response, or anything JSON can say."""
        self.requests: list[httpx.Request] = []
        self._answer = answer
        self.transport = httpx.MockTransport(self._handle)

    def _handle(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        answer = self._answer(request)
        return answer if isinstance(answer, httpx.Response) else httpx.Response(200, json=answer)


class Clock:
    """A clock that only sleeping moves."""

    def __init__(self) -> None:
        """Start at zero."""
        self.seconds = 0.0
        self.slept: list[float] = []

    def monotonic(self) -> float:
        """Return the time."""
        return self.seconds

    def sleep(self, seconds: float) -> None:
        """Let time pass."""
        self.slept.append(seconds)
        self.seconds += seconds


def venue_of(
    answer: Callable[[httpx.Request], object], *, now: datetime = NOW, clock: Clock | None = None
) -> tuple[Polymarket, Asked]:
    """Return a Polymarket client whose network is a function."""
    asked, clock = Asked(answer), clock or Clock()
    venue = Polymarket(
        gamma_url=GAMMA + "/",
        clob_url=CLOB,
        clock=lambda: now,
        transport=asked.transport,
        monotonic=clock.monotonic,
        sleep=clock.sleep,
    )
    return venue, asked


def pages_of(*pages: Sequence[dict[str, object]]) -> Callable[[httpx.Request], object]:
    """Return a keyset list in pages; the cursor of each is the number of the next."""

    def answer(request: httpx.Request) -> object:
        number = int(request.url.params.get("after_cursor", "0"))
        page: dict[str, object] = {"events": list(pages[number])}
        return page | ({"next_cursor": str(number + 1)} if number + 1 < len(pages) else {})

    return answer


def history_of(*points: tuple[int, float]) -> str:
    """Return a price file."""
    return json.dumps({"history": [{"t": at, "p": price} for at, price in points]})


def paid(payload: object) -> float | None:
    """Return what a share of the first outcome of a market object paid; None unless it is settled."""
    found = parse_resolution(payload, first_seen_at=NOW)
    return found.payout_yes if isinstance(found, Resolution) else None
