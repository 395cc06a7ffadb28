"""Research: what an agent looked up, whether that is enough, and the board of what it found."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from predibot.agents.fence import Fence
from predibot.contracts import Toolbox
from predibot.domain.chat import ToolSchema

ERROR = "error:"
MAX_BOARD_LINES = 20
_LINE_CHARACTERS = 240
_WORDS = re.compile(r"\w+")

SEARCH = ToolSchema(
    "web_search",
    "Search the web. Returns titles, addresses, dates and snippets; read a page before you rely on it.",
    {
        "type": "object",
        "properties": {"query": {"type": "string", "description": "What to search for, in a few words."}},
        "required": ["query"],
    },
)
VISIT = ToolSchema(
    "visit_webpage",
    "Read a page as text. A long page comes in parts; with focus, the passages that matter come first.",
    {
        "type": "object",
        "properties": {
            "url": {"type": "string", "description": "The address, from a search result or a page."},
            "part": {"type": "integer", "description": "Which part, from 1. Left out: 1."},
            "focus": {"type": "string", "description": "What you are looking for, in a few words. May be left out."},
        },
        "required": ["url"],
    },
)
NOTE = ToolSchema(
    "note_evidence",
    "Pin one finding to the board that stays in view when older text is shortened.",
    {
        "type": "object",
        "properties": {
            "url": {"type": "string", "description": "Where you read it."},
            "date": {"type": "string", "description": "When it was published, as far as you know."},
            "line": {"type": "string", "description": "What it says, in one line."},
            "speaks": {"type": "string", "enum": ["for", "against", "unclear"], "description": "For or against YES."},
        },
        "required": ["url", "line", "speaks"],
    },
)


@dataclass(frozen=True, slots=True)
class Evidence:
    """One line of the board."""

    url: str
    date: str
    line: str
    speaks: str


@dataclass(slots=True)
class Research:
    """What one agent looked up while it decided."""

    toolbox: Toolbox
    fence: Fence
    min_searches: int
    min_pages: int
    queries: set[str] = field(default_factory=set)
    """Different searches that returned something, their words in order of the alphabet."""
    pages: dict[str, str] = field(default_factory=dict)
    """First words of each page that was read, by address."""
    tried: int = 0
    """Calls that returned nothing."""
    board: list[Evidence] = field(default_factory=list)

    def tools(self) -> Mapping[str, tuple[ToolSchema, Callable[[Mapping[str, object]], str]]]:
        """Return the tools there are, by name."""
        found: dict[str, tuple[ToolSchema, Callable[[Mapping[str, object]], str]]] = {}
        if self.toolbox.web_search is not None:
            found[SEARCH.name] = (SEARCH, self.search)
        if self.toolbox.visit_webpage is not None:
            found[VISIT.name] = (VISIT, self.visit)
        if found:
            found[NOTE.name] = (NOTE, self.note)
        return found

    def search(self, arguments: Mapping[str, object]) -> str:
        """Return what a search found, fenced, or one sentence that says why nothing."""
        query = arguments.get("query")
        if self.toolbox.web_search is None or not isinstance(query, str) or not query.strip():
            return f"{ERROR} give a query as text"
        text = self.toolbox.web_search(query)
        if text.startswith(ERROR):
            self.tried += 1
            return text
        self.queries.add(" ".join(sorted(_WORDS.findall(query.casefold()))))
        return self.fence.around(text)

    def visit(self, arguments: Mapping[str, object]) -> str:
        """Return a page's text, fenced, or one sentence that says why not."""
        url, part, focus = arguments.get("url"), arguments.get("part", 1), arguments.get("focus")
        if self.toolbox.visit_webpage is None or not isinstance(url, str) or not url.strip():
            return f"{ERROR} give a url as text"
        if part is None:
            part = 1
        if isinstance(part, bool) or not isinstance(part, int) or part < 1:
            return f"{ERROR} part is a whole number from 1"
        text = self.toolbox.visit_webpage(url, part, focus if isinstance(focus, str) and focus.strip() else None)
        if text.startswith(ERROR):
            self.tried += 1
            return text
        self.pages.setdefault(url, " ".join(text.split())[:_LINE_CHARACTERS])
        return self.fence.around(text)

    def note(self, arguments: Mapping[str, object]) -> str:
        """Pin a finding to the board."""
        url, line, speaks = (str(arguments.get(name, ""))[:_LINE_CHARACTERS] for name in ("url", "line", "speaks"))
        if not line.strip() or speaks not in ("for", "against", "unclear"):
            return f"{ERROR} give line as text, and speaks as for, against or unclear"
        if len(self.board) >= MAX_BOARD_LINES:
            return f"{ERROR} the board is full; it holds {MAX_BOARD_LINES} lines"
        self.board.append(Evidence(url, str(arguments.get("date", ""))[:40], line, speaks))
        return "pinned"

    def missing(self) -> str | None:
        """Return what is still to be looked up before a decision is taken, or None."""
        wanted = []
        if self.toolbox.web_search is not None and len(self.queries) < self.min_searches:
            wanted.append(f"{self.min_searches - len(self.queries)} more searches in different words")
        if self.toolbox.visit_webpage is not None and len(self.pages) < self.min_pages:
            wanted.append(f"{self.min_pages - len(self.pages)} more pages to read")
        return f"not yet: {' and '.join(wanted)}, then hand in the answer" if wanted else None

    @property
    def under_researched(self) -> bool:
        """Return whether less was looked up than the recipe asks for."""
        return len(self.queries) < self.min_searches or len(self.pages) < self.min_pages

    def board_text(self) -> str:
        """Return the board for the model, fenced because its lines come from the web; empty without lines."""
        pinned = {each.url for each in self.board}
        lines = [f"- {each.speaks}: {each.line} ({each.date or 'no date'}, {each.url})" for each in self.board]
        lines += [f"- read: {words} ({url})" for url, words in self.pages.items() if url not in pinned]
        if not lines:
            return ""
        shown = "\n".join(lines[-MAX_BOARD_LINES:])
        return f"What was found so far:\n{self.fence.around(shown)}"
