"""Labels: one of some words, read out of what a model wrote around it by a stated rule.

A label counts where it stands as a whole line, after `Answer:`, `Label:` or
`Final answer:` on its line, or as the label of an object; marks, quotes and case
are ignored. The last such line decides. Two labels on it, or a label within a
sentence, are refused: "reveals no side" is no NO.
"""

import re
from collections.abc import Sequence

from predibot.errors import AnswerError
from predibot.games.answers import AnswerComplaint, quoted

_PREFIX = re.compile(
    r"""(?<![^\W_])(?:final\s+answer|answer|label)(?!["']\s*:\s*["'])[\s*_"'`”’]*[:：]""",
    re.IGNORECASE,
)
"""A field of JSON is none."""
_OBJECT = re.compile(r"\{label: ([^{}]*)\}")
_TEMPLATE = re.compile(r"<\|start\|>assistant|<\|channel\|>\w+|<\|\w+\|>|</s>|</?(?:answer|final|label|output)>", re.I)
"""Marks of a chat template, and those that models are trained to put around an answer."""
_WORD = re.compile(r"[^\W_]+(?:[.-][^\W_]+)*")
_BETWEEN = frozenset({"or", "and"})


def read_label(text: str, labels: Sequence[str]) -> tuple[str, str]:
    """Return the label that a text states, and what stands before its line or object.

    Args:
        text: What a model wrote, without its thoughts, an object written as `{label: YES}` on one line.
        labels: That may be answered.

    Raises:
        AnswerError: If it states none, or two at once.

    Examples:
        >>> read_label("They sound sure.\\n**Answer:** yes.", ["YES", "NO"])
        ('YES', 'They sound sure.')
    """
    listed, known = ", ".join(labels), {label.casefold(): label for label in labels}
    lines = _TEMPLATE.sub("", text).splitlines()
    for row in range(len(lines) - 1, -1, -1):
        words = [word.casefold() for word in _WORD.findall(lines[row])]
        found = _OBJECT.search(lines[row])
        *_, said = found.groups() if found else _PREFIX.split(lines[row])
        rest = [word.casefold() for word in _WORD.findall(said)]
        is_stated = said != lines[row] and bool(rest)
        named = {word for word in words if word in known}
        if not is_stated and not (named and set(words) <= named | _BETWEEN):
            continue
        if len(named) != 1 or rest != [*named]:
            raise AnswerComplaint(
                f"the answer is {quoted(lines[row].strip())}; give exactly one of {', '.join(labels)}."
            )
        begun = lines[row][: found.start()] if found else ""
        return known[rest[0]], "\n".join([*lines[:row], begun]).strip()
    what = "no line of the answer is a label alone" if text.strip() else "the answer is empty"
    raise AnswerError(f"{what}; answer with exactly one of {listed}.")
