"""Daily recipes of stocks by their schedules: decided after a close, and not on a day that has none."""

from contextlib import nullcontext
from datetime import datetime
from functools import partial
from pathlib import Path

import pytest

from predibot.api.schedule import play_slot
from predibot.config import Settings
from predibot.jobs.caller import Caller
from predibot.jobs.schedule.scheduled_recipe import RETRY_PAUSE, ScheduledRecipe, play_slot_once
from predibot.ledger.schema.tables import SlotRow
from predibot.ledger.store import Store
from predibot.ledger.write.accounts import accounts, valuations
from predibot.ledger.write.runs import read_runs
from tests.acceptance.conftest import Predibot, predibot
from tests.jobs.replay.hand_made_stocks import AAA, BBB, at, write_stocks
from tests.jobs.tiny import nobody

__all__ = ["predibot"]

RECIPE = """
name = "walk"
venue = "stocks:{folder}"
every = "1d"
[game]
name = "portfolio_weights"
tickers = ["AAA", "BBB"]
[schedule]
cron = "5 21 * * mon-fri"
timezone = "UTC"
catch_up = "6h"
[[bots]]
strategy = "equal_weights"
"""


@pytest.fixture
def recipe(tmp_path: Path) -> ScheduledRecipe:
    (tmp_path / "walk.toml").write_text(RECIPE.format(folder=tmp_path / "stocks"), encoding="utf-8")
    return ScheduledRecipe.read(str(tmp_path / "walk.toml"))


def known(folder: Path, *days: int) -> None:
    """Write the first trading days of the folder, as many as have a place here."""
    closes = {
        name: [price if place in days else None for place, price in enumerate(prices)]
        for name, prices in {"AAA": AAA, "BBB": BBB}.items()
    }
    write_stocks(folder / "stocks", closes, ())


def kept(recipe: ScheduledRecipe, store: Store, slot_at: datetime, now: datetime) -> SlotRow:
    """Play a slot at an instant, as the service does."""
    settings = Settings(workers=1)
    caller = Caller(lambda: settings, lambda: now, lambda _: None, lambda: nullcontext(nobody))
    play = partial(play_slot, store=store, ledger=str(store.address), caller=caller)
    return play_slot_once(recipe, slot_at, play, store=store, clock=lambda: now)


def test_a_day_without_a_close_is_tried_until_it_may_be_made_up_no_more_and_then_left_out(
    ledger: Store, recipe: ScheduledRecipe, tmp_path: Path
) -> None:
    known(tmp_path, 0, 1, 2, 3, 4)
    friday, holiday = at(9), at(12)
    assert kept(recipe, ledger, friday, friday).status == "done"
    first = kept(recipe, ledger, holiday, holiday)
    assert (first.status, first.next_try_at) == ("failed", holiday + RETRY_PAUSE)
    assert "2026-01-12 is no trading day, or its files are late: the last close is of 2026-01-09" in first.reason
    last = kept(recipe, ledger, holiday, at(13, 3))
    assert (last.status, last.next_try_at, last.run_key) == ("done", None, None)
    assert "nothing is decided" in last.reason
    with ledger.read() as connection:
        assert [each.key for each in read_runs(connection)] == ["walk@2026-01-09T21:05Z"]


def test_a_file_that_comes_late_is_decided_on_once_it_is_there_with_one_valuation_a_day(
    ledger: Store, recipe: ScheduledRecipe, tmp_path: Path
) -> None:
    known(tmp_path, 0, 1, 2, 3, 4)
    kept(recipe, ledger, at(9), at(9))
    assert kept(recipe, ledger, at(12), at(12)).status == "failed"
    known(tmp_path, 0, 1, 2, 3, 4, 5)
    assert kept(recipe, ledger, at(12), at(12, 21, 35)).run_key == "walk@2026-01-12T21:05Z"
    with ledger.read() as connection:
        (account,) = connection.execute(accounts.select()).all()
        rows = connection.execute(valuations.select().where(valuations.c.account_id == account.id)).all()
    assert [row.at for row in rows] == [at(9, 21, 0), at(12, 21, 0)]


def test_decide_says_why_it_decides_nothing_on_a_saturday(
    predibot: Predibot, recipe: ScheduledRecipe, tmp_path: Path
) -> None:
    known(tmp_path, *range(10))
    saturday = ("decide", "walk.toml", "--as-of", "2026-01-10T21:05Z", "--ledger", "sqlite:///walk.db")
    said = predibot(*saturday)
    assert (said.code, predibot("runs", "--ledger", "sqlite:///walk.db", "--json").document["runs"]) == (0, [])
    assert "note: 2026-01-10 is no trading day" in said.out
    assert predibot(*saturday, "--json").document["decisions"] == []
    weekly = (tmp_path / "walk.toml").read_text().replace('every = "1d"', 'every = "7d"')
    (tmp_path / "walk.toml").write_text(weekly)
    assert "1 decision recorded" in predibot(*saturday).out
