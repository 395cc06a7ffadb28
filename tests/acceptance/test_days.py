"""A day of all five games, killed while it is claimed, asked, booked and committed: it ends as an undisturbed one."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.acceptance.days import Alone, Day, providing
from tests.jobs.failpoints import After, Before
from tests.ledger.databases import Postgres, postgres
from tests.soaks import SOAK

__all__ = ["postgres"]

KILLS = {
    "cohorts": (After("cohorts"),),
    "events": (After("attempts"), None),
    "portfolios": (Before("decisions"),),
    "texts": (After("labels"),),
    "pairs": (None,),
    "stocks": (After("decisions"),),
    "track": (Before("price_paths"),),
}
AT_ONCE = ("cohorts", "texts")


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Alone]:
    """Return a day that nobody disturbed."""
    with providing() as provider:
        yield Alone.played_in(tmp_path_factory.mktemp("alone"), provider)


@SOAK
def test_a_day_killed_and_resumed_on_a_server_is_the_undisturbed_one_of_a_file(
    alone: Alone, tmp_path: Path, postgres: Postgres
) -> None:
    day = Day(tmp_path / "killed", alone.data, alone.provider, postgres.fresh())
    kills = day.play(KILLS, AT_ONCE)
    alone.require_equal(day, under_way=2 * kills)
