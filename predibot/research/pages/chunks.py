"""Passages: a text in parts a model can afford, and the ones first that answer what it looks for."""

import math
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence

PART_TOKENS = 2_200
"""Of text; with its heading a part stays below 2,500."""
FOCUS_TOKENS = 700
"""A part of what was looked for is smaller: the best comes first."""
PASSAGE_CHARACTERS = 900
"""Longer paragraphs are ranked by their pieces."""
_PIECE = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|\d+|(?! (?![\s\d]))\s+|[^\W\d_A-Za-z]+|[^\w\s]|_")
"""A word, capitals, digits, blanks, letters of another script, a sign; the blank before a word is free."""
_CODE = re.compile(r"[A-Za-z0-9+/=_-]{8,}")
"""What may be no words but a code, such as base64."""
_SENTENCE_END = re.compile(r"(?<=[.!?。！？])\s+")
_WORD = re.compile(r"\w+")
_TERM_SATURATION = 1.2
_LENGTH_SHARE = 0.75
_ENGLISH = frozenset({"the", "of", "and", "to", "that", "for", "with", "is", "was", "in"})
_ENGLISH_SHARE = 0.08
"""Of the words of a text; models are trained on English most, and spend the fewest tokens on it."""
_LONGEST_WORD_LETTERS = 20
"""What is longer is no word but a code, of two letters a token."""
_CODE_PIECE_CHARACTERS = 3
"""Words are longer on average than this between two changes of case or kind; codes are shorter."""
_CODE_FACTOR = 1.3
"""What a code costs beyond its pieces, which are as rare as they are short."""
_DENSE_SCRIPTS = 0x2E80
"""From here on, Chinese, Japanese and Korean: more than a token a character."""
_LONGEST_ACCENTED_RUN = 3
"""Letters with accents that stand together in a word of any language."""
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
"""What letters and signs below a code point cost; beyond, each of the four bytes they take may be a token."""
_BYTES_OF_THE_RAREST = 4.0
_MOST_TOKENS_A_CHARACTER = 4
_LIMITS = [limit for limit, _ in _TOKENS_A_LETTER]


def estimated_tokens(text: str) -> int:
    """Return about how many tokens a text costs; rather too many than too few.

    Counted by its shape, since each model has its own vocabulary: six letters
    of an English word and three of another, three digits, two capitals, or one
    to four tokens a character of another script; what changes case and kind all
    the time is a code, and costs a third more. On the recorded pages in English
    it is 0.96 to 1.4 times cl100k_base. Letters drawn at random, which no
    language has, may cost half as much again.
    """
    words = _WORD.findall(text)
    is_english = sum(word in _ENGLISH for word in words) >= _ENGLISH_SHARE * len(words)
    letters_a_token = 6 if is_english else 3
    plain = _cost_of(_PIECE.findall(text), letters_a_token)
    return math.ceil(plain + sum(_code_cost(code) for code in _CODE.findall(text)))


def _cost_of(pieces: Sequence[str], letters_a_token: int) -> float:
    """Return about how many tokens pieces of a text cost; most of them come again and again."""
    return sum(count * _cost(piece, letters_a_token) for piece, count in Counter(pieces).items())


def _cost(piece: str, letters_a_token: int) -> float:
    """Return about how many tokens one piece of a text costs."""
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
    """Return what a run of letters and digits costs beyond its pieces; nothing where it is made of words."""
    pieces = [piece for piece in _PIECE.findall(text) if piece.isalnum()]
    if sum(map(len, pieces)) >= _CODE_PIECE_CHARACTERS * len(pieces):
        return 0.0
    return (_CODE_FACTOR - 1.0) * _cost_of(pieces, _CODE_PIECE_CHARACTERS)


def parts_of(text: str, *, tokens: int = PART_TOKENS) -> tuple[str, ...]:
    """Return a text in parts, cut between paragraphs where possible, else between sentences, else anywhere.

    Args:
        text: Paragraphs, one a line.
        tokens: At most in a part, as `estimated_tokens` counts.
    """
    return _packed([piece for line in text.split("\n") for piece in _affordable(line, tokens)], tokens)


def focused_parts(text: str, focus: str, *, tokens: int = FOCUS_TOKENS) -> tuple[str, ...]:
    """Return the passages of a text in parts, best first.

    Passages are ranked by BM25 over the text's own passages; those that have
    none of the words follow in the order of the text.

    Args:
        text: Paragraphs, one a line.
        focus: What is looked for: a question or some words.
        tokens: At most in a part.
    """
    passages = [piece for line in text.split("\n") for piece in _affordable(line, tokens, PASSAGE_CHARACTERS)]
    scores = _scores(passages, set(_terms(focus)))
    # Sorting keeps the order of equals, so the same page always reads the same.
    ranked = sorted(range(len(passages)), key=lambda index: -scores[index])
    return _packed([passages[index] for index in ranked], tokens)


def mentions(text: str, focus: str) -> bool:
    """Return whether a text has any word of what is looked for."""
    return not set(_terms(focus)).isdisjoint(_terms(text))


def _scores(passages: Sequence[str], wanted: set[str]) -> list[float]:
    """Return the BM25 score of each passage."""
    counts, lengths, nothing = [], [], Counter[str]()
    for passage in passages:
        terms = list(_terms(passage))
        lengths.append(len(terms))
        # Most have none of them, and there can be a quarter of a million.
        counts.append(Counter(term for term in terms if term in wanted) or nothing)
    mean_length = max(1.0, sum(lengths) / max(1, len(lengths)))
    found_in = {term: sum(term in count for count in counts) for term in sorted(wanted)}
    rarity = {term: math.log(1.0 + (len(passages) - n + 0.5) / (n + 0.5)) for term, n in found_in.items()}
    scores = []
    for count, length in zip(counts, lengths, strict=True):
        damping = _TERM_SATURATION * (1.0 - _LENGTH_SHARE + _LENGTH_SHARE * length / mean_length)
        gains = (rarity[term] * count[term] * (_TERM_SATURATION + 1.0) / (count[term] + damping) for term in rarity)
        scores.append(sum(gains))
    return scores


def _terms(text: str) -> Iterator[str]:
    """Yield the words of a text, plural and singular alike; of scripts without blanks, pairs of characters."""
    for word in _WORD.findall(text.casefold()):
        if len(word) > 1 and ord(word[0]) >= _DENSE_SCRIPTS:
            yield from (word[i : i + 2] for i in range(len(word) - 1))
        elif word not in _COMMON:
            yield word[:-1] if len(word) > 3 and word.endswith("s") else word


_COMMON = frozenset({
    "a", "an", "and", "are", "as", "at", "be", "been", "but", "by", "did", "do", "does", "for", "from", "had", "has",
    "have", "how", "if", "in", "into", "is", "it", "its", "of", "on", "or", "s", "t", "than", "that", "the", "their",
    "then", "there", "these", "they", "this", "to", "was", "were", "what", "when", "where", "which", "who", "whose",
    "why", "will", "with", "would",
})  # fmt: skip
"""Words of questions that say nothing about what is asked."""


def _affordable(line: str, tokens: int, characters: int | None = None) -> Iterator[str]:
    """Yield a paragraph, in pieces where it is too long for a part or a passage."""
    is_short = len(line) * _MOST_TOKENS_A_CHARACTER <= tokens
    if (is_short or estimated_tokens(line) <= tokens) and (characters is None or len(line) <= characters):
        if line.strip():
            yield line
        return
    yield from _packed(
        [piece for sentence in _SENTENCE_END.split(line) for piece in _cut(sentence, tokens)],
        tokens, glue=" ", characters=characters,
    )  # fmt: skip


def _cut(sentence: str, tokens: int) -> Iterator[str]:
    """Yield a sentence in pieces that fit, cut between words where it has any."""
    begin = 0
    if estimated_tokens(sentence) > tokens:
        most = max(1, tokens // _MOST_TOKENS_A_CHARACTER)
        while len(sentence) - begin > most:
            blank = sentence.rfind(" ", begin + most // 2, begin + most)
            end = blank if blank > begin else begin + most
            yield sentence[begin:end]
            begin = end + (end == blank)
    yield sentence[begin:]


def _packed(pieces: Sequence[str], tokens: int, *, glue: str = "\n", characters: int | None = None) -> tuple[str, ...]:
    """Return pieces put together into as few parts as their order allows."""
    parts: list[str] = []
    held: list[str] = []
    cost = length = 0
    for piece in pieces:
        more = estimated_tokens(piece) + 1
        too_long = characters is not None and length + len(piece) > characters
        if held and (cost + more > tokens or too_long):
            parts.append(glue.join(held))
            held, cost, length = [], 0, 0
        held.append(piece)
        cost += more
        length += len(piece) + len(glue)
    return (*parts, glue.join(held)) if held else tuple(parts)
