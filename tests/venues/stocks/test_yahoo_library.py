"""The real yfinance over a loopback Yahoo: what it makes of Yahoo's chart is read, and its errors are ours.

The chart is of the shape that yfinance 1.7 reads (`PriceHistory.history` and `utils.parse_quotes` there).
"""

import json
import os
import subprocess
import sys
import threading
import tomllib
from collections.abc import Iterator
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.packaging.conftest import REPOSITORY

pytestmark = pytest.mark.outside

OPENS = tuple(
    datetime(2020, month, day, 13, 30, tzinfo=UTC) for month, day in ((8, 6), (8, 7), (8, 28), (8, 31), (10, 1))
)
CLOSES = (113.90249633789062, 111.11250305175781, 124.80750274658203, 129.0399932861328, 116.79000091552734)
VOLUMES = (202_428_800, 198_045_600, 187_630_000, 225_702_700, 116_120_400)
PROGRAM = """
import json, sys
sys.path.append(sys.argv[1])
import yfinance, yfinance.base, yfinance.scrapers.history
yfinance.set_tz_cache_location(sys.argv[1] + "/cache")
yfinance.base._BASE_URL_ = yfinance.scrapers.history._BASE_URL_ = sys.argv[2]
from datetime import date
from predibot.errors import PredibotError
from predibot.venues.stocks.providers import Yahoo
said = {}
for ticker in ("AAPL", "LIMIT"):
    try:
        read = Yahoo().prices(ticker, date(2020, 8, 1), date(2020, 9, 30))
        said[ticker] = [[str(day.on), day.close, day.volume, day.dividend_usd, day.split] for day in read.days]
    except PredibotError as error:
        said[ticker] = f"{type(error).__name__}: {error}"
print(json.dumps(said))
"""


def chart() -> dict[str, Any]:
    """Return Apple's days around its split of four for one, in shares of now."""
    at = [int(each.timestamp()) for each in OPENS]
    meta = {
        **{"currency": "USD", "symbol": "AAPL", "instrumentType": "EQUITY", "exchangeTimezoneName": "America/New_York"},
        **{"gmtoffset": -14_400, "timezone": "EDT", "regularMarketTime": at[-1], "firstTradeDate": at[0]},
        **{"priceHint": 2, "dataGranularity": "1d", "validRanges": ["1d", "5d", "1mo", "max"]},
        "currentTradingPeriod": {
            each: {"timezone": "EDT", "start": at[-1], "end": at[-1] + 1, "gmtoffset": -14_400}
            for each in ("pre", "regular", "post")
        },
    }
    split = {"date": at[3], "numerator": 4.0, "denominator": 1.0, "splitRatio": "4:1"}
    result = {
        "meta": meta,
        "timestamp": at,
        "events": {"dividends": {str(at[1]): {"amount": 0.205, "date": at[1]}}, "splits": {str(at[3]): split}},
        "indicators": {
            "quote": [{**dict.fromkeys(("open", "high", "low", "close"), CLOSES), "volume": VOLUMES}],
            "adjclose": [{"adjclose": CLOSES}],
        },
    }
    return {"chart": {"result": [result], "error": None}}


class _Yahoo(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        is_limit = "/chart/LIMIT" in self.path
        body = b"Too Many Requests" if is_limit else json.dumps(chart()).encode()
        self.send_response(429 if is_limit else 200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def url() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Yahoo) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_what_yfinance_makes_of_yahoos_chart_is_read(tmp_path: Path, url: str) -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted, folder = project["optional-dependencies"]["stocks"], str(tmp_path / "library")
    command = (sys.executable, "-m", "pip", "install", "--quiet", "--target", folder, *wanted)
    subprocess.run(command, check=True, timeout=600, capture_output=True)
    asked = (sys.executable, "-W", "ignore", "-c", PROGRAM, folder, url)
    environment = {**os.environ, "NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"}
    done = subprocess.run(
        asked, cwd=REPOSITORY, env=environment, capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert said["AAPL"] == [
        ["2020-08-06", 455.61, 50_607_200.0, 0.0, 1.0],
        ["2020-08-07", 444.45, 49_511_400.0, 0.82, 1.0],
        ["2020-08-28", 499.23, 46_907_500.0, 0.0, 1.0],
        ["2020-08-31", 129.04, 225_702_700.0, 0.0, 4.0],
    ]
    assert said["LIMIT"].startswith("VenueUnavailable: yahoo was asked too often: Too Many Requests")
