"""The life of a service on the clock of a sandbox whose venue fails, which is killed and whose machine sleeps."""

import contextlib
import json
import os
import random
import resource
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

from predibot.api.schedule import play_slot, track_recipe
from predibot.config import Settings
from predibot.contracts import Progress, ProgressListener
from predibot.domain.clock import format_instant, parse_instant
from predibot.jobs.caller import Caller
from predibot.jobs.schedule.scheduled_recipe import ScheduledRecipe, ServiceLock, play_slot_once
from predibot.jobs.schedule.service import ScheduleService
from predibot.ledger.store import Store
from predibot.sandbox.server.fault import Fault
from predibot.sandbox.server.options import SandboxOptions
from predibot.sandbox.server.server import SandboxServer
from predibot.sandbox.world.calendar import SANDBOX_BEGINS_AT
from tests.forked import ROOT, Forked

MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
RECIPE = """
name = "daily"
venue = "polymarket"
[schedule]
cron = "{cron}"
timezone = "America/New_York"
jitter = "20m"
track_every = "12h"
[selection]
events = 3
max_markets = 2
[[bots]]
strategy = "market_price"
[[bots]]
strategy = "random_bet"
"""


NAPS = {4: 9 * HOUR, 10: 2 * DAY}
"""By the day of a fortnight or so on which the machine sleeps, how long it does."""


class OneInThree(Fault):
    """An answer that nobody can read, of every third request or so; asking again, which takes time, is no use."""

    draws = random.Random(11)

    def matches(self, path: str) -> bool:
        """Return whether this one fails."""
        return self.draws.random() < 1 / 3


@dataclass
class Life:
    """A service from a first instant to a last, in as many processes as it takes."""

    folder: Path
    days: int
    kills: int
    cron: str = "5 12 * * *"
    resident_bytes: list[tuple[float, int]] = field(default_factory=list)
    """After how many days each process held how much."""
    slept: list[timedelta] = field(default_factory=list)

    @property
    def ledger(self) -> str:
        return f"sqlite:///{self.folder}/ledger.db"

    @property
    def ends_at(self) -> datetime:
        """Return the last instant."""
        return SANDBOX_BEGINS_AT + self.days * DAY

    def now(self) -> datetime:
        return parse_instant((self.folder / "clock").read_text(encoding="ascii"))

    def live(self) -> None:
        """Run it to its last instant."""
        (self.folder / "recipe.toml").write_text(RECIPE.format(cron=self.cron), encoding="utf-8")
        set_clock(self.folder, SANDBOX_BEGINS_AT)
        draws, fault = random.Random(self.days), OneInThree("wrong_shape")
        with SandboxServer(now=self.now, options=SandboxOptions(events=8, fault=fault)) as server:
            for number in range(self.kills + 1):
                is_last = number == self.kills
                # Somewhere in its share of the days: in a decision, between two, or while it tracks.
                steps = 0 if is_last else draws.randrange(1, 2 * self.days // (self.kills + 1) * 25)
                self._process(server.gamma_url, server.clob_url, self.ends_at, steps)
                if self.now() >= self.ends_at:
                    break
                asleep = (3 * DAY, timedelta(0), 7 * HOUR, 5 * MINUTE)[number % 4]
                self.slept.append(asleep)
                set_clock(self.folder, self.now() + asleep)

    def _process(self, gamma_url: str, clob_url: str, until: datetime, steps: int) -> None:
        arguments = [str(self.folder), gamma_url, clob_url, format_instant(until), str(steps)]
        given = {"folder": ROOT, "environment": os.environ, "module": "tests.jobs.schedule.life"}
        with Forked(*arguments, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, **given) as process:
            _, told = process.communicate(timeout=3600)
        assert process.returncode in ((0,) if not steps else (0, -signal.SIGKILL)), told
        self.resident_bytes += json.loads((self.folder / "resident").read_text(encoding="ascii"))


def set_clock(folder: Path, at: datetime) -> None:
    (folder / "clock.new").write_text(format_instant(at), encoding="ascii")
    (folder / "clock.new").replace(folder / "clock")


class Done:
    """What was done at once."""

    def exit_reason(self) -> str:
        return ""


def _service(folder: Path, gamma_url: str, clob_url: str, until: datetime, steps: int) -> None:
    """Run the service until an instant of the clock, or so many steps, after which nobody is asked."""
    life, left, resident = Life(folder, 0, 0), steps, []
    settings = Settings(urls={"gamma_url": gamma_url, "clob_url": clob_url})

    def step(_: Progress) -> None:
        nonlocal left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    @contextlib.contextmanager
    def progress() -> Iterator[ProgressListener]:
        yield step

    def say(text: str) -> None:
        sys.stderr.write(f"{text}\n")

    clock: Callable[[], datetime] = life.now
    caller = Caller(lambda: settings, clock, say, progress)
    with Store.open(life.ledger) as store, ServiceLock(store, clock):

        def start(recipe: ScheduledRecipe, slot_at: datetime | None) -> Done:
            if slot_at is None:
                track_recipe(recipe, store=store, caller=caller)
                return Done()

            def play(of: ScheduledRecipe, at: datetime):  # type: ignore[no-untyped-def]
                # It takes a while.
                set_clock(folder, clock() + 2 * MINUTE)
                return play_slot(of, at, store=store, ledger=life.ledger, caller=caller)

            play_slot_once(recipe, slot_at, play, store=store, clock=clock)
            return Done()

        service = ScheduleService([str(folder / "recipe.toml")], store=store, clock=clock, start=start)
        slept_on = (clock() - SANDBOX_BEGINS_AT).days
        while clock() < until:
            next_at = service.look()
            now = clock()
            resident.append(
                ((now - SANDBOX_BEGINS_AT) / DAY, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)
            )
            (folder / "resident").write_text(json.dumps(resident), encoding="ascii")
            day = (now - SANDBOX_BEGINS_AT).days
            if day != slept_on and day % 16 in NAPS:
                # The machine sleeps, and nobody is told.
                next_at = now + NAPS[day % 16]
            slept_on = day
            set_clock(folder, min(max(next_at, now + MINUTE), until))


if __name__ == "__main__":
    _service(Path(sys.argv[1]), sys.argv[2], sys.argv[3], parse_instant(sys.argv[4]), int(sys.argv[5]))
