"""Kills of a replay at moments that nobody chose: evenly over its decisions, and drawn by a seed."""

import random
import signal
import time

from sqlalchemy import text

from predibot.ledger.store import Store
from tests.jobs.games import Played
from tests.jobs.program import wait_until
from tests.jobs.soak import ended


def killed_at_random(played: Played, seed: int, kills: int) -> int:
    """Kill a replay so many times, let it come to its end, and return how often it was killed."""
    rng, lost = random.Random(seed), ()
    process, done = played.start(), 0
    for number in range(1, kills + 1):
        least = number * played.game.decisions // (kills + 2)
        wait_until(
            lambda least=least, lost=lost, process=process: (
                ended(process.pid) or (len(made := _made(played)) >= least and set(lost) <= set(made))
            ),
            seconds=1_200.0,
        )
        if number % 2:
            # In the middle of a decision, and not while the world of the next day is made.
            wait_until(lambda process=process: ended(process.pid) or bool(_claimed(played)))
        time.sleep(rng.random() * 0.1)
        if ended(process.pid):
            break
        process.send_signal(signal.SIGKILL)
        process.communicate()
        done += 1
        # One that is lost twice is given up; which it is, is another test's.
        lost = _claimed(played)
        process = played.start()
    played.whole(process)
    return done


def _made(played: Played) -> tuple[int, ...]:
    return _rows(played, "SELECT task_id FROM decisions")


def _claimed(played: Played) -> tuple[int, ...]:
    return _rows(played, "SELECT id FROM tasks WHERE status = 'claimed'")


def _rows(played: Played, statement: str) -> tuple[int, ...]:
    try:
        with Store.open_to_read(played.ledger) as store, store.read() as connection:
            return tuple(connection.execute(text(statement)).scalars())
    except Exception:  # noqa: BLE001 - there is no ledger yet, or it is being made
        return ()
