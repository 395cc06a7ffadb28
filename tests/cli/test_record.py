"""`predibot record`: an archive that replays what the venue itself would have said."""

import json
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from predibot.domain.clock import parse_instant
from predibot.venues.polymarket.client import Polymarket
from tests.acceptance.conftest import Predibot, said_here
from tests.cli.conftest import WORLD
from tests.jobs.tiny import write_archive
from tests.worlds import Worlds

DAYS = ("2026-01-05T12:00:00Z", "2026-01-07T12:00:00Z", "2026-01-13T12:00:00Z")
LAST = "2026-01-13T12:00:00Z"


def recording() -> None:
    """Record three snapshots of the sandbox."""
    for at in DAYS:
        assert said_here("record", "archive", "--venue", WORLD, "--as-of", at, "--days", "1").code == 0


@pytest.fixture
def recorded(predibot: Predibot, tmp_path: Path, worlds: Worlds) -> Predibot:
    """Return the program beside an archive of three snapshots of the sandbox."""
    worlds.copy(recording, tmp_path)
    return predibot


def test_every_call_adds_a_snapshot_and_says_what_is_new(predibot: Predibot, tmp_path: Path) -> None:
    document = predibot("record", "archive", "--venue", WORLD, "--days", "1", "--json").document
    assert list(document) == ["snapshot", "events", "markets", "new_points", "new_resolutions", "notes"]
    assert (tmp_path / document["snapshot"] / "events.json").is_file()


def test_a_record_goes_on_from_the_last_point_of_each_price(
    predibot: Predibot, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    starts: dict[str, datetime] = {}
    read = Polymarket.raw_history

    def raw_history(venue: Polymarket, token_id: str, start: datetime, until: datetime) -> list[dict[str, object]]:
        starts[token_id] = start
        return read(venue, token_id, start, until)

    monkeypatch.setattr(Polymarket, "raw_history", raw_history)
    first, second = (("record", "a", "--venue", WORLD, "--days", "1", "--as-of", at) for at in DAYS[:2])
    predibot(*first)
    assert set(starts.values()) == {parse_instant(DAYS[0]) - timedelta(days=1)}
    ends = {
        path.stem: json.loads(path.read_text())["history"][-1]["t"] for path in (tmp_path / "a/prices").glob("*.json")
    }
    predibot(*second)
    assert ends and {token: starts[token].timestamp() for token in ends} == ends


def test_an_archive_replays_the_selection_and_the_numbers_of_its_venue(recorded: Predibot) -> None:
    played = [_played(recorded, venue, "sqlite:///" + name) for venue, name in _VENUES]
    (selected, card), replayed = played
    assert replayed == (selected, card)
    assert card["horizons"]["1"]["n"] > 0 < card["settled"]


_VENUES = [(WORLD, "sandbox.db"), ("archive:archive", "archive.db")]


def _played(predibot: Predibot, venue: str, ledger: str) -> tuple[Any, Any]:
    at = ("--as-of", DAYS[0], "--venue", venue, "--ledger", ledger, "--json")
    decided = predibot("decide", "--bots", "market_price", "--events", "4", *at).document
    # Tracked when it was recorded: of a settled market a venue tells no more than twelve-hourly prices.
    predibot("track", "--as-of", DAYS[1], *at[2:])
    card = predibot("evaluate", "--as-of", LAST, *at[2:]).document["bots"][0]
    # Sums go in the order of row numbers, which is not that of another ledger.
    return decided["selected"], json.loads(json.dumps(card), parse_float=lambda text: round(float(text), 9))


def test_prices_that_were_not_recorded_are_missing_and_never_made_up(recorded: Predibot, tmp_path: Path) -> None:
    for path in (tmp_path / "archive/prices").iterdir():
        path.unlink()
    _, card = _played(recorded, "archive:archive", "sqlite:///bare.db")
    assert card["horizons"]["1"]["mean_return"] is None
    notes = recorded("evaluate", "--as-of", LAST, "--ledger", "sqlite:///bare.db", "--json").document["notes"]
    assert any("without a price 1 day after" in note for note in notes)


def test_an_archive_says_which_venue_it_is_of_and_takes_no_other(predibot: Predibot, tmp_path: Path) -> None:
    write_archive(tmp_path / "older")
    said = predibot("record", "older", "--venue", WORLD)
    assert said.code == 1
    assert said.err.endswith("is a recording of polymarket, and not of sandbox; name another folder.\n")
    assert predibot("record", "own", "--venue", WORLD, "--days", "1").code == 0
    predibot("decide", "--bots", "market_price", "--venue", "archive:own")
    (run,) = json.loads(predibot("export", "--table", "runs", "--json").out)
    assert (run["venue_name"], run["venue"]) == ("sandbox", f"archive:{tmp_path.resolve() / 'own'}")


def test_a_recording_is_not_recorded_again(recorded: Predibot) -> None:
    said = recorded("record", "copy", "--venue", "archive:archive")
    assert said.code == 1
    assert said.err.endswith("/archive cannot be recorded, or is a recording already; record from another venue.\n")


def test_a_file_in_the_place_of_the_folder_is_an_error(predibot: Predibot, tmp_path: Path) -> None:
    (tmp_path / "archive").write_text("mine")
    said = predibot("record", "archive", "--venue", WORLD)
    assert said.code == 1
    assert "cannot be written" in said.err


@pytest.mark.parametrize("days", ["1e400", "99999999999", "800000"])
def test_days_before_any_date_are_an_error_of_one_line(predibot: Predibot, days: str) -> None:
    said = predibot("record", "archive", "--venue", WORLD, "--days", days)
    assert (said.code, said.err.count("\n")) == (1, 1)
    assert f"error: {float(days):g} days before 2026-01-05T12:00Z is no date; ask for fewer." in said.err
    of_stocks = predibot("record", "stocks", "--stocks", "tiingo", "--tickers", "KO", "--days", days)
    assert (of_stocks.code, of_stocks.err.count("\n")) == (1, 1)
    assert "is no date; ask for fewer." in of_stocks.err


def test_payouts_are_recorded_in_the_order_in_which_the_snapshot_lists_outcomes(
    predibot: Predibot, tmp_path: Path
) -> None:
    world = "sandbox:events=20,fault=disorder"
    assert predibot("record", "a", "--venue", world, "--as-of", "2026-02-20T12:00Z", "--days", "0.01").code == 0
    (snapshot,) = (tmp_path / "a/snapshots").glob("*/events.json")
    markets = {each["conditionId"]: each for event in json.loads(snapshot.read_text()) for each in event["markets"]}
    rows = json.loads((tmp_path / "a/resolutions.json").read_text())
    settled = [(row["payouts"], _listed(markets[key], "outcomePrices")) for key, row in rows.items()]
    assert settled and all([float(each) for each in listed] == payouts for payouts, listed in settled)
    assert {_listed(markets[key], "outcomes")[0] for key in rows} >= {"Yes", "No"}


def _listed(market: dict[str, Any], name: str) -> Any:
    return json.loads(market[name]) if isinstance(market[name], str) else market[name]
