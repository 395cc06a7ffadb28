"""Cleaning: which comments are long enough, English and mostly words, and which topic a market is of."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

Platform = Literal["manifold", "polymarket"]
MONEY_SIGNS: Mapping[str, str] = {"manifold": "M$", "polymarket": "$"}
FEWEST_CHARACTERS = 30
LEAST_ASCII = 0.85
LEAST_ALPHABETIC = 0.30
FEWEST_IN_SPLIT = 12
OTHER = "other"

_URL = re.compile(r"(?:https?://|www\.)\S+", re.IGNORECASE)
_WORD = re.compile(r"[a-z0-9][a-z0-9'&.+-]*[a-z0-9+]|[a-z0-9]", re.IGNORECASE)


def without_urls(text: str) -> str:
    """Return a comment without addresses, and without the space that they leave.

    Examples:
        >>> without_urls("see https://example.org/a?b  now")
        'see now'
    """
    return " ".join(_URL.sub(" ", text).split())


@dataclass(frozen=True, slots=True)
class WordLists:
    """The words that sort comments and markets; `parse_words` reads them."""

    function_words: frozenset[str]
    puzzles: tuple[str, ...]
    splits: Mapping[Platform, tuple[str, ...]]
    """The splits of each platform, in the order in which they are looked for; the last takes the rest."""
    topics: Mapping[str, tuple[str, ...]]
    """The words and phrases of each split, in lower case."""


def parse_words(text: str) -> WordLists:
    """Return the words of a file of lines `name: word, phrase, ...`; `#` begins a comment.

    `english` are function words, `puzzles` what no market may be about,
    `splits.PLATFORM` the splits of a platform, and every other name is a split.
    A name may have several lines.

    Raises:
        ValueError: If a line is none, a split has no words, or a platform has none.
    """
    found: dict[str, list[str]] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        stated = line.partition("#")[0].strip()
        if not stated:
            continue
        name, colon, words = stated.partition(":")
        if not colon:
            raise ValueError(f"line {number} is {line[:60]!r}; write `name: word, word`")
        listed = (" ".join(word.split()).casefold() for word in words.split(","))
        found.setdefault(name.strip(), []).extend(word for word in listed if word)
    platforms: tuple[Platform, ...] = ("manifold", "polymarket")
    splits = {platform: tuple(found.pop(f"splits.{platform}", ())) for platform in platforms}
    english, puzzles = found.pop("english", []), found.pop("puzzles", [])
    for platform, names in splits.items():
        missing = [name for name in names if name not in found and name != OTHER]
        if not names or names[-1] != OTHER or missing:
            what = f"lack words of {', '.join(missing)}" if missing else f"must end with {OTHER}"
            raise ValueError(f"the splits of {platform} {what}")
    return WordLists(frozenset(english), tuple(puzzles), splits, {name: tuple(words) for name, words in found.items()})


Rejected = Literal["short", "not English", "not words"]


def rejection(text: str, words: WordLists) -> Rejected | None:
    """Return why a comment is not taken, looked at without its addresses; None where it is.

    Examples:
        >>> rejection("too short", parse_words("splits.manifold: other\\nsplits.polymarket: other"))
        'short'
    """
    plain = without_urls(text)
    if len(plain) < FEWEST_CHARACTERS:
        return "short"
    if sum(character.isascii() for character in plain) < LEAST_ASCII * len(plain):
        return "not English"
    if not words.function_words.intersection(_words(plain)):
        return "not English"
    return "not words" if sum(map(str.isalpha, plain)) < LEAST_ALPHABETIC * len(plain) else None


def is_puzzle(question: str, words: WordLists) -> bool:
    """Return whether a market is about a puzzle or a game of words, and so is not taken."""
    return _has(_padded(question), words.puzzles)


def split_of(platform: Platform, question: str, labels: Iterable[str], words: WordLists) -> str:
    """Return the split of a market: the first of its platform's whose words its question or labels have.

    Words are whole words, phrases words one after the other; the question comes
    before the labels, which are broader.

    Args:
        platform: Whose splits.
        question: Of the market.
        labels: What the venue files it under.
        words: Of all splits.
    """
    for said in (_padded(question), _padded(" ".join(labels))):
        for split in words.splits[platform]:
            if split != OTHER and _has(said, words.topics[split]):
                return split
    return OTHER


def _words(text: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(text)]


def _padded(text: str) -> str:
    # What joins the words of a label says nothing.
    return f" {' '.join(_words(text.replace('-', ' ').replace('_', ' ')))} "


def _has(padded: str, phrases: Iterable[str]) -> bool:
    return any(f" {phrase} " in padded for phrase in phrases)
