"""Soaks of a day of all five games: killed at each boundary, and in processes, with two programs going on at once."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.acceptance.days import DAY, RECIPES, Alone, Day, Kills, providing
from tests.jobs.failpoints import After, Before, Placed
from tests.ledger.databases import Postgres, postgres

__all__ = ["postgres"]

pytestmark = [pytest.mark.benchmark, pytest.mark.soak]

ALL = tuple(dict.fromkeys(name for name, _ in DAY))
TRACKED = (Before("price_paths"), After("price_paths"))
HERE = (
    *(Before("runs"), After("runs"), Before("attempts"), After("attempts"), None, After("reservations")),
    *(Placed("/traces/"), Before("decisions"), After("decisions"), Before("receipts"), After("receipts")),
)
ON_A_SERVER = tuple(where for where in HERE if not isinstance(where, Placed))
BY_OTHERS = (None, Before("receipts"), After("receipts"))
"""What the process that is started does itself where others decide for it."""
PLAYED = {
    ("sqlite", "threads:2"): HERE,
    ("postgresql", "threads:2"): ON_A_SERVER,
    ("sqlite", "processes:2"): BY_OTHERS,
}


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Alone]:
    """Return a day that nobody disturbed."""
    with providing() as provider:
        yield Alone.played_in(tmp_path_factory.mktemp("alone"), provider)


@pytest.mark.parametrize(("database", "executor"), PLAYED)
def test_a_day_killed_at_each_boundary_is_the_undisturbed_one(
    alone: Alone, tmp_path: Path, database: str, executor: str, postgres: Postgres
) -> None:
    day = Day(
        tmp_path / "killed", alone.data, alone.provider, postgres.fresh() if database != "sqlite" else "", executor
    )
    kills: Kills = dict.fromkeys(RECIPES, PLAYED[database, executor]) | {"track": TRACKED}
    done = day.play(kills, ALL)
    alone.require_equal(day, under_way=2 * done)
    print(
        f"\n{done} kills of a day of all five games on {database} with {executor}: its export is the undisturbed one's"
    )
