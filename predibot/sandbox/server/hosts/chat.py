"""The forecasters' host: the chat completions of an OpenAI-compatible provider; `manners` adds habits of real ones."""

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from predibot.sandbox.server.reply import HttpReply, json_bytes, json_reply
from predibot.sandbox.stocks.forecasters import PromptStock, read_stocks, stock_weights
from predibot.sandbox.world.cohort_forecasters import InsiderChances, wrong_cohort_answers
from predibot.sandbox.world.conversation import ForecasterView, PromptMarket, read_conversation, write_memory
from predibot.sandbox.world.forecasters import NAMES, WORD, Call, answer_of, draw, next_call

CHARACTERS_A_TOKEN = 4
LONG_WAIT_SECONDS = 3_600
"""The `Retry-After` of a rate-limited answer: longer than any deadline, so that no client waits."""
BREAKAGES = ("malformed", "truncated", "refusing", "rate_limited", "out_of_range", "empty")
"""How `broken` fails in bets; the prompt decides which way."""
MISALLOCATIONS = ("not_a_number", "percent", "both_sides", "unknown_assets", "prose")
"""How it fails in portfolios; a game may accept "percent" and "unknown_assets"."""


def answer_chat(
    path: str, body: bytes | None, *, now_seconds: int, informed: InsiderChances = lambda _: None
) -> HttpReply:
    """Return the reply to a chat request, or the list of models; `informed` is what `sharp` knows in a cohort."""
    if body is None and path == "/models":
        rows = [{"id": f"sandbox/{name}", "object": "model", "created": 0, "owned_by": WORD} for name in NAMES]
        return json_reply({"object": "list", "data": rows})
    if body is None or path != "/chat/completions":
        return _error_reply(404, f"there is nothing at {path}")
    try:
        request = json.loads(body)
    except ValueError:
        return _error_reply(400, "the body is no JSON")
    if not isinstance(request, dict) or not _are_messages(request.get("messages")):
        return _error_reply(400, "messages is a list of objects, and not empty")
    if not _are_tools(request.get("tools")):
        return _error_reply(400, "tools is a list of functions with a name")
    if request.get("stream"):
        return _error_reply(400, "the sandbox does not stream; leave stream out")
    name = str(request.get("model", "")).removeprefix("openai/").removeprefix("sandbox/")
    if name not in NAMES:
        return _error_reply(404, f"no model {name[:80]!r}; there are {', '.join(f'sandbox/{each}' for each in NAMES)}")
    return _completion(name, request, informed, now_seconds=now_seconds)


def _completion(name: str, request: Mapping[str, Any], informed: InsiderChances, *, now_seconds: int) -> HttpReply:
    conversation = read_conversation(request)
    stocks = read_stocks(conversation.seed)
    if stocks:
        shares = (PromptMarket(each.ticker, each.ticker, None, assets=(each.ticker,)) for each in stocks)
        conversation = replace(conversation, markets=tuple(shares))
    digest = hashlib.sha256(json.dumps([name, request["messages"]], sort_keys=True).encode()).hexdigest()
    if not conversation.markets and conversation.cohort is None:
        message, reason = _without_markets(request, conversation, digest)
    elif name == "broken":
        kinds: tuple[str, ...] = (*MISALLOCATIONS, *BREAKAGES) if conversation.asks_for_weights else BREAKAGES
        if conversation.cohort is not None:
            kinds = (*wrong_cohort_answers(conversation.cohort), "prose", *BREAKAGES)
        kind = kinds[int(draw(conversation.seed, "broken") * len(kinds))]
        if kind == "rate_limited":
            limited = _error_reply(429, f"too many requests to a {WORD}")
            return HttpReply(429, limited.body, limited.content_type, (("Retry-After", str(LONG_WAIT_SECONDS)),))
        message, reason = _bad_message(kind, conversation, digest)
    elif "final_answer" in conversation.tools:
        call = next_call(name, conversation, informed)
        if stocks:
            call = Call("final_answer", _stock_answer(name, stocks, conversation), "Answer: handed in")
        said = write_memory(conversation, call.action)
        message, reason = _call_message(call.tool, json.dumps(call.arguments), digest, said=said), "tool_calls"
    else:
        answer = _stock_answer(name, stocks, conversation) if stocks else answer_of(name, conversation, informed)
        message, reason = {"role": "assistant", "content": json.dumps(answer)}, "stop"
    return json_reply(_wrap_completion(name, request, message, reason, digest=digest, now_seconds=now_seconds))


def _stock_answer(name: str, stocks: Sequence[PromptStock], conversation: ForecasterView) -> dict[str, object]:
    said = f"A {WORD} ({name})."
    if conversation.reported_weights is not None:
        return {"reasoning": f"{said} As the report has it.", "allocations": conversation.reported_weights}
    weights = {
        ticker: weight
        for ticker, weight in stock_weights(name, stocks, partial(draw, conversation.seed)).items()
        if weight
    }
    news = sum(map(bool, (each.news for each in stocks)))
    return {
        "reasoning": f"{said} There are news of {news} of {len(stocks)} stocks; what they say decides, not the price.",
        "allocations": {**weights, "CASH": round(max(0.0, 1.0 - sum(weights.values())), 4)},
    }


def _wrap_completion(
    name: str, request: Mapping[str, Any], message: dict[str, Any], reason: str, *, digest: str, now_seconds: int
) -> dict[str, Any]:
    read_tokens = 1 + len(json_bytes([request["messages"], request.get("tools")])) // CHARACTERS_A_TOKEN
    written_tokens = 1 + len(json_bytes(message)) // CHARACTERS_A_TOKEN
    return {
        "id": f"chatcmpl-{digest[:24]}",
        "object": "chat.completion",
        "created": now_seconds,
        "model": f"sandbox/{name}",
        "system_fingerprint": WORD,
        "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": reason}],
        "usage": {
            "prompt_tokens": read_tokens,
            "completion_tokens": written_tokens,
            "total_tokens": read_tokens + written_tokens,
        },
    }


def _call_message(tool: str, arguments_json: str, digest: str, *, said: str) -> dict[str, Any]:
    function = {"name": tool, "arguments": arguments_json}
    calls = [{"id": f"call_{digest[:16]}", "type": "function", "function": function}]
    return {"role": "assistant", "content": said, "tool_calls": calls}


def _without_markets(
    request: Mapping[str, Any], conversation: ForecasterView, digest: str
) -> tuple[dict[str, Any], str]:
    """Return a reply to a prompt without markets, such as a trial whether tools can be called."""
    tools = {str(tool.get("function", {}).get("name")): tool for tool in request.get("tools") or ()}
    name = conversation.forced_tool or next(iter(tools), None)
    if name not in tools:
        return {"role": "assistant", "content": f"I am a {WORD}; I see no markets to forecast."}, "stop"
    schema = tools[name]["function"].get("parameters", {})
    arguments = {key: _example_value(schema["properties"][key]) for key in schema.get("required", ())}
    return _call_message(name, json.dumps(arguments), digest, said=f"I am a {WORD}."), "tool_calls"


def _example_value(schema: Mapping[str, Any]) -> object:
    if schema.get("enum"):
        return schema["enum"][0]
    kinds: dict[str, object] = {"number": 1, "integer": 1, "boolean": True, "array": [], "object": {}}
    return kinds.get(str(schema.get("type")), "ok")


def _bad_message(kind: str, conversation: ForecasterView, digest: str) -> tuple[dict[str, Any], str]:
    """Return a reply that no decision can be made from, whatever the complaint."""
    if conversation.cohort is not None:
        answers = wrong_cohort_answers(conversation.cohort)
        wrong = json.dumps({**answers.get(kind, answers["too_much"]), "reasoning": f"A {WORD} (broken)."})
    else:
        wrong = _wrong_weights(kind, conversation) if conversation.asks_for_weights else _wrong_bets(conversation)
    if kind == "refusing":
        refusal = f"I will not forecast this. A {WORD} (broken)."
        return {"role": "assistant", "content": None, "refusal": refusal}, "stop"
    if kind in ("empty", "prose"):
        said = f"I would hold a little of everything and keep the rest. A {WORD} (broken)." if kind == "prose" else ""
        return {"role": "assistant", "content": said}, "stop"
    text = {"malformed": wrong.replace('":', '" ', 3), "truncated": wrong[: len(wrong) // 2]}.get(kind, wrong)
    reason = "length" if kind == "truncated" else "tool_calls"
    if "final_answer" not in conversation.tools:
        return {"role": "assistant", "content": text}, "length" if kind == "truncated" else "stop"
    return _call_message("final_answer", text, digest, said=f"A {WORD} (broken)."), reason


def _wrong_bets(conversation: ForecasterView) -> str:
    market = conversation.markets[0].id
    return json.dumps(
        {
            "market_decisions": [
                {"market_id": market, "estimated_probability": "140%", "bet": 7, "confidence": 11, "rationale": ""},
                {"market_id": f"{market}-other", "estimated_probability": 2, "bet": -7, "confidence": 0},
            ],
            "unallocated_capital": -13,
        }
    )


def _wrong_weights(kind: str, conversation: ForecasterView) -> str:
    yes, no = (*conversation.markets[0].assets, "", "")[:2]
    last = conversation.markets[-1].assets[-1] if conversation.markets[-1].assets else no
    wrong: dict[str, dict[str, object]] = {
        "not_a_number": {yes: math.nan, "CASH": 0.5},
        "percent": {yes: 35, last: 45, "CASH": 20} if last not in (yes, no) else {yes: 80, "CASH": 20},
        "both_sides": {yes: 0.4, no: 0.4, "CASH": 0.2},
        "unknown_assets": {"ACME": 0.5, "BTC": 0.25, yes: 0.25},
    }
    said = {"reasoning": f"A {WORD} (broken).", "allocations": wrong.get(kind, {yes: 3, no: 4, "CASH": -0.5})}
    # NaN is no JSON, and models write it.
    return json.dumps(said)


def _are_messages(messages: object) -> bool:
    return isinstance(messages, list) and bool(messages) and all(isinstance(each, dict) for each in messages)


def _are_tools(tools: object) -> bool:
    if tools is None:
        return True
    rows = tools if isinstance(tools, list) else [tools]
    functions = [row.get("function") if isinstance(row, dict) else None for row in rows]
    return all(isinstance(function, dict) and isinstance(function.get("name"), str) for function in functions)


def _error_reply(status: int, message: str) -> HttpReply:
    kind = "rate_limit_error" if status == 429 else "invalid_request_error"
    code = {404: "not_found", 429: "rate_limit_exceeded"}.get(status)
    content = {"error": {"message": message, "type": kind, "param": None, "code": code}}
    return json_reply(content, status=status)
