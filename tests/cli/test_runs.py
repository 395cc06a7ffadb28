"""`predibot runs`: the list, and taking one out of all scores."""

import pytest

from tests.acceptance.conftest import Predibot
from tests.cli.conftest import WORLD

KEY = "daily@2026-01-05T00:00Z"


def test_runs_are_listed(decided: Predibot) -> None:
    (run,) = decided("runs", "--json").document["runs"]
    assert (run["key"], run["bots"], run["events"], run["recorded"]) == (KEY, 2, 3, 6)
    number = str(run["number"])
    assert KEY in decided("runs").out and f"`predibot runs {number}` shows" in decided("runs").out
    shown = decided("runs", number, "--json").document
    assert shown == decided("runs", "--json", "show", KEY).document
    assert shown["run"] == run
    assert [(each["bot"], each["statuses"]) for each in shown["bots"]] == [
        ("market_price", {"recorded": 3}),
        ("random_bet", {"recorded": 3}),
    ]
    first, *_ = shown["events_decided"]
    screen = decided("runs", number).out
    assert f"Run {number}: {KEY}\n" in screen and first["title"][:40] in screen
    assert f"`predibot report --event {first['number']}` shows the first event" in screen


@pytest.mark.parametrize("before", [True, False])
def test_a_void_run_is_kept_on_record_and_its_slot_is_free(decided: Predibot, before: bool) -> None:
    options = ("--ledger", "sqlite:///runs/out/predibot.db", "--json")
    void = ("void", KEY, "--reason", "a slip")
    said = decided("runs", *options, *void) if before else decided("runs", *void, *options)
    assert said.document == {"voided": KEY, "reason": "a slip"}
    assert decided("decide", "--venue", WORLD, "--events", "5").code == 0
    old, new = decided("runs", "--json").document["runs"]
    assert (old["void_reason"], new["void_reason"]) == ("a slip", None)
    assert decided("evaluate", "--no-track", "--json").document["bots"][0]["decisions"] == 5


def test_an_address_that_cannot_be_read_ends_in_one_sentence(predibot: Predibot) -> None:
    said = predibot("runs", "--ledger", "sqlite:///a\udcff.db")
    assert said.code == 1
    assert said.err.startswith(
        r"error: the ledger's address has characters that cannot be read: 'sqlite:///a\udcff.db'."
    )
