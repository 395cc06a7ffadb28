"""The pages and the API over HTTP: what they show, and that they only read."""

import re
import shutil
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import pytest
from fastapi.testclient import TestClient

from predibot.ledger.store import Store
from tests.acceptance.conftest import said_here
from tests.web.conftest import BASE, client_of

TOKEN = "a token of sixteen characters and more"


class Links(HTMLParser):
    """The addresses and the tags of a page."""

    def __init__(self, text: str) -> None:
        """Read a page."""
        super().__init__()
        self.found: list[str] = []
        self.tags: list[str] = []
        self.attributes: set[str] = set()
        self.scripts: list[str | None] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take what a tag leads to."""
        self.tags.append(tag)
        if tag == "script":
            self.scripts.append(dict(attrs).get("src"))
        self.attributes |= {name for name, _ in attrs}
        self.found += [value for name, value in attrs if name in ("href", "src", "action") and value]


def test_every_link_from_the_first_page_on_leads_to_a_page_that_needs_no_script(browser: TestClient) -> None:
    seen, ahead = dict[str, int](), ["/"]
    while ahead and len(seen) < 400:
        path = ahead.pop().partition("#")[0]
        if path in seen or not path:
            continue
        answer = browser.get(path)
        seen[path] = answer.status_code
        if not answer.headers["content-type"].startswith("text/html"):
            continue
        page = Links(answer.text)
        assert page.scripts == ["/static/page.js"], path
        assert not {name for name in page.attributes if name.startswith("on") or name == "style"}
        assert page.tags.count("h1") == page.tags.count("main") == 1
        for link in page.found:
            # No other host is asked for anything.
            assert urljoin(f"{BASE}/", link).startswith(f"{BASE}/")
            ahead.append(link)
    kinds = {path.partition("?")[0] for path in seen}
    assert {"/bot", "/decision", "/event", "/account", "/cohort", "/runs", "/status", "/calibration"} <= kinds
    assert {"/today", "/compare", "/methods", "/source"} <= kinds
    assert set(seen.values()) == {200}


def test_the_leaderboard_says_what_the_terminal_says(browser: TestClient, played: str) -> None:
    shown = said_here("report", "--ledger", played, "--json").document
    page = browser.get("/").text
    assert all(f">{card['bot']}</a>" in page for card in shown["leaderboard"])
    ranked = browser.get("/api/v1/leaderboard").json()["rankings"]["clean"]
    assert [row["bot"] for row in ranked] == [card["bot"] for card in shown["leaderboard"]]
    assert "cohorts, of which" in page or "cohort count" in page


def test_a_decision_shows_its_forecasts_and_each_step_of_its_trace(browser: TestClient) -> None:
    (row,) = browser.get("/api/v1/decisions", params={"bot": "script_sharp", "limit": 1}).json()["decisions"]
    page = browser.get("/decision", params={"run": row["run"], "bot": row["bot"], "subject": row["subject_id"]}).text
    steps = browser.get("/api/v1/trace", params={"sha256": row["trace_sha256"]}).json()["steps"]
    assert f"of {len(steps)}." in page
    assert page.count("<details") == min(20, len(steps))
    assert "Forecasts and bets" in page
    event = browser.get("/event", params={"id": row["subject_id"]}).text
    assert event.count("<polyline") >= 1 and "<title>script_sharp: 0." in event


def test_the_diagrams_of_calibration_show_the_bins_of_the_table(browser: TestClient, played: str) -> None:
    page = browser.get("/calibration").text
    shown = said_here("report", "--ledger", played, "--table", "calibration", "--json").document
    bots = [card for card in shown["bots"] if any(each["n"] for each in card["calibration"])]
    assert page.count('<svg class="reliability"') == len(bots) >= 2
    assert page.count("<circle") == sum(each["n"] > 0 for card in bots for each in card["calibration"])


def test_a_list_of_the_api_is_read_page_by_page_and_not_again_while_nothing_changes(browser: TestClient) -> None:
    found, asked = list[Any](), {"limit": 7}
    while asked.get("cursor", 0) is not None:
        answer = browser.get("/api/v1/decisions", params=asked)
        found += answer.json()["decisions"]
        asked["cursor"] = answer.json()["next_cursor"]
    assert len(found) == answer.json()["total"] == len({(row["run"], row["bot"], row["subject_id"]) for row in found})
    same = browser.get("/api/v1/decisions", headers={"If-None-Match": answer.headers["etag"]})
    assert (same.status_code, same.content) == (304, b"")


def test_pages_show_what_a_decision_adds_and_never_write(played: str) -> None:
    with Store.open_to_read(played) as store:
        browser = client_of(store)
        before = browser.get("/api/v1/decisions").json()["total"]
        tag = browser.get("/api/v1/decisions").headers["etag"]
        for path in ("/", "/decisions", "/events", "/cohorts", "/status", "/tables/pairs"):
            assert browser.get(path).status_code == 200
        assert browser.get("/api/v1/decisions").headers["etag"] == tag
        more = ("--as-of", "2026-02-20T12:00Z", "--bots", "random_bet", "--ledger", played)
        venue = ("--venue", "sandbox:events=40,named=1")
        assert said_here("decide", "sandbox_agents", *more, *venue).code == 0
        assert browser.get("/api/v1/decisions").json()["total"] > before
        assert browser.get("/api/v1/decisions").headers["etag"] != tag


@pytest.mark.parametrize("path", ["/", "/today", "/decisions", "/events", "/runs", "/event", "/bot", "/decision"])
def test_text_of_others_is_shown_as_text(hostile: tuple[TestClient, str], path: str) -> None:
    browser, text = hostile
    name = text[:200]
    (row, *_) = browser.get("/api/v1/decisions").json()["decisions"]
    assert row["bot"] == name
    asked = {
        "/event": {"id": row["subject_id"]},
        "/bot": {"name": name},
        "/decision": {"run": row["run"], "bot": name, "subject": row["subject_id"]},
    }.get(path, {})
    answer = browser.get(path, params=asked)
    assert answer.status_code == 200
    page = Links(answer.text)
    assert "img" not in page.tags and page.scripts == ["/static/page.js"]
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e\u2066-\u2069]", answer.text)
    if path != "/runs":
        assert "&lt;script&gt;alert(1)" in answer.text and "{{7*7}}" in answer.text


@pytest.mark.parametrize(
    ("path", "code", "said"),
    [
        ("/nothing", 404, "There is no such page."),
        ("/bot?name=nobody", 404, "no bot &#39;nobody&#39; has decided"),
        ("/decision?run=a&bot=b&subject=c", 404, "no decision of"),
        ("/tables/nothing", 404, "no table"),
        ("/cohort?week=2026-01-12", 404, "2026-01-12 is no Sunday"),
        ("/static/../app.py", 404, ""),
        ("/static/%2e%2e/app.py", 404, ""),
        ("/api/v1/trace?sha256=../../etc/passwd", 422, "string_pattern_mismatch"),
        ("/api/v1/decisions?limit=1000000", 422, "less_than_equal"),
        ("/api/v1/leaderboard?recipe=nothing", 404, "nothing"),
    ],
)
def test_what_there_is_not_is_said(browser: TestClient, path: str, code: int, said: str) -> None:
    answer = browser.get(path)
    assert answer.status_code == code
    assert said in answer.text


def test_only_who_names_this_machine_and_only_reads_is_answered(browser: TestClient) -> None:
    assert browser.get("/", headers={"Host": "evil.example"}).status_code == 400
    assert browser.get("/", headers={"Host": "localhost:8321"}).status_code == 200
    assert [browser.request(method, "/runs").status_code for method in ("POST", "PUT", "DELETE")] == [405] * 3
    headers = browser.get("/").headers
    assert "default-src 'none'" in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"


def test_a_token_is_asked_of_pages_and_of_the_api(played: str) -> None:
    with Store.open_to_read(played) as store:
        browser = client_of(store, host="0.0.0.0", token=TOKEN)
        assert browser.get("/").headers["location"] == "/login"
        assert browser.get("/api/v1/runs").status_code == 401
        assert browser.get("/api/v1/runs", headers={"Authorization": "Bearer wrong"}).status_code == 401
        assert browser.get("/api/v1/runs", headers={"Authorization": f"Bearer {TOKEN}"}).status_code == 200
        assert browser.post("/login", data={"token": "wrong"}).headers["location"] == "/login?wrong=1"
        entered = browser.post("/login", data={"token": TOKEN})
        assert "HttpOnly" in entered.headers["set-cookie"] and "SameSite=strict" in entered.headers["set-cookie"]
        assert browser.get("/").status_code == 200
        assert browser.get("/health").text == "ok\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--host", "0.0.0.0"), "lets others read the ledger; give a --token"),
        (("--token", "short"), "the token has 5 characters"),
        (("--ledger", "sqlite:///nowhere.db"), "nowhere.db"),
    ],
)
def test_what_cannot_be_served_says_why(arguments: tuple[str, ...], said: str) -> None:
    answer = said_here("serve", *arguments)
    assert answer.code != 0
    assert said in answer.err


def test_a_ledger_of_two_venues_shows_that_of_the_newest_run_and_the_other_when_asked(tmp_path: Path) -> None:
    address = f"sqlite:///{tmp_path}/two.db"
    for day in ("06", "07"):
        at = f"2026-01-{day}T12:00Z"
        asked = ("--from", at, "--to", at, "--bots", "market_price", "--events", "2", "--ledger", address)
        assert said_here("replay", "sandbox", *asked).code == 0
    with Store.open(address, create=False) as store, store.write() as connection:
        old = "UPDATE runs SET venue = 'archive:old', venue_name = 'polymarket' WHERE key LIKE '%01-06%'"
        connection.exec_driver_sql(old)
    with Store.open_to_read(address) as store:
        browser = client_of(store)
        page = browser.get("/").text
        assert '<option value="sandbox" selected>' in page and '<option value="archive:old">' in page
        assert [browser.get(path).status_code for path in ("/calibration", "/bot?name=market_price")] == [200] * 2


def test_a_decision_whose_trace_is_gone_shows_the_rest_and_says_so(tmp_path: Path) -> None:
    address = f"sqlite:///{tmp_path}/gone.db"
    at = "2026-01-06T12:00Z"
    asked = ("--from", at, "--to", at, "--bots", "script_sharp", "--events", "1", "--ledger", address)
    assert said_here("replay", "sandbox_agents", *asked).code == 0
    shutil.rmtree(tmp_path / "gone.db.files")
    with Store.open_to_read(address) as store:
        browser = client_of(store)
        (row,) = browser.get("/api/v1/decisions").json()["decisions"]
        answer = browser.get("/decision", params={"run": row["run"], "bot": row["bot"], "subject": row["subject_id"]})
        assert answer.status_code == 200
        assert "Forecasts and bets" in answer.text and "The trace cannot be shown" in answer.text
        assert browser.get("/decision?run=a").status_code == 422
