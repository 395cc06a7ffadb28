"""The part of a model's text that is no thought, and the JSON objects in it.

A mark of a thought counts only before the first object and outside of JSON strings: the words in such a string may be a
page's, and must not cut an answer off.
"""

import json
import re
from collections.abc import Collection
from dataclasses import dataclass, field

from predibot.domain.untrusted_text import is_deep
from predibot.errors import AnswerError
from predibot.games.answers import MAX_ANSWER_CHARACTERS

MAX_CHARACTERS = 400_000
"""The longest answer, with all thoughts before it."""
_TAGS = "think|thinking|thoughts?|reasoning|analysis|reflection|scratchpad|seed:think|longcat_think|antthinking"
_RESPONSE = r"Here(?: is|['’]s) my response:"
_THOUGHTS = (
    (rf"<(?:{_TAGS})>", rf"</(?:{_TAGS})>"),
    (r"\[THINK\]", r"\[/THINK\]"),
    (r"◁think▷", r"◁/think▷"),
    (r"<\|START_THINKING\|>", r"<\|END_THINKING\|>"),
    (r"<\|begin_of_thought\|>", r"<\|end_of_thought\|>"),
    (r"<\|channel>", r"<channel\|>"),
    (r"<\|channel\|>\s*analysis\s*<\|message\|>", r"<\|end\|>|(?=<\|start\|>|<\|channel\|>)"),
    # From here on: thoughts only if they end.
    (r"<\|channel\|>\s*commentary\s*<\|message\|>", r"(?:<\|end\|>\s*)?(?=<\|start\|>|<\|channel\|>)"),
    # gpt-oss behind a server that removes the marks and leaves the words between them.
    (r"\A\s*(?-i:analysis|commentary)(?=[^:].*assistantfinal)", r"assistantfinal"),
    (rf"\A\s*Here(?: is|['’]s) my thought process:(?=.*{_RESPONSE})", _RESPONSE),
    (r"\A\s*Here are my reasoning steps:(?=.*\[BEGIN FINAL RESPONSE\])", r"\[BEGIN FINAL RESPONSE\]"),
)
"""How thoughts open and close: Qwen, DeepSeek and most others, Mistral, Kimi, Cohere, OpenThinker, Gemma, gpt-oss,
Granite, Apriel.
"""
_LONE = 6
"""The first so many may close without opening, because a server or a template removed the opening mark."""
_SURE = 7
_WORDS = 8
_FLAGS = re.DOTALL | re.IGNORECASE
_CLOSES = [re.compile(closes, _FLAGS) for _, closes in _THOUGHTS]
_NEXT = re.compile(
    "|".join(f"(?P<opens{number}>{opens})" for number, (opens, _) in enumerate(_THOUGHTS))
    + f"|(?P<closes>{'|'.join(closes for _, closes in _THOUGHTS[:_LONE])})"
    + r"""|(?P<list>\[\s*\{\s*["'])|(?P<object>\{\s*(?:["']|\w+\s*:|//|/\*))"""
    + r"""|(?P<call><function=|<(?:\w+:|｜DSML｜)?invoke |<arg_key>|"""
    r"""(?:\A\s*(?:```\w*\s*)?(?:print\()?|(?:<function_calls>|<\|python_tag\|>)\s*|\[\s*)[\w.]+\(\s*\w+\s*=)""",
    _FLAGS,
)
_OBJECT = r"""(?P<object>\{\s*["'])"""
_CLOSES_OR_OBJECT = [re.compile(f"{closes}|{_OBJECT}", _FLAGS) for _, closes in _THOUGHTS]


@dataclass(slots=True)
class SpokenText:
    """A text without its thoughts, and its outermost JSON objects."""

    text: str = ""
    objects: list[tuple[int, dict[str, object]]] = field(default_factory=list)
    problem: str = ""
    """Why the search for objects ended early."""


def remove_thoughts(text: str, decoder: json.JSONDecoder, own: Collection[str] | None = ()) -> SpokenText:
    """Return a text without its thoughts; raise `AnswerError` if the text is too long, or its thoughts never end.

    `own` are the fields of an answer: an object without them before a lone `</think>` is part of the thoughts. With
    None every object may be an answer.
    """
    if len(text) > MAX_CHARACTERS:
        raise AnswerError(f"the answer has {len(text):,} characters; keep it below {MAX_CHARACTERS:,}.")
    text = text.lstrip("\ufeff")
    too_deep = is_deep(text)
    spoken, begin, place, is_answered, is_called = SpokenText(), 0, 0, False, False
    while not spoken.problem and (mark := _NEXT.search(text, place)):
        place, kind = mark.end(), str(mark.lastgroup)
        if kind == "list":
            spoken.problem = "it holds a list"
        elif kind == "object" and too_deep:
            spoken.problem = "it is nested too deep"
        elif kind == "object":
            try:
                value, place = decoder.raw_decode(text, mark.start())
            except (ValueError, RecursionError) as error:
                spoken.problem = str(error).partition(" (")[0]
            else:
                if place - mark.start() > MAX_ANSWER_CHARACTERS:
                    spoken.problem = f"it has more than {MAX_ANSWER_CHARACTERS:,} characters"
                spoken.objects.append((len(spoken.text) + mark.start() - begin, value))
                is_answered = is_answered or own is None or any(name in value for name in own)
        elif kind == "call":
            # Its fields are text without quotes, and marks in them do not count either.
            is_answered = is_called = True
        elif kind == "closes":
            if not is_answered:
                spoken, begin = SpokenText(), place
        elif not (spoken.objects or is_called):
            number = int(kind.removeprefix("opens"))
            is_plain = number < _WORDS or too_deep
            begins = place if is_plain else _skip_objects(text, place, decoder, _CLOSES_OR_OBJECT[number])
            end = _CLOSES[number].search(text, begins)
            if end is None:
                if number >= _SURE:
                    continue
                raise AnswerError("your thoughts do not end; close them, and write the answer behind them.")
            spoken.text += text[begin : mark.start()]
            begin = place = end.end()
    spoken.text += text[begin:]
    return spoken


def _skip_objects(text: str, place: int, decoder: json.JSONDecoder, closes_or_object: re.Pattern[str]) -> int:
    """Return where to search for the end of a thought: behind its objects, whose strings do not count."""
    while (found := closes_or_object.search(text, place)) and found["object"]:
        try:
            _, place = decoder.raw_decode(text, found.start())
        except (ValueError, RecursionError):
            return found.end()
    return place
