"""Answers: what is the same in the answer of every game, from untrusted text to complaints on it.

Nothing is repaired and nothing has a default: what is not said is missing, and
what is said wrongly comes back as a complaint that a model can act on.
"""

import json
import math
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from predibot.domain.chat import ToolSchema
from predibot.errors import AnswerError

MAX_COMPLAINTS = 12
MAX_ANSWER_CHARACTERS = 100_000
MAX_REASON_CHARACTERS = 480
FINAL_ANSWER = "final_answer"
"""The tool by which an answer is handed in."""
ABSTAIN = "abstain"
TOKEN_BYTES = 3
"""Of text: English has more than four a token, numbers and other alphabets about three."""
REASONING = "reasoning"
"""The field of why."""
MAX_REASONING_CHARACTERS = 16_000
LABEL = "label"
"""The field of a label."""
ABSENT = ("", None)
"""What stands in an optional field that is left empty."""
_NOTHING = frozenset({"", "-", "n/a", "nil", "none", "null", "undefined"})
_NO = frozenset({"no", "false", "not applicable"})
"""What stands for nothing where it is asked why a bot abstains."""
_KINDS: Mapping[object, type | tuple[type, ...]] = {"array": list, "object": Mapping, "number": (int, float)}
_MAX_SEEN_CHARACTERS = 60
_MAX_LISTED = 20
_OPENS, _CLOSES = "\x0e", "\x0f"
"""Around foreign words while a sentence is made; no text that `marked` is given holds a control character."""


@dataclass(frozen=True, slots=True)
class Words:
    """What a game has a model told about one view; agents put it into their prompts."""

    task: str
    """What the bot is to do, in a sentence."""
    view: str
    """What is shown, from its heading on, everything foreign inside the fence."""
    steps: tuple[str, ...]
    """What is to be done with it, each a step of a list."""
    entries: str
    """What the answer is handed in with, such as `with an entry for every market id above`."""
    ask: str
    """What is to be answered at once."""
    report_about: str
    """What a report is on, such as `on these markets`."""
    report: str
    """What a report has to say."""
    extract_about: str
    """What somebody else's report is on, such as `about an event with 2 markets`."""
    extract_from: str
    """What is taken out of the report as it stands, and what is answered where it is not there."""
    extract_view: str
    """The little that is shown beside the report, without prices."""
    extract: str
    """What an answer that is taken out of a report must keep to."""


def words_of_label(
    task: str, view: str, ask: str, labels: Sequence[str], *, report_about: str, extract_about: str
) -> Words:
    """Return what a model is told that gives one label to what it is shown; arguments as the fields of `Words`."""
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
    )


def json_line(name: str, rows: Sequence[Mapping[str, object]]) -> str:
    """Return rows as JSON on one line, for models that like it exact."""
    # A backtick could end the block it stands in; escaped it is the same JSON.
    return json.dumps({name: rows}, ensure_ascii=False).replace("`", "\\u0060")


def as_block(text: str) -> str:
    """Return JSON as the block that models know it in."""
    return f"```json\n{text}\n```"


class AnswerComplaint(AnswerError):
    """What is wrong with an answer, which parts of it are our words, and which are the answer's or the venue's."""

    def __init__(self, sentence: str) -> None:
        """Take a sentence apart in which `marked` set off what is foreign."""
        self.parts = tuple(re.split(f"[{_OPENS}{_CLOSES}]", sentence))
        """Ours and foreign ones by turns."""
        super().__init__("".join(self.parts))


def final_answer(description: str, properties: Mapping[str, object]) -> ToolSchema:
    """Return the tool by which an answer with these properties, or an abstention, is handed in."""
    abstain = {"type": "string", "description": "Why you can say nothing at all. Leave it out else."}
    return ToolSchema(FINAL_ANSWER, description, {"type": "object", "properties": {**properties, ABSTAIN: abstain}})


def is_placeholder(name: object, value: object, schema: Mapping[str, object]) -> bool:
    """Return whether a field that may be left out says nothing: it is empty, or a word or value that stands for that.

    Args:
        name: Of the field.
        value: As it was said.
        schema: Of the field; one of a list of words is none of these, whatever it is.
    """
    if isinstance(value, str) and "enum" not in schema:
        word = value.strip("\t\n \"'`.<>()").casefold()
        return word in _NOTHING or (name == ABSTAIN and word in _NO)
    is_own = isinstance(value, _KINDS.get(schema.get("type"), ())) and not isinstance(value, bool)
    return not value and not is_own


def abstention_of(answer: object) -> str | None:
    """Return why an answer abstains, or None for one that does not; what is empty beside it says nothing.

    Raises:
        AnswerError: If it abstains and decides at once, or does not say why.
    """
    if not isinstance(answer, Mapping) or ABSTAIN not in answer:
        return None
    if any(each not in ([], {}) for name, each in answer.items() if name != ABSTAIN):
        raise AnswerError(f"{ABSTAIN} stands beside other fields; hand in a decision without it, or it alone.")
    reason = answer[ABSTAIN]
    if not isinstance(reason, str) or not reason.strip():
        raise AnswerComplaint(f"{ABSTAIN} is {quoted(reason)}; say why, as text, or hand in a decision without it.")
    return " ".join(reason.split())[:MAX_REASON_CHARACTERS]


def abstained(reason: str) -> str:
    """Return how it is stored that a model abstained by itself, which no limit did."""
    return f"the model abstained: {reason}"


def read_json(text: str, fields: Collection[str]) -> object:
    """Return what a text says that is JSON and nothing else.

    Args:
        text: The answer.
        fields: That an answer of the game may have: any other name may be the words of a page.

    Raises:
        AnswerError: If it is too long, too deep or not JSON, holds NaN or
            infinity, or gives a field twice, which most readers would settle
            in silence.
    """
    if len(text) > MAX_ANSWER_CHARACTERS:
        raise AnswerError(f"the answer has {len(text):,} characters; keep it below {MAX_ANSWER_CHARACTERS:,}.")

    try:
        found: object = decoder(fields).decode(text)
    except RecursionError:
        raise AnswerError("the answer is nested too deep; hand in one JSON object as described.") from None
    except ValueError as error:
        # Python's own words on a number of 5,000 digits are about a setting of Python.
        why = str(error).partition(" (")[0]
        raise AnswerError(f"the answer is not JSON ({why}); hand in one JSON object and nothing else.") from None
    return found


def decoded(text: str) -> object:
    """Return what a text says as JSON, or the text itself where that is no array or object."""
    try:
        value = read_json(text, ())
    except AnswerError:
        return text
    return value if isinstance(value, list | dict) else text


def decoder(fields: Collection[str]) -> json.JSONDecoder:
    """Return a decoder of JSON that refuses NaN, infinity, and a field that is given twice.

    Args:
        fields: That an answer may have: any other name may be the words of a page.
    """

    def no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for name, value in pairs:
            if name in found:
                # There is no answer yet by which the words of a page could be told.
                raise ValueError(f"{name if name in fields else 'a field'} is given twice")
            found[name] = value
        return found

    return json.JSONDecoder(parse_constant=_no_constant, object_pairs_hook=no_duplicates)


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is not a number")


def joined(complaints: Sequence[str]) -> str:
    """Return complaints as one text, the first of them where there are many."""
    shown = [f"{text}." for text in complaints[:MAX_COMPLAINTS]]
    if len(complaints) > MAX_COMPLAINTS:
        shown.append(f"{len(complaints) - MAX_COMPLAINTS} more complaints follow when these are fixed.")
    return " ".join(shown)


def listed(ids: Sequence[str]) -> str:
    """Return ids as part of the sentence of an `AnswerComplaint`, the first of them where there are many."""
    shown = ", ".join(map(quoted, ids[:_MAX_LISTED]))
    return shown if len(ids) <= _MAX_LISTED else f"{shown} and {len(ids) - _MAX_LISTED} more"


def number_of(value: object) -> float | None:
    """Return a finite number as a float; None for anything else, booleans and text included."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def reasoning_complaints(reasoning: object) -> Iterator[str]:
    """Yield what is wrong with the reasoning of an answer."""
    if not isinstance(reasoning, str):
        yield f"{REASONING} is {quoted(reasoning)}; say why, as text"
    elif len(reasoning) > MAX_REASONING_CHARACTERS:
        yield f"{REASONING} is too long ({len(reasoning):,}); keep it below {MAX_REASONING_CHARACTERS:,} characters"


def seen(value: object) -> str:
    """Return a short text on one line for something that was said, whatever it is."""
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 10**_MAX_SEEN_CHARACTERS:
        return "a number of more digits than can be read"
    # ASCII, so that no control or half character gets on.
    text = ascii(value) if isinstance(value, str | int | float | bool | None) else f"a {type(value).__name__}"
    return text if len(text) <= _MAX_SEEN_CHARACTERS else f"{text[: _MAX_SEEN_CHARACTERS - 1]}…"


def quoted(value: object) -> str:
    """Return the same as `seen`, marked where it repeats words, for the sentence of an `AnswerComplaint`."""
    return marked(seen(value)) if isinstance(value, str) else seen(value)


def marked(text: str) -> str:
    """Return what is not ours, such as the `repr` of an id, set off in the sentence of an `AnswerComplaint`."""
    return f"{_OPENS}{text}{_CLOSES}"
