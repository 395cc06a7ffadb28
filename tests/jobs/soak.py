"""Soaking: runs whose processes are killed at moments drawn by a seed, and what must be true of them afterwards."""

import json
import random
import signal
import subprocess
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import psutil
from sqlalchemy import text

from predibot.domain.trace import ModelFailedStep, ModelStep
from predibot.ledger.files.traces import Traces
from predibot.ledger.store import Store
from tests.agents.chat_server import Asked, ChatServer, Said, completion, error
from tests.jobs.program import PATIENCE_SECONDS, Program, wait_until, workers_of
from tests.jobs.tiny import canonical

BOTS, EVENTS = 10, 10
THINKING_SECONDS = 0.05
MOST_CALLS_BETWEEN = 15
ASKS = '''"""Asks once, and says what follows from who asks about what."""

import hashlib
from dataclasses import dataclass

from predibot.contracts import ModelNeed, Needs
from predibot.domain.chat import ChatRequest, Message
from predibot.domain.decision import Decision, MarketDecision


@dataclass(frozen=True, slots=True)
class Asks:
    """Ask once."""

    label: str

    @property
    def needs(self):
        return Needs(models=(ModelNeed("acme/counted", calls=1, output_tokens=100),))

    def decide(self, context):
        """Ask, and draw."""
        about = f"{self.label} {context.subject.id}"
        request = ChatRequest((Message("user", about),), max_output_tokens=100)
        context.model("acme/counted").chat(request, deadline_seconds=60.0)
        drawn = int(hashlib.sha256(about.encode()).hexdigest(), 16) % 99 / 100
        return Decision(tuple(MarketDecision(each.id, drawn, 0.0) for each in context.subject.markets))
'''


class Provider(ChatServer):
    """Thinks for a moment, answers, and keeps a log of every call."""

    request_queue_size = 1024

    def __init__(self) -> None:
        super().__init__([completion()])
        self.answers = threading.Event()
        self.answers.set()

    def next(self, asked: Asked) -> Said:
        """Note a call before it is answered, as who is paid for it does."""
        if not asked.body:
            # Who was killed while it asked has asked nothing.
            return error(400)
        said = super().next(asked)
        self.answers.wait()
        threading.Event().wait(THINKING_SECONDS)
        return said

    def calls(self) -> Counter[str]:
        """Return how often each bot asked about each event."""
        with self.lock:
            return Counter(str(each.body["messages"][0]["content"]) for each in self.asked)


@contextmanager
def provider() -> Iterator[Provider]:
    """Serve until the block ends."""
    with Provider() as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        yield server
        server.shutdown()


@dataclass
class Soak:
    """A run in a folder of its own, which is killed again and again."""

    folder: Path
    server: Provider
    executor: str
    ledger: str = ""
    bots: int = BOTS
    events: int = EVENTS
    kills: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.folder.mkdir()
        self.program = Program(self.folder, {"PREDIBOT_WORKERS": "4"})
        self.program.strategy("asks", ASKS)
        self.ledger = self.ledger or self.program.ledger
        bots = "".join(
            f'[[bots]]\nname = "b{number}"\nstrategy = "asks"\nlabel = "b{number}"\n'
            f'base_url = "{self.server.base_url}"\nprice_usd_per_million_tokens = 1000\n'
            for number in range(self.bots)
        )
        limits = "[limits.run]\nusd = 90000\n"
        (self.folder / "soak.toml").write_text(f"{limits}[selection]\nevents = {self.events}\n{bots}", encoding="utf-8")

    def kill(self, where: Callable[[], object]) -> None:
        """Decide, or go on, until it is killed where it comes to a boundary."""
        process = self.decide(first=where)
        said = process.communicate(timeout=PATIENCE_SECONDS)
        assert process.returncode == -signal.SIGKILL, (where, said)

    def kill_while_it_asks(self) -> None:
        """Decide, or go on, until it waits for an answer, and kill it."""
        asked = len(self.server.asked)
        self.server.answers.clear()
        process = self.decide()
        wait_until(lambda: len(self.server.asked) > asked)
        process.kill()
        process.communicate()
        self.server.answers.set()

    def run(self, seed: int, kills: int) -> None:
        """Decide, killed so many times if it lasts that long, and go on until nothing is left to decide."""
        rng = random.Random(seed)
        process, most = self.decide(), min(MOST_CALLS_BETWEEN, self.bots * self.events // 3)
        while len(self.kills) < kills:
            asked = len(self.server.asked) + rng.randint(1, most)
            wait_until(lambda asked=asked, process=process: len(self.server.asked) >= asked or ended(process.pid))
            if ended(process.pid):
                break
            victim = rng.choice((process.pid, *(each.pid for each in workers_of(process.pid))))
            with suppress(psutil.NoSuchProcess):
                psutil.Process(victim).send_signal(signal.SIGKILL)
                self.kills.append("main" if victim == process.pid else "worker")
            if victim == process.pid:
                process.communicate()
                process = self.decide()
        for _ in range(4):
            out, err = process.communicate(timeout=PATIENCE_SECONDS)
            if process.returncode == 1 and "processes end before they are set up" in out:
                # Three were killed in a row while they began: no more are started, and the next call goes on.
                process = self.decide()
                continue
            assert process.returncode in (0, 3, 4), (out, err)
            if not json.loads(out)["totals"]["failed"] and process.returncode == 0:
                break
            # Who was at work in two processes that were killed is given up, and comes again when it is asked for.
            process = self.decide("--retry", "failed")
        self.program.close()

    def decide(self, *more: str, first: Callable[[], object] | None = None) -> "subprocess.Popen[str]":
        asked = (
            "--venue",
            f"sandbox:events={4 * self.events}",
            "--executor",
            self.executor,
            "--ledger",
            self.ledger,
            "--json",
            *more,
        )
        return self.program.start("decide", "soak.toml", *asked, first=first)

    def check(self, expected: str, before: Counter[str]) -> tuple[int, int]:
        """Compare with an undisturbed run, and the books with the provider's log.

        Returns:
            How many calls are booked, and how many are of decisions that are stored with an unknown cost.
        """
        calls = self.server.calls() - before
        with Store.open_to_read(self.ledger) as store:
            assert canonical(store) == expected
            with store.read() as connection:
                rows = connection.execute(text(_DECISIONS)).all()
            assert len(rows) == self.bots * self.events
            booked = unknown = 0
            for about, cost_usd, trace_sha256, ends in rows:
                answered = asked_in(store, trace_sha256)
                if cost_usd is not None:
                    # What a known cost stands for is all that the provider has seen.
                    assert calls[about] == answered, about
                    booked += answered
                else:
                    assert answered <= calls[about] <= answered + ends - 1, about
                    unknown += calls[about]
        assert booked + unknown == calls.total()
        return booked, unknown


_DECISIONS = """
SELECT b.name || ' ' || s.subject_id, d.cost_usd, d.trace_sha256,
    (SELECT count(*) FROM attempts a WHERE a.task_id = d.task_id)
FROM decisions d JOIN bots b ON b.id = d.bot_id JOIN tasks t ON t.id = d.task_id JOIN subjects s ON s.id = t.subject_row
"""


def asked_in(store: Store, trace_sha256: str | None) -> int:
    """Return how often a provider was asked, as a trace has it."""
    if trace_sha256 is None:
        return 0
    steps: Sequence[object] = Traces(store).read(trace_sha256).steps
    told = [step for step in steps if isinstance(step, ModelStep | ModelFailedStep)]
    return sum(1 + step.reply.retries if isinstance(step, ModelStep) else step.lost_tries for step in told)


def ended(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def undisturbed(folder: Path, server: Provider, **size: int) -> str:
    """Return the canonical export of a run that nobody kills."""
    soak = Soak(folder, server, "threads:4", **size)
    soak.run(0, 0)
    with Store.open_to_read(soak.ledger) as store:
        return canonical(store)
