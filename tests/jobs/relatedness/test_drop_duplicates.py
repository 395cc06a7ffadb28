"""Duplicates of a run: dropped once, frozen with it, and never told by what happens to be installed."""

import json
from pathlib import Path

import pytest

from predibot.errors import UsageError
from predibot.jobs.deciding.open_run import choose_for
from predibot.ledger.store import Store
from predibot.ledger.write.runs import read_runs
from predibot.recipe.recipe import Recipe
from predibot.venues.archive.layout import snapshot_name
from tests.jobs.tiny import decide_on, nobody, opened, recipe_of, request_of
from tests.soaks import ONE_DATABASE
from tests.venues.payloads import NOW, event_payload, market_payload

TITLES = ("Will it rain in May?", "In May, will it RAIN?", "Will it rain in June?")


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    """Return an archive of three events, the second of which asks what the first does."""
    listed = [
        event_payload(number, market_payload(number, question=title), title=title)
        for number, title in enumerate(TITLES, start=1)
    ]
    file = tmp_path / "archive" / "snapshots" / snapshot_name(NOW) / "events.json"
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps(listed), encoding="utf-8")
    return tmp_path / "archive"


def dropping(**more: object) -> Recipe:
    stated = {"events": 3, "min_volume_24h_usd": 0, "drop_duplicates": 0.9, **more}
    return recipe_of(**{f"selection.{name}": value for name, value in stated.items()})


@ONE_DATABASE
def test_a_run_keeps_what_was_dropped_why_and_how_it_was_told(store: Store, archive: Path) -> None:
    decide_on(store, archive, request_of(dropping()))
    with store.read() as connection:
        (run,) = read_runs(connection)
        text = connection.exec_driver_sql("SELECT passed_over_json, recipe_json FROM runs").one()
    passed_over, recipe = map(json.loads, text)
    assert [(each["event_id"], each["rule"]) for each in passed_over] == [("2", "drop_duplicates")]
    assert passed_over[0]["reason"].startswith(
        "its text is that of event 1 (Will it rain in May?): cosine 1.000 by tfidf"
    )
    assert any(note.startswith("event 2 (In May, will it RAIN?) is left out") for note in run.notes)
    told = {name: value for name, value in recipe["selection"].items() if "duplicate" in name}
    assert told == {
        "drop_duplicates": 0.9,
        "duplicate_text": "title_and_questions",
        "duplicate_port": "tfidf",
        "duplicate_model": "",
    }


def test_a_model_that_is_not_there_ends_the_call_before_anything_is_chosen(
    archive: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "sentence_transformers", None)
    request = request_of(dropping(duplicate_port="embeddings", duplicate_model="some/model"))
    with opened(archive, NOW) as venue, pytest.raises(UsageError, match="needs sentence-transformers"):
        choose_for(request, venue, nobody)


def test_without_the_rule_all_three_are_played(archive: Path) -> None:
    with opened(archive, NOW) as venue:
        found = choose_for(request_of(dropping(drop_duplicates=0)), venue, nobody)
    assert [event.id for event in found.selection.selected] == ["1", "2", "3"]
