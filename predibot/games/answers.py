"""Answers: what the answers of all games share, from untrusted text to complaints. Nothing is repaired and nothing has
a default: a missing value, and a wrong one, is a complaint that a model can act on.
"""

import json
import math
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from predibot.domain.chat import ToolSchema
from predibot.domain.untrusted_text import require_shallow
from predibot.errors import AnswerError

MAX_COMPLAINTS = 12
MAX_ANSWER_CHARACTERS = 100_000
MAX_REASON_CHARACTERS = 480
FINAL_ANSWER = "final_answer"
ABSTAIN = "abstain"
TOKEN_BYTES = 3
"""Bytes of text a token, at least: English has over four, numbers and other alphabets about three."""
REASONING = "reasoning"
MAX_REASONING_CHARACTERS = 16_000
LABEL = "label"
ABSENT = ("", None)
_NOTHING = frozenset({"", "-", "n/a", "nil", "none", "null", "undefined"})
_NO = frozenset({"no", "false", "not applicable"})
"""Words that give no reason, in the field that asks why a bot abstains."""
_KINDS: Mapping[object, type | tuple[type, ...]] = {"array": list, "object": Mapping, "number": (int, float)}
_MAX_SEEN_CHARACTERS = 60
_MAX_LISTED = 20
_OPENS, _CLOSES = "\x0e", "\x0f"
"""Surround foreign words while a sentence is made; `mark_foreign` gets no text with control characters."""


@dataclass(frozen=True, slots=True)
class Words:
    """A game's text about one view, in the parts that prompts are made of."""

    task: str
    view: str
    """The view, from its heading on, everything foreign inside the fence."""
    steps: tuple[str, ...]
    entries: str
    """What the answer must contain, such as `with an entry for every market id above`."""
    ask: str
    report_about: str
    """The subject of a report, such as `on these markets`."""
    report: str
    extract_about: str
    """The subject of a report by somebody else, such as `about an event with 2 markets`."""
    extract_from: str
    """What to take from the report as it stands, and the answer where it is missing."""
    extract_view: str
    """The short view beside the report, without prices."""
    extract: str
    """The rules for an answer taken from a report."""
    objective: str = ""
    """What is scored, what to make as large as can be, and when the price is worth a bet."""
    parts: Mapping[str, str] = field(default_factory=dict)
    """Parts of the view for prompts of the user's own, by the names of `Game.view_fields`, strangers' words fenced."""


def words_of_label(
    task: str,
    objective: str,
    view: str,
    ask: str,
    labels: Sequence[str],
    *,
    report_about: str,
    extract_about: str,
    parts: Mapping[str, str] = MappingProxyType({}),
) -> Words:
    """Return the words for giving one label to an item; the arguments are fields of `Words`."""
    return Words(
        task=task,
        view=view,
        steps=(ask,),
        entries="with one label",
        ask=ask,
        report_about=report_about,
        report=ask,
        extract_about=extract_about,
        extract_from="take the label from the report as it stands.",
        extract_view="",
        extract=f"The label is one of {', '.join(labels)}.",
        objective=objective,
        parts=parts,
    )


def json_line(name: str, rows: Sequence[Mapping[str, object]]) -> str:
    """Return rows as JSON on one line."""
    # A backtick could end the block around it; escaped it is the same JSON.
    return json.dumps({name: rows}, ensure_ascii=False).replace("`", "\\u0060")


def as_block(text: str) -> str:
    """Return JSON in a Markdown block."""
    return f"```json\n{text}\n```"


class AnswerComplaint(AnswerError):
    """What is wrong with an answer, in parts: our words, and those of the answer or the venue."""

    def __init__(self, sentence: str) -> None:
        """Split a sentence at the marks of `mark_foreign`."""
        self.marked = sentence
        """The sentence with its marks."""
        self.parts = tuple(re.split(f"[{_OPENS}{_CLOSES}]", sentence))
        """Our words and foreign ones in turn."""
        super().__init__("".join(self.parts))


def final_answer(description: str, properties: Mapping[str, object]) -> ToolSchema:
    """Return the tool that hands in an answer with these properties, or an abstention."""
    abstain = {"type": "string", "description": "Why you can say nothing at all. Leave it out else."}
    return ToolSchema(FINAL_ANSWER, description, {"type": "object", "properties": {**properties, ABSTAIN: abstain}})


def is_placeholder(name: object, value: object, schema: Mapping[str, object]) -> bool:
    """Return whether an optional field's value is empty, or a word for empty; a field that lists its words has no such
    word.
    """
    if isinstance(value, str) and "enum" not in schema:
        word = value.strip("\t\n \"'`.<>()").casefold()
        return word in _NOTHING or (name == ABSTAIN and word in _NO)
    is_own = isinstance(value, _KINDS.get(schema.get("type"), ())) and not isinstance(value, bool)
    return not value and not is_own


def abstention_of(answer: object) -> str | None:
    """Return why an answer abstains, else None; raise `AnswerError` if it also decides, or gives no reason."""
    if not isinstance(answer, Mapping) or ABSTAIN not in answer:
        return None
    if any(each not in ([], {}) for name, each in answer.items() if name != ABSTAIN):
        raise AnswerError(f"{ABSTAIN} stands beside other fields; hand in a decision without it, or it alone.")
    reason = answer[ABSTAIN]
    if not isinstance(reason, str) or not reason.strip():
        raise AnswerComplaint(f"{ABSTAIN} is {quoted(reason)}; say why, as text, or hand in a decision without it.")
    return " ".join(reason.split())[:MAX_REASON_CHARACTERS]


def abstention_note(reason: str) -> str:
    """Return the note for a model that abstained by itself, not because of a limit."""
    return f"the model abstained: {reason}"


def read_json(text: str, fields: Collection[str]) -> object:
    """Return the value of a text that is JSON and nothing else.

    Args:
        fields: The game's fields; a message repeats no other name, because it may be a stranger's words.

    Raises:
        AnswerError: If it is too long, too deep or no JSON, or has NaN, infinity, or a field twice.
    """
    if len(text) > MAX_ANSWER_CHARACTERS:
        raise AnswerError(f"the answer has {len(text):,} characters; keep it below {MAX_ANSWER_CHARACTERS:,}.")

    try:
        found: object = decoder(fields).decode(text)
    except RecursionError:
        raise AnswerError("the answer is nested too deep; hand in one JSON object as described.") from None
    except ValueError as error:
        # Python's own message on a number of 5,000 digits is about a setting of Python.
        why = str(error).partition(" (")[0]
        raise AnswerError(f"the answer is not JSON ({why}); hand in one JSON object and nothing else.") from None
    return found


def read_object(answer: object, fields: Collection[str], wanted: str) -> Mapping[Any, Any]:
    """Return the object that an answer is, or that its JSON text is; the text also shows repeated fields.

    Raises `AnswerError` if it is no object; the message asks for one with the wanted fields.
    """
    found = read_json(answer, fields) if isinstance(answer, str) else answer
    if not isinstance(found, Mapping):
        raise AnswerComplaint(f"the answer is {quoted(found)}; hand in an object with {wanted}.")
    return found


def decode_json(text: str) -> object:
    """Return the array or object that a text is as JSON, else the text itself."""
    try:
        value = read_json(text, ())
    except AnswerError:
        return text
    return value if isinstance(value, list | dict) else text


def decoder(fields: Collection[str]) -> json.JSONDecoder:
    """Return a decoder of JSON that refuses NaN, infinity and repeated fields; `fields` as for `read_json`."""

    def no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for name, value in pairs:
            if name in found:
                # Nothing can mark foreign words here yet.
                raise ValueError(f"{name if name in fields else 'a field'} is given twice")
            found[name] = value
        return found

    return _Decoder(parse_constant=_no_constant, object_pairs_hook=no_duplicates)


class _Decoder(json.JSONDecoder):
    def decode(self, s: str, *args: Any) -> Any:
        require_shallow(s)
        return super().decode(s, *args)


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is not a number")


def join_complaints(complaints: Sequence[str]) -> str:
    """Return complaints as one text; only the first of many."""
    shown = [f"{text}." for text in complaints[:MAX_COMPLAINTS]]
    if len(complaints) > MAX_COMPLAINTS:
        shown.append(f"{len(complaints) - MAX_COMPLAINTS} more complaints follow when these are fixed.")
    return " ".join(shown)


def list_ids(ids: Sequence[str]) -> str:
    """Return ids for the sentence of an `AnswerComplaint`; only the first of many."""
    shown = ", ".join(map(quoted, ids[:_MAX_LISTED]))
    return shown if len(ids) <= _MAX_LISTED else f"{shown} and {len(ids) - _MAX_LISTED} more"


def number_of(value: object) -> float | None:
    """Return a finite number as a float, None for anything else, booleans and text included."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def reasoning_complaints(reasoning: object) -> Iterator[str]:
    """Yield complaints about the reasoning of an answer."""
    if not isinstance(reasoning, str):
        yield f"{REASONING} is {quoted(reasoning)}; say why, as text"
    elif len(reasoning) > MAX_REASONING_CHARACTERS:
        yield f"{REASONING} is too long ({len(reasoning):,}); keep it below {MAX_REASONING_CHARACTERS:,} characters"


def show_value(value: object) -> str:
    """Return a short text on one line for any value of an answer."""
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 10**_MAX_SEEN_CHARACTERS:
        return "a number of more digits than can be read"
    # ASCII keeps out control characters and lone surrogates.
    text = ascii(value) if isinstance(value, str | int | float | bool | None) else f"a {type(value).__name__}"
    return text if len(text) <= _MAX_SEEN_CHARACTERS else f"{text[: _MAX_SEEN_CHARACTERS - 1]}…"


def quoted(value: object) -> str:
    """Return `seen`, marked as foreign where it repeats words, for the sentence of an `AnswerComplaint`."""
    return mark_foreign(show_value(value)) if isinstance(value, str) else show_value(value)


def mark_foreign(text: str) -> str:
    """Return foreign text, such as the `repr` of an id, with marks for the sentence of an `AnswerComplaint`."""
    return f"{_OPENS}{text}{_CLOSES}"
