"""Limits in dollars while many decide at once: never passed, never held up by what nobody spends."""

import json
import random
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from predibot.ledger.store import Store
from tests.acceptance.conftest import Predibot, Said as Ended
from tests.agents.chat_server import Asked, ChatServer, Said, chat_server, completion, hang_up

EVENTS, BOTS = 8, 4
DECISIONS = EVENTS * BOTS
PRICE = "price_usd_per_million_tokens = {input = 1.0, output = 8.0}\n"
TRUE_USD = 0.006
"""What a call costs: 2,000 tokens in, 500 out; its worst case is about $0.045."""


class _Forecaster(ChatServer):
    """Answers every prompt about its own markets, once several are asked at once; drops what it is told to."""

    drops = 0.0
    rng = random.Random(3)

    def next(self, asked: Asked) -> Said:
        """Note a request and answer it, or hang up."""
        super().next(asked)
        with self.lock:
            is_dropped = self.rng.random() < self.drops
        if is_dropped:
            return Said(act=hang_up)
        ids = dict.fromkeys(re.findall(r"market id: (\w+)", str(asked.body["messages"])))
        rows = [
            {"market_id": each, "estimated_probability": 0.6, "bet": 0.0, "confidence": 5, "rationale": "a script"}
            for each in ids
        ]
        answer = json.dumps({"market_decisions": rows, "unallocated_capital": 1.0})
        return completion(answer, usage={"prompt_tokens": 2_000, "completion_tokens": 500})


@contextmanager
def forecaster(*, drops: float = 0.0) -> Iterator[_Forecaster]:
    with chat_server(completion()) as server:
        server.__class__ = _Forecaster
        assert isinstance(server, _Forecaster)
        server.drops = drops
        yield server


def recipe(folder: Path, server: ChatServer, limits: str, *, bots: int = BOTS) -> str:
    """Write a recipe of bots that ask once, and return its name."""
    each = f'strategy = "one_shot"\nmodel = "local/tiny"\nbase_url = "{server.base_url}"\n{PRICE}'
    texts = [f'[[bots]]\nname = "bot{number}"\n{each}' for number in range(bots)]
    (folder / "r.toml").write_text(f"{limits}\n" + "".join(texts), encoding="utf-8")
    return "r.toml"


def decide(predibot: Predibot, name: str, executor: str) -> Ended:
    world = ("--venue", "sandbox:events=20", "--events", str(EVENTS), "--json")
    return predibot("decide", name, *world, "--executor", executor)


def booked_usd(folder: Path) -> float:
    """Return what the run's account holds, settled and set aside."""
    with Store.open(f"sqlite:///{next(folder.rglob('*.db'))}") as store, store.read() as connection:
        settled = connection.execute(text("SELECT sum(usd) FROM spending WHERE account LIKE 'run/%'")).scalar_one()
        aside = connection.execute(text("SELECT sum(usd) FROM reservations WHERE account LIKE 'run/%'")).scalar_one()
    return ((settled or 0) + (aside or 0)) / 1e12


@pytest.mark.parametrize("executor", ["threads:1", "threads:8", "processes:2"])
def test_as_many_are_recorded_at_once_as_one_after_the_other(
    predibot: Predibot, tmp_path: Path, executor: str
) -> None:
    with forecaster() as server:
        ended = decide(predibot, recipe(tmp_path, server, "[limits.run]\nusd = 0.25"), executor)
        assert len(server.asked) == DECISIONS
    assert ended.document["totals"]["recorded"] == DECISIONS, ended.err
    assert booked_usd(tmp_path) == pytest.approx(DECISIONS * TRUE_USD)


@pytest.mark.parametrize("executor", ["threads:8", "processes:2"])
def test_lost_answers_and_their_retries_never_book_more_than_the_limit(
    predibot: Predibot, tmp_path: Path, executor: str
) -> None:
    with forecaster(drops=0.7) as server:
        ended = decide(predibot, recipe(tmp_path, server, "[limits.run]\nusd = 0.30"), executor)
    assert booked_usd(tmp_path) <= 0.30
    said = {each["message"] for each in ended.document["decisions"] if each["status"] == "abstained"}
    assert said
    assert all("the run's limit of $0.3 is reached" in each for each in said)
    (used,) = {row["cost_estimated_usd"] for row in _used(predibot) if row["bot"] == "bot0" and row["kind"] == "all"}
    assert used >= 0.0


def _used(predibot: Predibot) -> list[dict[str, Any]]:
    """Return the rows of what was used."""
    rows: list[dict[str, Any]] = predibot("trace", "--cost", "--json").document["used"]
    return rows
