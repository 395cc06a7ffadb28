"""`predibot select`: what is chosen, why not the rest, and titles that only read."""

import json
from pathlib import Path
from typing import Any

from tests.acceptance.conftest import Predibot
from tests.cli.conftest import WORLD

HOSTILE = "\x1b[31mred\x1b]0;title\x07\u202eevil\u2066 [bold]x[/bold] \x9b31m\x00\n:smile: \ud800"


def _market(number: int, **fields: Any) -> dict[str, Any]:
    return {
        "id": str(number),
        "conditionId": f"0x{number:064x}",
        "question": HOSTILE,
        "outcomes": '["Yes", "No"]',
        "outcomePrices": '["0.4", "0.6"]',
        "clobTokenIds": f'["{number}1", "{number}2"]',
        "closed": False,
        "endDate": "2026-02-01T00:00:00Z",
        **fields,
    }


def _archive(folder: Path, *events: dict[str, Any]) -> str:
    snapshot = folder / "archive/snapshots/2026-01-01T000000Z"
    snapshot.mkdir(parents=True)
    whole = [{"slug": "s", "endDate": "2026-02-01T00:00:00Z", "closed": False, **event} for event in events]
    (snapshot / "events.json").write_text(json.dumps(whole))
    return f"archive:{folder / 'archive'}"


def test_chosen_and_passed_over_events_are_shown_with_rule_and_reason(predibot: Predibot) -> None:
    said = predibot("select", "--venue", WORLD, "--json")
    assert list(said.document) == ["as_of", "venue", "currency", "selected", "passed_over", "notes"]
    rules = {event["rule"] for event in said.document["passed_over"]}
    known = "open ends_within_days min_hours_left exclude include min_volume_24h_usd per_category events"
    assert rules <= {"unusable markets", *known.split()}
    text = predibot("select", "--venue", WORLD).out
    assert all(event["event_id"] in text for key in ("selected", "passed_over") for event in said.document[key])


def test_events_past_their_end_are_played_only_where_that_is_asked_for(predibot: Predibot, tmp_path: Path) -> None:
    hours = {"1": "2025-12-31T00:00:00Z", "2": "2026-01-01T00:59:00Z", "3": "2026-01-01T01:00:00Z"}
    events = [{"id": key, "title": "t", "endDate": end, "markets": [_market(int(key))]} for key, end in hours.items()]
    venue, at = _archive(tmp_path, *events), "2026-01-01T00:00:00Z"
    for asked, selected in (
        ((), ["3"]),
        (("--min-hours-left", "0"), ["2", "3"]),
        (("--min-hours-left", "any"), [*"123"]),
    ):
        document = predibot("select", "--venue", venue, "--as-of", at, *asked, "--json").document
        assert sorted(event["event_id"] for event in document["selected"]) == selected
        assert {event["rule"] for event in document["passed_over"]} <= {"min_hours_left"}
    refused = predibot("select", "--venue", venue, "--min-hours-left", "soon")
    assert (refused.code, "'soon' is neither a number of hours nor 'any'" in refused.err) == (2, True)


def test_categories_and_tags_of_the_recipe_decide_and_the_reason_names_the_word(
    predibot: Predibot, tmp_path: Path
) -> None:
    tags = {"1": ["Sports", "NBA"], "2": ["Sports"], "3": ["Politics"], "4": ["Weather"]}
    events = [
        {"id": key, "title": "t", "volume1wk": 9 - int(key), "markets": [_market(int(key))],
         "tags": [{"id": label, "label": label, "slug": label.lower()} for label in labels]}
        for key, labels in tags.items()
    ]  # fmt: skip
    rules = 'exclude = ["weather"]\ninclude = ["sports", "weather", "curling"]\nper_category = 1\n'
    Path("r.toml").write_text(f'[selection]\n{rules}[[bots]]\nstrategy = "market_price"\n')
    refused = predibot("select", "r.toml", "--venue", _archive(tmp_path, *events))
    assert refused.err.endswith(
        "r.toml, line 3: exclude and include both have 'weather'; take it out of one of them.\n"
    )
    Path("r.toml").write_text(Path("r.toml").read_text().replace('"sports", "weather"', '"sports", "WEATHER!"'))
    document = predibot("select", "r.toml", "--venue", f"archive:{tmp_path / 'archive'}", "--json").document
    assert [event["event_id"] for event in document["selected"]] == ["1"]
    assert {event["event_id"]: (event["rule"], event["reason"]) for event in document["passed_over"]} == {
        "2": ("per_category", "1 more traded events of the category 'Sports' are played"),
        "3": ("include", "neither its category nor a tag is one of: sports, WEATHER!, curling"),
        "4": ("exclude", "weather, by its tag 'Weather'"),
    }
    assert any("include names 'curling'" in note for note in document["notes"])


def test_nothing_is_stored(predibot: Predibot, tmp_path: Path) -> None:
    predibot("select", "--venue", WORLD)
    assert list(tmp_path.iterdir()) == []


def test_a_hostile_title_can_only_be_read(predibot: Predibot, tmp_path: Path) -> None:
    venue = _archive(tmp_path, {"id": "1", "title": HOSTILE, "markets": [_market(1)]})
    for command in ("select", "decide"):
        for said in (predibot(command, "--venue", venue), predibot(command, "--venue", venue, "--json")):
            assert said.code == 0, said.err
            assert not set("\x1b\x07\x9b\x00\u202e\u2066") & set(said.out + said.err)
    assert "[bold]x[/bold]" in predibot("select", "--venue", venue).out


def test_absurd_numbers_are_skipped_or_shown_and_never_crash(predibot: Predibot, tmp_path: Path) -> None:
    absurd = [
        _market(2, outcomePrices='["1e300", "-5"]', bestBid=1e300),
        _market(3, volume1wk=1e308),
        _market(4, volume1wk="1e400", bestBid="NaN"),
        _market(5, outcomes='["A", "B", "C"]'),
    ]
    venue = _archive(tmp_path, {"id": "2", "title": "huge", "volume1wk": 1e308, "markets": absurd})
    said = predibot("select", "--venue", venue, "--json")
    assert said.code == 0
    assert [event["event_id"] for event in said.document["selected"]] == ["2"]
    assert any("could not be read" in note for note in said.document["notes"])


def test_ten_thousand_markets_are_read_and_one_event_of_them_is_skipped_with_a_reason(
    predibot: Predibot, tmp_path: Path
) -> None:
    markets = [_market(number) for number in range(1, 10_001)]
    parts = [{"id": str(n), "title": "many", "markets": markets[n * 2500 : (n + 1) * 2500]} for n in range(4)]
    said = predibot(
        "select", "--venue", _archive(tmp_path, {"id": "7", "title": "all", "markets": markets}, *parts), "--json"
    )
    assert [event["markets"] for event in said.document["selected"]] == [20, 20, 20, 20]
    assert any("event 7 could not be read" in note for note in said.document["notes"])


def test_a_game_that_ranks_markets_by_a_day_shows_that_volume(predibot: Predibot, tmp_path: Path) -> None:
    events = [
        {
            "id": str(number),
            "title": "T",
            "volume1wk": 9_000.0 - number,
            "markets": [_market(number, volume24hr=volume, volume1wk=1.0)],
        }
        for number, volume in ((1, 111.0), (2, 333.0), (3, 222.0))
    ]
    (tmp_path / "p.toml").write_text('game = "portfolio_weights"\n[[bots]]\nstrategy = "all_cash"\n')
    asked = ("select", str(tmp_path / "p.toml"), "--venue", _archive(tmp_path, *events))
    selected = predibot(*asked, "--json").document["selected"]
    assert [(each["event_id"], each["volume_24h_usd"]) for each in selected] == [
        ("2", 333.0),
        ("3", 222.0),
        ("1", 111.0),
    ]
    shown = predibot(*asked).out
    assert "24-hour volume" in shown and "$333" in shown and "1-week" not in shown
