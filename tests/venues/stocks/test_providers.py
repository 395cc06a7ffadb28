"""The providers of stock prices: what is asked, what is read, and what every fault means.

Shapes are those of https://www.tiingo.com/documentation/end-of-day (2.1.2 prices, 2.1.3 meta data) and of
https://www.alphavantage.co/documentation (TIME_SERIES_DAILY_ADJUSTED, OVERVIEW); notes with status 200 are quoted in
issue 341 of RomelTorres/alpha_vantage and pull request 104 of finance-quote.
"""

import json
import logging
import random
import traceback
from collections.abc import Callable
from datetime import UTC, date, datetime
from typing import Any

import httpx
import pytest

from predibot.errors import PredibotError, UsageError, VenueChanged, VenueUnavailable
from predibot.net.api_keys import Key
from predibot.venues.stocks.daily_prices import Company, DayPrices, ProviderPrices, TickerUnknown
from predibot.venues.stocks.providers import NOTE_TRIES, AlphaVantage, Tiingo
from tests.venues.payloads import Asked, Clock

KEY = Key("PLANTED_API_KEY", "0123456789abcdefPLANTED")
FIRST, LAST = date(2026, 1, 5), date(2026, 1, 9)
NOW = datetime(2026, 1, 12, 12, tzinfo=UTC)
BOTH = pytest.mark.parametrize("kind", [Tiingo, AlphaVantage])
Answer = Callable[[httpx.Request], object]


def tiingo_row(on: str = "2026-01-05", **changes: object) -> dict[str, object]:
    """Return a row as Tiingo documents it."""
    return {
        "date": f"{on}T00:00:00.000Z",
        **{"close": 110.0, "high": 120.0, "low": 90.0, "open": 100.0, "volume": 1000},
        **{"adjClose": 55.0, "adjHigh": 60.0, "adjLow": 45.0, "adjOpen": 50.0, "adjVolume": 2000},
        **{"divCash": 0.0, "splitFactor": 1.0},
    } | changes


def alpha_row(**changes: object) -> dict[str, object]:
    """Return a row as Alpha Vantage documents it."""
    return {
        **{"1. open": "100.0000", "2. high": "120.0000", "3. low": "90.0000", "4. close": "110.0000"},
        **{"5. adjusted close": "55.0", "6. volume": "1000"},
        **{"7. dividend amount": "0.0000", "8. split coefficient": "1.0"},
    } | changes


def alpha_answer(**rows: dict[str, object]) -> dict[str, object]:
    series = {day.replace("_", "-").removeprefix("on-"): row for day, row in rows.items()}
    return {"Meta Data": {"2. Symbol": "KO"}, "Time Series (Daily)": series}


DAY = DayPrices(FIRST, 100.0, 120.0, 90.0, 110.0, 1000.0, 55.0, 0.0, 1.0)
GOOD: dict[type, object] = {Tiingo: [tiingo_row()], AlphaVantage: alpha_answer(on_2026_01_05=alpha_row())}


def read(kind: type[Any], answer: Answer, **changes: Any) -> tuple[ProviderPrices, Asked, Clock]:
    """Return what a client reads of a network that is a function, with the requests and the waits."""
    asked, clock = Asked(answer), Clock()
    options = {"now": lambda: NOW, "monotonic": clock.monotonic, "sleep": clock.sleep, "rng": random.Random(1)}
    with kind(KEY, transport=asked.transport, **options | changes) as client:
        return client.prices("KO", FIRST, LAST), asked, clock


def refused(kind: type[Any], answer: Answer, **changes: Any) -> PredibotError:
    """Return the error of a client, in no text of which there is the key."""
    with pytest.raises(PredibotError) as caught:
        read(kind, answer, **changes)
    assert KEY.value not in "".join(traceback.format_exception(caught.value))
    return caught.value


@BOTH
def test_a_documented_answer_is_read(kind: type[Any]) -> None:
    assert read(kind, lambda _: GOOD[kind])[0] == ProviderPrices((DAY,))


def test_tiingo_is_asked_with_a_token_in_the_header_and_nowhere_else() -> None:
    _, asked, _ = read(Tiingo, lambda _: GOOD[Tiingo])
    (request,) = asked.requests
    assert str(request.url) == (
        "https://api.tiingo.com/tiingo/daily/KO/prices?startDate=2026-01-05&endDate=2026-01-09&format=json"
    )
    assert request.headers["authorization"] == f"Token {KEY.value}"


def test_alpha_vantage_is_asked_with_a_key_that_no_address_shows() -> None:
    _, asked, _ = read(AlphaVantage, lambda _: GOOD[AlphaVantage])
    (request,) = asked.requests
    shown = "function=TIME_SERIES_DAILY_ADJUSTED&symbol=KO&outputsize=compact&datatype=json"
    assert str(request.url) == f"https://www.alphavantage.co/query?{shown}"
    assert request.extensions["target"] == f"/query?{shown}&apikey={KEY.value}".encode()
    assert "authorization" not in request.headers


@pytest.mark.parametrize(("now", "size"), [("2026-05-01", "compact"), ("2026-06-01", "full")])
def test_alpha_vantage_is_asked_for_all_only_where_the_latest_hundred_are_too_few(now: str, size: str) -> None:
    at = datetime.fromisoformat(f"{now}T12:00:00+00:00")
    _, asked, _ = read(AlphaVantage, lambda _: GOOD[AlphaVantage], now=lambda: at)
    assert asked.requests[0].url.params["outputsize"] == size


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("close", 0, "close: 0 is not a price above 0"),
        ("close", -1.5, "close: -1.5 is not a price above 0"),
        ("open", "NaN", "open: 'NaN' is not a finite number"),
        ("high", float("inf"), "high: "),
        ("low", None, "low: no number is stated"),
        ("close", True, "close: True is not a number"),
        ("close", "12 dollars", "close: '12 dollars' is not a number"),
        ("close", [1], "close: [1] is not a number"),
        ("close", 1e9, "close: 1000000000.0 is not a price above 0"),
        ("volume", -1, "volume: -1 is below zero"),
        ("divCash", -0.1, "dividend_usd: -0.1 is below zero"),
        ("splitFactor", 0, "split: 0 is not a number of new shares for an old one"),
        ("splitFactor", 1e6, "split: 1000000.0 is not a number of new shares"),
    ],
)
def test_a_row_that_cannot_be_is_left_out_with_its_reason(field: str, value: object, said: str) -> None:
    bad = json.dumps([tiingo_row(), tiingo_row("2026-01-06", **{field: value})])
    found, _, _ = read(Tiingo, lambda _: httpx.Response(200, content=bad))
    assert found.days == (DAY,)
    assert found.notes[0].startswith(f"the row of 2026-01-06 is left out: {said}")


@pytest.mark.parametrize("on", [None, 20260106, "", "06/01/2026", "2026-02-30", "x" * 50_000])
def test_a_row_without_a_date_is_left_out(on: object) -> None:
    found, _, _ = read(Tiingo, lambda _: [tiingo_row(), {**tiingo_row(), "date": on}])
    assert found.days == (DAY,)
    assert len(found.notes[0]) < 400


@pytest.mark.parametrize("value", ["0.0000", "NaN", "None", "-3", "", None, {}])
def test_the_same_in_the_words_of_alpha_vantage(value: object) -> None:
    answer = alpha_answer(on_2026_01_05=alpha_row(), on_2026_01_06=alpha_row(**{"4. close": value}))
    found, _, _ = read(AlphaVantage, lambda _: answer)
    assert found.days == (DAY,)
    assert "the row of 2026-01-06 is left out: close: " in found.notes[0]


def test_days_come_in_order_once_and_only_those_asked_for() -> None:
    days = ["2026-01-09", "2026-01-02", "2026-01-06", "2026-01-06", "2026-01-12", "2026-01-05"]
    found, _, _ = read(Tiingo, lambda _: [tiingo_row(on) for on in days])
    assert [str(day.on) for day in found.days] == ["2026-01-05", "2026-01-06", "2026-01-09"]
    assert found.notes == ()
    # Two rows of a day that contradict each other are both left out.
    found, _, _ = read(Tiingo, lambda _: [tiingo_row(), tiingo_row("2026-01-06"), tiingo_row("2026-01-06", close=99.0)])
    assert found.days == (DAY,)
    assert found.notes == ("the row of 2026-01-06 is left out: it is stated twice, in two ways",)


def test_of_many_rows_that_are_left_out_three_are_named() -> None:
    found, _, _ = read(Tiingo, lambda _: [tiingo_row(f"2026-01-0{place}", close=0) for place in range(1, 9)])
    assert len(found.notes) == 4
    assert found.notes[-1] == "5 more rows are left out"


@BOTH
def test_a_rate_limit_is_waited_for_as_long_as_it_asks(kind: type[Any]) -> None:
    left = [httpx.Response(429, headers={"retry-after": "7"})]
    found, asked, clock = read(kind, lambda _: left.pop() if left else GOOD[kind])
    assert found.days == (DAY,)
    assert len(asked.requests) == 2
    assert clock.slept[0] >= 7.0


@BOTH
@pytest.mark.parametrize(
    ("reply", "error", "said"),
    [
        (httpx.Response(429, headers={"retry-after": "3600"}), VenueUnavailable, "asks to wait 3600 s"),
        (httpx.Response(429), VenueUnavailable, "answered 429"),
        (httpx.Response(500), VenueUnavailable, "answered 500"),
        (httpx.Response(200, content=b'[{"date": "2026-0'), VenueUnavailable, "JSON that is not whole"),
        (httpx.Response(200, content=b"<html>welcome"), VenueChanged, "answered no JSON but '<html>welcome'"),
        (httpx.Response(200, json={"data": []}), VenueChanged, "is up to date"),
        (httpx.Response(200, json=[1, 2]), VenueChanged, "is up to date"),
        (httpx.Response(302, headers={"location": f"https://evil.test/{KEY.value}"}), VenueChanged, "answered 302"),
        (
            httpx.Response(401, content=f"bad {KEY.value}"),
            UsageError,
            r"bad \*\*\*.*the key in PLANTED_API_KEY is right",
        ),
        (httpx.Response(403), UsageError, "the key in PLANTED_API_KEY is right and its plan has this"),
    ],
    ids=lambda value: getattr(value, "__name__", None) or str(value)[:20],
)
def test_every_fault_says_what_was_seen_and_what_to_do(
    kind: type[Any], reply: httpx.Response, error: type[Exception], said: str
) -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        # A redirect that is followed would carry the key to another host.
        assert request.url.host in ("api.tiingo.com", "www.alphavantage.co")
        return httpx.Response(reply.status_code, content=reply.content, headers=reply.headers)

    found = refused(kind, answer)
    assert type(found) in (error, *error.__subclasses__())
    with pytest.raises(type(found), match=said):
        raise found


@BOTH
def test_an_answer_that_could_fill_the_memory_is_refused(kind: type[Any]) -> None:
    found = refused(kind, lambda _: httpx.Response(200, content=b"[" + b" " * 17_000_000 + b"]"))
    assert isinstance(found, VenueChanged) and "more than 16,000,000 bytes" in str(found)


@pytest.mark.parametrize(
    ("kind", "answer", "company"),
    [
        (Tiingo, {"ticker": "KO", "name": "Coca-Cola Co", "exchangeCode": "NYSE"}, Company("Coca-Cola Co")),
        (Tiingo, {"ticker": "KO", "name": None}, Company()),
        (
            AlphaVantage,
            {"Symbol": "KO", "Name": "Coca-Cola", "Sector": "LIFE SCIENCES"},
            Company("Coca-Cola", "Life sciences"),
        ),
        (AlphaVantage, {}, Company()),
        (AlphaVantage, [1], Company()),
        (AlphaVantage, {"Name": "A\n\tB" + 900 * "x", "Sector": 3}, Company("A B" + 97 * "x")),
    ],
)
def test_a_company_is_what_is_stated_of_it_on_one_bounded_line(
    kind: type[Any], answer: object, company: Company
) -> None:
    asked = Asked(lambda _: answer)
    with kind(KEY, transport=asked.transport) as client:
        assert client.company("KO") == company
    (request,) = asked.requests
    path = "/tiingo/daily/KO" if kind is Tiingo else "/query?function=OVERVIEW&symbol=KO"
    assert request.url.raw_path.decode() == path


SPENT = httpx.Response(200, content="You have run over your 500 symbol look up for this month. Please upgrade.")
DETECTED = f"We have detected your API key as {KEY.value} and our limit is 25 requests per day."
WRONG_KEY = {"Error Message": "the parameter apikey is invalid or missing."}
NO_STOCK = "alpha_vantage has no stock KO (Invalid API call. Please retry.)"


@pytest.mark.parametrize(
    ("kind", "answer", "error", "said"),
    [
        (Tiingo, SPENT, VenueUnavailable, "month is spent; run again later, or get another plan"),
        (Tiingo, httpx.Response(404, json={"detail": "Not found"}), TickerUnknown, "tiingo has no stock KO"),
        (AlphaVantage, {"Error Message": "Invalid API call. Please retry."}, TickerUnknown, NO_STOCK),
        # The key that it quotes is hidden.
        (AlphaVantage, {"Information": DETECTED}, VenueUnavailable, "detected your API key as *** and our limit"),
        (AlphaVantage, {"Information": DETECTED}, VenueUnavailable, "run again tomorrow, or get another plan"),
        (AlphaVantage, {"Information": "This is a premium endpoint."}, UsageError, "use tiingo, or get such a key"),
        (AlphaVantage, WRONG_KEY, UsageError, "apikey"),
    ],
)
def test_what_a_provider_says_in_words_of_its_own_is_understood(
    kind: type[Any], answer: object, error: type[PredibotError], said: str
) -> None:
    found = refused(kind, lambda _: answer)
    assert isinstance(found, error)
    assert said in str(found)


def test_a_note_about_a_minute_is_waited_for() -> None:
    left = [{"Note": "Our standard API call frequency is 5 calls per minute and 500 calls per day."}]
    found, asked, clock = read(AlphaVantage, lambda _: left.pop() if left else GOOD[AlphaVantage])
    assert found.days == (DAY,)
    assert len(asked.requests) == 2
    assert any(seconds >= 15.0 for seconds in clock.slept)


def test_a_note_that_never_ends_is_given_up() -> None:
    asked = Asked(lambda _: {"Information": "Please consider 1 request per second."})
    found = refused(AlphaVantage, lambda request: asked._handle(request), deadline_seconds=600.0)
    assert isinstance(found, VenueUnavailable)
    assert len(asked.requests) == NOTE_TRIES
    assert "alpha_vantage was asked too often: Please consider 1 request per second." in str(found)


@BOTH
def test_no_log_has_the_key(kind: type[Any], caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG), caplog.at_level(logging.DEBUG, "httpx"):
        read(kind, lambda _: GOOD[kind])
        refused(kind, lambda _: httpx.Response(500, content=KEY.value))
    assert "HTTP Request: GET" in caplog.text
    assert KEY.value not in caplog.text
