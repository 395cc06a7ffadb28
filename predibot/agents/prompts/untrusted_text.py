"""The fence around untrusted text: its mark is secret, so no page can forge its end."""

import re
import string
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache, reduce
from itertools import accumulate
from operator import or_

from predibot.contracts import Context
from predibot.errors import AnswerError
from predibot.games.answers import AnswerComplaint

REMOVED = "(marker removed)"
SHORTENED = "… (shortened)"
_MAX_FENCE_CHARACTERS = 200
"""Longer texts between two brackets are no fence; white space is not counted."""
_BRACKETS = str.maketrans(
    {**dict.fromkeys("❬❰⟨⦑⧼〈", "<"), **dict.fromkeys("❭❱⟩⦒⧽〉", ">")}
    | {**dict.fromkeys("«⟪《⪡", "<<"), **dict.fromkeys("»⟫》⪢", ">>")}
)
_ALSO = {"u": "цμʊ", "n": "пиηղ", "t": "τ", "r": "яг", "e": "єεɛ", "d": "ժ"}
"""Look-alikes of letters that Unicode's table lacks."""
_TAGS = {0xE0000 + code: chr(code) for code in range(0x20, 0x7F)}
_OUTLINED = dict(enumerate(string.ascii_lowercase + string.digits, 0x1CCD6))
_LATIN = re.compile(r"(?:LATIN|INDICATOR SYMBOL) .*?\b([A-Z])\b")
_SIGNS = ("Mn", "Mc", "Me", "Cf", "Cc", "Cn", "Co", "Cs")
"""Categories of characters that are invisible, or visible only on another character."""
_FILLERS = "\u115f\u1160\u3164\uffa0"


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
        """Return the mark before untrusted text."""
        return f"<<untrusted {self.mark}>>"

    @property
    def closing(self) -> str:
        """Return the mark after untrusted text."""
        return f"<<end of untrusted {self.mark}>>"

    def around(self, text: str, characters: int | None = None) -> str:
        """Return a text inside the fence, cut to a number of characters."""
        inside = self.remove_marks(text)
        if characters is not None and len(inside) > characters:
            inside = f"{inside[:characters]}{SHORTENED}"
        return f"{self.opening}\n{inside}\n{self.closing}"

    def inline(self, text: str, characters: int) -> str:
        """Return a text inside the fence on one line, cut to a number of characters."""
        inside = self.remove_marks(" ".join(text.split()))
        if len(inside) > characters:
            inside = f"{inside[:characters]}{SHORTENED}"
        return f"{self.opening} {inside} {self.closing}"

    def for_readers(self, text: str) -> str:
        """Return our own text for people, with what it quotes on one line outside of the fence."""
        return text.replace(f"{self.opening} ", "").replace(f" {self.closing}", "")

    def remove_marks(self, text: str) -> str:
        """Return a text without the mark in any spelling, and without anything that looks like a fence.

        A spelling may differ in case, digits or widths, use look-alike characters, and have anything but letters and
        digits in between. A removed mark leaves words behind, so that the text around it cannot grow together into a
        new mark.

        Source:
            Look-alikes are those of Unicode Technical Standard 39. Differs from its skeletons: a character is compared
            in both of its cases, so it may look like several letters.
        """
        text = _remove_spans(text, _find_word(self.mark, text))
        text = _remove_spans(text, _find_fences(text))
        if re.search("[\U000e0020-\U000e007e]", text):
            text = _remove_spans(text, _find_word(self.mark, text.translate(_TAGS)))
            text = _remove_spans(text, _find_fences(text.translate(_TAGS)))
        return text


def complaint_for_model(error: AnswerError, fence: Fence) -> str:
    """Return a complaint for a model; every word that it quotes is inside the fence.

    A page can put words into an answer, names of fields included, and a venue may call a market an order. A quotation
    without letters, such as most ids and numbers, stays as it is.
    """
    if not isinstance(error, AnswerComplaint):
        return fence.remove_marks(str(error))
    return "".join(
        fence.inline(part, len(part)) if row % 2 and any(map(str.isalpha, part)) else fence.remove_marks(part)
        for row, part in enumerate(error.parts)
    )


def _remove_spans(text: str, spans: Iterable[tuple[int, int]]) -> str:
    pieces, place = list[str](), 0
    for begin, end in spans:
        pieces += text[place:begin], REMOVED
        place = end
    return "".join([*pieces, text[place:]])


def _find_fences(text: str) -> list[tuple[int, int]]:
    """Return where `untrusted` stands between two opening and two closing brackets; of nested places the outermost."""
    shapes = {ord(character): _shape(character) for character in set(text)}
    if not {"<", "{"} & {*shapes.values()}:
        return []
    shape = text.translate(shapes)
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
    """Return whether a part of a text, without the spans in it, is short and says `untrusted`."""
    characters, cuts = visible[end] - visible[begin], list[tuple[int, int]]()
    for first, last in reversed(spans):
        if first < begin or len(cuts) > _MAX_FENCE_CHARACTERS // len(REMOVED):
            break
        characters += len(REMOVED.replace(" ", "")) - (visible[last] - visible[first])
        cuts.append((first - begin, last - begin))
    if characters > _MAX_FENCE_CHARACTERS:
        return False
    return bool(_find_word("untrusted", _remove_spans(text[begin:end], reversed(cuts))))


@lru_cache(maxsize=65_536)
def _shape(character: str) -> str:
    if _is_sign(character := character.translate(_OUTLINED)):
        return " "
    seen = _simplify(character).translate(_BRACKETS)
    for bracket, double in ("<{", ">}"):
        if seen.startswith(2 * bracket):
            return double
        if seen == bracket or bracket in _lookalikes().get(seen, ()):
            return bracket
    return " " if not seen.strip() or _is_sign(seen[0]) else "x"


def _find_word(word: str, text: str) -> list[tuple[int, int]]:
    """Return where a text spells a word in look-alikes, with anything but letters and digits in between. The bits of
    one number have all states of the matcher, so its time grows linearly with the text.
    """
    characters = set(text)
    seen = text.translate({ord(character): _summary(character, word) for character in characters})
    if not re.search(rf"(?:\* *){{{len(word)}}}", seen):
        return []
    ahead = {character: _steps(character, word) for character in characters}
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
    """For each letter that a character stands for, return the bits of letters it resembles and of states it keeps."""
    character = character.translate(_OUTLINED)
    parts = character if _is_sign(character) else _simplify(character)
    # A sign, or a modifier letter, may count as a letter or be skipped. A per cent sign may count as two letters.
    is_between = not any(map(str.isalnum, _strip_signs(character))) or unicodedata.category(character) == "Lm"
    return [(_bits(_likenesses(part), word), -1 if is_between or not part.isalnum() else 0) for part in parts]


def _bits(likenesses: frozenset[str], word: str) -> int:
    places = _places(word)
    return reduce(or_, (places[each] for each in likenesses & places.keys()), 0)


@lru_cache(maxsize=16)
def _places(word: str) -> Mapping[str, int]:
    """Return the places of a word, as bits, where a letter looks like another."""
    places: defaultdict[str, int] = defaultdict(int)
    for row, letter in enumerate(word):
        for alike in _likenesses(letter):
            places[alike] |= 1 << row
    return places


@lru_cache(maxsize=65_536)
def _summary(character: str, word: str) -> str:
    steps = _steps(character, word)
    if matching := sum(bits != 0 for bits, _ in steps):
        return "*" * matching
    return " " if all(kept for _, kept in steps) else "x"


@lru_cache(maxsize=65_536)
def _simplify(character: str) -> str:
    simple = _strip_signs(character) or character
    if len(simple) == 1 and _digit(simple):
        return simple
    return min((each for each in _lookalikes().get(simple, ()) if len(each) > 1), default=simple)


@lru_cache(maxsize=65_536)
def _likenesses(character: str) -> frozenset[str]:
    """Return the casefolded letters that a character looks like; two characters are alike if they share one."""
    own = {character, *_LATIN.findall(unicodedata.name(character, "")), *_digit(character)}
    own.update(letter for letter, alike in _ALSO.items() if character.casefold() in alike)
    forms = {form for each in own for form in (each, each.upper(), each.casefold())}
    return frozenset(each.casefold() for form in forms for each in (form, *_lookalikes().get(form, ())))


def _digit(character: str) -> str:
    number = unicodedata.numeric(character, -1)
    return str(int(number)) if number in range(10) else ""


@lru_cache(maxsize=1)
def _lookalikes() -> Mapping[str, set[str]]:
    # Imported late: the table has ten thousand entries, and most commands do not need it.
    from confusable_homoglyphs.confusables import confusables_data

    table = defaultdict(set)
    for character, others in confusables_data.items():
        for other in (_strip_signs(each["c"]) for each in others):
            # A letter with a sign, like ơ, may look like two; its letter does not.
            if len(other) == 1 or (other and character == _strip_signs(character)):
                table[_strip_signs(character) or character].add(other)
    return table


def _strip_signs(text: str) -> str:
    decomposed = unicodedata.normalize("NFKD", text.translate(_OUTLINED))
    return "".join(character for character in decomposed if not _is_sign(character))


def _is_sign(character: str) -> bool:
    return character in _FILLERS or (unicodedata.category(character) in _SIGNS and not character.isspace())
