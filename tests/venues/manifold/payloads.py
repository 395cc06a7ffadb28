"""Payloads as Manifold writes them, for tests to bend."""

from collections.abc import Callable
from datetime import UTC, datetime

import httpx

from predibot.venues.manifold.client import Manifold

NOW = datetime(2026, 2, 13, 19, 30, tzinfo=UTC)
URL = "https://mana.test"


def ms(at: datetime) -> int:
    """Return an instant as Manifold writes it."""
    return round(at.timestamp() * 1_000)


def binary(name: str = "abc", /, **changes: object) -> dict[str, object]:
    """Return an open binary market."""
    return {
        "id": name,
        "question": "Will it rain?",
        "slug": "will-it-rain",
        "outcomeType": "BINARY",
        "mechanism": "cpmm-1",
        "token": "MANA",
        "probability": 0.42,
        "pool": {"YES": 100.0, "NO": 130.0},
        "volume": 12_000.5,
        "volume24Hours": 900.25,
        "isResolved": False,
        "createdTime": ms(NOW) - 10**9,
        "closeTime": ms(NOW) + 10**9,
        "textDescription": "Rain at noon counts.",
        "description": {"type": "doc", "content": []},
        "groupSlugs": ["us-politics", "weather"],
    } | changes


def answer(name: str, /, **changes: object) -> dict[str, object]:
    """Return an answer of a market with several."""
    return {"id": name, "text": f"Answer {name}", "probability": 0.25, "volume": 100.0} | changes


def multi(name: str = "many", /, *answers: dict[str, object], **changes: object) -> dict[str, object]:
    """Return an open market with several answers, of which one wins; `a` and `b` where none are given."""
    return binary(name) | {
        "outcomeType": "MULTIPLE_CHOICE",
        "mechanism": "cpmm-multi-1",
        "shouldAnswersSumToOne": True,
        "addAnswersMode": "DISABLED",
        "answers": list(answers or (answer("a"), answer("b"))),
        **changes,
    }


def resolved(payload: dict[str, object], resolution: str, /, **changes: object) -> dict[str, object]:
    """Return a market as it was resolved an hour before `NOW`."""
    at = ms(NOW) - 3_600_000
    ended = {"isResolved": True, "resolution": resolution, "resolutionTime": at, "closeTime": at}
    return payload | ended | changes


def bet(name: str, at: datetime, price: float, /, **changes: object) -> dict[str, object]:
    """Return a bet of `abc` that was filled when it was made."""
    return {
        "id": name,
        "contractId": "abc",
        "userId": "u",
        "createdTime": ms(at),
        "outcome": "YES",
        "amount": 10,
        "shares": 20,
        "probAfter": price,
        "isRedemption": False,
    } | changes


def venue_of(answered: Callable[[httpx.Request], object]) -> tuple[Manifold, list[httpx.Request]]:
    """Return a venue behind a function of requests, and the requests that came."""
    asked: list[httpx.Request] = []

    def handle(request: httpx.Request) -> httpx.Response:
        asked.append(request)
        found = answered(request)
        return found if isinstance(found, httpx.Response) else httpx.Response(200, json=found)

    transport = httpx.MockTransport(handle)
    venue = Manifold(url=URL, clock=lambda: NOW, requests_per_10_seconds={}, transport=transport, sleep=lambda _: None)
    return venue, asked
