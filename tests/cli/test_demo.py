"""`predibot demo`: the main job from nothing, which may be stopped. That it ends, and how, the README's test shows."""

import os
import re
import shlex
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.acceptance.conftest import Predibot
from tests.cli.terminal import hints, on_a_terminal, screen_after, without_colours
from tests.forked import Forked
from tests.jobs.program import PATIENCE_SECONDS

COLUMNS = 80


def test_the_demo_starts_from_nothing_whatever_an_earlier_one_left_and_stops_when_it_is_told_to(
    predibot: Predibot, tmp_path: Path
) -> None:
    (tmp_path / "runs/out").mkdir(parents=True)
    (tmp_path / "runs/out/demo.db").write_text("what is left of an earlier one")
    given = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
    with Forked("demo", folder=tmp_path, environment=os.environ, **given) as demo:
        assert demo.stderr is not None
        for line in demo.stderr:
            # Next come the agents, who are at it when the signal comes.
            if line.startswith("sandbox@2026-01-05"):
                break
        demo.send_signal(signal.SIGINT)
        began = time.monotonic()
        rest = demo.stderr.read()
        assert demo.wait(timeout=PATIENCE_SECONDS) == 130, rest
    assert time.monotonic() - began < 30
    assert re.search("interrupted. To start over, run again: `.*predibot demo`", rest)
    assert "Traceback" not in rest
    runs = predibot("runs", "--ledger", "sqlite:///runs/out/demo.db", "--json").document["runs"]
    assert "sandbox@2026-01-05T00:00Z" in {each["key"] for each in runs}


def test_the_demo_of_portfolios_shows_a_board_of_80_columns_and_what_to_type_next(
    predibot: Predibot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code, sent = on_a_terminal("demo", "--game", "portfolio_weights", "--days", "2", columns=COLUMNS)
    screen = without_colours(sent)
    assert code == 0
    assert max(map(len, screen)) <= COLUMNS
    head = next(line for line in screen if line.split()[:2] == ["#", "bot"])
    assert head.split()[1:4] == ["bot", "value", "return"]
    assert any("all_cash*" in line and "$500.00" in line for line in screen)
    assert any("script_sharp" in line for line in screen)
    ledger = "sqlite:///runs/out/demo_portfolio.db"
    assert f"  predibot account script_sharp --ledger {ledger}" in screen
    assert [code for line in screen for hint in hints(line) if (code := _try(predibot, hint))] == []
    found = predibot("account", "script_sharp", "--ledger", ledger, "--json").document["accounts"]
    assert [len(each["allocations"]) for each in found] == [2]
    (board,) = predibot("report", "--ledger", ledger, "--json").document["accounts"]
    assert len(board["leaderboard"]) == 7


def _try(predibot: Predibot, hint: str) -> int:
    """Run a hint and return its exit code; what asks, never ends or needs a network only shows its help."""
    _, command, *rest = shlex.split(hint)
    is_long = command in ("init", "serve", "decide", "replay", "evaluate")
    return predibot(command, *rest, *(["--help"] if is_long else [])).code


def test_the_demo_of_weekly_cohorts_shows_their_board_and_what_to_type_next(
    predibot: Predibot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code, sent = on_a_terminal("demo", "--game", "weekly_cohort", "--days", "8", columns=COLUMNS, errors=True)
    screen = screen_after(sent, COLUMNS)
    assert code == 0
    # Bars and the runs that were reported while they stood there have lines of their own.
    assert "━" in sent and not any("━" in line for line in screen)
    assert sum(line.startswith("sandbox_weekly@2026-01-") for line in screen) == 2
    assert max(map(len, screen)) <= COLUMNS
    assert "weekly_cohort v1 weeks=5 of sandbox_weekly, replay: 2 cohorts, 2 complete" in screen
    assert any("all_cash*" in line and "+$0" in line for line in screen)
    ledger = "sqlite:///runs/out/demo_weekly.db"
    assert any("predibot account script_sharp --cohort 2026-01-04" in line for line in screen)
    listed = predibot("cohort", "--ledger", ledger, "--json").document["cohorts"]
    assert [each["cohort"] for each in listed] == ["2026-01-04", "2026-01-11"]
    assert predibot("verify", "--rows", "--ledger", ledger).code == 0


def test_the_demo_of_stocks_plays_trading_days_of_a_folder_that_it_wrote(
    predibot: Predibot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code, sent = on_a_terminal(
        *("demo", "--game", "portfolio_weights", "--market", "stocks", "--days", "6"), columns=COLUMNS
    )
    screen = without_colours(sent)
    assert code == 0
    assert max(map(len, screen)) <= COLUMNS
    assert any("index_spy*" in line for line in screen)
    assert (tmp_path / "runs/out/demo_stocks/AAPL.csv").exists()
    ledger = ("--ledger", "sqlite:///runs/out/demo_stocks.db")
    runs = predibot("runs", *ledger, "--json").document["runs"]
    # The sixth trading day is the Monday after.
    assert sorted(each["key"] for each in runs)[-2:] == [
        "sandbox_stocks@2025-01-10T00:00Z",
        "sandbox_stocks@2025-01-13T00:00Z",
    ]
    assert predibot("verify", "--rows", *ledger).code == 0


def test_only_portfolios_are_of_stocks(predibot: Predibot) -> None:
    refused = predibot("demo", "--market", "stocks")
    assert refused.code == 1
    assert refused.err == "error: --market stocks is of portfolios; add --game portfolio_weights.\n"
