"""Attacks on the app: none gets an error of the server, a file, a row too many, or a change of the ledger."""

import hashlib
import http.client
import inspect
import os
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote

import pytest

pytest.importorskip("fastapi", reason="needs predibot[web]")

from fastapi import FastAPI
from fastapi.testclient import TestClient
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from predibot.ledger.store import Store
from predibot.web.app import all_pages, create_app
from tests.forked import Forked
from tests.web.conftest import BASE, NOW, TOKEN, client_of, served
from tests.worlds import Worlds, three_games, two_events

PAGES = all_pages()
EVIL = (
    "' OR '1'='1",
    "1; DROP TABLE decisions;--",
    "%' UNION SELECT sql FROM sqlite_master--",
    "../../../../etc/passwd",
    "..%2f..%2fetc%2fpasswd",
    "\x00",
    "a\r\nSet-Cookie: x=1",
    "<script>alert(1)</script>",
    "{{7*7}}",
    "\ud7ff\u202e\U0010ffff",
    "-1",
    "1e400",
    "9" * 400,
    "A" * 60_000,
)


def parameters() -> list[tuple[str, str]]:
    """Return every parameter of every page."""
    return [
        (path, name)
        for path, of in PAGES.items()
        for name in list(inspect.signature(of).parameters)[1:]
        if "{" + name + "}" not in path
    ]


@pytest.mark.parametrize(("path", "name"), parameters())
def test_no_parameter_of_a_page_makes_an_error_or_reads_more(browser: TestClient, path: str, name: str) -> None:
    needed = {"run": "a", "bot": "b", "subject": "c", "id": "d", "week": "e", "name": "script_sharp", "number": "1"}
    own = list(inspect.signature(PAGES[path]).parameters)[1:]
    # Every text meets many parameters; all of them with each would take a minute.
    for text in EVIL[parameters().index((path, name)) % 7 :: 7]:
        asked = {each: needed[each] for each in own if each in needed} | {name: text}
        for address in (path.replace("{name}", "pairs"), f"{path.replace('{name}', 'pairs')}.csv"):
            answer = browser.get(address, params=asked)
            assert answer.status_code < 500 and "set-cookie" not in answer.headers, (address, text[:40])
            assert "root:" not in answer.text and "CREATE TABLE" not in answer.text
            if name in ("run", "bot", "subject", "id", "week") and address == "/decisions":
                assert "No decision is like this" in answer.text


FAR = (
    "9999-12-31",
    "9999-12-30",
    "0001-01-01",
    "0000-01-01",
    "2026-02-30",
    "10000-01-01",
    "9999-12-31T23:59:59-23:59",
    "-1",
    "0",
    *(str(2**bits - less) for bits in (31, 32, 53, 63, 64) for less in (0, 1)),
    "-" + "9" * 5_000,
    "1e400",
    "nan",
    "-inf",
    "٣",
    "1_0",
)
WRITTEN = st.sampled_from(FAR) | st.dates().map(str) | st.datetimes().map(str) | st.integers().map(str)
WRITTEN |= st.floats().map(str)


@settings(max_examples=1, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_every_date_and_number_of_every_route_is_answered_and_changes_no_byte_of_the_ledger(
    worlds: Worlds, played: str, data: st.DataObject
) -> None:
    before = bytes_of(worlds(three_games))
    with Store.open_to_read(played) as store:
        app = create_app(store, lambda: NOW)
        browser = TestClient(app, base_url=BASE, raise_server_exceptions=False)
        decision = browser.get("/api/v1/decisions").json()["decisions"][0]
        known = {"run": decision["run"], "bot": decision["bot"], "subject": decision["subject_id"]}
        known |= {"id": decision["subject_id"], "name": decision["bot"]}
        for path, names in query_parameters(app):
            days = [name for name in names if name in ("since", "until", "week")]
            drawn = {name: data.draw(WRITTEN) if data.draw(st.booleans()) else known.get(name) for name in names}
            for asked in (drawn, *({**known, name: day} for name in days for day in ("9999-12-31", "0001-01-01"))):
                answer = browser.get(path.replace("{name}", "pairs"), params={k: v for k, v in asked.items() if v})
                assert answer.status_code == 200 or 400 <= answer.status_code < 500, (path, asked)
    assert bytes_of(worlds(three_games)) == before


def bytes_of(folder: Path) -> dict[Path, str]:
    """Return the hash of each file of a ledger."""
    files = (file for file in folder.rglob("*") if file.is_file() and not file.name.endswith(("-wal", "-shm")))
    return {file: hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


def query_parameters(app: FastAPI) -> Iterator[tuple[str, list[str]]]:
    """Yield every route with the names that its address may say something under."""
    for path, of in PAGES.items():
        names = list(inspect.signature(of).parameters)[1:]
        yield path, names
        yield f"{path if path != '/' else '/leaderboard'}.csv", [*names, "table"]
    yield "/trace.jsonl", ["run", "bot", "subject"]
    yield "/login", ["wrong"]
    for path, of in app.openapi()["paths"].items():
        yield path, [each["name"] for each in of["get"].get("parameters", ())]


@pytest.mark.parametrize(
    "path",
    [
        "/static/../app.py",
        "/static/%2e%2e/app.py",
        "/static/..%2fapp.py",
        "/static//etc/passwd",
        "/static/%00",
        "/tables/..%2f..%2fetc%2fpasswd",
        "/tables/%00",
        "/%2e%2e/%2e%2e/etc/passwd",
        "//etc/passwd",
        "/api/v1/trace?sha256=../../../etc/passwd",
        "/api/v1/trace?sha256=" + "g" * 64,
    ],
)
def test_no_path_leads_out_of_the_pages(where: tuple[str, int], path: str) -> None:
    status, _, body = asked(where, "GET", path)
    assert status in (400, 404, 422, 307, 308) and b"root:" not in body and b"def create_app" not in body


def test_a_browser_that_is_led_here_by_another_name_reads_nothing(where: tuple[str, int]) -> None:
    for headers in (
        {"Host": "evil.example"},
        {"Host": "evil.example:8321"},
        {"Host": "127.0.0.1.evil.example"},
        {"Host": "127.0.0.1@evil.example"},
        {"Host": "evil.example", "X-Forwarded-Host": "127.0.0.1"},
        {"Host": ""},
        {"Host": "[::1"},
    ):
        status, _, body = asked(where, "GET", "/", headers)
        assert status == 400 and b"script_sharp" not in body, headers
    # The name in the request line is not believed where the header has another.
    status, _, body = asked(where, "GET", "http://127.0.0.1/", {"Host": "evil.example"})
    assert status in (400, 404) and b"script_sharp" not in body


def test_a_head_is_answered_as_its_page_is_without_the_body(where: tuple[str, int]) -> None:
    for path in ("/", "/decisions.csv", "/api/v1/runs", "/health", "/static/style.css", "/nowhere"):
        (status, headers, body), (code, _, whole) = asked(where, "HEAD", path), asked(where, "GET", path)
        assert (status, body) == (code, b"") and whole, path
        assert headers["x-content-type-options"] == "nosniff"


def test_only_reading_is_answered_and_no_socket_is_upgraded(where: tuple[str, int]) -> None:
    for method in ("POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT"):
        status, headers, body = asked(where, method, "/decisions")
        assert status == 405 or (method == "CONNECT" and status == 400), method
        assert "access-control-allow-origin" not in headers and b"script_sharp" not in body
    upgrade = {
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": "eA==",
    }
    status, _, _ = asked(where, "GET", "/", upgrade)
    assert status in (200, 400, 403, 404, 426)
    # It may be ended before all of it was sent.
    with suppress(ConnectionError):
        assert asked(where, "GET", "/?" + "a" * 200_000)[0] in (400, 414, 431)
    assert asked(where, "GET", "/health")[0] == 200


def test_a_token_is_not_taken_from_an_address_and_no_other_site_can_log_in(played: str) -> None:
    with Store.open_to_read(played) as store:
        browser = client_of(store, token=TOKEN)
        for path in (f"/?token={quote(TOKEN)}", f"/login?token={quote(TOKEN)}", f"/api/v1/runs?token={quote(TOKEN)}"):
            answer = browser.get(path)
            assert b"script_sharp" not in answer.content and "set-cookie" not in answer.headers
        assert browser.get("/api/v1/runs", headers={"Authorization": f"Basic {TOKEN}"}).status_code == 401
        assert browser.get("/api/v1/runs", headers={"Authorization": f"Bearer {TOKEN}x"}).status_code == 401
        assert browser.post("/login", content=b"token=" + b"a" * 10_000).status_code == 413
        for path in ("/", "/api/v1/runs", "/decisions.csv"):
            assert client_of(store, token=TOKEN).get(path).status_code in (303, 401)


def test_pages_are_answered_while_another_process_decides(worlds: Worlds, tmp_path: Path) -> None:
    address = f"sqlite:///{worlds.copy(two_events, tmp_path)}/ledger.db"
    asked = ("replay", "sandbox", "--ledger", address, "--bots", "market_price,random_bet")
    days = ("--from", "2026-01-07T12:00Z", "--to", "2026-01-07T12:00Z")
    nowhere = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    decides = Forked(*asked, *days, folder=tmp_path, environment=os.environ, **nowhere)
    totals = list[int]()
    with Store.open_to_read(address) as store:
        browser = client_of(store)
        while decides.poll() is None:
            for path in ("/", "/decisions", "/events", "/today"):
                assert browser.get(path).status_code == 200
            totals.append(browser.get("/api/v1/decisions").json()["total"])
        assert decides.returncode == 0
        totals.append(browser.get("/api/v1/decisions").json()["total"])
    assert totals == sorted(totals) and totals[-1] > 20


@pytest.fixture(scope="module")
def where(played: str) -> Iterator[tuple[str, int]]:
    """Serve the ledger, and return where."""
    with served(played) as place:
        yield place


def asked(
    where: tuple[str, int], method: str, path: str, headers: dict[str, str] | None = None
) -> tuple[int, dict[str, str], bytes]:
    """Return status, headers and body of a request that is sent as it stands."""
    connection = http.client.HTTPConnection(*where, timeout=30)
    connection.putrequest(method, path, skip_host="Host" in (headers or {}), skip_accept_encoding=True)
    for name, value in (headers or {}).items():
        connection.putheader(name, value)
    connection.endheaders()
    answer = connection.getresponse()
    found = answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()
    connection.close()
    return found
