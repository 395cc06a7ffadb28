"""The board: what stays in an agent's view when pages leave it."""

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from urllib.parse import urldefrag

from predibot.agents.loop.belief import UPDATE_BELIEF, Belief
from predibot.agents.prompts.untrusted_text import Fence
from predibot.domain.untrusted_text import cut_line, one_line
from predibot.related.passages import best_passage

PASSAGE_CHARACTERS = 300
"""The most of each page."""
SHORT_PASSAGE_CHARACTERS = 100
MAX_PASSAGES = 20
"""Of older pages only title, date and address stay."""
MAX_TITLE_CHARACTERS = 80
MAX_URL_CHARACTERS = 240
"""Of a page that was read; longer addresses are cut."""
MAX_LISTED_CHARACTERS = 12_000
"""Of the addresses that one search found."""
MAX_FOUND = 300
"""Addresses of searches that are listed again, the latest ones."""
_RESULT = re.compile(r"^\d+\. (.*)\n   url: (.*)(?:\n   published: (.*))?", re.MULTILINE)
_HEADING = re.compile(r"(?:(?P<title>[^\n]*)\n)?https?://\S* · (?:published |changed )?(?P<date>[^\n]*)\n")
_PART = re.compile(r"\n\[part \d+ of \d+[^\n]*\]\Z")
_DAY = re.compile(r"\d{4}-\d\d-\d\d")


@dataclass(frozen=True, slots=True)
class VisitedPage:
    """What is kept of a page that was read."""

    title: str = ""
    date: str = ""
    """A day, empty where the page states none."""
    passage: str = ""

    def line(self, url: str, characters: int) -> str:
        """Return the note on one line, its passage cut to a number of characters."""
        words = ": ".join(filter(None, (self.title, self.passage[:characters])))
        address = url if len(url) <= MAX_URL_CHARACTERS else f"{url[:MAX_URL_CHARACTERS]}…"
        return one_line(f"- {words} ({self.date or 'no date'}, {address})")


@dataclass(slots=True)
class Board:
    """The belief, the addresses that were found, and the best passage of each page that was read."""

    question: str = ""
    """The words that a page's best passage is chosen by."""
    market_ids: Collection[str] = ()
    """The markets that a belief may be about; empty where the game names none."""
    belief: Belief | None = None
    pages_since: int = 0
    """Pages read that the belief knows nothing of."""
    pages_unseen: int = 0
    """Those of them read in this turn, so that the model has not seen them yet."""
    found: dict[str, str] = field(default_factory=dict)
    """A line for each address that a search returned, with title and date."""
    pages: dict[str, VisitedPage] = field(default_factory=dict)
    """By address without fragment."""

    def add_results(self, text: str) -> str:
        """Keep the addresses that one of our own providers returned; return those not listed before."""
        room, listed = MAX_LISTED_CHARACTERS, list[str]()
        results = _RESULT.findall(text)
        for title, url, published in results:
            line = f"- {cut_line(title, MAX_TITLE_CHARACTERS)} ({_day(published) or 'no date'}) {one_line(url)}"
            if url in self.found or len(line) >= room:
                continue
            self.found[url] = line
            listed.append(line)
            room -= len(line) + 1
        return "\n".join([text.partition("\n")[0], *listed]) if results else ""

    def add_page(self, url: str, text: str) -> None:
        """Keep title, date and the best passage of a page, or of one more of its parts."""
        before = self.pages.get(url, VisitedPage())
        heading = _HEADING.match(text)
        body = _PART.sub("", text[heading.end() :] if heading else text)
        title = before.title or cut_line(heading["title"] or "", MAX_TITLE_CHARACTERS) if heading else before.title
        date = before.date or (_day(heading["date"]) if heading else "")
        passage = best_passage(f"{before.passage}\n{body}", self.question, PASSAGE_CHARACTERS, known=title)
        self.pages[url] = VisitedPage(title, date, passage)
        self.pages_since += 1
        self.pages_unseen += 1

    def update(self, belief: Belief) -> None:
        """Replace the belief. A model writes it before it has the pages that it reads in the same turn."""
        self.belief, self.pages_since = belief, self.pages_unseen

    def text(self, fence: Fence, *, asks: bool, short: bool = False, lists_found: bool = False) -> str:
        """Return the board for the model, empty before anything was read or believed.

        All but our own sentence is fenced: pages wrote it, or a model that read them. `asks` says whether the model can
        still rewrite its belief, `short` whether passages are cut, as the request has to be short, and `lists_found`
        whether addresses that are not in the conversation any more are listed too.
        """
        self.pages_unseen = 0
        if not self.pages and self.belief is None:
            return ""
        lines = [f"{label}: {words}" for label, words in self.belief.lines()] if self.belief else []
        lines += self._page_lines(SHORT_PASSAGE_CHARACTERS if short else PASSAGE_CHARACTERS)
        if lists_found:
            lines += [line for url, line in self.found.items() if urldefrag(url).url not in self.pages][-MAX_FOUND:]
        return f"{self._own_words(asks)}\n{fence.around(chr(10).join(lines))}"

    def _page_lines(self, characters: int) -> Iterable[str]:
        older = len(self.pages) - MAX_PASSAGES
        for row, (url, note) in enumerate(self.pages.items()):
            yield note.line(url, 0 if row < older else characters)

    def _own_words(self, asks: bool) -> str:
        if not asks or (self.belief is not None and not self.pages_since):
            return "In view: your belief, which is no answer yet, and what was read." if self.belief else "In view:"
        new = f"{self.pages_since} {'page is' if self.pages_since == 1 else 'pages are'} not in it yet"
        return f"With your next call rewrite your belief ({UPDATE_BELIEF}); {new if self.belief else 'there is none'}."


def _day(text: str) -> str:
    found = _DAY.search(text)
    return found[0] if found else ""
