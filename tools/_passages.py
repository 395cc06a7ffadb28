"""Passages: a text in parts a model can afford, and the ones first that answer what it looks for."""

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence

PART_TOKENS = 2_200
"""Of text; with its heading a part stays below 2,500."""
FOCUS_TOKENS = 700
"""A part of what was looked for is smaller: the best comes first."""
PASSAGE_CHARACTERS = 900
"""Longer paragraphs are ranked by their pieces."""
_PIECE = re.compile(r"([A-Z]?[a-z]+)|([A-Z]+|\d+)|(\s+)|([^\W\d_A-Za-z]+)|([^\w\s]|_)")
_SENTENCE_END = re.compile(r"(?<=[.!?。！？])\s+")
_WORD = re.compile(r"\w+")
_TERM_SATURATION = 1.2
_LENGTH_SHARE = 0.75
_ENGLISH = frozenset({"the", "of", "and", "to", "that", "for", "with", "is", "was", "in"})
_ENGLISH_SHARE = 0.08
"""Of the words of a text; models are trained on English most, and spend the fewest tokens on it."""
_LONGEST_WORD_LETTERS = 20
"""What is longer is no word but a code, of two letters a token."""
_PICTURES = 0x2100
"""From here on, signs that cost about three tokens."""
_DENSE_SCRIPTS = 0x2E80
"""From here on, Chinese, Japanese and Korean: more than a token a character."""


def estimated_tokens(text: str) -> int:
    """Return about how many tokens a text costs; rather too many than too few.

    Counted by its shape, since each model has its own vocabulary: six letters
    of an English word and three of another, three digits or capitals, or one
    character of another script a token, and half a token more for a Chinese one.
    On the recorded pages in English it is 0.96 to 1.4 times cl100k_base.
    """
    words = _WORD.findall(text)
    is_english = sum(word in _ENGLISH for word in words) >= _ENGLISH_SHARE * len(words)
    letters_a_token = 6 if is_english else 3
    return math.ceil(sum(_cost(piece, letters_a_token) for piece in _PIECE.finditer(text)))


def _cost(piece: re.Match[str], letters_a_token: int) -> float:
    """Return about how many tokens one piece of a text costs."""
    word, dense, blanks, other, sign = piece.groups()
    if word:
        return -(-len(word) // (2 if len(word) > _LONGEST_WORD_LETTERS else letters_a_token))
    if dense:
        return -(-len(dense) // 3)
    if blanks:
        return float("\n" in blanks)
    if other:
        return sum(1.5 if ord(letter) >= _DENSE_SCRIPTS else 1.0 for letter in other)
    return 1.0 if ord(sign) < _PICTURES else 3.0


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
    counts = [Counter(_terms(passage)) for passage in passages]
    lengths = [count.total() for count in counts]
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
    if estimated_tokens(line) <= tokens and (characters is None or len(line) <= characters):
        if line.strip():
            yield line
        return
    yield from _packed(
        [piece for sentence in _SENTENCE_END.split(line) for piece in _cut(sentence, tokens)],
        tokens, glue=" ", characters=characters,
    )  # fmt: skip


def _cut(sentence: str, tokens: int) -> Iterator[str]:
    """Yield a sentence in pieces that fit, cut between words where it has any."""
    left = sentence
    while estimated_tokens(left) > tokens:
        # No character costs more than three tokens.
        end = max(1, tokens // 3)
        blank = left.rfind(" ", end // 2, end)
        yield left[: blank if blank > 0 else end]
        left = left[blank + 1 if blank > 0 else end :]
    yield left


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
