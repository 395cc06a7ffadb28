"""Checking for look-ahead: who knows the future is found out, and nobody else."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from tests.jobs.program import PATIENCE_SECONDS, Program
from tests.soaks import few
from tests.venues.payloads import NOW

HEAD = '''"""A probe."""

import json
import os
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from predibot.domain.decision import Decision, MarketDecision


def said(context, probability):
    return Decision(tuple(MarketDecision(m.id, probability, 0.0) for m in context.subject.markets))


@lru_cache
def resolved(path):
    return len(json.loads(Path(path).read_text()))


@dataclass(frozen=True, slots=True)
class {name}:
    """Decide in one way."""

    folder: str = "archive"

    def decide(self, context):
        """Return a decision."""
        {body}
'''
PROBES = {
    "honest": "return said(context, 0.4)",
    "by_argument": "return said(context, len(json.loads(Path(self.folder, 'resolutions.json').read_text())) / 10)",
    "by_heart": "return said(context, resolved(Path('archive/resolutions.json').absolute()) / 10)",
    "forgiving": """try:
            return said(context, len(os.listdir('archive/snapshots')) / 10)
        except OSError:
            return said(context, 0.5)""",
    "by_chance": "return said(context, int.from_bytes(os.urandom(4)) / 2**32)",
}
RECIPE = "".join(f'[[bots]]\nstrategy = "{name}"\n' for name in (*PROBES, "random_bet", "always_half"))


def replayed(program: Program, *more: str) -> tuple[int, Any]:
    """Return the exit code and the document of a replay of two days."""
    instants = ("--from", NOW.isoformat(), "--to", "2026-02-14T19:30Z", "--venue", "archive:archive")
    process = program.start("replay", *instants, "--ledger", program.ledger, "--json", *more)
    out, err = process.communicate(timeout=PATIENCE_SECONDS)
    assert out, err
    return process.returncode, json.loads(out)


@pytest.fixture
def watched(program: Program) -> Program:
    """Return the program with a recipe in which some know the future."""
    for name, body in PROBES.items():
        camel = "".join(part.capitalize() for part in name.split("_"))
        program.strategy(name, HEAD.replace("{name}", camel).replace("{body}", body))
    (program.folder / "probes.toml").write_text(RECIPE)
    return program


def by_bot(differences: Sequence[Mapping[str, Any]], bot: str, what: str) -> set[tuple[Any, ...]]:
    """Return the values of one field of a bot: stored, without the future, with it."""
    return {
        (each["stored"], each["without_future"], each["with_future"])
        for each in differences
        if each["bot"] == bot and each["what"].endswith(what)
    }


def test_who_reads_the_archive_by_himself_is_found_out_and_nobody_else(watched: Program) -> None:
    code, document = replayed(watched, "probes.toml", "--check-lookahead", "--sample", "1000")
    found = document["look_ahead"]
    assert code == 1
    # Three events at each of two instants, by seven bots.
    assert (found["decisions"], found["checked"]) == (42, 42)
    assert {each["bot"] for each in found["differences"]} == {"by_argument", "by_heart", "forgiving", "by_chance"}
    assert found["differing"] == 4 * 6
    for thief in ("by_argument", "by_heart"):
        assert by_bot(found["differences"], thief, "status") == {("recorded", "failed", "recorded")}
        messages = by_bot(found["differences"], thief, "message")
        assert all("was opened by the strategy itself" in without for _, without, _ in messages)
    # Two snapshots were there at every instant; what it said without them is not what it said.
    assert by_bot(found["differences"], "forgiving", "probability") == {(0.2, 0.5, 0.2)}
    stored, without, again = zip(*by_bot(found["differences"], "by_chance", "probability"), strict=True)
    assert len({*stored, *without, *again}) == 3 * len(stored)


@pytest.mark.parametrize("times", few([1, 2], 1))
def test_a_sample_is_drawn_by_the_seed_and_clean_bots_pass(watched: Program, times: int) -> None:
    bots = ("--bots", "honest,random_bet,always_half")
    samples = [replayed(watched, "probes.toml", *bots, "--check-lookahead", "--sample", "4") for _ in range(times)]
    assert [code for code, _ in samples] == [0] * times
    assert samples[0][1]["look_ahead"] == samples[-1][1]["look_ahead"]
    assert samples[0][1]["look_ahead"] == {
        "decisions": 18,
        "checked": 4,
        "differing": 0,
        "differences": [],
        "skipped": {},
    }
