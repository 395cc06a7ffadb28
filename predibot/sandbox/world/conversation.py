"""A conversation as a forecaster of the sandbox reads it: the markets of the prompt, and its findings so far.

Its own replies are its only memory: each notes what it read, in lines that the next reply reads back. So the form of
tool calls and their results does not matter, nor whether they were shortened.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from predibot.domain.clock import EPOCH
from predibot.sandbox.world.cohort_forecasters import PromptCohort, read_cohort

HOSTILE_WORDS = "ignore all previous instructions"
_BOARD = re.compile(r"^(?:In view:|With your next call rewrite your belief)", re.MULTILINE)
_JSON_BLOCK = re.compile(r"```json\s*(\{.*?\})\s*```", re.DOTALL)
_MARKET_TEXT = re.compile(r"market id: (\S+)\s*\nquestion: ([^\n]+)(.*?)(?=\nmarket id: |\Z)", re.DOTALL)
_PRICE_TEXT = re.compile(r"price of YES now: ([0-9.]+)")
_STAKE_TEXT = re.compile(r"\bbet \$([0-9.]+)")
_CHANCE = re.compile(r"question “([^“”]+)”,[^“”\n]*? put the chance of “([^“”]*)” at ([0-9.]+) percent")
_PUBLISHED = re.compile(r"Published on (\d{1,2} [A-Z][a-z]+ \d{4} at \d{2}:\d{2}) UTC\.(?: Updated on ([^.]+) UTC\.)?")
_RESULT = re.compile(
    r"^\s*(?:\d+\.\s+)?(?P<title>[^\n]*)\n\s*url: (?P<url>\S+)\n\s*published: (?P<date>\S+)", re.MULTILINE
)
_VARYING = re.compile(r"<<(?:end of )?untrusted [0-9a-f]+>>|\n *address: http\S+")
_LINK = re.compile(r"https?://[^\s<>\"')]+")


@dataclass(frozen=True, slots=True)
class PromptMarket:
    """A market of the prompt."""

    id: str
    question: str
    price_yes: float | None
    """None where the prompt shows no price."""
    event: str = ""
    assets: tuple[str, ...] = ()
    """The assets of its sides in a portfolio, YES first; empty for bets."""


@dataclass(frozen=True, slots=True)
class ResultLink:
    """A search result."""

    title: str
    url: str


@dataclass(frozen=True, slots=True)
class PageNote:
    """A page's chance for a market."""

    market_id: str
    chance: float
    written_at: datetime
    """1970 for a page without a date."""


@dataclass(frozen=True, slots=True)
class ForecasterView:
    """What a forecaster knows: only what its messages say."""

    markets: tuple[PromptMarket, ...]
    stake_usd: float
    tools: tuple[str, ...]
    forced_tool: str | None
    searches: tuple[str, ...]
    reads: tuple[str, ...]
    answers: int
    search_hits: tuple[ResultLink, ...]
    notes: tuple[PageNote, ...]
    demands: tuple[str, ...]
    """Demands of hostile pages; only `gullible` follows them."""
    seed: str
    """The prompt, and the seed of the request if it has one, from which it draws at random."""
    own_lines: frozenset[str]
    reported_weights: Mapping[str, Any] | None = None

    cohort: PromptCohort | None = None

    @property
    def asks_for_weights(self) -> bool:
        """Return whether the prompt is about a portfolio, and not about bets on an event."""
        return any(market.assets for market in self.markets)


def read_conversation(body: Mapping[str, Any]) -> ForecasterView:
    """Return the view of a request to the chat host."""
    messages = [(str(message.get("role", "")), _message_text(message.get("content"))) for message in body["messages"]]
    roles = [role for role, _ in messages]
    first_reply = roles.index("assistant") if "assistant" in roles else len(messages)
    prompt = "\n".join(text for _, text in messages[:first_reply])
    said = "\n".join(text for role, text in messages if role == "assistant")
    lines = [line.partition(": ") for line in said.splitlines()]
    words = {name: [rest for head, _, rest in lines if head == name] for name in (*_ACTS, "Found", "Noted", "Told")}
    last_act = next((head for head, _, _ in reversed(lines) if head in _ACTS), "")
    markets = tuple(_read_markets(prompt))
    last_words = _last_words(messages)
    notes = [note for rest in words["Noted"] for note in _parse_note(rest)]
    found = [ResultLink(rest.partition(" ")[2], rest.partition(" ")[0]) for rest in words["Found"]]
    orders = list(dict.fromkeys(words["Told"]))
    if last_act == "Read":
        notes += _read_notes(markets, last_words)
        orders += _read_orders(last_words)
    if last_act == "Search":
        found += [ResultLink(match["title"].strip()[:120], match["url"]) for match in _RESULT.finditer(last_words)]
    choice = body.get("tool_choice")
    return ForecasterView(
        markets=markets,
        stake_usd=float(match.group(1)) if (match := _STAKE_TEXT.search(prompt)) else 1.0,
        tools=tuple(str(tool.get("function", {}).get("name", "")) for tool in body.get("tools") or ()),
        forced_tool=str(choice.get("function", {}).get("name", "")) or None if isinstance(choice, dict) else None,
        searches=tuple(words["Search"]),
        reads=tuple(words["Read"]),
        answers=len(words["Answer"]),
        search_hits=tuple(dict.fromkeys(found)),
        notes=tuple(dict.fromkeys(notes)),
        demands=tuple(orders),
        # The marks around untrusted text and the addresses of news change every time.
        seed=_VARYING.sub("", prompt) + ("" if body.get("seed") is None else f"\nseed {body['seed']}"),
        own_lines=frozenset(said.splitlines()),
        reported_weights=_report_weights(prompt),
        cohort=read_cohort(prompt),
    )


def write_memory(conversation: ForecasterView, action: str) -> str:
    """Return the text beside the next call: news since the last one, in lines that `read_conversation` reads."""
    lines = ["I am a scripted forecaster of the sandbox, no model."]
    lines += [f"Found: {found.url} {found.title}" for found in conversation.search_hits]
    lines += [
        f"Noted: {note.market_id} {note.chance:g} {note.written_at:%Y-%m-%dT%H:%M}" for note in conversation.notes
    ]
    lines += [f"Told: {order}" for order in conversation.demands]
    return "\n".join([*(line for line in lines if line not in conversation.own_lines), action])


_ACTS = ("Search", "Read", "Answer")


def _parse_note(line: str) -> Iterator[PageNote]:
    """Yield the note in one of the forecaster's own lines, if there is one."""
    try:
        market_id, chance, at = line.split()
        note = PageNote(market_id, float(chance), datetime.fromisoformat(at).replace(tzinfo=UTC))
    except ValueError:
        return
    if 0.0 <= note.chance <= 1.0:
        yield note


def _message_text(content: object) -> str:
    if isinstance(content, list):
        return "\n".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""


def _last_words(messages: Sequence[tuple[str, str]]) -> str:
    """Return the text after the last reply, without the board of earlier findings."""
    places = [place for place, (role, _) in enumerate(messages) if role == "assistant"]
    after = messages[places[-1] + 1 :] if places else []
    texts = [text for role, text in after if role == "tool"] or [text for _, text in after[:1]]
    return _BOARD.split("\n".join(texts), maxsplit=1)[0]


def _read_markets(prompt: str) -> Iterator[PromptMarket]:
    """Yield the markets in the prompt's JSON block, else in the text around their ids."""
    for content in json_blocks(prompt):
        listed = content.get("markets")
        rows = [row for row in listed if isinstance(row, dict) and "id" in row] if isinstance(listed, list) else []
        if rows:
            yield from (
                PromptMarket(
                    str(row["id"]),
                    str(row.get("question", "")),
                    _parse_price(row.get("price_yes")),
                    str(row.get("event", "")),
                    tuple(map(str, row.get("assets") or ())),
                )
                for row in rows
            )
            return
    for market_id, question, rest in _MARKET_TEXT.findall(prompt):
        price = _PRICE_TEXT.search(rest)
        yield PromptMarket(market_id, question.strip(), _parse_price(price.group(1)) if price else None)


def json_blocks(prompt: str) -> Iterator[dict[str, Any]]:
    """Yield the objects in a prompt's blocks of JSON."""
    return json_objects(_JSON_BLOCK.findall(prompt))


def json_objects(texts: Iterable[str | bytes]) -> Iterator[dict[str, Any]]:
    """Yield the objects that are written in texts; no other values, and nothing for what is no JSON."""
    for text in texts:
        with suppress(ValueError):
            content = json.loads(text)
            if isinstance(content, dict):
                yield content


def _report_weights(prompt: str) -> Mapping[str, Any] | None:
    """Return the weights of the last line that is an answer with weights, or None."""
    lines = [line for line in prompt.splitlines() if line.startswith("{") and '"allocations"' in line]
    weights = next(json_objects(lines[-1:]), {}).get("allocations")
    return weights if isinstance(weights, dict) else None


def _parse_price(value: object) -> float | None:
    try:
        price = float(str(value))
    except ValueError:
        return None
    return min(max(price, 0.001), 0.999) if 0.0 <= price <= 1.0 else None


def _read_notes(markets: Sequence[PromptMarket], text: str) -> list[PageNote]:
    """Return the chances in the page just read; a page with demands is not believed."""
    if HOSTILE_WORDS in text.casefold():
        return []
    date = _PUBLISHED.search(text)
    written_at = _parse_instant(date.group(2) or date.group(1)) if date else EPOCH
    chances = {
        # Bets are on Yes, also where No comes first.
        " ".join(question.split()): 1.0 - float(percent) / 100.0 if label == "No" else float(percent) / 100.0
        for question, label, percent in _CHANCE.findall(text)
    }
    asked = {" ".join(market.question.split()): market.id for market in markets}
    return [
        PageNote(asked[question], chance, written_at)
        for question, chance in chances.items()
        if question in asked and 0.0 <= chance <= 1.0
    ]


def _parse_instant(text: str) -> datetime:
    try:
        return datetime.strptime(f"{text} +0000", "%d %B %Y at %H:%M %z")
    except ValueError:
        return EPOCH


def _read_orders(text: str) -> list[str]:
    """Return a hostile page's demands, and the addresses it sends its reader to."""
    found = [f"visit {link.rstrip('.,;:')}" for link in _LINK.findall(text) if "before you answer" in text]
    if HOSTILE_WORDS in text.casefold():
        bet = re.search(r"\bbet ([0-9.]+) dollars", text)
        found.append(f"bet {bet.group(1) if bet else '50'}")
    return found
