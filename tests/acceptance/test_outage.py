"""Outages: exit codes say what a day came to, and nothing is lost that can be had later."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from predibot.cli.ending import EXIT_CODES, code_of_decisions
from tests.acceptance.conftest import Predibot, bot_of, forecasts_on
from tests.agents.chat_server import Asked, ChatServer, Said, completion, error, said_json, serving
from tests.soaks import few
from tests.venues.payloads import event_payload, market_payload

pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")

PAGE = Path(__file__).parents[2] / "docs/exit-codes.md"
WORLD = ("--venue", "sandbox:events=6", "--events", "2")


class Provider(ChatServer):
    """Answers every prompt with one half and no bet, or is out of order."""

    is_down = False

    def next(self, asked: Asked) -> Said:
        super().next(asked)
        if self.is_down:
            return error(401, "out of order")
        return completion(forecasts_on(asked))


@pytest.fixture
def provider() -> Iterator[Provider]:
    """Return a provider that is out of order."""
    with serving(Provider()) as server:
        server.is_down = True
        yield server


def recipe(provider: ChatServer, limits: str = "") -> str:
    """Write a recipe with a bot without a model and one that asks the provider, and return its name."""
    baseline = '[[bots]]\nstrategy = "market_price"\n'
    Path("r.toml").write_text(f"{limits}\n{baseline}{bot_of(provider.base_url)}", encoding="utf-8")
    return "r.toml"


def agents_of(document: Any) -> list[Any]:
    return [each for each in document["decisions"] if each["bot"] == "agent"]


def test_the_page_has_the_table_of_the_code_and_every_help_names_the_codes(predibot: Predibot) -> None:
    rows = re.findall(r"^\| (\d+) \| (.*) \|$", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert {int(code): said for code, said in rows} == EXIT_CODES
    for command in ("", "decide", "replay"):
        said = " ".join(predibot(*command.split(), "--help").out.split())
        assert all(f"{code} {meaning}" in said for code, meaning in EXIT_CODES.items())
    assert "0 done 1 an error" in " ".join(predibot("track", "--help").out.split())


@pytest.mark.parametrize(
    ("statuses", "undecided", "code"),
    [
        ({"recorded": 3}, 0, 0),
        ({"refused": 1, "abstained": 1}, 0, 0),
        ({}, 0, 0),
        ({"recorded": 1, "failed": 9}, 0, 3),
        ({"recorded": 1}, 1, 3),
        ({"failed": 1}, 0, 4),
        ({"failed": 1, "refused": 1, "abstained": 1}, 0, 4),
        ({"abstained": 1}, 1, 4),
    ],
)
def test_a_code_follows_from_what_is_in_the_ledger(statuses: dict[Any, int], undecided: int, code: int) -> None:
    assert code_of_decisions(statuses, undecided=undecided) == code


@pytest.mark.parametrize("command", few(["decide", "replay"], "decide"))
def test_decide_and_replay_say_by_code_what_became_of_decisions(
    predibot: Predibot, provider: Provider, command: str
) -> None:
    name = recipe(provider)
    asked = (*WORLD, "--json")
    span = ("--from", "2026-01-05T12:00Z", "--to", "2026-01-05T12:00Z") if command == "replay" else ()
    for bots, code in (("agent", 4), ("market_price,agent", 3), ("market_price", 0), ("agent", 4)):
        said = predibot(command, name, *span, *asked, "--bots", bots)
        assert (said.code, said.document["exit_code"]) == (code, code), said.err
    provider.is_down = False
    said = predibot(command, name, *span, *asked, "--retry", "failed")
    assert (said.code, said.document["exit_code"]) == (0, 0), said.err


def test_four_calls_in_one_outage_leave_tries_for_after_it(predibot: Predibot, provider: Provider) -> None:
    name = recipe(provider)
    calls = [predibot("decide", name, *WORLD, "--json") for _ in range(4)]
    assert [said.code for said in calls] == [3] * 4
    failed = [said.document["totals"]["failed"] for said in calls]
    assert failed == [2, 2, 0, 0]
    last = calls[-1].document
    assert (last["totals"]["stored"]["failed"], last["totals"]["failed_for_good"]) == (2, 0)
    assert {(each["status"], each["stored_status"]) for each in agents_of(last)} == {("skipped", "failed")}
    assert all(each["next_try_at"] > "2026" for each in agents_of(last))
    said = predibot("decide", name, *WORLD).out
    assert "agent: 2 before: 2 failed" in said
    assert f"the next try of 2 failed decisions is due at {agents_of(last)[0]['next_try_at'][:13]}" in said
    provider.is_down = False
    assert predibot("decide", name, *WORLD).code == 3
    again = predibot("decide", name, *WORLD, "--json", "--retry", "failed").document
    assert [each["status"] for each in agents_of(again)] == ["recorded"] * 2
    assert again["totals"]["skipped"] == 2


def test_what_failed_for_good_is_said_to_and_can_be_forced(predibot: Predibot, provider: Provider) -> None:
    name = recipe(provider)
    assert "the next call tries 2 failed decisions again" in predibot("decide", name, *WORLD).out
    for _ in range(3):
        said = predibot("decide", name, *WORLD, "--retry", "failed")
    assert "2 decisions failed for good; the same command with --retry failed tries once more" in said.out
    document = predibot("decide", name, *WORLD, "--json").document
    assert document["totals"]["failed_for_good"] == 2
    assert {each["next_try_at"] for each in agents_of(document)} == {None}
    provider.is_down = False
    asked = len(provider.asked)
    assert (predibot("decide", name, *WORLD).code, len(provider.asked)) == (3, asked)
    assert predibot("decide", name, *WORLD, "--retry", "failed").code == 0


def test_an_abstention_for_want_of_budget_is_told_and_can_be_retried_with_more(
    predibot: Predibot, provider: Provider
) -> None:
    provider.is_down = False
    tight = recipe(provider, "[limits.run]\nsteps = 1")
    said = predibot("decide", tight, *WORLD)
    assert said.code == 0
    assert "1 abstained (the run's limit of 1 steps is reached" in said.out
    assert "1 decision abstained for want of budget; --retry abstained asks again" in said.out
    document = predibot("decide", tight, *WORLD, "--json").document
    assert sorted(str(each["reason_kind"]) for each in agents_of(document)) == ["None", "budget"]
    raised = recipe(provider, "[limits.run]\nsteps = 5")
    conflict = predibot("decide", raised, *WORLD, "--json")
    assert (conflict.code, conflict.document["error"]["kind"], conflict.document["exit_code"]) == (1, "RunConflict", 1)
    assert "limits.run.steps is 5, was 1. Ask for the same again" in conflict.document["error"]["message"]
    assert "add --retry failed,abstained to go on within these limits" in conflict.document["error"]["message"]
    again = predibot("decide", raised, *WORLD, "--json", "--retry", "abstained").document
    assert [again["totals"][status] for status in ("recorded", "skipped")] == [1, 3]
    assert any("goes on with other limits: limits.run.steps is 5, was 1" in note for note in again["notes"])
    assert again["totals"]["stored"]["recorded"] == 4


def test_other_rules_than_limits_are_a_conflict_also_with_retry(predibot: Predibot, provider: Provider) -> None:
    name = recipe(provider)
    predibot("decide", name, *WORLD)
    said = predibot("decide", name, "--venue", "sandbox:events=6", "--events", "3", "--retry", "failed", "--json")
    assert (said.code, said.document["error"]["kind"]) == (1, "RunConflict")


@pytest.mark.parametrize("what", ["everything", "failed,refused", ","])
def test_what_cannot_be_retried_is_misuse(predibot: Predibot, what: str) -> None:
    said = predibot("decide", *WORLD, "--retry", what, "--json")
    assert (said.code, said.document["exit_code"]) == (2, 2)


class Gamma(ChatServer):
    """Lists three events, whose prices cannot be read while it is out of order."""

    is_down = True

    def next(self, asked: Asked) -> Said:
        """Answer as Gamma does, without order books."""
        price = "n/a" if self.is_down else 0.4
        listed = [event_payload(n, market_payload(n, clobTokenIds=None, bestBid=price)) for n in (1, 2, 3)]
        if asked.path.startswith("/v1/events/keyset"):
            return said_json({"events": listed})
        return said_json(listed[int(asked.path[-1]) - 1] if "/events/" in asked.path else [])


def test_a_day_is_not_lost_to_a_venue_that_could_not_be_read(
    predibot: Predibot, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(Gamma()) as server:
        for name in ("GAMMA", "CLOB"):
            monkeypatch.setenv(f"PREDIBOT_{name}_URL", server.base_url)
        for more in ((), ("--dry-run",)):
            said = predibot("decide", "--json", "--min-hours-left", "any", *more)
            problem = said.document["error"]
            assert (said.code, said.document["exit_code"], problem["kind"]) == (1, 1, "VenueChanged")
            assert "3 of the 3 events" in problem["message"]
            assert "3 because market bestBid: 'n/a' is not a number" in problem["message"]
        assert predibot("runs", "--json").document == {"runs": []}
        server.is_down = False
        said = predibot("decide", "--json", "--min-hours-left", "any")
    assert (said.code, said.document["totals"]["recorded"]) == (0, 6)
