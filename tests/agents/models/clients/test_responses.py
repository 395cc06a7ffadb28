"""Models that work in the background, at a server that speaks the real protocol, faults and all."""

import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace

import httpx
import pytest

from predibot.agents.budget.price import TokenPrice
from predibot.agents.budget.worst_case import worst_case
from predibot.agents.models.background_models import works_in_background
from predibot.agents.models.clients.chat_completions import Endpoint
from predibot.agents.models.clients.litellm_model import LiteLLMModel
from predibot.agents.models.clients.responses import LONGEST_WAIT_SECONDS, OPENAI_URL, ResponsesModel
from predibot.agents.models.failures import GivenUp
from predibot.agents.models.open_model import open_model, worst_price
from predibot.agents.models.retry import Retry
from predibot.domain.chat import ChatReply, ChatRequest, Cost, Message
from predibot.domain.terms import ModelTerms
from predibot.errors import ModelRefused
from predibot.net.api_keys import ApiKeys, Key
from tests.agents.chat_server import ChatServer, Said, broken_off, chat_server, cut, error, hang, hang_up, said_json
from tests.agents.clients import KEY_NAME, PING, SECRET, Clock, retry_of
from tests.agents.responses import (
    CANCELLED,
    JOB,
    NAME,
    PAGE,
    QUEUED,
    REPORT,
    USAGE,
    WORKING,
    completed,
    message,
    model_of,
    refusal,
    response,
    searched,
)

ASKED = ChatRequest((Message("system", "Be brief."), Message("user", "Rain?")), max_output_tokens=9_999, max_searches=5)
PRICE = TokenPrice(2.0, 8.0, search_usd=0.01)


def paths(server: ChatServer) -> list[str]:
    return [f"{asked.method} {asked.path.removeprefix('/v1')}" for asked in server.asked]


def ask(
    *script: Said, request: ChatRequest = ASKED, price: TokenPrice | None = PRICE, seconds: float = 600.0
) -> tuple[ChatReply, ChatServer, Clock]:
    """Return the reply, the server that was asked, and the clock that was waited on."""
    clock = Clock()
    with chat_server(*script) as server:
        return model_of(server, clock, price=price).chat(request, deadline_seconds=seconds), server, clock


def failed(*script: Said, seconds: float = 600.0) -> tuple[GivenUp, list[str]]:
    """Return how a call failed, and what the server was asked."""
    clock = Clock()
    with chat_server(*script) as server:
        with pytest.raises(GivenUp) as caught:
            model_of(server, clock).chat(ASKED, deadline_seconds=seconds)
        return caught.value, paths(server)


def test_a_job_is_begun_in_the_background_with_the_search_tool_and_all_bounds() -> None:
    (asked,) = ask(completed())[1].asked
    assert (asked.method, asked.path, asked.headers["authorization"]) == ("POST", "/v1/responses", f"Bearer {SECRET}")
    assert asked.body == {
        "model": "o4-mini-deep-research",
        "background": True,
        "instructions": "Be brief.",
        "input": [{"role": "user", "content": "Rain?"}],
        "tools": [{"type": "web_search_preview"}],
        "max_output_tokens": 9_999,
        "max_tool_calls": 5,
    }


def test_it_is_looked_at_less_and_less_often_until_it_is_done() -> None:
    reply, server, clock = ask(QUEUED, *[WORKING] * 8, completed())
    assert paths(server) == ["POST /responses", *[f"GET /responses/{JOB}"] * 9]
    assert clock.waits[:4] == [2.0, 3.0, 4.5, 6.75]
    assert clock.waits[-1] == LONGEST_WAIT_SECONDS
    assert (reply.message, reply.finish_reason, reply.retries) == (Message("assistant", REPORT), "stop", 0)
    assert (reply.citations, reply.model) == ((PAGE,), "o4-mini-deep-research-1")
    assert reply.seconds == sum(clock.waits)
    assert (reply.usage.input_tokens, reply.usage.output_tokens, reply.usage.searches) == (60_000, 9_000, 1)
    # Pages are no searches.
    assert reply.usage.raw == {**USAGE, "web_search_calls": {"open_page": 1, "search": 1}}


@pytest.mark.parametrize(("calls", "counted"), [([], 0), (["search"] * 3, 3), ([None, "search"], 2), ([None] * 9, 5)])
def test_a_search_that_says_nothing_of_itself_counts_up_to_the_limit(calls: list[str | None], counted: int) -> None:
    assert ask(completed(*map(searched, calls), message()))[0].usage.searches == counted


def test_a_look_that_fails_is_taken_again_and_no_second_job_is_begun() -> None:
    faults = [error(500), Said(act=hang_up), broken_off(), cut(), error(429, retry_after="40")]
    reply, server, clock = ask(QUEUED, *faults, completed())
    assert (reply.message.text, reply.lost_tries) == (REPORT, 0)
    assert [each for each in paths(server) if each.startswith("POST")] == ["POST /responses"]
    assert clock.waits[-1] == 40.0


@pytest.mark.parametrize("refused", [error(429, retry_after="7"), error(503, retry_after="7")])
def test_a_job_that_was_not_begun_is_begun_later(refused: Said) -> None:
    reply, server, clock = ask(refused, QUEUED, completed())
    assert paths(server) == ["POST /responses", "POST /responses", f"GET /responses/{JOB}"]
    assert clock.waits[0] >= 7.0
    assert (reply.retries, reply.lost_tries) == (1, 0)


@pytest.mark.parametrize("fault", [Said(act=hang_up), broken_off(), cut(), said_json({"id": JOB})])
def test_a_job_that_may_have_been_begun_is_not_begun_again_and_may_have_been_charged(fault: Said) -> None:
    failure, asked = failed(fault, completed())
    assert (asked, failure.lost_tries) == (["POST /responses"], 1)
    assert "a job may be at work, so no other is begun" in str(failure)


def test_at_the_deadline_the_job_is_cancelled() -> None:
    failure, asked = failed(QUEUED, WORKING, WORKING, CANCELLED, seconds=6.0)
    assert asked == ["POST /responses", *[f"GET /responses/{JOB}"] * 2, f"POST /responses/{JOB}/cancel"]
    assert failure.lost_tries == 1
    assert f"job {JOB} was not done in time and was cancelled" in str(failure)
    failure, _ = failed(QUEUED, error(500), seconds=1.0)
    assert "was not done in time and could not be cancelled: " in str(failure)
    # It was done meanwhile.
    reply, server, _ = ask(QUEUED, completed(), seconds=1.0)
    assert (paths(server)[-1], reply.message.text) == (f"POST /responses/{JOB}/cancel", REPORT)


@pytest.mark.parametrize(
    ("end", "said"),
    [
        (response("failed", error={"code": "server_error", "message": "it broke"}), "it broke"),
        (response("failed"), "ended as failed: without a reason"),
        (CANCELLED, "ended as cancelled"),
    ],
)
def test_a_job_that_failed_is_not_begun_again(end: Said, said: str) -> None:
    failure, asked = failed(QUEUED, end, completed())
    assert said in str(failure)
    assert (asked, failure.lost_tries) == (["POST /responses", f"GET /responses/{JOB}"], 1)


def test_a_job_that_nobody_may_look_at_is_cancelled_and_lost() -> None:
    failure, asked = failed(QUEUED, error(404), CANCELLED)
    assert asked == ["POST /responses", f"GET /responses/{JOB}", f"POST /responses/{JOB}/cancel"]
    assert failure.lost_tries == 1


@pytest.mark.parametrize(
    ("reason", "finish"), [("max_output_tokens", "length"), ("content_filter", "refusal"), ("news", "other")]
)
def test_a_report_that_is_not_whole_says_why(reason: str, finish: str) -> None:
    cut_off = response("incomplete", [message("Rain is")], incomplete_details={"reason": reason}, usage=USAGE)
    reply, _, _ = ask(QUEUED, cut_off)
    assert (reply.finish_reason, reply.message.text, reply.usage.output_tokens) == (finish, "Rain is", 9_000)


def test_a_refusal_is_one_and_a_wrong_key_is_named() -> None:
    reply, _, _ = ask(completed(refusal("I will not.")))
    assert (reply.finish_reason, reply.refusal, reply.message.text) == ("refusal", "I will not.", "")
    with pytest.raises(ModelRefused, match=f"set {KEY_NAME} to one"):
        ask(error(401))


class Interrupted(Clock):
    """A clock whose user presses Ctrl-C."""

    def sleep(self, seconds: float) -> None:
        raise KeyboardInterrupt


def test_whoever_is_interrupted_cancels_the_job() -> None:
    with chat_server(QUEUED, CANCELLED) as server:
        with pytest.raises(KeyboardInterrupt):
            model_of(server, Interrupted()).chat(ASKED, deadline_seconds=60.0)
        assert paths(server) == ["POST /responses", f"POST /responses/{JOB}/cancel"]


LEAVES = """
import sys, threading, time
from predibot.agents.models.clients.chat_completions import Endpoint
from predibot.agents.models.clients.responses import ResponsesModel
from predibot.agents.models.retry import Retry
from predibot.domain.chat import ChatRequest, Message

model = ResponsesModel("openai/o3-deep-research", Endpoint(sys.argv[1]), retry=Retry())
request = ChatRequest((Message("user", "Rain?"),))
threading.Thread(target=model.chat, args=(request,), kwargs={"deadline_seconds": 60.0}, daemon=True).start()
while not model.open_jobs:
    time.sleep(0.01)
"""


def test_a_program_that_ends_while_a_thread_waits_cancels_its_job() -> None:
    with chat_server(WORKING) as server:
        subprocess.run([sys.executable, "-c", LEAVES, server.base_url], check=True, timeout=60.0)
        assert f"POST /responses/{JOB}/cancel" in paths(server)


@pytest.mark.parametrize(
    "hostile", [{"id": "../../admin"}, {"id": ""}, {"id": 7}, {"status": "winning"}, {"status": None}]
)
def test_what_is_no_response_is_never_followed(hostile: Mapping[str, object]) -> None:
    failure, asked = failed(said_json({**json.loads(QUEUED.body), **hostile}), completed())
    assert asked == ["POST /responses"]
    assert "answered what is no response" in str(failure)


@pytest.mark.parametrize(
    "output",
    [
        "text",
        None,
        [None, 7, "x", {}],
        [{"type": "message", "content": "no list"}],
        [{"type": "message", "content": [None, {"type": "output_text", "text": 7, "annotations": "x"}]}],
        [{"type": "web_search_call", "action": "search"}, {"type": ["message"]}],
    ],
)
def test_an_output_of_another_shape_is_an_empty_report(output: object) -> None:
    reply, _, _ = ask(said_json({**json.loads(completed().body), "output": output, "usage": "much"}))
    assert (reply.message.text, reply.citations, reply.usage.input_tokens) == ("", (), None)
    assert reply.cost == Cost(None, "unknown")


def test_citations_are_web_addresses_each_once() -> None:
    urls = [PAGE, "javascript:alert(1)", "file:///etc/passwd", PAGE, "http://" + "a" * 3_000, "https://b.example"]
    assert ask(completed(message(urls=urls)))[0].citations == (PAGE, "https://b.example")


def test_a_key_that_comes_back_is_masked_and_a_broken_unicode_can_be_sent() -> None:
    request = ChatRequest((Message("user", "half \ud800 a pair"),))
    reply, _, _ = ask(completed(message(f"your key is {SECRET}", [f"https://x.example/{SECRET}"])), request=request)
    assert reply.message.text == "your key is ***"
    assert SECRET not in repr(reply)
    failure, _ = failed(QUEUED, response("failed", error={"message": SECRET}))
    assert SECRET not in str(failure)


def test_tools_of_ours_are_refused_before_anything_is_sent() -> None:
    with chat_server(completed()) as server:
        with pytest.raises(ModelRefused, match="use it with strategy 'deep_research'"):
            model_of(server, Clock()).chat(ChatRequest(ASKED.messages, (PING,)), deadline_seconds=60.0)
        assert server.asked == []


@pytest.mark.parametrize(
    ("price", "cost"),
    [
        # 60,000 tokens at $2 a million, 9,000 at $8, and one search at a cent.
        (PRICE, Cost(0.12 + 0.072 + 0.01, "recipe")),
        (TokenPrice(2.0, 8.0), Cost(None, "unknown")),
        (TokenPrice(0.0, 0.0), Cost(None, "unknown")),
        (TokenPrice(0.0, 0.0, search_usd=0.0), Cost(0.0, "recipe")),
        (None, Cost(None, "unknown")),
    ],
)
def test_searches_without_a_price_leave_the_cost_unknown(price: TokenPrice | None, cost: Cost) -> None:
    found = ask(completed(), price=price)[0].cost
    assert found.source == cost.source
    assert found.usd == pytest.approx(cost.usd)


def test_at_openai_the_table_knows_tokens_cached_ones_and_searches() -> None:
    asked: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(f"{request.method} {request.url}")
        return httpx.Response(200, content=completed().body)

    transport = httpx.MockTransport(answer)
    model = ResponsesModel(
        NAME, Endpoint(OPENAI_URL, key=Key(KEY_NAME, SECRET), transport=transport), retry=retry_of(Clock())
    )
    # Of 60,000 tokens at $2 a million 20,000 were kept, at $0.50; 9,000 at $8; a search is a cent.
    usd = 40_000 * 2e-6 + 20_000 * 0.5e-6 + 9_000 * 8e-6 + 0.01
    cost = model.chat(ASKED, deadline_seconds=60.0).cost
    assert cost.source == "litellm"
    assert cost.usd == pytest.approx(usd)
    assert asked == ["POST https://api.openai.com/v1/responses"]


def test_the_worst_case_is_all_it_can_read_after_each_search_and_for_the_report() -> None:
    price = worst_price(NAME, price=None)
    assert price is not None
    worst = worst_case(ASKED, price, deadline_seconds=60.0)
    # Five searches and the report: six times 200,000 tokens.
    assert worst.tokens == 1_200_000 + 9_999
    assert worst.usd == pytest.approx(1_200_000 * 2e-6 + 9_999 * 8e-6 + 5 * 0.01)


@pytest.mark.parametrize(
    ("price", "is_known"), [(None, False), (TokenPrice(1.0, 1.0), False), (TokenPrice(1.0, 1.0, search_usd=0.0), True)]
)
def test_elsewhere_the_worst_price_is_known_only_with_that_of_a_search(
    price: TokenPrice | None, is_known: bool
) -> None:
    assert (worst_price(NAME, price=price, base_url="http://localhost/v1") is not None) is is_known


def test_its_name_says_which_client_a_model_gets() -> None:
    retry, keys = retry_of(Clock()), ApiKeys({"OPENAI_API_KEY": SECRET})
    assert isinstance(open_model(NAME, keys=keys, retry=retry), ResponsesModel)
    assert isinstance(open_model(NAME, ModelTerms("http://localhost/v1"), keys=ApiKeys(), retry=retry), ResponsesModel)
    assert isinstance(open_model("openai/o3", keys=keys, retry=retry), LiteLLMModel)
    assert isinstance(open_model(f"openrouter/{NAME}", keys=keys, retry=retry), LiteLLMModel)
    with pytest.raises(ModelRefused, match="needs a key; set OPENAI_API_KEY"):
        open_model(NAME, keys=ApiKeys(), retry=retry)
    for name in ("o3-deep-research", "openai/o3-deep-research", f"{NAME}-2025-06-26"):
        assert works_in_background(name) and not works_in_background(f"azure/{name}")


def test_a_server_that_hangs_is_left_at_the_deadline() -> None:
    with chat_server(Said(act=hang)) as server:
        model = ResponsesModel(NAME, Endpoint(server.base_url), retry=Retry())
        with pytest.raises(GivenUp) as caught:
            model.chat(ASKED, deadline_seconds=0.2)
    assert caught.value.lost_tries == 1


def test_settings_are_sent_in_its_own_words_and_a_seed_for_which_there_is_none_is_said() -> None:
    request = replace(ASKED, temperature=0.5, top_p=0.9, seed=4, reasoning_effort="low")
    reply, server, _ = ask(completed(), request=request)
    (asked,) = server.asked
    assert (asked.body["temperature"], asked.body["top_p"], asked.body["reasoning"]) == (0.5, 0.9, {"effort": "low"})
    assert ("seed" in asked.body, reply.refused_settings) == (False, ("seed",))


def test_a_setting_that_is_refused_begins_no_job_and_is_left_out_of_the_next() -> None:
    value = {"error": {"message": "Unsupported value: 'low'", "param": "reasoning.effort"}}
    reply, server, _ = ask(said_json(value, 400), completed(), request=replace(ASKED, reasoning_effort="low"))
    assert ["reasoning" in asked.body for asked in server.asked] == [True, False]
    assert reply.refused_settings == ("reasoning_effort",)
