"""A ledger of three games in which every name and text is an attack: pages show text, tables hold no formula."""

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode, urljoin

import pytest

pytest.importorskip("fastapi", reason="needs predibot[web]")

from fastapi.testclient import TestClient
from sqlalchemy import Connection

from predibot.domain.untrusted_text import FORMULA
from predibot.ledger.files.traces import Traces
from predibot.ledger.store import Store
from tests.web.conftest import BASE, client_of
from tests.web.test_pages import Links
from tests.worlds import Worlds, three_games

EVIL = (
    "=1+1<script>alert(1)</script><img src=x onerror=alert(2)>{{7*7}}\u202e\x1b[31m'\"&%0d\r\nSet-Cookie: a=b\x00/../"
)
LONG = EVIL + "A" * 5_000
NAMES = {
    "bots": ("name", "model"),
    "accounts": ("bot", "recipe"),
    "runs": ("recipe", "void_reason"),
    "cohorts": ("recipe", "name", "archived_reason"),
    "subjects": ("subject_id",),
}
"""What stays apart from its neighbours, so that the attack stands before it."""
TEXTS = {
    "events": ("title",),
    "markets": ("question",),
    "decisions": ("rationale", "message"),
    "forecasts": ("rationale",),
    "orders": ("note",),
    "attempts": ("message",),
    "sources": ("text", "title", "final_url"),
    "news": ("title", "snippet", "url"),
    "labels": ("label",),
}


def _attack(connection: Connection, *, cohorts: bool) -> None:
    def there(table: str) -> set[str]:
        return {row[1] for row in connection.exec_driver_sql(f"PRAGMA table_info({table})")}

    for table, columns in NAMES.items():
        for column in there(table).intersection(columns):
            only = ""
            if (table, column) == ("cohorts", "name") and not cohorts:
                continue
            if table == "subjects" and cohorts:
                # An event's id stands in what the venue said of it too.
                only = " WHERE kind <> 'event'"
            elif table == "subjects":
                only = " WHERE kind NOT IN ('cohort', 'event')"
            connection.exec_driver_sql(f"UPDATE {table} SET {column} = ? || {column}{only}", (EVIL,))
    for table, columns in TEXTS.items():
        for column in there(table).intersection(columns):
            connection.exec_driver_sql(f"UPDATE {table} SET {column} = ?", (LONG,))
    for number, text in connection.exec_driver_sql("SELECT id, line_up FROM cohorts").all():
        found = [{**each, "bot_id": EVIL + each["bot_id"]} for each in json.loads(text)]
        connection.exec_driver_sql("UPDATE cohorts SET line_up = ? WHERE id = ?", (json.dumps(found), number))
    connection.exec_driver_sql("UPDATE runs SET notes_json = ?", (json.dumps([LONG]),))
    connection.exec_driver_sql("UPDATE decisions SET notes_json = ?, models_json = ?", (json.dumps([LONG]),) * 2)


@pytest.fixture(params=["names", "cohorts too"])
def attacked(worlds: Worlds, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[tuple[TestClient, bool]]:
    """Return a browser before a copy of the ledger with three games, its texts replaced, and if cohorts are left."""
    target = worlds.copy(three_games, tmp_path) / "ledger.db"
    steps = [{"step": n, "kind": EVIL, "result": LONG, EVIL: [EVIL, {EVIL: LONG}]} for n in range(1, 4)]
    with Store.open(f"sqlite:///{target}", create=False) as store:
        digest = Traces(store).files.keep("".join(f"{json.dumps(each)}\n" for each in steps).encode())
        with store.write() as connection:
            _attack(connection, cohorts=request.param == "cohorts too")
            own = "UPDATE decisions SET trace_sha256 = ? WHERE id % 2 = 0 AND trace_sha256 IS NOT NULL"
            connection.exec_driver_sql(own, (digest,))
    with Store.open_to_read(f"sqlite:///{target}") as store:
        yield client_of(store), request.param == "names"


def test_every_link_leads_to_a_page_and_no_text_of_a_ledger_becomes_markup_a_header_or_a_formula(
    attacked: tuple[TestClient, bool],
) -> None:
    browser, sundays = attacked
    kinds, seen, shows, broken = Counter[str](), set[str](), set[str](), list[str]()
    # Those that read pages first: few decisions of a kind are looked at.
    ahead = ["/news", "/decisions?" + urlencode({"bot": f"{EVIL}script_sharp", "sort": "slot"}), "/"]
    while ahead:
        path = ahead.pop(0).partition("#")[0]
        kind = path.partition("?")[0]
        # Those of bots are read where they alone have names that attack.
        if not path or path in seen or kinds[kind] >= (2 if sundays else 1):
            continue
        seen.add(path)
        kinds[kind] += 1
        answer = browser.get(path)
        # The name of a cohort is a Sunday that predibot wrote; what else stands there is refused.
        if answer.status_code not in ((200,) if sundays else (200, 404)):
            broken.append(f"{path[:300]}: {answer.status_code} {re.sub('<[^>]*>', ' ', answer.text)[-300:]}")
        assert "set-cookie" not in answer.headers
        sort = answer.headers["content-type"].partition(";")[0]
        if sort == "text/html":
            # A decision has its own instant, not the midnight at which the slot of its run began.
            assert kind != "/decisions" or "T00:00Z" not in answer.text
            page = Links(answer.text)
            # No other host is asked for anything.
            assert all(urljoin(f"{BASE}/", link).startswith(f"{BASE}/") for link in page.found), path
            assert page.tags.count("h1") == page.tags.count("main") == 1
            assert "img" not in page.tags and page.scripts == ["/static/page.js"], path
            assert not {name for name in page.attributes if name.startswith("on") or name == "style"}
            # What a form sends back stands there as it is.
            shown = re.sub('<input type="hidden"[^>]*>', "", answer.text)
            hidden = re.search("[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e\u2066-\u2069]", shown)
            if hidden is not None:
                broken.append(f"{path}: {shown[max(0, hidden.start() - 150) : hidden.start() + 20]!r}")
            assert len(answer.content) < 150_000, path
            shows |= {kind} if "&lt;script&gt;alert(1)" in shown and "{{7*7}}" in shown else set()
            ahead += page.found
        elif sort == "text/csv":
            assert re.fullmatch(
                r'attachment; filename="predibot-[a-z0-9_]+\.csv"', answer.headers["content-disposition"]
            )
            broken += [f"{path}: {cell[:60]!r}" for row in _rows(answer.text) for cell in row if _runs(cell)]
    assert not broken, "\n".join(broken)
    # It is shown, and not left out.
    assert {"/", "/today", "/decisions", "/events", "/event", "/bot", "/decision"} <= shows or not sundays
    wanted = {"/bot", "/decision", "/event", "/account", "/cohorts", "/source", "/runs", "/decisions.csv", "/bot.csv"}
    wanted |= {"/cohort", "/status", "/calibration", "/today", "/compare", "/methods"}
    assert wanted <= set(kinds) or not sundays, wanted - set(kinds)


def _rows(text: str) -> Iterator[list[str]]:
    # Nothing but ends of rows is a control character.
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f\u202a-\u202e]", text)
    limit = csv.field_size_limit(10**7)
    yield from csv.reader(io.StringIO(text))
    csv.field_size_limit(limit)


def _runs(cell: str) -> bool:
    """Return whether a spreadsheet would take a cell for a formula: what is a number is none."""
    return cell[:1] in FORMULA and not re.fullmatch(r"-\d+(\.\d+)?(e-?\d+)?", cell)
