"""A sweep of budgets: what providers that fail, lie, think and cut off really charge never passes a limit."""

import json
import random
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

import httpx
import pytest

from predibot.agents.answer.one_shot import run_one_shot
from predibot.agents.budget.budget import Budget
from predibot.agents.budget.price import TokenPrice
from predibot.agents.loop.run_agent import run_agent
from predibot.agents.loop.tool_loop import LoopLimits
from predibot.agents.models.clients.chat_completions import Endpoint, OpenAICompatibleModel
from predibot.agents.models.metered import MeteredModel
from predibot.contracts import ChatModel
from predibot.domain.budget import Limits
from predibot.errors import BudgetSpent, ModelError, NoAnswer
from predibot.jobs.deciding.opened_models import DeclaredModels
from predibot.plugins.strategies import spec_of
from tests.agents.clients import Clock, retry_of
from tests.agents.scripted import answer, context, research, said

pytestmark = pytest.mark.benchmark

RUNS = 1_000
DECISIONS = 8
PRICE = TokenPrice(1.0, 8.0)
PROMPT = "Will it rain in Paris, and how sure are you of that? " * 20
SAYS = (answer(), answer(said(estimated_probability="60%")), {"abstain": "no news"})


@dataclass(slots=True)
class Provider:
    """One model that charges for all that it read and wrote, whatever it says of it; thread-safe."""

    rng: random.Random
    kinds: Counter[str] = field(default_factory=Counter)
    """How often what was done."""
    usd: float = 0.0
    tokens: int = 0
    lock: Lock = field(default_factory=Lock)
    streams: bool = field(init=False)
    refuses: tuple[str, ...] = field(init=False)
    """Parameters that it does not take."""
    faults: float = field(init=False)
    bytes_a_token: int = field(init=False)

    def __post_init__(self) -> None:
        self.streams = self.rng.random() < 0.3
        self.refuses = tuple(name for name in ("tool_choice", "response_format") if self.rng.random() < 0.3)
        self.faults = self.rng.choice((0.0, 0.1, 0.4))
        self.bytes_a_token = self.rng.choice((2, 4, 6))

    def __call__(self, request: httpx.Request) -> httpx.Response:
        """Answer a request."""
        with self.lock:
            return self._answered(json.loads(request.content), len(request.content))

    def _answered(self, body: dict[str, Any], length: int) -> httpx.Response:
        if self.streams and not body.get("stream"):
            return self._error(400, "This model supports streaming only", "streams only")
        if refused := next((name for name in self.refuses if name in body), None):
            return self._error(400, f"{refused} is not supported", "refuses a parameter")
        sent, most = length // self.bytes_a_token, body["max_tokens"]
        if self.rng.random() < self.faults:
            match self.rng.randrange(5):
                case 0:
                    return self._error(500, "it broke", "breaks")
                case 1:
                    return self._error(429, "too many", "is busy")
                case 2:
                    return self._error(400, "maximum context length is 8192 tokens", "reads no more")
                case _:
                    self._charge(sent, self.rng.randint(0, most), "is lost")
                    raise httpx.ReadError("gone")
        thoughts = self.rng.choice((0, 0, self.rng.randint(0, most - 60)))
        if self.rng.random() < 0.25:
            self._charge(sent, most, "is cut off")
            return self._said(body, {"content": "{"}, "length", self._usage(sent, most, 0))
        self._charge(sent, thoughts + 60, "thinks" if thoughts else "answers")
        message, finish = self._message(body)
        return self._said(body, message, finish, self._usage(sent, thoughts + 60, thoughts))

    def _charge(self, sent: int, came: int, kind: str) -> None:
        self.kinds[kind] += 1
        self.usd += PRICE.usd(sent, came)
        self.tokens += sent + came

    def _error(self, status: int, words: str, kind: str) -> httpx.Response:
        self.kinds[kind] += 1
        return httpx.Response(status, json={"error": {"message": words}})

    def _message(self, body: dict[str, Any]) -> tuple[dict[str, Any], str]:
        """Return a call, an answer, words or nothing."""
        names = [each["function"]["name"] for each in body.get("tools", ())]
        says = json.dumps(self.rng.choice(SAYS))
        if not names or self.rng.random() < 0.2:
            return {"content": self.rng.choice((says, f"<think>hm</think>{says}", "Well."))}, "stop"
        name = self.rng.choice(names)
        arguments = says if name == "final_answer" else json.dumps({"query": "rain", "url": "http://a.example"})
        return {"content": None, "tool_calls": [{"function": {"name": name, "arguments": arguments}}]}, "tool_calls"

    def _usage(self, sent: int, came: int, thoughts: int) -> object:
        """Return what it says of a call: the truth in one of its forms, nothing, or what cannot be."""
        whole = {"prompt_tokens": sent, "completion_tokens": came, "total_tokens": sent + came}
        kind = self.rng.choice(("true", "true", "true", "beside", "total", "float", "none", "low", "zero", "free"))
        self.kinds[f"counts: {kind}"] += 1
        beside = {**whole, "completion_tokens": came - thoughts}
        return {
            "true": {**whole, "completion_tokens_details": {"reasoning_tokens": thoughts}},
            "beside": {**beside, "total_tokens": 0, "completion_tokens_details": {"reasoning_tokens": thoughts}}
            if thoughts > came - thoughts
            else whole,
            "total": beside,
            "float": {name: float(count) for name, count in whole.items()},
            "none": None,
            "low": {"prompt_tokens": 1, "completion_tokens": 0},
            "zero": {"prompt_tokens": 0, "completion_tokens": 0},
            "free": {**whole, "cost": 0.0},
        }[kind]

    def _said(self, body: dict[str, Any], message: dict[str, Any], finish: str, usage: object) -> httpx.Response:
        if not body.get("stream"):
            choice = {"message": {"role": "assistant", **message}, "finish_reason": finish}
            return httpx.Response(200, json={"choices": [choice], "usage": usage})
        self.kinds["in a stream"] += 1
        delta = {"choices": [{"delta": message, "finish_reason": finish}], "usage": usage}
        content = f"data: {json.dumps(delta)}\n\ndata: [DONE]\n\n".encode()
        return httpx.Response(200, content=content, headers={"content-type": "text/event-stream"})


def decide(model: ChatModel, budget: Budget, *, with_tools: bool) -> str:
    """Let an agent or one prompt decide, and return how it ended."""
    seen = context(meter=budget)
    strategy = spec_of("tool_agent" if with_tools else "one_shot", {"model": "m"})
    opened = DeclaredModels(strategy, lambda _: MeteredModel(model, budget, PRICE))("m")
    try:
        if with_tools:
            result = run_agent(opened, PROMPT, research(), seen.form(), seen, LoopLimits())
        else:
            result = run_one_shot(opened, PROMPT, seen.form(), seen)
    except (BudgetSpent, ModelError, NoAnswer) as error:
        return type(error).__name__
    return "decided" if result.decision is not None else result.kind


def test_no_budget_is_overshot_whatever_a_provider_does() -> None:
    rng, kinds, ends, over = random.Random(20261126), Counter[str](), Counter[str](), []
    for run in range(RUNS):
        usd = rng.choice((None, rng.choice((0.02, 0.2, 3.0)) * rng.random()))
        tokens = rng.choice((None, rng.choice((20_000, 100_000, 900_000)) * rng.randint(1, 10) // 10))
        limits = Limits(usd=usd, tokens=tokens, steps=rng.choice((None, rng.randint(0, 80))))
        own = Limits(usd=rng.choice((None, 0.1)), tokens=rng.choice((None, 20_000)))
        provider, budget = Provider(random.Random(rng.random())), Budget.of("run", limits)
        endpoint = Endpoint("http://models.test/v1", transport=httpx.MockTransport(provider))
        model = OpenAICompatibleModel("m", endpoint, retry=retry_of(Clock()), price=PRICE)
        with_tools, threads = rng.random() < 0.5, rng.choice((1, 4))

        def once(_: int, model: ChatModel = model, budget: Budget = budget, tools: bool = with_tools) -> str:
            inside = budget.inside("decision", own, wait_seconds=20.0)  # noqa: B023
            return decide(model, inside, with_tools=tools)

        with ThreadPoolExecutor(threads) as pool:
            ends.update(pool.map(once, range(DECISIONS)))
        kinds += provider.kinds
        spent = budget.spent()
        if provider.usd > spent.usd + 1e-9 or provider.tokens > spent.tokens:
            over.append((run, "more than was booked", provider.usd, spent))
        if usd is not None and max(provider.usd, spent.usd) > usd + 1e-9:
            over.append((run, "dollars", provider.usd, spent, limits))
        if tokens is not None and max(provider.tokens, spent.tokens) > tokens:
            over.append((run, "tokens", provider.tokens, spent, limits))
        if limits.steps is not None and spent.steps > limits.steps:
            over.append((run, "steps", spent, limits))
    print(f"\n{RUNS} runs of {DECISIONS} decisions, {len(over)} overshoots; {dict(ends)}; the provider: {dict(kinds)}")
    assert over == []
