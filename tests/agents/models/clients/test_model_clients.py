"""Both clients of models, against a server that speaks the real protocol, faults and all."""

import logging
import time
import traceback
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from predibot.agents.budget.price import TokenPrice
from predibot.agents.models.failures import GivenUp
from predibot.domain.chat import SETTINGS, ChatReply, ChatRequest, Cost, Message, ToolCall
from predibot.errors import ModelError, ModelRefused, ModelUnavailable
from predibot.net.failures import MAX_CONNECT_TRIES
from predibot.net.retry import MAX_LOST_TRIES, MAX_TRIES
from tests.agents.chat_server import (
    USAGE,
    Asked,
    ChatServer,
    Said,
    broken_off,
    chat_server,
    completion,
    cut,
    drip_body,
    drip_header,
    error,
    fill_memory,
    hang,
    hang_up,
    said_json,
    tool_call,
)
from tests.agents.clients import HELLO, KEY_NAME, PING, SECRET, Client, Clock, heavy, retry_of
from tests.agents.scripted import context


def ask(
    client: Client, *script: Said, request: ChatRequest = HELLO, price: TokenPrice | None = None
) -> tuple[ChatReply, ChatServer, Clock]:
    """Return the reply to a request, the server that was asked, and the clock that was waited on."""
    clock = Clock()
    with chat_server(*script) as server:
        return client(server, retry_of(clock), price=price).chat(request, deadline_seconds=60.0), server, clock


def failed(
    client: Client, kind: type[ModelError], said: Said, match: str | None = None, *, seconds: float = 60.0
) -> tuple[Any, ChatServer, Clock]:
    """Return how a request failed, the server that was asked, and the clock that was waited on."""
    clock = Clock()
    with chat_server(said) as server, pytest.raises(kind, match=match) as caught:
        client(server, retry_of(clock)).chat(HELLO, deadline_seconds=seconds)
    return caught.value, server, clock


def test_what_is_asked_is_what_the_server_gets(client: Client) -> None:
    history = (
        Message("system", "Be brief."),
        Message("user", "hi"),
        Message("assistant", "", (ToolCall("c1", "ping", '{"word": "a"}'),)),
        Message("tool", "pong", tool_call_id="c1"),
    )
    reasoned = context(rationale_first=True).form().schema
    asked = ChatRequest(history, (PING, reasoned), "ping", max_output_tokens=77, temperature=0.3, seed=4)
    _, server, _ = ask(client, completion(), request=asked)
    body, headers = server.asked[0].body, {name.lower(): text for name, text in server.asked[0].headers.items()}
    assert [each["role"] for each in body["messages"]] == ["system", "user", "assistant", "tool"]
    assert body["messages"][2]["tool_calls"][0]["function"] == {"name": "ping", "arguments": '{"word": "a"}'}
    assert body["messages"][3] == {"role": "tool", "content": "pong", "tool_call_id": "c1"}
    assert (body["model"], body["max_tokens"], body["temperature"], body["seed"]) == ("tiny", 77, 0.3, 4)
    assert body["tool_choice"] == {"type": "function", "function": {"name": "ping"}}
    assert body["tools"][0]["function"]["parameters"] == PING.parameters
    entry = body["tools"][1]["function"]["parameters"]["properties"]["market_decisions"]["items"]
    assert [*entry["properties"]] == entry["required"]
    assert entry["required"] == ["market_id", "rationale", "estimated_probability", "confidence", "bet"]
    assert headers["authorization"] == f"Bearer {SECRET}"


def test_a_text_that_is_no_unicode_can_be_sent(client: Client) -> None:
    half = "half \ud800 a pair"
    asked = ChatRequest((Message("user", half), Message("assistant", half, (ToolCall("c1", "ping", half),))))
    _, server, _ = ask(client, completion(), request=asked)
    sent = server.asked[0].body["messages"]
    assert {sent[0]["content"], sent[1]["tool_calls"][0]["function"]["arguments"]} == {"half \ufffd a pair"}


def test_an_answer_carries_text_tokens_and_the_providers_name(client: Client) -> None:
    reply, _, _ = ask(client, completion("70 percent"))
    assert (reply.message, reply.finish_reason, reply.retries) == (Message("assistant", "70 percent"), "stop", 0)
    assert (reply.usage.input_tokens, reply.usage.output_tokens, reply.model) == (20, 5, "tiny-1")
    assert reply.usage.raw["total_tokens"] == 25


@pytest.mark.parametrize(("said", "meant"), [("length", "length"), ("content_filter", "refusal"), ("stop", "stop")])
def test_why_it_stopped_is_named(client: Client, said: str, meant: str) -> None:
    assert ask(client, completion(finish_reason=said))[0].finish_reason == meant


def test_a_refusal_is_recognised_with_its_words(client: Client) -> None:
    reply, _, _ = ask(client, completion(None, message={"refusal": "I will not."}))
    assert (reply.finish_reason, reply.refusal, reply.message.text) == ("refusal", "I will not.", "")


@pytest.mark.parametrize("arguments", ['{"word": "pong"}', '{"word": ', "", "not json", '"text"', "[1]"])
def test_the_arguments_of_a_tool_call_stay_text_however_bad(client: Client, arguments: str) -> None:
    reply, _, _ = ask(client, tool_call("ping", arguments))
    assert reply.message.tool_calls == (ToolCall("call_7", "ping", arguments),)
    assert reply.finish_reason == "tool_calls"


def test_a_forced_call_that_ends_with_stop_is_a_call_and_one_that_was_cut_off_says_so(client: Client) -> None:
    assert ask(client, tool_call(finish_reason="stop"))[0].finish_reason == "tool_calls"
    assert ask(client, tool_call(arguments='{"wo', finish_reason="length"))[0].finish_reason == "length"


def test_a_cost_is_the_providers_then_the_recipes_then_unknown(client: Client) -> None:
    price = TokenPrice(10.0, 100.0)
    assert ask(client, completion(usage={**USAGE, "cost": 0.5}), price=price)[0].cost == Cost(0.5, "provider")
    assert ask(client, completion(), price=price)[0].cost == Cost(20 * 10e-6 + 5 * 100e-6, "recipe")
    assert ask(client, completion())[0].cost == Cost(None, "unknown")
    uncounted = ask(client, completion(usage=None), price=price)[0]
    assert (uncounted.usage.input_tokens, uncounted.usage.output_tokens) == (None, None)
    assert uncounted.cost == Cost(None, "unknown")
    # A local model is free however much it counts.
    assert ask(client, completion(usage=None), price=TokenPrice(0.0, 0.0))[0].cost == Cost(0.0, "recipe")


def test_a_searching_model_names_what_it_read(client: Client) -> None:
    cited = {"type": "url_citation", "url_citation": {"url": "https://c.test/", "title": "", "start_index": 0}}
    cited["url_citation"]["end_index"] = 1  # type: ignore[index] # a nested dict
    reply, _, _ = ask(
        client,
        completion(
            message={"annotations": [cited]},
            citations=["https://a.test/", "file:///etc/passwd"],
            search_results=[{"url": "https://b.test/", "title": "B"}, {"url": "https://a.test/"}],
        ),
    )
    assert reply.citations == ("https://a.test/", "https://b.test/", "https://c.test/")


SPOILT = error(400, "Failed to call a function. Please adjust your prompt. See 'failed_generation' for more details.")
"""What Groq says of a call that its model wrote wrongly."""


@pytest.mark.parametrize(
    "failure", [error(500), error(503), error(529), cut(), broken_off(), Said(act=hang_up), SPOILT]
)
def test_a_passing_failure_is_asked_again_and_counted(client: Client, failure: Said) -> None:
    reply, server, clock = ask(client, failure, failure, completion())
    assert (reply.message.text, reply.retries, len(server.asked)) == ("yes", 2, 3)
    assert all(0.0 < wait <= 1.0 for wait in clock.waits)


def test_retry_after_is_honoured(client: Client) -> None:
    reply, _, clock = ask(client, error(429, Retry_After="7"), completion())
    assert 7.0 <= clock.seconds <= 7.2
    assert (reply.retries, round(reply.seconds)) == (1, 7)


@pytest.mark.parametrize(
    ("failure", "tries", "lost"),
    [
        (error(500), MAX_TRIES, 0),
        (error(503), MAX_TRIES, 0),
        (cut(), MAX_LOST_TRIES, MAX_LOST_TRIES),
        (SPOILT, MAX_LOST_TRIES, MAX_LOST_TRIES),
    ],
)
def test_what_never_passes_is_given_up(client: Client, failure: Said, tries: int, lost: int) -> None:
    given_up, server, _ = failed(client, GivenUp, failure, f"given up after {tries} tries")
    assert (len(server.asked), given_up.lost_tries) == (tries, lost)


def test_a_rate_limit_without_a_word_is_asked_until_the_deadline(client: Client) -> None:
    _, _, clock = failed(client, GivenUp, error(429), seconds=100.0)
    assert 80.0 < clock.seconds < 100.0


def test_a_wait_beyond_the_deadline_is_not_waited(client: Client) -> None:
    _, _, clock = failed(client, ModelUnavailable, error(429, Retry_After="90"), "asks to wait 90 s")
    assert clock.seconds == 0.0


@pytest.mark.parametrize(
    ("refusal", "advice"),
    [
        (error(400), "fix the request"),
        (error(401), f"set {KEY_NAME}"),
        (error(402), "top it up"),
        (error(403), f"set {KEY_NAME}"),
        (error(404), "model's name"),
        (error(413), "too long"),
        (error(422), "fix the request"),
        (error(302, location="http://127.0.0.1:1/"), "redirects are not followed"),
        # It looks like a rate limit.
        (error(429, "You exceeded your quota: insufficient_quota"), "top it up"),
    ],
)
def test_a_refusal_is_final_and_says_what_to_mend(client: Client, refusal: Said, advice: str) -> None:
    _, server, clock = failed(client, ModelRefused, refusal, advice)
    assert (len(server.asked), clock.waits) == (1, [])


def test_an_error_of_a_model_that_was_at_work_may_have_been_charged(client: Client) -> None:
    said = [{"message": {"role": "assistant", "content": "0.5"}}]
    late = said_json({"error": {"code": 429, "message": "busy"}, "choices": said})
    assert ask(client, late, completion())[0].lost_tries == 1


@pytest.mark.parametrize(
    "busy",
    [
        {"error": {"code": 429, "message": "busy"}},
        {"choices": None, "base_resp": {"status_code": 1002, "status_msg": "rate limit"}},
    ],
)
def test_an_error_that_comes_as_a_success_is_an_error(client: Client, busy: dict[str, object]) -> None:
    reply = ask(client, said_json(busy), completion(base_resp={"status_code": 0, "status_msg": ""}))[0]
    assert (reply.retries, reply.lost_tries) == (1, 0)


@pytest.mark.parametrize(
    ("code", "said"), [(1004, f"login fail.*set {KEY_NAME}"), (1008, "login fail.*top it up"), (9999, "login fail")]
)
def test_what_minimax_says_in_a_success_is_said(client: Client, code: int, said: str) -> None:
    failed = said_json({"choices": None, "base_resp": {"status_code": code, "status_msg": "login fail"}})
    with pytest.raises(ModelError, match=said):
        ask(client, failed)


@pytest.mark.parametrize("act", [hang, drip_body, drip_header])
def test_a_server_that_hangs_or_drips_is_left_at_the_deadline(client: Client, act: Callable[..., None]) -> None:
    ask(client, completion())
    began = time.monotonic()
    assert failed(client, GivenUp, Said(act=act), seconds=0.5)[0].lost_tries >= 1
    assert time.monotonic() - began < 30


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (Said(act=fill_memory), None),
        (replace(completion(), headers={"Content-Encoding": "gzip"}), "compressed"),
    ],
    ids=["endless", "packed"],
)
def test_an_answer_that_could_fill_the_memory_is_refused(client: Client, said: Said, why: str | None) -> None:
    failed(client, ModelRefused, said, why)


def test_nobody_at_the_address_is_unavailable(client: Client) -> None:
    with chat_server(completion()) as server:
        pass
    clock = Clock()
    with pytest.raises(GivenUp, match=r"no connection.* after 3 tries") as caught:
        client(server, retry_of(clock)).chat(HELLO, deadline_seconds=60.0)
    assert (len(clock.waits), caught.value.lost_tries) == (MAX_CONNECT_TRIES - 1, 0)


ECHOES = [error(status, f"key {SECRET} and {SECRET[:-3]}") for status in (302, 400, 401, 429, 500)]


@pytest.mark.parametrize("echo", [*ECHOES, Said(f"<html>{SECRET}".encode()), cut(f'{{"a": "{SECRET}'.encode())])
def test_a_key_that_is_echoed_appears_nowhere(
    client: Client, echo: Said, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    with chat_server(echo) as server:
        model = client(server, retry_of(Clock()))
        with pytest.raises((ModelRefused, ModelUnavailable)) as caught:
            model.chat(HELLO, deadline_seconds=60.0)
    shown = "".join(traceback.format_exception(caught.value)) + repr(model) + repr(caught.value)
    # httpx at its most talkative shows addresses only.
    logged = "".join(record.getMessage() for record in caplog.records)
    assert SECRET[:12] not in shown + logged + "".join(capfd.readouterr())


def test_a_key_that_a_server_puts_into_its_answer_is_masked(client: Client) -> None:
    escaped = SECRET.replace("p", "\\u0070")
    body = completion("KEY").body.replace(b"KEY", escaped.encode())
    reply, _, _ = ask(client, Said(body))
    assert reply.message.text == "***"
    assert SECRET[:12] not in repr(reply)


SET = replace(HELLO, temperature=0.3, top_p=0.9, seed=4, reasoning_effort="low")


class Particular(ChatServer):
    """Answers, unless a request has one of the settings it does not take."""

    refused: tuple[str, ...] = ("temperature", "seed")
    status = 400

    def next(self, asked: Asked) -> Said:
        super().next(asked)
        named = next((name for name in self.refused if name in asked.body), None)
        return completion() if named is None else error(self.status, f"Unsupported value: {named!r} of a seeded model")


@pytest.mark.parametrize("status", [400, 422])
def test_settings_that_a_provider_refuses_by_name_are_left_out_and_the_answer_says_so(
    client: Client, status: int
) -> None:
    with chat_server(completion()) as server:
        server.__class__ = Particular
        server.status = status  # type: ignore[attr-defined]
        model = client(server, retry_of(Clock()))
        first, again = (model.chat(SET, deadline_seconds=60.0) for _ in range(2))
    assert first.refused_settings == again.refused_settings == ("temperature", "seed")
    assert (first.retries, again.retries, len(server.asked)) == (2, 0, 4)
    kept = {"top_p": 0.9, "reasoning_effort": "low"}
    assert {name: server.asked[-1].body.get(name) for name in SETTINGS} == {"temperature": None, "seed": None, **kept}


def test_an_error_that_names_no_setting_is_final(client: Client) -> None:
    with pytest.raises(ModelRefused, match="seeded"):
        ask(client, error(400, "the model was not seeded"), request=SET)


def test_what_litellm_would_drop_by_itself_is_said_too() -> None:
    with chat_server(completion()) as server:
        model = heavy(server, retry_of(Clock()), name="openai/gpt-5")
        reply = model.chat(replace(HELLO, temperature=0.3, reasoning_effort="low"), deadline_seconds=60.0)
    (asked,) = server.asked
    assert (reply.refused_settings, "temperature" in asked.body) == (("temperature",), False)
    assert asked.body["reasoning_effort"] == "low"
