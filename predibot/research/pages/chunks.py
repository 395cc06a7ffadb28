"""Passages: a text in parts that a model can afford, the most relevant first."""

import math
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache

from predibot.related.passages import bm25_scores, sentences_of, terms_of

PART_TOKENS = 2_200
"""With its heading a part stays below 2,500."""
FOCUS_TOKENS = 700
PASSAGE_CHARACTERS = 900
_PIECE = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|\d+|(?! (?![\s\d]))\s+|[^\W\d_A-Za-z]+|[^\w\s]|_")
"""A word, capitals, digits, blanks, letters of another script, or a sign; the blank before a word is free."""
_CODE = re.compile(r"[A-Za-z0-9+/=_-]{8,}")
"""May be a code, such as base64, in place of words."""
_WORD = re.compile(r"\w+")
_ENGLISH = frozenset({"the", "of", "and", "to", "that", "for", "with", "is", "was", "in"})
_ENGLISH_SHARE = 0.08
"""At least so many words of an English text are among these. Models spend the fewest tokens on English."""
_LONGEST_WORD_LETTERS = 20
"""Longer words are codes, with two letters a token."""
_CODE_PIECE_CHARACTERS = 3
"""The mean length between two changes of case or kind; words' is longer, codes' shorter."""
_CODE_FACTOR = 1.3
"""A code costs more than its pieces, because they are rare."""
_LONGEST_ACCENTED_RUN = 3
"""The most accented letters in a row in a word of any language."""
_TOKENS_A_LETTER = (
    (0x0250, 1.0),  # Latin with accents
    (0x0300, 2.0),  # phonetic letters
    (0x0370, 2.0),  # accents that stand alone
    (0x0400, 1.1),  # Greek
    (0x0530, 0.8),  # Cyrillic
    (0x0590, 2.2),  # Armenian
    (0x0600, 1.2),  # Hebrew
    (0x0700, 1.0),  # Arabic
    (0x0900, 3.0),
    (0x0980, 1.3),  # Devanagari
    (0x0E00, 2.2),  # from Bengali to Sinhala
    (0x0E80, 1.1),  # Thai
    (0x1100, 2.4),  # from Lao to Georgian
    (0x1E00, 3.0),  # from Ethiopic to Khmer
    (0x1F00, 1.0),  # Latin of Vietnamese
    (0x2000, 3.0),
    (0x2100, 1.0),  # punctuation
    (0x3000, 3.0),  # arrows, mathematics, boxes
    (0x3100, 1.2),  # Japanese syllables and punctuation
    (0xAC00, 1.5),  # Chinese
    (0xD7B0, 1.9),  # Korean
    (0xFB00, 3.0),
    (0xFE00, 1.5),
    (0x1F000, 3.0),
    (0x20000, 3.0),  # pictures
)
"""The cost of letters and signs below a code point. Beyond the last one, each of their four bytes may be a token."""
_BYTES_OF_THE_RAREST = 4.0
_MOST_TOKENS_A_CHARACTER = 4
_LIMITS = [limit for limit, _ in _TOKENS_A_LETTER]


def estimate_tokens(text: str) -> int:
    """Return about how many tokens a text costs; rather too many than too few.

    The estimate follows the text's shape, since each model has its own vocabulary: six letters of an English word and
    three of another, three digits, two capitals, or one to four tokens a character of another script. Text that changes
    case and kind all the time is a code, and costs a third more. On the recorded pages in English the estimate is 0.96
    to 1.4 times cl100k_base. Random letters, which no language has, may cost half as much again.
    """
    words = _WORD.findall(text)
    is_english = sum(word in _ENGLISH for word in words) >= _ENGLISH_SHARE * len(words)
    letters_a_token = 6 if is_english else 3
    plain = _sum_costs(_PIECE.findall(text), letters_a_token)
    return math.ceil(plain + sum(_code_cost(code) for code in _CODE.findall(text)))


def _sum_costs(pieces: Sequence[str], letters_a_token: int) -> float:
    return sum(count * _cost(piece, letters_a_token) for piece, count in Counter(pieces).items())


def _cost(piece: str, letters_a_token: int) -> float:
    """Return about how many tokens a piece costs."""
    if "a" <= piece[-1] <= "z":
        return -(-len(piece) // (2 if len(piece) > _LONGEST_WORD_LETTERS else letters_a_token))
    if "A" <= piece[0] <= "Z":
        return -(-len(piece) // 2)
    if piece.isdecimal():
        return -(-len(piece) // 3)
    if piece.isspace():
        return 1.0
    accented = [letter for letter in piece if ord(letter) < _LIMITS[0]]
    return sum(map(_letter_cost, piece)) + (len(accented) if len(accented) > _LONGEST_ACCENTED_RUN else 0.0)


def _letter_cost(letter: str) -> float:
    """Return about how many tokens a letter or sign of another script than ours costs."""
    row = bisect_right(_LIMITS, ord(letter))
    return _TOKENS_A_LETTER[row][1] if row < len(_TOKENS_A_LETTER) else _BYTES_OF_THE_RAREST


def _code_cost(text: str) -> float:
    """Return the cost of a run of letters and digits beyond its pieces; zero if it consists of words."""
    pieces = [piece for piece in _PIECE.findall(text) if piece.isalnum()]
    if sum(map(len, pieces)) >= _CODE_PIECE_CHARACTERS * len(pieces):
        return 0.0
    return (_CODE_FACTOR - 1.0) * _sum_costs(pieces, _CODE_PIECE_CHARACTERS)


@lru_cache(maxsize=32)
def parts_of(text: str, *, tokens: int = PART_TOKENS) -> tuple[str, ...]:
    """Return a text, a paragraph a line, in parts of `tokens`, cut between paragraphs if possible, else between
    sentences.

    The latest texts' parts are kept, because the bots of a run read the same pages.
    """
    return _pack([piece for line in text.split("\n") for piece in _split_paragraph(line, tokens)], tokens)


def focused_parts(text: str, focus: str, *, tokens: int = FOCUS_TOKENS) -> tuple[str, ...]:
    """Return the passages of a text in parts, best first, ranked by BM25 over the text's own passages. Those without
    any word of `focus` follow in the text's order.
    """
    passages = [piece for line in text.split("\n") for piece in _split_paragraph(line, tokens, PASSAGE_CHARACTERS)]
    scores = bm25_scores(passages, terms_of(focus))
    # Sorting keeps the order of equals, so the same page always reads the same.
    ranked = sorted(range(len(passages)), key=lambda index: -scores[index])
    return _pack([passages[index] for index in ranked], tokens)


def mentions(text: str, focus: str) -> bool:
    """Return whether a text has any word of the focus."""
    return not terms_of(focus).isdisjoint(terms_of(text))


def _split_paragraph(line: str, tokens: int, characters: int | None = None) -> Iterator[str]:
    """Yield a paragraph, in pieces if it is too long for a part or a passage."""
    is_short = len(line) * _MOST_TOKENS_A_CHARACTER <= tokens
    if (is_short or estimate_tokens(line) <= tokens) and (characters is None or len(line) <= characters):
        if line.strip():
            yield line
        return
    yield from _pack(
        [piece for sentence in sentences_of(line) for piece in _split_sentence(sentence, tokens)],
        tokens, glue=" ", characters=characters,
    )  # fmt: skip


def _split_sentence(sentence: str, tokens: int) -> Iterator[str]:
    """Yield a sentence in pieces that fit, cut between words if it has any."""
    begin = 0
    if estimate_tokens(sentence) > tokens:
        most = max(1, tokens // _MOST_TOKENS_A_CHARACTER)
        while len(sentence) - begin > most:
            blank = sentence.rfind(" ", begin + most // 2, begin + most)
            end = blank if blank > begin else begin + most
            yield sentence[begin:end]
            begin = end + (end == blank)
    yield sentence[begin:]


def _pack(pieces: Sequence[str], tokens: int, *, glue: str = "\n", characters: int | None = None) -> tuple[str, ...]:
    """Join pieces into as few parts as their order allows."""
    parts: list[str] = []
    held: list[str] = []
    cost = length = 0
    for piece in pieces:
        more = estimate_tokens(piece) + 1
        too_long = characters is not None and length + len(piece) > characters
        if held and (cost + more > tokens or too_long):
            parts.append(glue.join(held))
            held, cost, length = [], 0, 0
        held.append(piece)
        cost += more
        length += len(piece) + len(glue)
    return (*parts, glue.join(held)) if held else tuple(parts)
