"""Research: what an agent looked up, whether that is enough, and the board of what it found."""

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urldefrag

from predibot.agents.answer.result import MAX_REPAIRS
from predibot.agents.prompts.untrusted_text import Fence
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
from predibot.domain.chat import ToolSchema
from predibot.domain.decision import WITHOUT_SEARCH
from predibot.domain.trace import Outcome
from predibot.games.answers import ABSENT

ERROR = "error:"
"""How a model is told that a call returned nothing."""
MAX_ERROR_CHARACTERS = 240
GIST_CHARACTERS = 700
LISTED_CHARACTERS = 4_000
"""Of the titles, addresses and dates of one search, which stay in view."""
MAX_BOARD_LINES = 20
FAILED_TRIES = 3
"""After so many different tries that returned nothing, a decision is taken without."""
MAX_LINE_CHARACTERS = 240
MAX_DAYS = 36_500
_READ_CHARACTERS = 160
_READ = "(read; the board keeps what was found)"
_WORDS = re.compile(r"\w+")
_ENTRY = re.compile(r"^\d+\. .*\n   url: .*(?:\n   published: .*)?", re.MULTILINE)
"""A result without its snippet."""
_SPEAKS = ("for", "against", "unclear")

Arguments = Mapping[str, object]

SEARCH = ToolSchema(
    WEB_SEARCH,
    "Search the web: titles, addresses, dates, snippets. Read a page before you rely on it.",
    {
        "type": "object",
        "properties": {
            "query": {"type": "string", "description": "A few words."},
            "recent_days": {"type": "integer", "description": "Only what was published in the last so many days."},
            "sort": {"type": "string", "enum": ["rank", "date"], "description": "Best or latest first."},
        },
        "required": ["query"],
    },
)
VISIT = ToolSchema(
    VISIT_WEBPAGE,
    "Read a page as text. You see it whole only until your next call, so note what matters.",
    {
        "type": "object",
        "properties": {
            "url": {"type": "string"},
            "part": {"type": "integer", "description": "Of a long page, from 1."},
            "focus": {"type": "string", "description": "What you look for; those passages come first."},
            "links": {"type": "boolean", "description": "true shows the page's links instead."},
        },
        "required": ["url"],
    },
)
NOTE = ToolSchema(
    "note_evidence",
    "Pin one finding to the board that stays in view. Call it together with your next search or visit.",
    {
        "type": "object",
        "properties": {
            "url": {"type": "string", "description": "Where you read it."},
            "date": {"type": "string", "description": "When it was published, if known."},
            "line": {"type": "string", "description": "What it says, in one line."},
            "speaks": {"type": "string", "enum": list(_SPEAKS), "description": "For or against YES."},
        },
        "required": ["url", "line", "speaks"],
    },
)


def research_needs(model: str, max_steps: int, tools: tuple[str, ...]) -> Needs:
    """Return what a strategy declares whose model calls tools for so many turns: calls for repairs and a probe too."""
    return Needs((ModelNeed(model, calls=max_steps + MAX_REPAIRS + 1, tools=True),), tools=tools, history=True)


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """What a model is told that a call returned."""

    text: str
    outcome: Outcome
    """Of a tool, a text or an error: both are fenced. Else a limit that was reached, or words of our own."""
    gist: str
    """What stands for it once its turn is over."""
    words: str
    """What is inside the fence, or the limit says; of our own words, all."""
    is_refusal: bool = False
    """Whether the call was not made, for what stood in it."""

    def __str__(self) -> str:
        """Return what the model is told."""
        return self.text

    @classmethod
    def own(cls, text: str) -> "ToolAnswer":
        """Return words that are ours, and so in no fence."""
        return cls(text, "own", text, text)

    @classmethod
    def refusal(cls, text: str) -> "ToolAnswer":
        """Return why a call was not made, in words that are ours."""
        return replace(cls.own(f"{ERROR} {text}"), is_refusal=True)

    @classmethod
    def limit(cls, text: str) -> "ToolAnswer":
        """Return what a limit says that was reached, which is ours too."""
        return cls(f"{ERROR} {text}", "limit", f"{ERROR} {text}", text)


Call = Callable[[Arguments, float], ToolAnswer]
"""Arguments, and the seconds there are."""


@dataclass(slots=True)
class Research:
    """What one agent looked up while it decided."""

    toolbox: Toolbox
    fence: Fence
    min_searches: int
    min_pages: int
    more: Mapping[str, Tool] = field(default_factory=dict)
    """Tools of the user's own, by name."""
    queries: set[frozenset[str]] = field(default_factory=set)
    """Different searches that returned something, by their words."""
    pages: dict[str, str] = field(default_factory=dict)
    """First words of each page that was read, by address without its fragment."""
    empty_queries: set[frozenset[str]] = field(default_factory=set)
    """Different searches that returned nothing."""
    failed_searches: int = 0
    """Of which nobody answered."""
    unread_pages: set[str] = field(default_factory=set)
    """Addresses that returned nothing."""
    board: list[tuple[str, str]] = field(default_factory=list)
    """Each pinned finding: where it was read, and its line as the model reads it."""

    @classmethod
    def with_tools(
        cls, toolbox: Toolbox, names: Collection[str], fence: Fence, *, min_searches: int, min_pages: int
    ) -> "Research":
        """Return a research with the tools of these names.

        Raises:
            PredibotError: If one of them is none, or cannot be had here.
        """
        more = {name: toolbox.open(name) for name in names if name not in BUILT_IN_TOOLS}
        return cls(toolbox.only(names), fence, min_searches, min_pages, more)

    def tools(self) -> Mapping[str, tuple[ToolSchema, Call]]:
        """Return the tools there are, by name."""
        found: dict[str, tuple[ToolSchema, Call]] = {}
        if self.toolbox.web_search is not None:
            found[SEARCH.name] = (SEARCH, lambda arguments, _seconds: self.search(arguments))
        if self.toolbox.visit_webpage is not None:
            found[VISIT.name] = (VISIT, lambda arguments, _seconds: self.visit(arguments))
        for name, tool in self.more.items():
            found[name] = (tool.schema, self._own_call(tool))
        if found:
            found[NOTE.name] = (NOTE, lambda arguments, _seconds: self.note(arguments))
        return found

    def _own_call(self, tool: Tool) -> Call:
        return lambda arguments, seconds: self.told(tool.call(arguments, seconds))

    def told(self, result: ToolResult, *, nothing: str = "it returned nothing", gist: str | None = None) -> ToolAnswer:
        """Return what the model is told of a tool's answer, in the fence whatever it is.

        Args:
            nothing: What is said where it answered with no words.
            gist: What stands for its text later; None for the beginning of it.
        """
        text = result.text
        if not text.strip():
            return ToolAnswer.own(f"{ERROR} {nothing}")
        if isinstance(result, ToolError):
            said = f"{ERROR} {self.fence.inline(text, MAX_ERROR_CHARACTERS)}"
            return ToolAnswer(said, "error", said, text, is_refusal=not result.was_called)
        later = self.fence.around(text, GIST_CHARACTERS) if gist is None else gist
        return ToolAnswer(self.fence.around(text), "text", later, text)

    def search(self, arguments: Arguments) -> ToolAnswer:
        """Return what a search found, or why nothing."""
        query = arguments.get("query")
        words = frozenset(_WORDS.findall(query.casefold())) if isinstance(query, str) else frozenset()
        if self.toolbox.web_search is None or not isinstance(query, str) or not words:
            return ToolAnswer.refusal("give query as text with words in it")
        days, sort = (None if (said := arguments.get(name)) in ABSENT else said for name in ("recent_days", "sort"))
        if days is not None and (isinstance(days, bool) or not isinstance(days, int) or not 1 <= days <= MAX_DAYS):
            return ToolAnswer.refusal(f"recent_days is a whole number of days from 1 to {MAX_DAYS}, or left out")
        if sort not in (None, "rank", "date"):
            return ToolAnswer.refusal("sort is rank or date, or left out")
        stated: dict[str, Any] = {} if days is None else {"recent_days": days}
        stated |= {"by_date": True} if sort == "date" else {}
        # Until the search is over it counts as one that returned nothing, also where it raises.
        self.empty_queries.add(words)
        result = self.toolbox.web_search(query, **stated)
        self.failed_searches += isinstance(result, ToolError)
        if _is_something(result):
            self.empty_queries.discard(words)
            self.queries.add(words)
        listed = _listed(result.text)
        gist = self.fence.around(listed, LISTED_CHARACTERS) if listed else None
        return self.told(result, nothing="the search returned nothing", gist=gist)

    def visit(self, arguments: Arguments) -> ToolAnswer:
        """Return a page's text, or why there is none."""
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
        if page not in self.pages:
            self.unread_pages.add(page)
        wanted = (url.strip(), part, focus or None)
        result = self.toolbox.visit_webpage(*wanted, links) if links else self.toolbox.visit_webpage(*wanted)
        if _is_something(result):
            self.unread_pages.discard(page)
            # Who saw where a page leads has not read it.
            if not links:
                self.pages.setdefault(page, _one_line(result.text, _READ_CHARACTERS))
        return self.told(result, nothing="the page is empty", gist=_READ)

    def note(self, arguments: Arguments) -> ToolAnswer:
        """Pin a finding to the board."""
        url, line, speaks = (arguments.get(name) for name in ("url", "line", "speaks"))
        date = arguments.get("date") or ""
        if not isinstance(url, str) or not isinstance(line, str) or not isinstance(date, str) or not line.strip():
            return ToolAnswer.refusal("give url and line as text, and date too or leave it out")
        if not isinstance(speaks, str) or speaks not in _SPEAKS:
            return ToolAnswer.refusal(f"speaks is one of {', '.join(_SPEAKS)}")
        if len(self.board) >= MAX_BOARD_LINES:
            return ToolAnswer.refusal(f"the board is full; it holds {MAX_BOARD_LINES} lines")
        url, line = _one_line(url, MAX_LINE_CHARACTERS), _one_line(line, MAX_LINE_CHARACTERS)
        self.board.append((url, f"- {speaks}: {line} ({_one_line(date, 40) or 'no date'}, {url})"))
        return ToolAnswer.own("pinned")

    def missing(self) -> str | None:
        """Return what is still to be looked up, or None; not what there is no tool for, or failed again and again."""
        wanted = []
        searches, pages = self.min_searches - len(self.queries), self.min_pages - len(self.pages)
        if searches > 0 and self.toolbox.web_search is not None and len(self.empty_queries) < FAILED_TRIES:
            wanted.append(f"search {searches} more times, in different words")
        if pages > 0 and self.toolbox.visit_webpage is not None and len(self.unread_pages) < FAILED_TRIES:
            wanted.append(f"read {pages} more pages")
        return f"not yet: {' and '.join(wanted)}, then hand in the answer" if wanted else None

    @property
    def notes(self) -> tuple[str, ...]:
        """Return what a reader should know: that less was looked up than the recipe asks for, or nothing found."""
        is_less = len(self.queries) < self.min_searches or len(self.pages) < self.min_pages
        is_blind = self.failed_searches > 0 and not self.queries
        return (*(["under_researched"] if is_less else []), *([WITHOUT_SEARCH] if is_blind else []))

    def board_text(self) -> str:
        """Return the board for the model, fenced because its lines come from the web; empty without lines.

        Pinned findings come first and all stay; below them the latest of the pages nothing was pinned from.
        """
        pinned = {urldefrag(url).url for url, _ in self.board}
        read = [f"- read: {words} ({url})" for url, words in self.pages.items() if url not in pinned]
        room = MAX_BOARD_LINES - len(self.board)
        lines = [*(line for _, line in self.board), *(read[-room:] if room else [])]
        return f"What was found so far:\n{self.fence.around(chr(10).join(lines))}" if lines else ""


def _is_something(result: ToolResult) -> bool:
    return isinstance(result, ToolText) and bool(result.text.strip())


def _listed(text: str) -> str:
    """Return whole results without their snippets, which are read once; nothing where none is written as ours are."""
    entries, room = _ENTRY.findall(text), LISTED_CHARACTERS
    whole = []
    for entry in [text.partition("\n")[0], *entries] if entries else []:
        room -= len(entry) + 1
        if room < 0:
            break
        whole.append(entry)
    return "\n".join(whole)


def _one_line(text: str, characters: int) -> str:
    """Return the first characters of a text, on one line."""
    return " ".join(text[: 4 * characters].split())[:characters]
