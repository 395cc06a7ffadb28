"""A year of slots of a service: a third of the venue's calls fails, it is killed 50 times, its machine sleeps for days.

The sandbox's world lasts half a year, so that there are two slots a day.
"""

from pathlib import Path

import pytest

from tests.jobs.schedule.life import Life
from tests.jobs.schedule.lived import check_life

pytestmark = pytest.mark.benchmark


def test_a_year_of_slots(tmp_path: Path) -> None:
    life = Life(tmp_path, days=183, kills=50, cron="5 0,12 * * *")
    life.live()
    print(f"\na year of slots: {check_life(life).words()}")
