"""`predibot decide`: its document, its options, and what it leaves behind."""

import re
from pathlib import Path

import pytest

from tests.acceptance.conftest import Predibot
from tests.agents.chat_server import chat_server, said_json
from tests.cli.conftest import WORLD
from tests.venues.payloads import event_payload


def test_the_document_is_one_line_with_the_two_baselines_of_daily_and_ends_with_the_exit_code(
    predibot: Predibot,
) -> None:
    said = predibot("decide", "--venue", WORLD, "--events", "1", "--json")
    keys = ["run", "selected", "passed_over", "decisions", "totals", "receipt", "notes", "exit_code"]
    assert (list(said.document), said.out.count("\n")) == (keys, 1)
    assert [decision["bot"] for decision in said.document["decisions"]] == ["market_price", "random_bet"]


def test_recipe_and_ledger_are_told_on_stderr(predibot: Predibot) -> None:
    said = predibot("decide", "--venue", WORLD, "--events", "1")
    assert said.err == "recipe: the packaged recipe 'daily'\nledger: sqlite:///runs/out/predibot.db\n"
    assert "bets recorded on 1 event" in said.out


def test_a_decided_slot_is_skipped_other_settings_are_named_and_a_new_run_stands_beside_it(decided: Predibot) -> None:
    asked = ("decide", "--venue", WORLD, "--json", "--events")
    totals = decided(*asked, "3").document["totals"]
    assert (totals["recorded"], totals["skipped"]) == (0, 6)
    said = decided(*asked, "4")
    error = said.document["error"]
    assert (said.code, error["kind"]) == (1, "RunConflict")
    assert "selection.events is 4, was 3" in error["message"]
    assert "--new-run" in error["message"]
    assert decided(*asked, "4", "--new-run").document["run"]["key"].endswith("+2")


def test_a_dry_run_opens_no_ledger_and_stores_nothing(predibot: Predibot, tmp_path: Path) -> None:
    arguments = ("decide", "--dry-run", "--venue", WORLD, "--bots", "favourite,underdog", "--events", "2")
    said = predibot(*arguments, "--ledger", "postgresql://nobody@127.0.0.1:1/x", "--json")
    assert said.code == 0
    assert said.document["bots"] == ["favourite", "underdog"]
    assert (said.document["would_decide"], said.document["dry_run"]) == (4, True)
    plan = predibot(*arguments).out
    assert plan.startswith("would decide: favourite, underdog on 2 events, 4 decisions, for at most $0.000; nothing")
    assert re.search(r"^passed over, all \d+ by rule: ", plan, re.MULTILINE)
    assert list(tmp_path.iterdir()) == []


def test_options_narrow_the_selection(predibot: Predibot) -> None:
    whole = predibot("select", "--venue", WORLD, "--json").document["selected"]
    chosen = whole[1]["event_id"]
    one = predibot("decide", "--venue", WORLD, "--event", chosen, "--max-markets", "1", "--json").document
    assert [(event["event_id"], event["markets"]) for event in one["selected"]] == [(chosen, 1)]


@pytest.mark.parametrize("json", [(), ("--json",)])
def test_the_past_of_a_live_venue_is_an_error(predibot: Predibot, json: tuple[str, ...]) -> None:
    said = predibot("decide", "--venue", "polymarket", "--as-of", "2026-01-01", *json)
    assert said.code == 1
    assert "answers for now, not for 2026-01-01T00:00Z" in (said.out if json else said.err)


@pytest.mark.parametrize(
    ("recipe", "message"),
    [
        ('gmae = "x"\n[[bots]]\nstrategy = "market_price"', "runs/daily.toml, line 1: unknown key 'gmae'"),
        ('[[bots]]\nstrategy = "market_price"\napi_key = "sk-1"', "runs/daily.toml, line 3: 'api_key' looks like"),
    ],
)
def test_a_mistake_in_a_recipe_names_file_and_line_and_no_secret(
    predibot: Predibot, tmp_path: Path, recipe: str, message: str
) -> None:
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs/daily.toml").write_text(recipe)
    said = predibot("decide", "-v")
    assert said.code == 1
    assert said.err.startswith(f"error: {message}")
    assert "sk-1" not in said.err


def test_plain_decide_says_how_to_add_a_model_where_there_is_a_key(
    predibot: Predibot, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Nothing answers at the discard port, so no run is made.
    for name in ("PREDIBOT_GAMMA_URL", "PREDIBOT_CLOB_URL"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.setenv("PREDIBOT_CALL_DEADLINE_SECONDS", "0.2")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setenv("SERPER_API_KEY", "k")
    assert "--model" not in predibot("decide").err
    monkeypatch.setenv("OPENAI_API_KEY", "sk-0123456789")
    said = predibot("decide").err
    assert said.count("OPENAI_API_KEY is set. To add a bot with a model: `predibot decide --model openai/MODEL`\n") == 1
    assert "sk-0123456789" not in said


def test_a_live_venue_without_an_event_to_play_leaves_no_run_behind(
    predibot: Predibot, monkeypatch: pytest.MonkeyPatch
) -> None:
    events = [event_payload(number, endDate="2020-01-01T00:00:00Z") for number in range(1, 4)]
    with chat_server(said_json({"events": events})) as server:
        for name in ("PREDIBOT_GAMMA_URL", "PREDIBOT_CLOB_URL"):
            monkeypatch.setenv(name, server.base_url)
        said, shown = predibot("decide", "--json"), predibot("decide")
    document = said.document
    assert (said.code, shown.code) == (0, 0)
    assert list(document) == ["run", "selected", "passed_over", "decisions", "totals", "receipt", "notes", "exit_code"]
    assert (document["run"], document["selected"], document["decisions"]) == (None, [], [])
    assert [event["rule"] for event in document["passed_over"]] == ["min_hours_left"] * 3
    why = "no event keeps the rules (min_hours_left 3); nothing is stored, and the next call chooses anew"
    assert document["notes"][-1] == why
    assert shown.out.startswith("nothing decided\n") and why in " ".join(shown.out.split())
    assert predibot("runs", "--json").document == {"runs": []}
