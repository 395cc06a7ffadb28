"""The dialects of providers of stock prices: what they answer, refuse, and never say early."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, datetime, timedelta
from typing import Any

import httpx
import pytest

from predibot.sandbox.server.fault import HUGE_BLANKS, Fault
from predibot.sandbox.server.hosts.stock_prices import STOCKS_BEGIN_ON, STOCKS_DAYS
from predibot.sandbox.server.options import SandboxOptions
from predibot.sandbox.server.server import SandboxServer
from predibot.sandbox.stocks.trading_days import closing_minute, trading_days
from predibot.sandbox.world.calendar import SANDBOX_ENDS_AT, SANDBOX_OPENS_AT, minute_of
from predibot.sandbox.world.world import World

TOKEN = {"Authorization": "Token anything"}
DAILY = {"function": "TIME_SERIES_DAILY_ADJUSTED", "symbol": "KO", "apikey": "anything"}
SERIES = "Time Series (Daily)"


@pytest.fixture(scope="module")
def stocks(server: SandboxServer) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=server.search_url, timeout=30, trust_env=False) as client:
        yield client


@contextmanager
def asking(world: World, now: datetime, fault: Fault | None = None) -> Iterator[tuple[SandboxServer, httpx.Client]]:
    with (
        SandboxServer(world, now=now, options=SandboxOptions(fault=fault)) as server,
        httpx.Client(base_url=server.search_url, timeout=30, trust_env=False) as client,
    ):
        yield server, client


def tiingo(client: httpx.Client, ticker: str = "KO", **query: str) -> Any:
    return client.get(f"/tiingo/daily/{ticker}/prices", params=query, headers=TOKEN).json()


def test_tiingo_answers_the_days_asked_for_oldest_first(stocks: httpx.Client) -> None:
    rows = tiingo(stocks, startDate="2025-12-01", endDate="2025-12-31")
    dates = [row["date"] for row in rows]
    assert dates[0] == "2025-12-01T00:00:00.000Z"
    assert dates == sorted(dates)
    assert len(dates) > 18
    raw = {"date", "open", "high", "low", "close", "volume", "divCash", "splitFactor"}
    assert set(rows[0]) == raw | {"adjOpen", "adjHigh", "adjLow", "adjClose", "adjVolume"}
    # It is noon of a Monday, and no date is asked for.
    assert [row["date"][:10] for row in tiingo(stocks, "ko")] == ["2026-01-02"]


def test_alpha_vantage_answers_the_latest_hundred_or_all_by_date(stocks: httpx.Client) -> None:
    compact = stocks.get("/query", params=DAILY).json()
    whole = stocks.get("/query", params={**DAILY, "outputsize": "full"}).json()
    assert len(compact[SERIES]) == 100
    assert max(compact[SERIES]) == max(whole[SERIES]) == compact["Meta Data"]["3. Last Refreshed"] == "2026-01-02"
    assert min(whole[SERIES]) == str(STOCKS_BEGIN_ON)
    assert compact[SERIES].items() <= whole[SERIES].items()
    assert all(isinstance(value, str) for row in compact[SERIES].values() for value in row.values())


def test_both_say_the_same(stocks: httpx.Client) -> None:
    rows = tiingo(stocks, "UNH", startDate=str(STOCKS_BEGIN_ON))
    whole = stocks.get("/query", params={**DAILY, "symbol": "UNH", "outputsize": "full"}).json()[SERIES]
    assert {row["date"][:10]: row["close"] for row in rows} == {
        day: float(row["4. close"]) for day, row in whole.items()
    }
    for name, other in (("divCash", "7. dividend amount"), ("splitFactor", "8. split coefficient")):
        assert [row[name] for row in rows] == [float(whole[row["date"][:10]][other]) for row in rows]


def test_an_adjusted_close_has_no_action_in_it_that_is_still_to_come(world: World) -> None:
    with asking(world, SANDBOX_OPENS_AT) as (server, client):
        for after in range(0, 100, 24):
            server.now = SANDBOX_OPENS_AT + timedelta(days=after)
            for ticker in ("AAPL", "JNJ", "SPY"):
                (last,) = tiingo(client, ticker)
                assert last["adjClose"] == last["close"]


@pytest.mark.parametrize(
    ("path", "headers", "status"),
    [
        ("/tiingo/daily/KO/prices", {}, 401),
        ("/tiingo/daily/KO/prices", {"Authorization": "Token"}, 401),
        ("/tiingo/daily/KO/prices", {"Authorization": "Bearer x"}, 401),
        ("/tiingo/daily/KO/prices?token=x", {}, 200),
        ("/tiingo/daily/NONE/prices", TOKEN, 404),
        ("/tiingo/daily/KO", TOKEN, 200),
        ("/tiingo/daily/NONE", TOKEN, 404),
        ("/tiingo/daily/KO/news", TOKEN, 404),
        ("/tiingo/daily/KO/prices?startDate=yesterday", TOKEN, 400),
    ],
)
def test_tiingo_refuses_what_it_would_refuse(
    stocks: httpx.Client, path: str, headers: dict[str, str], status: int
) -> None:
    assert stocks.get(path, headers=headers).status_code == status


@pytest.mark.parametrize("changes", [{"apikey": ""}, {"symbol": "NONE"}, {"symbol": ""}, {"function": "EARNINGS"}])
def test_alpha_vantage_refuses_with_status_200(stocks: httpx.Client, changes: dict[str, str]) -> None:
    reply = stocks.get("/query", params={**DAILY, **changes})
    assert (reply.status_code, list(reply.json())) == (200, ["Error Message"])


def test_before_the_first_close_there_is_no_day_and_there_are_some_as_long_as_the_sandbox_is(world: World) -> None:
    assert closing_minute(trading_days(STOCKS_BEGIN_ON, STOCKS_DAYS)[-1]) > minute_of(SANDBOX_ENDS_AT)
    now = datetime.combine(STOCKS_BEGIN_ON, datetime.min.time(), SANDBOX_OPENS_AT.tzinfo) + timedelta(hours=20)
    with asking(world, now) as (_, client):
        assert tiingo(client) == tiingo(client, startDate=str(date.min)) == []
        assert client.get("/query", params=DAILY).json()[SERIES] == {}


@pytest.mark.parametrize("path", ["/tiingo/daily/KO/prices?startDate=2025-11-03", "/query"])
def test_each_fault_of_prices_does_what_it_says(world: World, stocks: httpx.Client, path: str) -> None:
    def said(fault: str) -> httpx.Response:
        with asking(world, SANDBOX_OPENS_AT, Fault(fault)) as (_, client):
            return client.get(path, params=DAILY if path == "/query" else None, headers=TOKEN)

    def closes(content: Any) -> list[Any]:
        if isinstance(content, list):
            return [row["close"] for row in content]
        return [content[SERIES][day]["4. close"] for day in sorted(content[SERIES])]

    right = closes(stocks.get(path, params=DAILY if path == "/query" else None, headers=TOKEN).json())
    assert said("redirect").status_code == 302
    assert len(said("huge_answer").content) > HUGE_BLANKS
    assert (said("limit_note").status_code, SERIES in said("limit_note").text) == (200, False)
    bad = closes(said("bad_prices").json())
    assert bad[:-6] == right[:-6]
    assert bad[-1] == right[-1]
    assert bad[-6:-1][::-1][0] == 0
    assert [bad[-4], bad[-5], bad[-6]] == ["n/a", None, -1.5]
    assert len(closes(said("missing_days").json())) == len(right) - (len(right) + 4) // 10
    restated = closes(said("restated").json())
    assert restated[-1] == right[-1]
    assert [float(one) for one in restated[:-1]] == pytest.approx(
        [1.5 * float(other) for other in right[:-1]], abs=1e-4
    )
