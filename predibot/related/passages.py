"""Passages of a text: its sentences, ranked by the rare words that they share with a question."""

import math
import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence

GAP = " … "
_WORD = re.compile(r"\w+")
_SENTENCE_END = re.compile(r"(?<=[.!?。！？])\s+")
_TERM_SATURATION = 1.2
_LENGTH_SHARE = 0.75
_DENSE_SCRIPTS = 0x2E80
"""From here on, Chinese, Japanese and Korean."""
_COMMON = frozenset({
    "a", "after", "an", "and", "are", "as", "at", "be", "been", "before", "but", "by", "did", "do", "does", "for",
    "from", "had", "has", "have", "how", "if", "in", "into", "is", "it", "its", "of", "on", "or", "s", "t", "than",
    "that", "the", "their", "then", "there", "these", "they", "this", "to", "was", "were", "what", "when", "where",
    "which", "who", "whose", "why", "will", "with", "would",
})  # fmt: skip
"""Words of questions without a meaning of their own."""


def sentences_of(line: str) -> list[str]:
    """Return the sentences of one line."""
    return _SENTENCE_END.split(line)


def terms_of(text: str) -> frozenset[str]:
    """Return the different words of a text that are not common, without case, plurals as singulars."""
    return frozenset(_terms(text))


def best_passage(text: str, question: str, characters: int, *, known: str = "") -> str:
    """Return the sentences of a text that share the rarest words with a question, in their order, `GAP` between them.

    A word is rare if few sentences of this text have it. Where no sentence shares one, the text's beginning is
    returned. The same text always gives the same passage.

    Args:
        text: One paragraph a line; another passage is read as its sentences. Longer sentences are cut between words.
        characters: The most that the passage may have, at least 1.
        known: What is in view already; sentences without any other word are left out.

    Examples:
        >>> best_passage("Hail fell. The mayor of Rome resigned. It is wet.", "Will the mayor go?", 30)
        'The mayor of Rome resigned.'
    """
    in_view = terms_of(known)
    lines = [" ".join(line.split()) for line in text.replace(GAP, "\n").split("\n")]
    pieces = [piece for line in lines for sentence in sentences_of(line) for piece in _cut(sentence, characters)]
    sentences = [piece for piece in dict.fromkeys(pieces) if not in_view or not terms_of(piece) <= in_view]
    scores = bm25_scores(sentences, terms_of(question))
    has_any = any(scores)
    # Sorting keeps the order of equals.
    ranked = sorted(range(len(sentences)), key=lambda row: -scores[row])
    room, rows = characters, list[int]()
    for row in ranked:
        if len(sentences[row]) <= room and (scores[row] or not has_any):
            rows.append(row)
            room -= len(sentences[row]) + len(GAP)
    return GAP.join(sentences[row] for row in sorted(rows))


def bm25_scores(passages: Sequence[str], wanted: Collection[str]) -> list[float]:
    """Return how well each passage matches some words, by BM25 over these passages; 0 for one without any.

    Source:
        Robertson and Zaragoza (2009), Foundations and Trends in Information Retrieval 3(4), 333-389. Differs in the
        rarity of a word, which has 1 added inside the logarithm, so that no score is negative.
    """
    counts, lengths, nothing = [], [], Counter[str]()
    for passage in passages:
        terms = list(_terms(passage))
        lengths.append(len(terms))
        # Share one empty counter: most of up to a quarter of a million passages have none of the words.
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
    """Yield a text's words, plurals as singulars; pairs of characters for scripts without blanks."""
    for word in _WORD.findall(text.casefold()):
        if len(word) > 1 and ord(word[0]) >= _DENSE_SCRIPTS:
            yield from (word[i : i + 2] for i in range(len(word) - 1))
        elif word not in _COMMON:
            yield word[:-1] if len(word) > 3 and word.endswith("s") else word


def _cut(sentence: str, characters: int) -> Iterator[str]:
    """Yield a sentence in pieces of at most so many characters, cut between words if it has any."""
    while len(sentence) > characters:
        blank = sentence.rfind(" ", 1, characters + 1)
        end = blank if blank > 0 else characters
        yield sentence[:end]
        sentence = sentence[end:].lstrip()
    if sentence:
        yield sentence
