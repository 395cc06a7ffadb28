"""The fence around untrusted text: a mark that no page can know, so none can forge its end."""

import re
import string
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate

from predibot.contracts import Context
from predibot.errors import AnswerError
from predibot.games.answers import AnswerComplaint

REMOVED = "(marker removed)"
SHORTENED = "… (shortened)"
_MAX_FENCE_CHARACTERS = 200
"""Of what looks like a fence, its white space not counted: more between two brackets is text."""
_BRACKETS = str.maketrans(
    {**dict.fromkeys("❬❰⟨⦑⧼〈", "<"), **dict.fromkeys("❭❱⟩⦒⧽〉", ">")}
    | {**dict.fromkeys("«⟪《⪡", "<<"), **dict.fromkeys("»⟫》⪢", ">>")}
)
"""Those that are no look-alikes in Unicode's table, which has the others."""
_ALSO = {"u": "цμʊ", "n": "пиηղ", "t": "τ", "r": "яг", "e": "єεɛ", "d": "ժ"}
"""Letters that are read so where a word is expected, and that Unicode's table has not."""
_TAGS = {0xE0000 + code: chr(code) for code in range(0x20, 0x7F)}
"""Invisible, but some models read them as letters."""
_OUTLINED = dict(enumerate(string.ascii_lowercase + string.digits, 0x1CCD6))
"""Letters of Unicode 16, which Python itself knows since 3.14."""
_LATIN = re.compile(r"(?:LATIN|INDICATOR SYMBOL) .*?\b([A-Z])\b")
_SIGNS = ("Mn", "Mc", "Me", "Cf", "Cc", "Cn", "Co", "Cs")
"""Categories of what is not seen, or is seen on another character only."""
_FILLERS = "\u115f\u1160\u3164\uffa0"
"""Letters that are not seen."""


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

        Written otherwise is: in other cases, digits or widths, in characters
        that look alike, with anything but letters and digits in between. What
        is taken out leaves its words behind, so that nothing grows together
        into a new mark.

        Source:
            Look-alikes are those of Unicode Technical Standard 39. Differs from
            its skeletons: a character may look like several letters, since it
            is compared in both of its cases.
        """
        for aliases in ({}, _TAGS):
            text = _cut_out(text, _found(self.mark, text.translate(aliases)))
            text = _cut_out(text, _fences(text.translate(aliases)))
            if not re.search("[\U000e0020-\U000e007e]", text):
                break
        return text


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


def _cut_out(text: str, spans: Iterable[tuple[int, int]]) -> str:
    pieces, place = list[str](), 0
    for begin, end in spans:
        pieces += text[place:begin], REMOVED
        place = end
    return "".join([*pieces, text[place:]])


def _fences(text: str) -> list[tuple[int, int]]:
    """Return where there is `untrusted` between two opening and two closing brackets, the outermost of such places."""
    shape = text.translate({ord(character): _shape(character) for character in set(text)})
    if not {"<", "{"} & set(shape):
        return []
    visible = [0, *accumulate(character != " " for character in shape)]
    spans: list[tuple[int, int]] = []
    openings: list[tuple[int, int]] = []
    half = len(text)
    for token in re.finditer(r">\s*>|[<{}]", shape):
        begin, end = token.span()
        if token[0] == "{":
            openings.append((begin, end))
        elif token[0] == "<":
            if half < begin and visible[half + 1] == visible[begin]:
                openings.append((half, end))
            half = begin
        elif openings:
            first, inside = openings.pop()
            if _is_fence(text, visible, spans, inside, begin):
                while spans and spans[-1][0] >= first:
                    spans.pop()
                spans.append((first, end))
                while openings and openings[-1][1] > first:
                    openings.pop()
    return spans


def _is_fence(text: str, visible: list[int], spans: list[tuple[int, int]], begin: int, end: int) -> bool:
    """Return whether a part of a text, without what is cut out of it, is short and says `untrusted`."""
    characters, cuts = visible[end] - visible[begin], list[tuple[int, int]]()
    for first, last in reversed(spans):
        if first < begin or len(cuts) > _MAX_FENCE_CHARACTERS // len(REMOVED):
            break
        characters += len(REMOVED.replace(" ", "")) - (visible[last] - visible[first])
        cuts.append((first - begin, last - begin))
    if characters > _MAX_FENCE_CHARACTERS:
        return False
    return bool(_found("untrusted", _cut_out(text[begin:end], reversed(cuts))))


def _shape(character: str) -> str:
    if _is_sign(character := character.translate(_OUTLINED)):
        return " "
    seen = _simple(character).translate(_BRACKETS)
    for bracket, double in ("<{", ">}"):
        if seen.startswith(2 * bracket):
            return double
        if seen == bracket or bracket in _lookalikes().get(seen, ()):
            return bracket
    return " " if not seen.strip() or _is_sign(seen[0]) else "x"


def _found(word: str, text: str) -> list[tuple[int, int]]:
    """Return where a word is in a text, in look-alikes of its letters, with anything but letters and digits in between.

    All states of a machine that reads the word are in the bits of one number, so the time is that of the text's length.
    """
    ahead = {character: _steps(character, word) for character in set(text)}
    seen = text.translate({ord(character): _summary(steps) for character, steps in ahead.items()})
    if all(part.count("*") < len(word) for part in seen.split("x")):
        return []
    back = {character: _steps(character, word[::-1])[::-1] for character in ahead}
    spans, begin = [], 0
    while (last := _match_end(text, range(begin, len(text)), ahead, len(word))) is not None:
        first = _match_end(text, range(last, begin - 1, -1), back, len(word))
        spans.append((last if first is None else first, last + 1))
        begin = last + 1
    return spans


def _match_end(text: str, places: range, steps: Mapping[str, list[tuple[int, int]]], letters: int) -> int | None:
    state, matched = 0, 1 << letters - 1
    for place in places:
        for bits, kept in steps[text[place]]:
            state = (state << 1 | 1) & bits | state & kept
            if state & matched:
                return place
    return None


@lru_cache(maxsize=65_536)
def _steps(character: str, word: str) -> list[tuple[int, int]]:
    """Return for each letter that a character stands for: a bit for each it resembles, and which states it keeps."""
    character = character.translate(_OUTLINED)
    parts = character if _is_sign(character) else _simple(character)
    # A sign may look like a letter, as may one that is set beside letters, and a per cent sign like two of them.
    is_between = not any(map(str.isalnum, _bare(character))) or unicodedata.category(character) == "Lm"
    return [(_bits(_likenesses(part), word), -1 if is_between or not part.isalnum() else 0) for part in parts]


def _bits(likenesses: frozenset[str], word: str) -> int:
    if likenesses.isdisjoint(_wanted(word)):
        return 0
    return sum(1 << row for row, letter in enumerate(word) if likenesses & _likenesses(letter))


@lru_cache(maxsize=16)
def _wanted(word: str) -> frozenset[str]:
    return frozenset().union(*map(_likenesses, word))


def _summary(steps: list[tuple[int, int]]) -> str:
    if matching := sum(bits != 0 for bits, _ in steps):
        return "*" * matching
    return " " if all(kept for _, kept in steps) else "x"


@lru_cache(maxsize=65_536)
def _simple(character: str) -> str:
    """Return the characters that one is made of, without signs, or of which it has the looks; itself if it is one."""
    simple = _bare(character) or character
    if len(simple) == 1 and _digit(simple):
        return simple
    return min((each for each in _lookalikes().get(simple, ()) if len(each) > 1), default=simple)


@lru_cache(maxsize=65_536)
def _likenesses(character: str) -> frozenset[str]:
    """Return what a simple character looks like or stands for, in small letters; alike is what shares one of them."""
    own = {character, *_LATIN.findall(unicodedata.name(character, "")), *_digit(character)}
    own.update(letter for letter, alike in _ALSO.items() if character.casefold() in alike)
    forms = {form for each in own for form in (each, each.upper(), each.casefold())}
    return frozenset(each.casefold() for form in forms for each in (form, *_lookalikes().get(form, ())))


def _digit(character: str) -> str:
    """Return the digit that a character stands for in its script; empty where it stands for none."""
    number = unicodedata.numeric(character, -1)
    return str(int(number)) if number in range(10) else ""


@lru_cache(maxsize=1)
def _lookalikes() -> Mapping[str, set[str]]:
    # A table of ten thousand, which most commands need not.
    from confusable_homoglyphs.confusables import confusables_data

    table = defaultdict(set)
    for character, others in confusables_data.items():
        for other in (_bare(each["c"]) for each in others):
            # A letter with a sign, like ơ, may look like two; its letter does not.
            if len(other) == 1 or (other and character == _bare(character)):
                table[_bare(character) or character].add(other)
    return table


def _bare(text: str) -> str:
    decomposed = unicodedata.normalize("NFKD", text.translate(_OUTLINED))
    return "".join(character for character in decomposed if not _is_sign(character))


def _is_sign(character: str) -> bool:
    return character in _FILLERS or (unicodedata.category(character) in _SIGNS and not character.isspace())
