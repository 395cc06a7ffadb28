"""A day of all five games in one ledger: agents that ask a model on loopback, commands that are killed, and exports."""

import json
import re
import signal
import threading
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from types import MappingProxyType
from typing import Any, Self

from predibot.domain.clock import parse_instant
from predibot.sandbox.server.hosts.chat import CHARACTERS_A_TOKEN
from predibot.sandbox.server.options import SandboxOptions
from predibot.sandbox.server.reply import HttpReply, error_reply
from predibot.sandbox.server.server import SandboxServer
from predibot.sandbox.stocks.folder import write_stock_folder
from predibot.sandbox.world.calendar import SANDBOX_OPENS_AT
from tests.acceptance.conftest import done_here
from tests.agents.chat_server import completion
from tests.jobs.program import PATIENCE_SECONDS, Program, document_of, wait_until
from tests.studies.beliefbench import pair_readers
from tests.studies.stakebench import readers

OPEN_EVENTS = 14
TICKERS = ("AAPL", "KO", "XOM", "SPY")
LIMITED = "[limits.run]\nusd = 90\n[[bots]]"
AGENT = """
[[bots]]
name = "{name}"
strategy = "{strategy}"
model = "openai/{model}"
base_url = "{{url}}"
price_usd_per_million_tokens = 10
"""


def _agent(model: str, name: str = "agent", strategy: str = "one_shot", more: str = "") -> str:
    return AGENT.format(name=name, strategy=strategy, model=model) + more


def _one(strategy: str) -> str:
    return f'[[bots]]\nstrategy = "{strategy}"\n'


RECIPES: Mapping[str, str] = {
    "events": 'venue = "{world}"\nevery = "1d"\n[selection]\nevents = 1\n'
    + _agent("sharp", "agent", "tool_agent")
    + _agent("lazy", "lazy")
    + _one("market_price"),
    "portfolios": 'venue = "{world}"\nevery = "1d"\ngame = {{name = "portfolio_weights"}}\n'
    + _agent("noisy")
    + _one("equal_weights"),
    "cohorts": 'venue = "{world}"\nevery = "7d"\ngame = {{name = "weekly_cohort"}}\n'
    + _agent("sharp")
    + _one("random_trade"),
    "stocks": 'venue = "stocks:{folder}"\nevery = "1d"\n'
    'game = {{name = "portfolio_weights", tickers = ["AAPL", "KO", "XOM"], benchmarks = ["SPY"]}}\n'
    + _agent("noisy")
    + _one("random_weights"),
    "texts": readers.RECIPE.partition('[[bots]]\nname = "majority"')[0].replace('"G2", "G4"', '"G1"'),
    "pairs": pair_readers.RECIPE.partition('[[bots]]\nname = "random"')[0].replace("per_class = 3", "per_class = 1"),
}
SUNDAY, MONDAY = "2026-01-11T22:45Z", "2026-01-12T22:45Z"
"""Evenings: cohorts decide on Sundays, and stocks have a close on Mondays."""
Kills = Mapping[str, Collection[Callable[[], object] | None]]
"""Failpoints by the name of a step; None is while it waits for the answer of a model."""
Step = tuple[str, str]
"""The recipe of a decision, or `track`; and the instant that the clock shows."""
DAY: tuple[Step, ...] = (
    ("cohorts", SUNDAY),
    ("events", SUNDAY),
    ("portfolios", SUNDAY),
    ("texts", ""),
    ("pairs", ""),
    ("stocks", MONDAY),
    ("portfolios", MONDAY),
    ("track", MONDAY),
)
TIMES: Mapping[str, frozenset[str]] = {
    "runs": frozenset({"created_at", "deadline_at"}),
    "decisions": frozenset({"decided_at", "seconds", "next_try_at"}),
    "resolutions": frozenset({"seen_at"}),
}
"""Columns of an export that tell the time at which, and for which, a program ran."""
DIGESTS: Mapping[str, frozenset[str]] = {"decisions": frozenset({"trace_sha256"})}
"""Those of files that tell such times."""
COSTS = frozenset({"cost_usd", "cost_known_usd"})
"""Of decisions: what a killed program had paid is known at most."""


Rows = Mapping[str, list[str]]
"""By table."""


class Provider(SandboxServer):
    """The sandbox with a reader of labels beside its forecasters, which notes who asks what."""

    def __init__(self) -> None:
        super().__init__(now=SANDBOX_OPENS_AT, options=SandboxOptions(events=OPEN_EVENTS, named=True))
        self.prompts: list[str] = []
        self.answers = threading.Event()
        self.answers.set()

    def reply(self, target: str, *, body: bytes | None, token: str = "") -> tuple[HttpReply, Any]:
        """Note a call of a model, and let those who may not be answered yet wait."""
        if body is None or not target.endswith("/chat/completions"):
            return super().reply(target, body=body, token=token)
        if not body:
            # Who was killed while it asked has asked nothing.
            return error_reply(400, "nothing was asked"), None
        asked = json.loads(body)
        roles = [*(each["role"] for each in asked["messages"]), "assistant"]
        shown = json.dumps(asked["messages"][: roles.index("assistant")])
        self.prompts.append(f"{asked['model']} {re.sub('untrusted [0-9a-f]+', 'untrusted', shown)}")
        self.answers.wait()
        if not asked["model"].endswith(("reader", "judge")):
            return super().reply(target, body=body, token=token)
        prompt = re.sub(r"untrusted \d{24}", "untrusted", str(asked["messages"][-1]["content"]))
        of = readers if "event 2:" not in prompt else pair_readers
        text, tokens = of.answer_to(prompt), len(body) // CHARACTERS_A_TOKEN
        usage = {"prompt_tokens": tokens, "completion_tokens": len(text), "total_tokens": tokens + len(text)}
        return HttpReply(200, completion(text, usage=usage).body), None

    def take_calls(self) -> Counter[str]:
        """Return how often each prompt was answered, or was to be, since this was asked last."""
        calls = Counter(self.prompts)
        self.prompts.clear()
        return calls


@contextmanager
def providing() -> Iterator[Provider]:
    with Provider() as server:
        yield server


def write_data(folder: Path) -> Path:
    """Write what is played beside the sandbox: texts, pairs and stocks; return the folder."""
    (folder / "texts").mkdir(parents=True)
    readers.data_set(folder / "texts")
    pair_readers.pairs_in(folder)
    write_stock_folder(folder / "stocks", seed=7, days=34, tickers=TICKERS, start=date(2025, 12, 1))
    return folder


@dataclass
class Day:
    """A day in a folder of its own, whose commands may be killed and started again."""

    folder: Path
    data: Path
    """What `write_data` wrote, for all days, so that their runs are equal ones."""
    provider: Provider
    ledger: str = ""
    executor: str = "threads:2"
    program: Program = field(init=False)
    world: str = field(init=False)

    def __post_init__(self) -> None:
        self.folder.mkdir()
        self.program = Program(self.folder, readers.SETTINGS)
        self.ledger = self.ledger or self.program.ledger
        self.world = f"sandbox:events={OPEN_EVENTS},named=1,port={self.provider.address[1]}"
        for name, recipe in RECIPES.items():
            url, folder = self.provider.chat_url, self.data / name
            # Readers cost nothing where other tests play them.
            paid = recipe.replace("million_tokens = 0", "million_tokens = 10").replace("[[bots]]", LIMITED, 1)
            text = paid.format(world=self.world, url=url, folder=folder, seed=7)
            (self.folder / f"{name}.toml").write_text(text, encoding="utf-8")

    def start(self, step: Step, first: Callable[[], object] | None = None) -> Any:
        name, at = step
        self.provider.now = parse_instant(at) if at else SANDBOX_OPENS_AT
        decide = ("decide", f"{name}.toml", "--executor", self.executor)
        command = ("track", "--venue", self.world) if name == "track" else decide
        clock = ("--as-of", at) if at else ()
        return self.program.start(*command, *clock, "--ledger", self.ledger, "--json", first=first)

    def kill(self, step: Step, where: Callable[[], object] | None) -> None:
        """Start a command, or go on, until it is killed at a boundary, or without one while it waits for an answer."""
        if where is None:
            self._kill_while_it_asks(step)
            return
        process = self.start(step, where)
        said = process.communicate(timeout=PATIENCE_SECONDS)
        assert process.returncode == -signal.SIGKILL, (step, where, said)

    def _kill_while_it_asks(self, step: Step) -> None:
        asked = len(self.provider.prompts)
        self.provider.answers.clear()
        process = self.start(step)
        wait_until(lambda: len(self.provider.prompts) > asked)
        process.kill()
        process.communicate()
        self.provider.answers.set()

    def go_on(self, step: Step, *, at_once: int = 1) -> None:
        """Start a command, or go on, to its end, in so many programs at once, which all end well."""
        for process in [self.start(step) for _ in range(at_once)]:
            document_of(process)

    def exported(self) -> Rows:
        """Return the rows of each table of an export, sorted, without what may differ between two equal days."""
        folder = self.folder / "exported"
        done_here("export", str(folder), "--format", "jsonl", "--ledger", self.ledger)
        tables = {}
        for file in sorted(folder.glob("*.jsonl")):
            left_out = TIMES.get(file.stem, frozenset()) | DIGESTS.get(file.stem, frozenset()) | COSTS
            rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
            tables[file.stem] = sorted(
                json.dumps({name: value for name, value in row.items() if name not in left_out}) for row in rows
            )
        return tables

    def play(self, kills: Kills = MappingProxyType({}), at_once: Collection[str] = ()) -> int:
        """Do all that is left of the day, and return how often it was killed.

        Args:
            kills: Where each command is killed, each time that it is due, by its name.
            at_once: What two programs go on with at once.
        """
        done = 0
        for step in DAY:
            for where in kills.get(step[0], ()):
                self.kill(step, where)
                done += 1
            self.go_on(step, at_once=2 if step[0] in at_once else 1)
        self.program.close()
        return done


@dataclass(frozen=True)
class Alone:
    """A day that nobody disturbed."""

    data: Path
    provider: Provider
    exported: Rows
    calls: Counter[str]

    @classmethod
    def played_in(cls, folder: Path, provider: Provider) -> Self:
        """Play it, on SQLite."""
        data = write_data(folder / "data")
        day = Day(folder / "day", data, provider)
        day.play()
        return cls(data, provider, day.exported(), provider.take_calls())

    def require_equal(self, day: Day, *, under_way: int) -> None:
        """Require that another day ended as this one, and paid again at most for so many decisions under way.

        What such a decision cost is unknown, and stored so.
        """
        assert day.exported() == self.exported
        calls = self.provider.take_calls()
        assert set(calls) == set(self.calls)
        again = {prompt: more for prompt, count in calls.items() if (more := count - self.calls[prompt])}
        assert all(more > 0 for more in again.values())
        # Each program tries anew whether a model calls tools, within the decision that waits for it.
        again = {prompt: more for prompt, more in again.items() if "Call the tool ping" not in prompt}
        unknown = [row for row in readers.rows(day.ledger, "decisions") if row["cost_usd"] is None]
        assert len(again) <= len(unknown) <= under_way
