"""Strategies that fail: each ends in a row that says what happened, and none takes another with it."""

from pathlib import Path
from typing import Any

import pytest

from tests.jobs.program import PATIENCE_SECONDS, Program, document_of
from tests.ledger.statements import found

TEMPLATE = '''"""A probe."""

import asyncio
import os
import sqlite3
import sys
import time
from dataclasses import dataclass

from predibot.domain.decision import Abstention, Decision, Forecast, Label, MarketDecision, Order
from predibot.errors import VenueUnavailable


def say(context, usd=0.5, p=0.5, **more):
    return Decision(tuple(MarketDecision(m.id, p, usd) for m in context.subject.markets), **more)


def order(context, usd=0.1, **more):
    markets = context.event.markets
    own = context.orders({{markets[0].id: usd}})[0]
    orders = (Order(own.instrument, **{{"amount": own.amount, **more}}),)
    return Decision(tuple(Forecast(m.id, 0.5) for m in markets), orders)


GIVEN_UP = """SELECT 1 FROM tasks JOIN bots ON bots.id = bot_id JOIN subjects ON subjects.id = subject_row
    WHERE bots.name = ? AND subject_id = ? AND status = 'failed'"""


def wait_until_given_up(bot, subject):
    ledger = sqlite3.connect("ledger.db")
    while not ledger.execute(GIVEN_UP, (bot, subject)).fetchall():
        time.sleep(0.02)


@dataclass(frozen=True, slots=True)
class {name}:
    """Fail in one way."""

    def decide(self, context):
        """Fail."""
        {body}
'''
PROBES = {
    "raises": ("raise ZeroDivisionError('by nothing')", "failed", "ZeroDivisionError: by nothing"),
    "leaves": ("sys.exit(3)", "failed", "SystemExit: 3"),
    "unspeakable": (
        "raise type('Odd', (Exception,), {'__str__': lambda self: 1 / 0})",
        "failed",
        "Odd: its message cannot be read",
    ),
    "cancelled": ("raise asyncio.CancelledError", "failed", "CancelledError"),
    "interrupts": ("raise KeyboardInterrupt('mine')", "failed", "KeyboardInterrupt: mine"),
    "closes": ("raise GeneratorExit('mine')", "failed", "GeneratorExit: mine"),
    "hangs": ("time.sleep(600)", "failed", "gave no answer within 1 s"),
    "late": (
        "wait_until_given_up('late', context.subject.id); return say(context, 0.1)",
        "failed",
        "gave no answer within 1 s",
    ),
    "junk": (
        "return {'probability': 0.5}",
        "failed",
        "strategy 'junk' returned dict; return a Decision or an Abstention",
    ),
    "nothing": ("return None", "failed", "strategy 'nothing' returned NoneType; return a Decision or an Abstention"),
    "listed": ("return Decision([])", "failed", "no tuple; make them one"),
    "other": ("return Decision((1, 2))", "failed", "something else than a MarketDecision"),
    "wordless": ("return say(context, 0.1, rationale=None)", "failed", "no text; write it as a string"),
    "odd_note": ("return say(context, 0.1, notes=({'a': 1},))", "failed", "no text; write it as a string"),
    "overstakes": ("return say(context, 1.5)", "refused", "lower the bets by"),
    "percent": ("return say(context, 0.1, p=37)", "refused", "37 % is 0.37"),
    "nan": ("return say(context, float('nan'))", "refused", "the bet is nan"),
    "silent": ("return Decision(())", "refused", "is missing; add its probability"),
    "abstains": ("return Abstention('I know nothing of this')", "abstained", "I know nothing of this"),
    "moody": ("return Abstention('I do not feel like it', 'mood')", "failed", "it is one of bot, budget, members"),
    "unstorable": ("return say(context, 0.1, rationale='a\\x00b\\ud800c')", "recorded", ""),
    "unreachable": ("raise VenueUnavailable('my own source is down')", "failed", "my own source is down"),
    "good": ("return say(context, 0.1)", "recorded", ""),
    "orders": ("return order(context, -0.1)", "recorded", ""),
    "labels": (
        "return say(context, 0.1, labels=(Label('m', 'YES'),))",
        "refused",
        "it has labels, which this game has no use for",
    ),
    "listed_orders": ("return Decision((), [])", "failed", "no tuple; make them one"),
    "other_orders": ("return Decision((), (1,))", "failed", "something else than an Order"),
    "sells": (
        "return order(context, side='sell')",
        "refused",
        "its order is to sell in usd; buy YES or NO for dollars",
    ),
    "worded_order": ("return order(context, amount='all')", "refused", "the bet is 'all'"),
    "negative_order": ("return order(context, amount=-0.1)", "refused", "order the other outcome for 0.1"),
    "elsewhere": (
        "return Decision((), context.orders({'m99': 0.1}))",
        "failed",
        "a bet is on market 'm99', which is not one of event",
    ),
    "twice": (
        "return Decision(say(context, 0.1).forecasts, order(context).orders)",
        "refused",
        "is bet on more than once; keep one bet",
    ),
}
"""What each does, how its decisions end, and what is said of it."""
SLOW = ("hangs", "late")


@pytest.fixture(scope="module")
def probed(tmp_path_factory: pytest.TempPathFactory) -> Program:
    program = Program(tmp_path_factory.mktemp("probes"), {"PREDIBOT_WORKERS": "40"})
    for name, (body, _, _) in PROBES.items():
        words = "".join(part.capitalize() for part in name.split("_"))
        program.strategy(name, TEMPLATE.format(name=words, body=body))
    return program


@pytest.fixture(scope="module")
def decided(probed: Program) -> Any:
    """Return the document of a call in which every probe decided on two events."""
    # By themselves: where the machine stands still for a second, all others would be late too.
    patient = probed.settings
    probed.settings = {**patient, "PREDIBOT_DECISION_DEADLINE_SECONDS": "1"}
    slow = document_of(probed.decide("--bots", ",".join(SLOW), "--events", "2"), code=4)
    probed.settings = patient
    names = ",".join(name for name in PROBES if name not in SLOW)
    quick = document_of(probed.decide("--bots", names, "--events", "2"), code=3)
    decisions = [*slow["decisions"], *quick["decisions"]]
    return {"decisions": decisions, "seconds_of_slow": slow["totals"]["seconds"]}


@pytest.mark.parametrize("name", PROBES)
def test_each_way_of_failing_is_a_row_that_says_what_happened(decided: Any, name: str) -> None:
    rows = [row for row in decided["decisions"] if row["bot"] == name]
    _, status, message = PROBES[name]
    assert [row["status"] for row in rows] == [status] * 2
    assert all(message in row["message"] for row in rows), rows


def test_only_recorded_decisions_have_bets_and_money_left(decided: Any) -> None:
    for row in decided["decisions"]:
        assert bool(row["bets"]) == (row["status"] == "recorded"), row
        assert (row["unallocated_usd"] is not None) == (row["status"] == "recorded"), row


def test_a_strategy_of_another_game_is_refused_before_anything_is_decided(probed: Program) -> None:
    stranger = TEMPLATE.format(name="Stranger", body="return say(context)")
    probed.strategy("stranger", stranger.replace("    def decide", "    games = ('toy',)\n\n    def decide"))
    process = probed.decide("--bots", "stranger")
    said, _ = process.communicate(timeout=PATIENCE_SECONDS)
    assert process.returncode == 1
    assert "strategy 'stranger' plays toy, and not game 'dollar_per_event'" in said


def test_a_late_answer_is_dropped(probed: Program, decided: Any) -> None:
    assert decided["seconds_of_slow"] > 1
    statuses = "SELECT status FROM tasks JOIN bots ON bots.id = bot_id WHERE name = 'late'"
    assert found(probed.ledger, statuses) == ["failed"] * 2


def test_what_no_database_can_store_is_replaced(probed: Program, decided: Any) -> None:
    assert decided
    rationales = "SELECT DISTINCT rationale FROM decisions JOIN bots ON bots.id = bot_id WHERE name = 'unstorable'"
    assert found(probed.ledger, rationales) == ["a\ufffdb\ufffdc"]


def test_a_later_call_retries_what_failed_and_leaves_the_rest(probed: Program, decided: Any) -> None:
    names = "raises,overstakes,abstains,good"
    before = {(row["bot"], row["event_id"]): row["status"] for row in decided["decisions"]}
    document = document_of(probed.decide("--bots", names, "--events", "2"), code=3)
    for row in document["decisions"]:
        expected = "failed" if before[row["bot"], row["event_id"]] == "failed" else "skipped"
        assert row["status"] == expected
    assert attempts_of(probed, "raises") == [1, 1, 2, 2]
    assert attempts_of(probed, "overstakes") == [1, 1]


def test_a_bot_that_abstains_of_its_own_accord_is_not_asked_again(probed: Program, decided: Any) -> None:
    document = document_of(probed.decide("--bots", "abstains,good", "--events", "2", "--retry", "failed,abstained"))
    assert {row["reason_kind"] for row in document["decisions"] if row["bot"] == "abstains"} == {"bot"}
    assert document["totals"]["skipped"] == 4
    assert attempts_of(probed, "abstains") == [1, 1]


def attempts_of(program: Program, bot: str) -> list[int]:
    statement = """SELECT number FROM attempts JOIN tasks ON tasks.id = task_id JOIN bots ON bots.id = bot_id
        WHERE name = :bot ORDER BY number"""
    return found(program.ledger, statement, bot=bot)


def test_what_hangs_with_a_lock_in_hand_does_not_keep_the_program(program: Program) -> None:
    taken = "import atexit, threading; lock = threading.Lock(); lock.acquire(); atexit.register(lock.acquire)"
    body = f"{taken}; time.sleep(600)"
    program.strategy("holder", TEMPLATE.format(name="Holder", body=body))
    program.settings = {"PREDIBOT_DECISION_DEADLINE_SECONDS": "1"}
    document = document_of(program.decide("--bots", "holder,market_price"), code=3)
    assert "gave no answer within 1 s" in str(document)


def test_where_nothing_hangs_what_a_bot_left_for_the_end_is_run(program: Program, tmp_path: Path) -> None:
    ended = tmp_path / "ended"
    body = f"import atexit, pathlib; atexit.register(pathlib.Path({str(ended)!r}).touch); return say(context)"
    program.strategy("tidy", TEMPLATE.format(name="Tidy", body=body))
    document_of(program.decide("--bots", "tidy"))
    assert ended.exists()


SCALED = """
game = "dollar_per_event"
venue = "polymarket"
every = "1d"
overstake = "scale"
[[bots]]
strategy = "overstakes"
"""


def test_a_recipe_may_scale_bets_down_and_keeps_what_was_asked(program: Program) -> None:
    program.strategy("overstakes", TEMPLATE.format(name="Overstakes", body=PROBES["overstakes"][0]))
    (program.folder / "scaled.toml").write_text(SCALED, encoding="utf-8")
    document = document_of(program.decide("scaled.toml"))
    assert [row["status"] for row in document["decisions"]] == ["recorded"] * 3
    rows = found(program.ledger, "SELECT asked, amount, scale FROM orders JOIN decisions ON decisions.id = decision_id")
    assert {asked for asked, _, _ in rows} == {1.5}
    assert all(booked == pytest.approx(asked * scale) for asked, booked, scale in rows)
    assert sum(booked for _, booked, _ in rows) == pytest.approx(3.0)
