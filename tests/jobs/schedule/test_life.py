"""Two weeks of a service: whatever fails, is killed or sleeps, every slot is decided or a row says why not."""

import sys
from pathlib import Path

from tests.jobs.schedule.life import Life
from tests.jobs.schedule.lived import check_life
from tests.soaks import SOAK


@SOAK
def test_14_days_of_faults_kills_and_sleep_lose_no_slot_and_decide_nothing_twice(tmp_path: Path) -> None:
    life = Life(tmp_path, days=14, kills=3)
    life.live()
    found = check_life(life)
    assert found.done >= 2
    assert found.missed >= 1
    # For who reads the log of a failure, or asks for it with -s.
    sys.stdout.write(f"{found.words()}\n")
