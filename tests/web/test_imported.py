"""A day of PrediBench that was imported, in the app and as files."""

import re
from pathlib import Path

import pytest

pytest.importorskip("fastapi", reason="needs predibot[web]")

from predibot.ledger.store import Store
from tests.acceptance.conftest import done_here
from tests.jobs.imports.predibench_day import MODELS, write_day
from tests.web.conftest import client_of


def test_an_imported_day_is_shown_by_the_app_and_as_files(tmp_path: Path) -> None:
    address = f"sqlite:///{tmp_path}/imported.db"
    day = write_day(tmp_path / "2025-09-18", dict.fromkeys(MODELS, 2))
    done_here("import", "predibench", str(day), "--ledger", address)
    with Store.open_to_read(address) as store:
        browser = client_of(store)
        listed = browser.get("/api/v1/decisions", params={"limit": 500}).json()
        assert listed["total"] == len(listed["decisions"]) == 6
        bots = {row["bot"] for row in listed["decisions"]}
        assert len(bots) == len(MODELS)
        board = browser.get("/").text
        assert all(f">{bot}</a>" in board for bot in bots)
        row = next(each for each in listed["decisions"] if each["status"] == "recorded")
        asked = {"run": row["run"], "bot": row["bot"], "subject": row["subject_id"]}
        for path, params in (
            ("/decision", asked),
            ("/event", {"id": row["subject_id"]}),
            ("/bot", {"name": row["bot"]}),
            *((path, {}) for path in ("/today", "/calibration", "/decisions", "/events", "/runs", "/compare")),
        ):
            assert browser.get(path, params=params).status_code == 200, path
        assert 'class="gauge ' in browser.get("/decision", params=asked).text
    done_here("publish", str(tmp_path / "site"), "--since", "2025-09-01", "--ledger", address, "--json")
    pages = list((tmp_path / "site" / "decision").iterdir())
    assert len(pages) == listed["total"]
    assert all(bot in (tmp_path / "site/index.html").read_text() for bot in bots)
    assert len(re.findall("<item>", (tmp_path / "site/feed.xml").read_text())) > 0
