"""Simulated stocks in a replay: scripts that read their news, what of it they are shown, and what it is worth."""

import json
from datetime import date, timedelta
from pathlib import Path

import pytest

from predibot.ledger.store import Store
from predibot.ledger.write.events import read_news
from predibot.ledger.write.runs import read_runs
from predibot.sandbox.stocks.companies import DEFAULT_TICKERS
from predibot.sandbox.stocks.folder import SIMULATED_FILE, write_stock_folder
from predibot.sandbox.stocks.news import stories_of
from predibot.sandbox.world.calendar import minute_of
from predibot.sandbox.world.draws import Draws
from tests.acceptance.conftest import Predibot, predibot
from tests.jobs.replay.simulated_stocks import RECIPE, beside_the_index
from tests.soaks import SOAK

__all__ = ["predibot"]

SEED = 7
LEDGER = ("--ledger", "sqlite:///walk.db")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Write three weeks of simulated stocks, and the recipe beside them."""
    (tmp_path / "walk.toml").write_text(RECIPE)
    write_stock_folder(
        tmp_path / "stocks", seed=SEED, days=15, tickers=(*DEFAULT_TICKERS, "SPY"), start=date(2025, 1, 6)
    )
    return tmp_path / "stocks"


def test_prompts_hold_the_first_dated_news_of_the_window_and_none_from_later(predibot: Predibot, folder: Path) -> None:
    said = predibot("replay", "walk.toml", *LEDGER, "--to", "2025-01-10T21:05Z", "--json").document
    simulated = "these stocks are simulated, and so are their news, whatever their names"
    assert all(simulated in instant["notes"] for instant in said["replay"]["instants"])
    shown = 0
    with Store.open_to_read("sqlite:///walk.db") as store, store.read() as connection:
        for run in read_runs(connection):
            first, last = run.as_of - timedelta(days=3), run.as_of - timedelta(days=1)
            found = read_news(connection, run.id)
            key = f"{run.key}/script_sharp/weights"
            prompt = json.dumps(predibot("trace", key, "--full", "--json", *LEDGER).document, ensure_ascii=False)
            for ticker in DEFAULT_TICKERS:
                stories = [
                    each
                    for each in stories_of(Draws(SEED), ticker, first.date(), last.date())
                    if minute_of(first) <= each.minute <= minute_of(last)
                ][::-1][:3]
                assert [(each.title, each.snippet) for each in found[ticker] or ()] == [
                    (each.headline, each.summary) for each in stories
                ]
                assert all(each.headline in prompt for each in stories)
                shown += len(stories)
            # Nothing else of any later day stands in it either.
            later = [run.as_of.date() + timedelta(days=day) for day in range(1, 10)]
            assert not [day for day in later if str(day) in prompt]
    assert shown > 12


def test_no_decision_changes_where_the_future_is_another(predibot: Predibot, folder: Path) -> None:
    said = predibot("replay", "walk.toml", *LEDGER, "--to", "2025-01-08T21:05Z", "--check-lookahead", "--json")
    found = said.document["look_ahead"]
    assert (found["checked"], found["differences"], found["skipped"]) == (12, [], {})


@SOAK
def test_who_reads_the_news_beats_the_index_in_some_weeks_and_noise_does_not(tmp_path: Path) -> None:
    found = beside_the_index(tmp_path / "weeks", seed=4, days=15)
    assert found["script_sharp"].low > 0.0
    for noise in ("random_weights", "script_noisy"):
        assert found[noise].low < 0.0 < found[noise].high


def test_where_the_folder_does_not_say_so_in_a_readable_way_no_script_plays(predibot: Predibot, folder: Path) -> None:
    for text in (b"", b"seed = 1.5", b"seed = -1", b"seed = true", b"seed =", b"\xff"):
        (folder / SIMULATED_FILE).write_bytes(text)
        said = predibot("replay", "walk.toml", *LEDGER)
        assert (said.code, f"{SIMULATED_FILE} cannot be read" in said.err, "Traceback" in said.err) == (1, True, False)
    (folder / SIMULATED_FILE).unlink()
    said = predibot("replay", "walk.toml", *LEDGER)
    assert (said.code, "is a script of the sandbox" in said.err) == (1, True)
