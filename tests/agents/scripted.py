"""Models that say what a script says, tools that return what a script returns, and the event they are about."""

import json
import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from predibot.agents.loop.evidence import Research
from predibot.agents.prompts.untrusted_text import Fence
from predibot.contracts import Context, Toolbox, ToolError, ToolResult, ToolText
from predibot.domain.chat import ChatReply, ChatRequest, Cost, FinishReason, Message, ToolCall, Usage
from predibot.domain.event import Event, EventView, Market, MarketRef
from predibot.domain.price import Quote
from predibot.games.dollar_per_event import DollarPerEvent

NOW = datetime(2026, 1, 5, 12, tzinfo=UTC)
FENCE = Fence("0123456789abcdef")

Turn = str | ChatReply | Exception | tuple[str, object] | list[tuple[str, object]]
"""Free text, a whole reply, an error, one call, or several calls; a call's arguments are JSON where they are text."""


def rain(*ids: str, price: float = 0.4) -> Event:
    """Return an event with a quoted market for each id."""
    quote = Quote(NOW, bid=price - 0.01, ask=price + 0.01)
    markets = tuple(Market(MarketRef(each), f"Rain in {each}?", ("Yes", "No"), quote=quote) for each in ids or ("m1",))
    return Event("e1", "Will it rain?", markets)


def said(market_id: str = "m1", **changed: object) -> dict[str, object]:
    """Return what an answer says about one market."""
    plain = {"market_id": market_id, "estimated_probability": 0.6, "bet": 0.5, "confidence": 7, "rationale": "clouds"}
    return {**plain, **changed}


def answer(*markets: Mapping[str, object], unallocated: object = 0.5) -> dict[str, object]:
    """Return an answer that holds, or one with the given markets."""
    return {"market_decisions": [dict(each) for each in markets or (said(),)], "unallocated_capital": unallocated}


GOOD: Turn = ("final_answer", answer())
TWO_SEARCHES: list[Turn] = [("web_search", {"query": "rain"}), ("web_search", {"query": "weather tomorrow"})]
TWO_PAGES: list[Turn] = [("visit_webpage", {"url": f"http://a.example/{n}"}) for n in (1, 2)]
RESEARCHED: list[Turn] = [*TWO_SEARCHES, *TWO_PAGES]


def reply(
    text: str = "", calls: Sequence[ToolCall] = (), *, finish: FinishReason = "stop", **more: object
) -> ChatReply:
    message = Message("assistant", text, tuple(calls))
    return ChatReply(message, finish, Usage(10, 5), Cost(0.0, "recipe"), "scripted", 0.0, **more)  # type: ignore[arg-type]


@dataclass(slots=True)
class ScriptedModel:
    """Says one turn of its script after the other, the last one again and again."""

    script: Sequence[Turn]
    before: Callable[[ChatRequest], None] = lambda _request: None
    """Called with each request; may raise what a metered model raises."""
    requests: list[ChatRequest] = field(default_factory=list)
    deadlines: list[float] = field(default_factory=list)

    @property
    def name(self) -> str:
        return "scripted"

    def chat(self, request: ChatRequest, *, deadline_seconds: float) -> ChatReply:
        self.before(request)
        turn = self.script[min(len(self.requests), len(self.script) - 1)]
        self.requests.append(request)
        self.deadlines.append(deadline_seconds)
        if isinstance(turn, Exception):
            raise turn
        if isinstance(turn, ChatReply):
            return turn
        if isinstance(turn, str):
            return reply(turn)
        calls = turn if isinstance(turn, list) else [turn]
        return reply(calls=[self._call(number, *call) for number, call in enumerate(calls)], finish="tool_calls")

    def _call(self, number: int, name: str, arguments: object) -> ToolCall:
        text = arguments if isinstance(arguments, str) else json.dumps(arguments)
        return ToolCall(f"call_{len(self.requests)}_{number}", name, text)

    def told(self) -> str:
        return self.requests[-1].messages[-1].text


def outside(text: str) -> str:
    """Return what of a text stands in no fence."""
    return re.sub(r"<<untrusted (\w+)>>.*?<<end of untrusted \1>>", "", text, flags=re.DOTALL)


def toolbox(
    search: Callable[[str], str | ToolError] = lambda query: f"results for {query}",
    page: Callable[[str, int, str | None], str | ToolError] = lambda url, part, _focus: f"page {url} part {part}",
) -> Toolbox:
    """Return tools that find something whatever is asked; what is no error is what they found."""
    return Toolbox(lambda query: _found(search(query)), lambda url, part, focus: _found(page(url, part, focus)))


def _found(said: str | ToolError) -> ToolResult:
    return said if isinstance(said, ToolError) else ToolText(said)


def research(tools: Toolbox | None = None, *, searches: int = 2, pages: int = 2) -> Research:
    """Return a research that has looked nothing up yet."""
    return Research(toolbox() if tools is None else tools, FENCE, searches, pages)


def context(event: Event | None = None, **more: object) -> Context:
    seen = rain() if event is None else event
    return Context(NOW, EventView(seen), DollarPerEvent(), random.Random(1), **more)  # type: ignore[arg-type]
