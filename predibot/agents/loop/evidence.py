"""Research: what an agent looked up, and whether that is enough."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast
from urllib.parse import urldefrag

from predibot.agents.answer.result import MAX_REPAIRS
from predibot.agents.loop.belief import ERROR, UPDATE_BELIEF, Belief, Board
from predibot.agents.prompts.untrusted_text import Fence, complaint_for_model
from predibot.contracts import (
    BUILT_IN_TOOLS,
    VISIT_WEBPAGE,
    WEB_SEARCH,
    ModelNeed,
    Needs,
    Tool,
    Toolbox,
    ToolError,
    ToolResult,
    ToolText,
)
from predibot.domain.chat import ToolSchema, object_schema
from predibot.domain.decision import UNDER_RESEARCHED, WITHOUT_SEARCH
from predibot.domain.trace import Outcome
from predibot.errors import AnswerError
from predibot.games.answers import ABSENT, is_placeholder

MAX_ERROR_CHARACTERS = 240
GIST_CHARACTERS = 700
FAILED_TRIES = 3
"""After so many different tries without a result, the decision is taken without."""
MAX_DAYS = 36_500
_READ = "(read; its best passage stays in view)"
_WORDS = re.compile(r"\w+")

Arguments = Mapping[str, object]

SEARCH = ToolSchema(
    WEB_SEARCH,
    "Search the web: titles, addresses, dates, snippets. Read a page before you rely on it.",
    object_schema(
        ["query"],
        query={"type": "string", "description": "A few words."},
        recent_days={"type": "integer", "description": "Only what was published in so many days."},
        sort={"type": "string", "enum": ["rank", "date"], "description": "Best or latest first."},
    ),
)
VISIT = ToolSchema(
    VISIT_WEBPAGE,
    "Read a page as text, whole until your next call; then its best passage stays.",
    object_schema(
        ["url"],
        url={"type": "string"},
        part={"type": "integer", "description": "Of a long page, from 1."},
        focus={"type": "string", "description": "What to look for first."},
        links={"type": "boolean", "description": "true shows the page's links instead."},
    ),
)
_BELIEVED = object_schema(
    ["market_id", "probability"],
    market_id={"type": "string"},
    probability={"type": "number", "description": "Of YES, from 0 to 1."},
)
BELIEF = ToolSchema(
    UPDATE_BELIEF,
    "What you believe so far. It stays in view when pages leave it, and is no answer. Rewrite it after what you read.",
    object_schema(
        ["probabilities", "evidence_for", "evidence_against"],
        probabilities={"type": "array", "items": _BELIEVED},
        evidence_for={"type": "string", "description": "For YES: facts, sources, dates."},
        evidence_against={"type": "string", "description": "Against YES."},
        open_questions={"type": "string", "description": "What would change your mind."},
    ),
)


def research_needs(model: str, max_steps: int, tools: tuple[str, ...]) -> Needs:
    """Return the needs of a strategy whose model calls tools; they include calls for repairs and a probe."""
    return Needs((ModelNeed(model, calls=max_steps + MAX_REPAIRS + 1, tools=True),), tools=tools, history=True)


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """The answer to a tool call, as the model reads it."""

    text: str
    outcome: Outcome
    """A tool's text or error is fenced; the words of a limit, and our own, are not."""
    gist: str
    """Stands for the text once its turn is over."""
    words: str
    """The text without fence and `ERROR`."""
    is_refusal: bool = False

    def __str__(self) -> str:
        """Return the text."""
        return self.text

    @classmethod
    def own(cls, text: str) -> "ToolAnswer":
        """Return an answer in our own words, without a fence."""
        return cls(text, "own", text, text)

    @classmethod
    def refusal(cls, text: str) -> "ToolAnswer":
        """Return why a call was not made, in our own words."""
        return replace(cls.own(f"{ERROR} {text}"), is_refusal=True)

    @classmethod
    def limit(cls, text: str) -> "ToolAnswer":
        """Return the message of a limit that was reached."""
        return cls(f"{ERROR} {text}", "limit", f"{ERROR} {text}", text)


Call = Callable[[Arguments, float], ToolAnswer]
"""Takes the arguments and the seconds left."""


@dataclass(slots=True)
class Research:
    """What one agent looked up for its decision."""

    toolbox: Toolbox
    fence: Fence
    min_searches: int
    min_pages: int
    more: Mapping[str, Tool] = field(default_factory=dict)
    queries: set[frozenset[str]] = field(default_factory=set)
    """The words of each different search that found something."""
    empty_queries: set[frozenset[str]] = field(default_factory=set)
    failed_searches: int = 0
    """Searches that no provider answered."""
    unread_pages: set[str] = field(default_factory=set)
    board: Board = field(default_factory=Board)

    @classmethod
    def with_tools(
        cls, toolbox: Toolbox, names: Collection[str], fence: Fence, *, min_searches: int, min_pages: int
    ) -> "Research":
        """Return a research with these tools; raise `PredibotError` if one is unknown or not available here."""
        more = {name: toolbox.open(name) for name in names if name not in BUILT_IN_TOOLS}
        return cls(toolbox.only(names), fence, min_searches, min_pages, more)

    def tools(self) -> Mapping[str, tuple[ToolSchema, Call]]:
        """Return the available tools by name."""
        found: dict[str, tuple[ToolSchema, Call]] = {}
        if self.toolbox.web_search is not None:
            found[SEARCH.name] = (SEARCH, lambda arguments, _seconds: self.search(arguments))
        if self.toolbox.visit_webpage is not None:
            found[VISIT.name] = (VISIT, lambda arguments, _seconds: self.visit(arguments))
        for name, tool in self.more.items():
            found[name] = (tool.schema, self._own_call(tool))
        if found:
            found[BELIEF.name] = (BELIEF, lambda arguments, _seconds: self.believe(arguments))
        return found

    def _own_call(self, tool: Tool) -> Call:
        return lambda arguments, seconds: self.fence_result(tool.call(arguments, seconds))

    def fence_result(
        self, result: ToolResult, *, nothing: str = "it returned nothing", gist: str | None = None
    ) -> ToolAnswer:
        """Return a tool's answer for the model, always inside the fence. `nothing` stands for an empty answer, and
        `gist` for the text in later turns; by default its beginning does.
        """
        text = result.text
        if not text.strip():
            return ToolAnswer.own(f"{ERROR} {nothing}")
        if isinstance(result, ToolError):
            message = f"{ERROR} {self.fence.inline(text, MAX_ERROR_CHARACTERS)}"
            return ToolAnswer(message, "error", message, text, is_refusal=not result.was_called)
        later = self.fence.around(text, GIST_CHARACTERS) if gist is None else gist
        return ToolAnswer(self.fence.around(text), "text", later, text)

    def search(self, arguments: Arguments) -> ToolAnswer:
        """Return the results of a search, or why there are none."""
        arguments = _without_placeholders(arguments, SEARCH)
        query = arguments.get("query")
        words = frozenset(_WORDS.findall(query.casefold())) if isinstance(query, str) else frozenset()
        if self.toolbox.web_search is None or not isinstance(query, str) or not words:
            return ToolAnswer.refusal("give query as text with words in it")
        days, sort = (None if (value := arguments.get(name)) in ABSENT else value for name in ("recent_days", "sort"))
        if days is not None and (isinstance(days, bool) or not isinstance(days, int) or not 1 <= days <= MAX_DAYS):
            return ToolAnswer.refusal(f"recent_days is a whole number of days from 1 to {MAX_DAYS}, or left out")
        if sort not in (None, "rank", "date"):
            return ToolAnswer.refusal("sort is rank or date, or left out")
        stated: dict[str, Any] = {} if days is None else {"recent_days": days}
        stated |= {"by_date": True} if sort == "date" else {}
        # A search counts as empty until it has returned something, so one that raises counts too.
        self.empty_queries.add(words)
        result = self.toolbox.web_search(query, **stated)
        self.failed_searches += isinstance(result, ToolError)
        if _has_text(result):
            self.empty_queries.discard(words)
            self.queries.add(words)
        listed = self.board.add_results(result.text) if isinstance(result, ToolText) else ""
        gist = self.fence.around(listed) if listed else None
        return self.fence_result(result, nothing="the search returned nothing", gist=gist)

    def visit(self, arguments: Arguments) -> ToolAnswer:
        """Return a page's text, or why there is none."""
        arguments = _without_placeholders(arguments, VISIT)
        url, part, focus = arguments.get("url"), arguments.get("part"), arguments.get("focus")
        if self.toolbox.visit_webpage is None or not isinstance(url, str) or not url.strip():
            return ToolAnswer.refusal("give url as text")
        part = 1 if part in ABSENT else part
        if isinstance(part, bool) or not isinstance(part, int) or part < 1:
            return ToolAnswer.refusal("part is a whole number from 1")
        if not isinstance(focus, str | None):
            return ToolAnswer.refusal("focus is text, or left out")
        links = arguments.get("links")
        links = False if links in ABSENT else links
        if not isinstance(links, bool):
            return ToolAnswer.refusal("links is true, or left out")
        page = urldefrag(url.strip()).url
        if page not in self.board.pages:
            self.unread_pages.add(page)
        wanted = (url.strip(), part, focus or None)
        result = self.toolbox.visit_webpage(*wanted, links) if links else self.toolbox.visit_webpage(*wanted)
        if _has_text(result):
            self.unread_pages.discard(page)
            # Seeing a page's links is not reading the page.
            if not links:
                self.board.add_page(page, result.text)
        return self.fence_result(result, nothing="the page is empty", gist=_READ)

    def believe(self, arguments: Arguments) -> ToolAnswer:
        """Replace the belief."""
        try:
            belief = Belief.of(arguments)
            belief.require_markets(self.board.market_ids)
        except AnswerError as error:
            return ToolAnswer.refusal(complaint_for_model(error, self.fence))
        self.board.update(belief)
        return ToolAnswer.own("written down; it is no answer")

    def missing(self) -> str | None:
        """Return what is still to be looked up, or None. Tools that are absent, or failed repeatedly, are excused."""
        wanted = []
        searches, pages = self.min_searches - len(self.queries), self.min_pages - len(self.board.pages)
        if searches > 0 and self.toolbox.web_search is not None and len(self.empty_queries) < FAILED_TRIES:
            wanted.append(f"search {searches} more time{'' if searches == 1 else 's'}, in different words")
        if pages > 0 and self.toolbox.visit_webpage is not None and len(self.unread_pages) < FAILED_TRIES:
            wanted.append(f"read {pages} more page{'' if pages == 1 else 's'}")
        return f"not yet: {' and '.join(wanted)}, then hand in the answer" if wanted else None

    @property
    def notes(self) -> tuple[str, ...]:
        """Return marks for readers: that too little was looked up, or that no search worked."""
        is_less = len(self.queries) < self.min_searches or len(self.board.pages) < self.min_pages
        is_blind = self.failed_searches > 0 and not self.queries
        return (*([UNDER_RESEARCHED] if is_less else []), *([WITHOUT_SEARCH] if is_blind else []))


def _without_placeholders(arguments: Arguments, tool: ToolSchema) -> Arguments:
    """Return the arguments without words such as "null" in optional fields."""
    fields = cast(Mapping[str, Mapping[str, object]], tool.parameters["properties"])
    optional = fields.keys() - set(cast(Sequence[str], tool.parameters["required"]))
    return {
        name: value
        for name, value in arguments.items()
        if not (name in optional and isinstance(value, str) and is_placeholder(name, value, fields[name]))
    }


def _has_text(result: ToolResult) -> bool:
    return isinstance(result, ToolText) and bool(result.text.strip())
