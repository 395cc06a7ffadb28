"""The fence around untrusted text: a mark that no page can know, so none can forge its end."""

import itertools
import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from predibot.contracts import Context
from predibot.errors import AnswerError
from predibot.games.answers import AnswerComplaint

REMOVED = "(marker removed)"
SHORTENED = "… (shortened)"
_FENCE_LIKE = re.compile(r"<\s*<[^<>]{0,80}untrusted[^<>]{0,80}>\s*>")
_BRACKETS = {
    **dict.fromkeys("‹˂ᐸ❮❰⟨⧼〈〈", "<"),
    **dict.fromkeys("›˃ᐳ❯❱⟩⧽〉〉", ">"),
    **dict.fromkeys("«≪⟪《⪡", "<<"),
    **dict.fromkeys("»≫⟫》⪢", ">>"),
}
_LOOKALIKES = dict(
    zip("υսцпոηтτтгѕꜱеεҽԁժ", "uuunnnttтrsseeedd", strict=True)
)  # fmt: skip
"""Letters of other scripts that look like those of `untrusted`."""


@dataclass(frozen=True, slots=True)
class Fence:
    """The fence of one decision."""

    mark: str

    @classmethod
    def of(cls, context: Context) -> "Fence":
        """Return the fence of a decision."""
        return cls(context.untrusted_mark)

    @property
    def opening(self) -> str:
        """Return what stands before untrusted text."""
        return f"<<untrusted {self.mark}>>"

    @property
    def closing(self) -> str:
        """Return what stands behind untrusted text."""
        return f"<<end of untrusted {self.mark}>>"

    def around(self, text: str, characters: int | None = None) -> str:
        """Return a text inside the fence, or its beginning where it is longer than so many characters."""
        inside = self.cleared(text)
        if characters is not None and len(inside) > characters:
            inside = f"{inside[:characters]}{SHORTENED}"
        return f"{self.opening}\n{inside}\n{self.closing}"

    def inline(self, text: str, characters: int) -> str:
        """Return the beginning of a text inside the fence, all on one line."""
        inside = self.cleared(" ".join(text.split()))
        if len(inside) > characters:
            inside = f"{inside[:characters]}{SHORTENED}"
        return f"{self.opening} {inside} {self.closing}"

    def cleared(self, text: str) -> str:
        """Return a text without the mark, however it is written, and without anything that looks like a fence.

        Written otherwise is: in other cases, digits or widths, with anything
        but letters and digits in between. What is taken out leaves its words
        behind, so that nothing grows together into a new mark.
        """
        table = {character: _folded(character) for character in set(text)}
        without = self._without_mark(text, {character: _alphanumeric(table[character]) for character in table})
        return _without_fences(without, {**table, **{character: _folded(character) for character in REMOVED}})

    def _without_mark(self, text: str, table: Mapping[str, str]) -> str:
        mark, folded = self.mark.casefold(), _translated(text, table)
        first = folded.find(mark)
        if first < 0:
            return text
        spans = []
        while first >= 0:
            spans.append((first, first + len(mark)))
            first = folded.find(mark, first + len(mark))
        return _cut_out(text, table, spans)


def told(error: AnswerError, fence: Fence) -> str:
    """Return a complaint as a model is told it, in which every word that it quotes is inside the fence.

    A model, or code, may make its answer of what a page said, names of fields included, and a venue may call a market
    an order. What has no letter in it, such as most ids, or a number that was written as text, stays as it is.
    """
    if not isinstance(error, AnswerComplaint):
        return fence.cleared(str(error))
    return "".join(
        fence.inline(part, len(part)) if row % 2 and any(map(str.isalpha, part)) else fence.cleared(part)
        for row, part in enumerate(error.parts)
    )


def _without_fences(text: str, table: Mapping[str, str]) -> str:
    folded = _translated(text, table)
    spans = [match.span() for match in _FENCE_LIKE.finditer(folded)] if "untrusted" in folded else []
    return _cut_out(text, table, spans) if spans else text


def _translated(text: str, table: Mapping[str, str]) -> str:
    return text.translate({ord(character): folded for character, folded in table.items()})


def _cut_out(text: str, table: Mapping[str, str], spans: list[tuple[int, int]]) -> str:
    """Return a text whose characters that stand for these parts of its folded form are replaced.

    Args:
        text: As it was written.
        table: What each of its characters stands for in the folded form.
        spans: Parts of the folded form, in order, none within another.
    """
    # Where in the folded form each character ends.
    ends = list(itertools.accumulate(len(table[character]) for character in text))
    return "".join(_pieces(text, ends, spans))


def _pieces(text: str, ends: list[int], spans: list[tuple[int, int]]) -> Iterator[str]:
    place = 0
    for begin, end in spans:
        first = next((row for row in range(place, len(text)) if ends[row] > begin), len(text))
        yield text[place:first]
        yield REMOVED
        place = next((row for row in range(first, len(text)) if ends[row] >= end), len(text)) + 1
    yield text[place:]


@lru_cache(maxsize=4096)
def _folded(character: str) -> str:
    """Return what a character looks like in plain lower-case letters and digits; nothing for what is not seen."""
    digit = unicodedata.digit(character, None)
    if digit is not None:
        return str(digit)
    if character in _BRACKETS:
        return _BRACKETS[character]
    folded = unicodedata.normalize("NFKD", character).casefold()
    seen = (each for each in folded if unicodedata.category(each) not in ("Cc", "Cf", "Mn", "Me") or each.isspace())
    return "".join(_BRACKETS.get(each, _LOOKALIKES.get(each, each)) for each in seen)


@lru_cache(maxsize=4096)
def _alphanumeric(folded: str) -> str:
    return "".join(character for character in folded if character.isalnum())
