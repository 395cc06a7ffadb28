"""An agent's belief while it still reads, which is no answer and is never played, and the board that shows it, with
the pages that have left its view."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Self
from urllib.parse import urldefrag

from predibot.agents.prompts.untrusted_text import Fence
from predibot.domain.trace import Step, ToolStep
from predibot.domain.untrusted_text import cut_line, one_line
from predibot.errors import AnswerError
from predibot.games.answers import AnswerComplaint, decode_json, list_ids, quoted
from predibot.related.passages import best_passage

UPDATE_BELIEF = "update_belief"
"""The tool that rewrites the belief."""
ERROR = "error:"
"""Tells the model that a call failed."""
MAX_WORDS_CHARACTERS = 600
"""The most characters of each of `evidence_for`, `evidence_against` and `open_questions`."""
MAX_MARKETS = 60
MAX_ID_CHARACTERS = 100


@dataclass(frozen=True, slots=True)
class Belief:
    """Probabilities with the evidence for and against, and what is still to be found out; in a model's own words."""

    probabilities: tuple[tuple[str, float], ...]
    """Market id and probability of YES, in [0, 1], of each market it is about."""
    evidence_for: str
    evidence_against: str
    open_questions: str = ""

    @classmethod
    def of(cls, arguments: Mapping[str, object]) -> Self:
        """Return the belief in the arguments of a call, each text on one line and cut to `MAX_WORDS_CHARACTERS`.

        Open questions and one kind of evidence may be missing. Raises `AnswerError` if another part is missing or of a
        wrong kind; the message says what to write.
        """
        rows = _decoded(arguments.get("probabilities"))
        if not isinstance(rows, Sequence) or isinstance(rows, str) or not 1 <= len(rows) <= MAX_MARKETS:
            raise AnswerError(f"give probabilities as a list of 1 to {MAX_MARKETS} markets")
        texts = [arguments.get(name) or "" for name in ("evidence_for", "evidence_against", "open_questions")]
        if not all(isinstance(text, str) for text in texts):
            raise AnswerError("give evidence_for, evidence_against and open_questions as text")
        words = [cut_line(str(text), MAX_WORDS_CHARACTERS) for text in texts]
        if not words[0] and not words[1]:
            raise AnswerError("give evidence_for or evidence_against, or say in them that there is none")
        return cls(tuple(map(_probability, rows)), *words)

    def require_markets(self, market_ids: Collection[str]) -> None:
        """Raise `AnswerComplaint` if a market is named twice, or is none of the known ones, where any are known; the
        message says what to write.
        """
        names = [market_id for market_id, _ in self.probabilities]
        for market_id in names:
            if market_ids and market_id not in market_ids:
                raise AnswerComplaint(
                    f"there is no market {quoted(market_id)} here; write one of {list_ids([*market_ids])}"
                )
            if names.count(market_id) > 1:
                raise AnswerComplaint(
                    f"market {quoted(market_id)} is given {names.count(market_id)} times; give it once"
                )

    def lines(self) -> tuple[tuple[str, str], ...]:
        """Return what it says, each part with its label."""
        chances = ", ".join(
            f"{cut_line(market_id, MAX_ID_CHARACTERS)} {probability:.3g}"
            for market_id, probability in self.probabilities
        )
        parts = (self.evidence_for, self.evidence_against, self.open_questions)
        labels = ("evidence for", "evidence against", "open questions")
        return (("belief", chances), *((label, text) for label, text in zip(labels, parts, strict=True) if text))


def last_belief(steps: Iterable[Step]) -> Belief | None:
    """Return the last belief of a trace, or None."""
    found = None
    for step in steps:
        if not isinstance(step, ToolStep) or step.name != UPDATE_BELIEF or step.result.startswith(ERROR):
            # One that was refused leaves the one before.
            continue
        if isinstance(step.arguments, Mapping):
            with suppress(AnswerError):
                found = Belief.of(step.arguments)
    return found


def _decoded(value: object) -> object:
    """Return a value; one that was written as text is decoded, as Kimi, Qwen and Claude write nested arguments."""
    return decode_json(value) if isinstance(value, str) else value


def _probability(row: object) -> tuple[str, float]:
    match _decoded(row):
        case {"market_id": str(market_id), "probability": float() | int() as probability} if (
            market_id.strip() and not isinstance(probability, bool) and 0.0 <= probability <= 1.0
        ):
            return market_id, float(probability)
    raise AnswerError("each of probabilities has a market_id as text and a probability from 0 to 1")


PASSAGE_CHARACTERS = 300
"""The most of each page."""
SHORT_PASSAGE_CHARACTERS = 100
MAX_PASSAGES = 20
"""The newest pages keep their passages; of older ones only title, date and address stay."""
MAX_TITLE_CHARACTERS = 80
MAX_URL_CHARACTERS = 240
"""Longer addresses of pages that were read are cut."""
MAX_LISTED_CHARACTERS = 12_000
"""Room for the addresses that one search found."""
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
