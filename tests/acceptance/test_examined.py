"""What an outside examiner found: two archives in one ledger, lost reasons, archives that moved, bots that abstain."""

import csv
import json
import shutil
from pathlib import Path

import pytest

from predibot.cli import main
from tests.acceptance.conftest import own_plugins

FEBRUARY = ("2026-02-13T19:30:00Z", "polymarket-2026-02")
NOVEMBER = ("2025-11-10T12:00:00Z", "polymarket-daily")
LEDGER = ("--ledger", "sqlite:///l.db")


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, object]:
    capsys.readouterr()
    assert main([*arguments, "--json"]) == 0
    document: dict[str, object] = json.loads(capsys.readouterr().out)
    return document


def decide(folder: Path, at: str, *more: str) -> None:
    assert main(["decide", "--venue", f"archive:{folder}", "--as-of", at, *LEDGER, *more]) == 0


def bot(document: dict[str, object], name: str) -> dict[str, object]:
    bots = document["bots"]
    assert isinstance(bots, list)
    return next(each for each in bots if each["bot"] == name)


def test_each_of_two_archives_in_one_ledger_is_asked_about_its_own_runs(
    shared_data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    decide(shared_data / FEBRUARY[1], FEBRUARY[0], "--min-volume-24h", "0", "--min-hours-left", "any")
    decide(shared_data / NOVEMBER[1], NOVEMBER[0], "--min-hours-left", "any")
    document = said(capsys, "evaluate", "--as-of", "2026-07-01T00:00:00Z", *LEDGER)
    assert bot(document, "market_price")["settled"] == 25


def test_an_archive_that_moved_leaves_what_is_stored_with_a_note(
    shared_data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "archive"
    (folder / "snapshots").mkdir(parents=True)
    shutil.copytree(
        shared_data / FEBRUARY[1] / "snapshots" / "2026-02-13T192613Z", folder / "snapshots" / "2026-02-13T192613Z"
    )
    decide(folder, FEBRUARY[0], "--min-hours-left", "any")
    folder.rename(tmp_path / "elsewhere")
    document = said(capsys, "evaluate", "--as-of", "2026-07-01T00:00:00Z", *LEDGER)
    notes = document["notes"]
    assert isinstance(notes, list)
    assert any("there is no archive folder" in note for note in notes)
    assert bot(document, "market_price")["decisions"] == 10


def test_one_folder_is_one_venue_however_it_is_written(shared_data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = shared_data / NOVEMBER[1]
    decide(folder, NOVEMBER[0])
    decide(folder / ".." / NOVEMBER[1], NOVEMBER[0])
    assert "before: " in capsys.readouterr().out


def test_a_bot_that_abstains_stands_beside_the_market_on_the_same_decisions(
    shared_data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "shy.py").write_text(
        '"""Says nothing."""\nfrom dataclasses import dataclass\nfrom predibot.domain.decision import Abstention\n\n\n'
        "@dataclass(frozen=True, slots=True)\nclass Shy:\n"
        '    """Say nothing."""\n\n    def decide(self, context):\n        return Abstention("no")\n'
    )
    folder = f"archive:{shared_data / NOVEMBER[1]}"
    asked = ["decide", "--venue", folder, "--as-of", NOVEMBER[0], *LEDGER, "--bots", "market_price,shy"]
    with own_plugins("strategies", tmp_path / "own"):
        assert main(asked) == 0
    capsys.readouterr()
    document = said(capsys, "evaluate", "--as-of", "2026-07-01T00:00:00Z", *LEDGER)
    market, shy = bot(document, "market_price")["horizons"], bot(document, "shy")["horizons"]
    assert isinstance(market, dict)
    assert isinstance(shy, dict)
    for label in ("1", "2", "7", "settled"):
        assert shy[label]["mean_return"] == 0.0
        assert shy[label]["market_mean_return"] == market[label]["mean_return"]


def test_without_a_book_a_bot_that_stakes_now_and_then_has_no_return_at_the_quote(
    shared_data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "picky.py").write_text(
        '"""Bets on every second event."""\nfrom dataclasses import dataclass\n'
        "from predibot.domain.decision import Abstention, Decision, Forecast\n\n\n"
        "@dataclass(frozen=True, slots=True)\nclass Picky:\n"
        '    """Bet a dollar, or nothing."""\n\n    def decide(self, context):\n'
        "        market = context.event.markets[0]\n"
        '        if int(market.id) % 2:\n            return Abstention("no")\n'
        "        said = tuple(Forecast(each.id, 0.5) for each in context.event.markets)\n"
        "        return Decision(said, context.orders({market.id: 1.0}))\n"
    )
    folder = f"archive:{shared_data / NOVEMBER[1]}"
    asked = ["decide", "--venue", folder, "--as-of", NOVEMBER[0], *LEDGER, "--bots", "market_price,picky"]
    with own_plugins("strategies", tmp_path / "own"):
        assert main(asked) == 0
    capsys.readouterr()
    until = ("evaluate", "--as-of", "2026-07-01T00:00:00Z", *LEDGER)
    document = said(capsys, *until)
    picky = bot(document, "picky")
    assert isinstance(picky["horizons"], dict)
    staked = picky["decisions"] - picky["abstained"]  # type: ignore[operator]
    assert staked and picky["abstained"]
    now = picky["horizons"]["now"]
    assert now["mean_return"] and now["n"] == picky["decisions"]
    assert (now["quote_mean_return"], now["n_quote"], now["friction"]) == (None, 0, None)
    rows = document["leaderboard"]
    assert isinstance(rows, list)
    assert {(row["quote_return"], row["quote_return_now"]) for row in rows} == {(None, None)}
    assert main([*until, "--csv"]) == 0
    (row,) = (each for each in csv.DictReader(capsys.readouterr().out.splitlines()) if each["bot"] == "picky")
    assert (row["now_quote_mean_return"], row["7d_quote_mean_return"], row["now_n_quote"]) == ("", "", "0")
    assert main([*until]) == 0
    market_price = bot(document, "market_price")["decisions"]
    assert isinstance(market_price, int)
    assert f"{staked + market_price} returns without a quote" in " ".join(capsys.readouterr().out.split())


def test_every_market_that_could_not_be_read_is_named(
    shared_data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = shared_data / FEBRUARY[1] / "snapshots" / "2026-02-13T192613Z" / "events.json"
    events = json.loads(source.read_text())
    broken = [market for event in events for market in event["markets"]][:20]
    for market in broken:
        market["outcomes"] = "[broken"
    place = tmp_path / "archive" / "snapshots" / "2026-02-13T192613Z"
    place.mkdir(parents=True)
    (place / "events.json").write_text(json.dumps(events))
    document = said(capsys, "select", "--venue", "archive:archive", "--as-of", FEBRUARY[0])
    notes = " ".join(str(note) for note in document["notes"])  # type: ignore[attr-defined]
    assert all(f"market {market['id']} could not be read" in notes for market in broken)


def test_what_a_bot_remarked_on_a_decision_is_shown(
    shared_data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "top.toml").write_text('[[bots]]\nstrategy = "market_price"\nstake = "top_volume"\n')
    folder = shared_data / NOVEMBER[1]
    document = said(capsys, "decide", "top.toml", "--venue", f"archive:{folder}", "--as-of", NOVEMBER[0], *LEDGER)
    assert any("no market states its one-week volume" in str(note) for note in document["notes"])  # type: ignore[attr-defined]
