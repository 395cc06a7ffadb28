"""Settings of a model: from the recipe to the provider, and what it refuses to the row, at the command line."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.acceptance.conftest import Predibot, bot_of
from tests.acceptance.test_outage import Provider
from tests.agents.chat_server import Asked, Said, error, serving

pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")

WORLD = ("--venue", "sandbox:events=6", "--events", "1", "--json")
NOTE = "local/tiny does not take temperature, and answered without it"


class _Cold(Provider):
    """Refuses every temperature."""

    def next(self, asked: Asked) -> Said:
        if "temperature" not in asked.body:
            return super().next(asked)
        self.asked.append(asked)
        return error(400, "Unsupported value: 'temperature' does not support 0.3 with this model.")


class _Refusing(_Cold):
    """Refuses every request, for no setting of it."""

    def next(self, asked: Asked) -> Said:
        self.asked.append(asked)
        return error(400, "The context is too long.")


@pytest.fixture
def provider() -> Iterator[_Cold]:
    """Return a provider that takes no temperature."""
    with serving(_Cold()) as server:
        yield server


def recipe(provider: _Cold, settings: str, *, price: float = 0.0, limits: str = "") -> str:
    """Write a recipe with a bot of these settings, and return its name."""
    Path("r.toml").write_text(f"{limits}\n{bot_of(provider.base_url, settings, price=price)}", encoding="utf-8")
    return "r.toml"


def test_settings_reach_the_provider_and_what_it_refuses_is_on_the_row_and_in_the_trace(
    predibot: Predibot, provider: _Cold
) -> None:
    name = recipe(provider, "temperature = 0.3\ntop_p = 0.9\nmax_tokens = 9000\nreasoning_effort = 'low'")
    said = predibot("decide", name, *WORLD)
    assert said.code == 0, said.err
    (decision,) = said.document["decisions"]
    assert (decision["status"], decision["notes"]) == ("recorded", [NOTE])
    first, second = (asked.body for asked in provider.asked)
    assert (first["temperature"], first["max_tokens"], first["reasoning_effort"]) == (0.3, 9000, "low")
    assert ("temperature" in second, second["top_p"]) == (False, 0.9)
    run = said.document["run"]["key"]
    named = f"{run}/agent/{decision['event_id']}"
    (step,) = predibot("trace", named, "--json").document["steps"]
    assert (step["settings"], step["refused_settings"]) == ({"top_p": 0.9, "reasoning_effort": "low"}, ["temperature"])
    assert step["max_output_tokens"] == 9000
    shown = predibot("trace", named).out
    assert "settings: top_p 0.9, reasoning_effort low" in shown
    assert "refused settings: temperature" in shown
    assert NOTE in predibot("export", "--table", "decisions").out
    again = predibot("decide", "--rerun-traces", run, "--json")
    assert (again.code, len(provider.asked)) == (0, 2), again.out + again.err


def test_a_request_that_a_local_provider_refuses_for_good_fails_the_same_again(
    predibot: Predibot, provider: _Cold
) -> None:
    # Its address is none of the sandbox's, which is the one that stands in no row.
    provider.__class__ = _Refusing
    said = predibot("decide", recipe(provider, ""), *WORLD)
    (decision,) = said.document["decisions"]
    assert (decision["status"], provider.base_url in decision["message"]) == ("failed", True)
    again = predibot("decide", "--rerun-traces", said.document["run"]["key"], "--json")
    assert (again.code, [row["equal"] for row in again.document["decisions"]]) == (0, [True]), again.out


def test_a_run_goes_on_only_with_the_settings_it_was_begun_with(predibot: Predibot, provider: _Cold) -> None:
    assert predibot("decide", recipe(provider, "top_p = 0.9"), *WORLD).code == 0
    assert predibot("decide", recipe(provider, "top_p = 0.9"), *WORLD).code == 0
    other = predibot("decide", recipe(provider, "top_p = 0.8"), *WORLD)
    assert other.code == 1
    message = other.document["error"]["message"]
    assert '"top_p": 0.9}' in message
    assert '"top_p": 0.8}' in message


def test_a_bot_without_settings_is_asked_and_stored_as_before_there_were_any(
    predibot: Predibot, provider: _Cold
) -> None:
    said = predibot("decide", recipe(provider, ""), *WORLD)
    (asked,) = provider.asked
    assert set(asked.body) == {"model", "messages", "max_tokens", "response_format"}
    assert said.document["decisions"][0]["notes"] == []
    (bot,) = [json.loads(line) for line in predibot("export", "--table", "bots").out.splitlines()]
    assert "settings" not in str(bot)


def test_an_answer_is_set_aside_as_long_as_the_recipe_lets_it_be(predibot: Predibot, provider: _Cold) -> None:
    limits = "[limits.decision]\nusd = 1.0"
    name = recipe(provider, "max_tokens = 1_000_000", price=2.0, limits=limits)
    said = predibot("decide", name, *WORLD)
    (decision,) = said.document["decisions"]
    assert (decision["status"], decision["reason_kind"], provider.asked) == ("abstained", "budget", [])
    short, long = (
        predibot("decide", recipe(provider, f"max_tokens = {tokens}", price=2.0), *WORLD, "--dry-run").document
        for tokens in (1_000, 1_000_000)
    )
    assert long["worst_case"]["usd"] - short["worst_case"]["usd"] > 2.0 * 0.999
