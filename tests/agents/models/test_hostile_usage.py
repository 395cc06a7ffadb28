"""A hostile `usage`: whatever a provider counts, the call is booked, never as nothing, and nothing crashes."""

import gzip
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from predibot.agents.budget.budget import Budget
from predibot.agents.budget.price import TokenPrice
from predibot.agents.budget.worst_case import MOST_READ_TOKENS, MOST_WRITTEN_TOKENS
from predibot.agents.models.clients.chat_wire import MAX_CALL_USD, MAX_TOKENS, limit_depth
from predibot.agents.models.metered import MeteredModel
from predibot.contracts import ChatModel
from predibot.domain.budget import Limits
from predibot.domain.chat import ChatRequest, Message
from predibot.domain.trace import cost_of_steps, sum_estimates_usd
from predibot.errors import ModelError
from predibot.ledger.files.traces import Trace
from tests.agents.chat_server import USAGE, Said, chat_server, completion, error, fill_memory, said_json, tool_call
from tests.agents.clients import HELLO, Client, Clock, heavy, light, retry_of
from tests.agents.responses import completed, message, model_of

PRICE = TokenPrice(10.0, 100.0, search_usd=0.01)
TRUE_USD = 20 * 10e-6 + 5 * 100e-6


def nested(levels: int, *, lists: bool = False) -> object:
    value: object = 1
    for _ in range(levels):
        value = [value] if lists else {"a": value}
    return value


def both(count: object) -> dict[str, object]:
    return {"prompt_tokens": count, "completion_tokens": count, "total_tokens": count}


HOSTILE: Mapping[str, object] = {
    "dollars of 1e308": {**USAGE, "cost": 1e308},
    "dollars of 10**400": {**USAGE, "cost": 10**400},
    "dollars that are none": {**USAGE, "cost": float("nan")},
    "endless dollars": {**USAGE, "cost": float("inf")},
    "tokens of 1e308": both(1e308),
    "tokens of 10**400": both(10**400),
    "tokens of 2**63": both(2**63),
    "just too many tokens": both(MAX_TOKENS + 1),
    "tokens below zero": {**both(-5), "cost": -1.0},
    "no tokens at all": both(0),
    "nesting of 500": {**USAGE, "x": nested(500)},
    "lists of 500": {**USAGE, "x": nested(500, lists=True)},
    "nested tokens": both(nested(500)),
    "nested dollars": {**USAGE, "cost": nested(500)},
    "details of 10**400": {**USAGE, "prompt_tokens_details": {"cached_tokens": 10**400}},
    "a list": [1, 2],
    "a text": "20",
}


def booked(model: ChatModel, request: ChatRequest = HELLO) -> tuple[Budget, tuple[Any, ...]]:
    """Ask a model once, whatever becomes of it, and return its budget and its trace."""
    budget, trace = Budget.of("decision", Limits(usd=1e6, tokens=10**12)), Trace()
    metered = MeteredModel(model, budget, PRICE, trace)
    try:
        metered.chat(request, deadline_seconds=60.0)
    except ModelError as error:
        assert "Traceback" not in str(error).partition(":")[0]
    return budget, trace.steps


def booked_by(client: Client, *said: Said, prompt: str = "Will it rain?") -> tuple[Budget, tuple[Any, ...]]:
    with chat_server(*said) as server:
        return booked(client(server, retry_of(Clock()), price=PRICE), ChatRequest((Message("user", prompt),)))


def check(budget: Budget, steps: tuple[Any, ...], true_usd: float = TRUE_USD) -> None:
    """See that the truth is booked where it can be known, else what was set aside, marked as an estimate."""
    spent_usd = budget.spent().usd
    cost_usd, known_usd = cost_of_steps(steps)
    if cost_usd is None:
        assert spent_usd >= steps[-1].worst.usd > 0.1
        assert spent_usd == pytest.approx(known_usd + sum_estimates_usd(steps))
    else:
        assert (spent_usd, known_usd) == (pytest.approx(true_usd), pytest.approx(true_usd))
        assert sum_estimates_usd(steps) == 0.0


@pytest.mark.parametrize("usage", HOSTILE.values(), ids=list(HOSTILE))
def test_a_hostile_usage_is_booked_and_never_as_nothing(client: Client, usage: object) -> None:
    check(*booked_by(client, completion(usage=usage)))


@pytest.mark.parametrize("usage", HOSTILE.values(), ids=list(HOSTILE))
def test_a_hostile_usage_of_a_report_is_booked_and_never_as_nothing(usage: object) -> None:
    if isinstance(usage, dict):
        renamed = {"prompt_tokens": "input_tokens", "completion_tokens": "output_tokens"}
        usage = {renamed.get(name, name): each for name, each in usage.items()}
    with chat_server(completed(usage=usage)) as server:
        budget, steps = booked(model_of(server, Clock(), price=PRICE))
    assert steps[-1].kind == "model"
    check(budget, steps, true_usd=TRUE_USD + 0.01)


def test_a_count_that_no_python_reads_leaves_the_answer_and_is_booked_once(client: Client) -> None:
    body = completion(usage={"prompt_tokens": 77_777, "completion_tokens": 5}).body.replace(b"77777", b"9" * 5_000)
    budget, steps = booked_by(client, Said(body))
    assert (steps[-1].kind, steps[-1].reply.message.text, steps[-1].reply.retries) == ("model", "yes", 0)
    assert budget.spent().usd == pytest.approx(steps[-1].worst.usd)
    assert cost_of_steps(steps) == (None, 0.0)


PROMPT = "Will it rain in Paris on the first of May, and how sure are you of that? " * 14
ANSWER = "It will not, because the season has been dry so far and the wind comes from the east. " * 20
CHINESE = "巴黎五月一日会下雨吗?请给出概率并说明理由。"


@pytest.mark.parametrize(
    ("usage", "which"),
    [
        ({"prompt_tokens": 1, "completion_tokens": 0}, ("fewer than 31", "fewer than 52")),
        ({"prompt_tokens": 30, "completion_tokens": 400}, ("30 input tokens is not believed: fewer than 31",)),
        ({"prompt_tokens": 250, "completion_tokens": 51}, ("51 output tokens is not believed: fewer than 52",)),
        ({"prompt_tokens": 1, "completion_tokens": 1, "cost": 1e-7}, ("fewer than 31", "fewer than 52")),
        ({"prompt_tokens": 1, "completion_tokens": 400, "cache_read_input_tokens": 29}, ("fewer than 31",)),
    ],
)
def test_a_usage_far_below_what_was_sent_and_came_is_unknown_and_booked_at_the_worst_case(
    client: Client, usage: object, which: tuple[str, ...]
) -> None:
    budget, steps = booked_by(client, completion(ANSWER, usage=usage), prompt=PROMPT)
    assert budget.spent().usd == pytest.approx(steps[-1].worst.usd)
    assert budget.spent().tokens == steps[-1].worst.tokens
    assert cost_of_steps(steps) == (None, 0.0)
    assert steps[-1].reply.message.text == ANSWER
    assert all(each in steps[-1].doubt for each in which)


@pytest.mark.parametrize(
    ("usage", "more"),
    [
        ({"prompt_tokens": 31, "completion_tokens": 52}, {}),
        ({"prompt_tokens": 12, "completion_tokens": 6}, {"prompt": CHINESE, "text": CHINESE}),
        ({"prompt_tokens": 8, "completion_tokens": 8}, {"prompt": " " * 1_000 + "?", "text": "=" * 1_000 + "!"}),
        ({"prompt_tokens": 1, "completion_tokens": 1}, {"prompt": "internationalisation", "text": "yes"}),
        ({"prompt_tokens": 250, "completion_tokens": 1}, {"text": ""}),
    ],
)
def test_a_usage_that_a_thrifty_tokenizer_may_count_is_believed(
    client: Client, usage: dict[str, int], more: dict[str, str]
) -> None:
    said = completion(more.get("text", ANSWER), usage=usage)
    budget, steps = booked_by(client, said, prompt=more.get("prompt", PROMPT))
    true_usd = usage["prompt_tokens"] * 10e-6 + usage["completion_tokens"] * 100e-6
    assert budget.spent().usd == pytest.approx(true_usd)
    assert not steps[-1].doubt


@pytest.mark.parametrize(("cached_tokens", "input_tokens"), [(240, 250), (400_000, None)])
def test_what_was_read_from_a_cache_beside_the_input_is_booked_with_it_also_above_what_was_set_aside(
    cached_tokens: int, input_tokens: int | None
) -> None:
    usage = {"prompt_tokens": 10, "completion_tokens": 400, "cache_read_input_tokens": cached_tokens}
    budget, steps = booked_by(light, completion(ANSWER, usage=usage), prompt=PROMPT)
    assert steps[-1].reply.usage.input_tokens == input_tokens
    assert budget.spent().usd == pytest.approx((10 + cached_tokens) * 10e-6 + 400 * 100e-6)


THOUGHT = [
    ({"total_tokens": 1_209, "completion_tokens_details": {"reasoning_tokens": 900}}, 909),
    ({"total_tokens": 1_209}, 909),
    ({"completion_tokens_details": {"reasoning_tokens": 900}}, 909),
    ({"total_tokens": 309, "completion_tokens_details": {"reasoning_tokens": 8}}, 9),
]


@pytest.mark.parametrize(("more", "output_tokens"), THOUGHT)
def test_thoughts_that_are_counted_beside_the_answer_are_paid_as_output(
    client: Client, more: dict[str, object], output_tokens: int
) -> None:
    usage = {"prompt_tokens": 300, "completion_tokens": 9, **more}
    budget, steps = booked_by(client, completion("It will not.", usage=usage), prompt=PROMPT)
    assert steps[-1].reply.usage.output_tokens == output_tokens
    assert budget.spent().usd == pytest.approx(300 * 10e-6 + output_tokens * 100e-6)


@pytest.mark.parametrize(("more", "output_tokens"), THOUGHT)
def test_thoughts_beside_a_report_are_paid_as_output(more: dict[str, Any], output_tokens: int) -> None:
    usage = {name.replace("completion", "output"): each for name, each in more.items()}
    text = message("It will not.")
    with chat_server(completed(text, usage={"input_tokens": 300, "output_tokens": 9, **usage})) as server:
        budget, _ = booked(model_of(server, Clock(), price=PRICE), ChatRequest((Message("user", PROMPT),)))
    assert budget.spent().usd == pytest.approx(300 * 10e-6 + output_tokens * 100e-6)


def test_a_call_of_a_tool_takes_a_token_at_least() -> None:
    said = json.loads(tool_call().body) | {"usage": {"prompt_tokens": 20, "completion_tokens": 0, "total_tokens": 20}}
    budget, steps = booked_by(light, said_json(said))
    assert budget.spent().usd == pytest.approx(steps[-1].worst.usd)


@pytest.mark.parametrize(
    ("usd", "believed"), [(MAX_CALL_USD, True), (MAX_CALL_USD * 1.001, False), (0.0, False), (-0.01, False)]
)
def test_what_a_provider_charges_is_believed_up_to_what_a_call_can_cost(usd: float, believed: bool) -> None:
    budget, _ = booked_by(light, completion(usage={**USAGE, "cost": usd}))
    assert budget.spent().usd == pytest.approx(usd if believed else TRUE_USD)


@pytest.mark.parametrize("where", ["content", "tool_calls", "error", "model"])
def test_nesting_anywhere_in_an_answer_crashes_nothing_and_is_not_free(client: Client, where: str) -> None:
    value = json.loads(completion().body)
    deep = nested(500, lists=where == "content")
    if where in ("error", "model"):
        value[where] = deep
    elif where == "content":
        value["choices"][0]["message"]["content"] = [{"type": "text", "text": deep}]
    else:
        call = {"id": "c", "type": "function", "function": {"name": "ping", "arguments": deep}}
        value["choices"][0]["message"]["tool_calls"] = [call]
    budget, steps = booked_by(client, said_json(value))
    # An answer that is an error is known not to be charged.
    assert budget.spent().usd > 0.0 or where == "error"
    assert steps


def test_what_is_shallow_stays_as_it_is() -> None:
    value = {"a": [1, {"b": None}, "x"], "c": {"d": [[]]}}
    assert limit_depth(value) == value
    assert limit_depth(nested(60), 3) == {"a": {"a": {"a": "(nested too deep)"}}}


HTML = Said(b"<html>done</html>", headers={"Content-Type": "text/html"})
PERHAPS_CHARGED: Mapping[str, Said] = {
    "an error of 429 beside a usage": completion(error={"code": 429, "message": "slow down"}),
    "an error of 400 beside a usage": completion(error={"code": 400, "message": "bad"}),
    "a server's error with a usage": said_json({"error": {"message": "late"}, "usage": USAGE}, 500),
    "408": error(408),
    "504": error(504),
    "499": error(499),
    "524": Said(b"timeout", 524),
    "a server's error that is a completion": replace(completion(), status=500),
    "a server's error that is a completion without a usage": replace(completion(usage=None), status=500),
    "a refusal that is a completion": replace(completion(), status=400),
    "an error with a usage in its metadata": said_json(
        {"error": {"code": 429, "message": "slow down", "metadata": {"usage": USAGE}}}
    ),
    "a rate limit with a usage in its metadata": said_json(
        {"error": {"message": "slow down", "metadata": {"attempts": [{"usage": {"cost": 0.2}}]}}}, 429
    ),
    "compressed": Said(gzip.compress(completion().body), headers={"Content-Encoding": "gzip"}),
    "a list": Said(b"[" + completion().body + b"]"),
    "a stream of events": Said(b"data: " + completion().body + b"\n\ndata: [DONE]\n\n"),
    "a page": HTML,
    "an answer above all bounds": Said(act=fill_memory),
}


@pytest.mark.parametrize(
    ("usage", "counted_usd"),
    [
        ({"prompt_tokens": MAX_TOKENS, "completion_tokens": 5}, 0.0),
        ({"prompt_tokens": 9_999_999, "completion_tokens": 5}, 0.0),
        ({"prompt_tokens": MOST_READ_TOKENS + 1, "completion_tokens": 5}, 0.0),
        ({"prompt_tokens": MOST_READ_TOKENS, "completion_tokens": 5}, 20.0005),
        ({"prompt_tokens": 400_000, "completion_tokens": 5}, 4.0005),
        ({"prompt_tokens": 400_000}, 4.0),
        ({"prompt_tokens": 1_000, "completion_tokens": 5}, 0.0105),
        ({"prompt_tokens": 20, "completion_tokens": MAX_TOKENS}, 0.0),
        ({"prompt_tokens": 20, "completion_tokens": 999_999}, 0.0),
        ({"prompt_tokens": 20, "completion_tokens": MOST_WRITTEN_TOKENS}, 25.6002),
        ({"prompt_tokens": 20, "completion_tokens": 20_000}, 2.0002),
    ],
)
def test_a_usage_that_the_request_cannot_have_is_unknown_and_booked_at_the_worst_case_or_what_it_would_cost_if_more(
    client: Client, usage: Mapping[str, int], counted_usd: float
) -> None:
    budget, steps = booked_by(client, completion(usage=usage))
    worst, most = steps[-1].worst, {"prompt_tokens": MOST_READ_TOKENS, "completion_tokens": MOST_WRITTEN_TOKENS}
    counted_tokens = sum(tokens for name, tokens in usage.items() if tokens <= most[name])
    assert budget.spent().usd == pytest.approx(max(worst.usd, counted_usd))
    assert budget.spent().tokens == max(worst.tokens, counted_tokens)
    assert cost_of_steps(steps) == (None, 0.0)
    assert sum_estimates_usd(steps) == pytest.approx(budget.spent().usd)


@pytest.mark.parametrize(("cost_usd", "booked_usd"), [(1e-6, 4.0005), (0.003, 4.0005), (0.05, 0.05), (3.0, 3.0)])
def test_a_charge_that_is_next_to_nothing_beside_the_count_it_comes_with_is_not_believed(
    cost_usd: float, booked_usd: float
) -> None:
    usage = {"prompt_tokens": 400_000, "completion_tokens": 5, "cost": cost_usd}
    budget, _ = booked_by(light, completion(usage=usage))
    assert budget.spent().usd == pytest.approx(booked_usd)


@pytest.mark.parametrize("said", PERHAPS_CHARGED.values(), ids=list(PERHAPS_CHARGED))
def test_an_answer_that_may_have_been_charged_is_booked_at_its_worst_case(client: Client, said: Said) -> None:
    with chat_server(said) as server:
        budget, steps = booked(client(server, retry_of(Clock()), price=PRICE))
    tries = len(server.asked)
    assert budget.spent().usd == pytest.approx(tries * steps[-1].worst.usd)
    assert steps[-1].lost_tries == tries
    assert cost_of_steps(steps) == (None, 0.0)


@pytest.mark.parametrize("status", [302, 400, 401, 403, 404, 422, 429, 500, 502, 503])
def test_a_clear_refusal_costs_nothing(client: Client, status: int) -> None:
    budget, steps = booked_by(client, error(status))
    assert (budget.spent().usd, cost_of_steps(steps)) == (0.0, (0.0, 0.0))


def test_an_error_of_a_choice_beside_a_usage_is_booked_and_never_as_nothing() -> None:
    choice = {"index": 0, "message": {"role": "assistant", "content": ""}, "finish_reason": "error"}
    said = completion(choices=[{**choice, "error": {"code": 502, "message": "upstream broke"}}])
    with chat_server(said) as server:
        _, steps = booked(light(server, retry_of(Clock()), price=PRICE))
    assert (steps[-1].lost_tries, cost_of_steps(steps)) == (len(server.asked), (None, 0.0))
    # litellm passes over the error, and what it cost is known.
    check(*booked_by(heavy, said))


def test_a_refusal_after_a_lost_answer_leaves_what_is_booked_and_an_unusable_answer_adds_to_it() -> None:
    for last, lost in ((error(401), 1), (HTML, 2)):
        budget, steps = booked_by(light, error(504), last)
        assert budget.spent().usd == pytest.approx(lost * steps[-1].worst.usd)
        assert steps[-1].lost_tries == lost
