"""Cleaning: picks comments that are long enough, English and mostly words, and sorts markets by topic."""

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


def remove_urls(text: str) -> str:
    """Return a comment without web addresses and the space around them.

    Examples:
        >>> remove_urls("see https://example.org/a?b  now")
        'see now'
    """
    return " ".join(_URL.sub(" ", text).split())


@dataclass(frozen=True, slots=True)
class WordLists:
    """The words by which comments and markets are sorted."""

    function_words: frozenset[str]
    puzzles: tuple[str, ...]
    splits: Mapping[Platform, tuple[str, ...]]
    """By platform, in the order of search; the last split takes the rest."""
    topics: Mapping[str, tuple[str, ...]]
    """The words and phrases of each split, in lower case."""


def parse_words(text: str) -> WordLists:
    """Return the words of a file of lines `name: word, phrase, ...`; `#` begins a comment.

    `english` are function words, `puzzles` words of markets that are left out, `splits.PLATFORM` the splits of a
    platform. Every other name is a split. A name may have several lines. Raises `ValueError` if a line is none of
    these, or a split or a platform has no words.
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


def rejection_reason(text: str, words: WordLists) -> Rejected | None:
    """Return why a comment is left out, ignoring web addresses; None where it is not.

    Examples:
        >>> rejection_reason("too short", parse_words("splits.manifold: other\\nsplits.polymarket: other"))
        'short'
    """
    plain = remove_urls(text)
    if len(plain) < FEWEST_CHARACTERS:
        return "short"
    if sum(character.isascii() for character in plain) < LEAST_ASCII * len(plain):
        return "not English"
    if not words.function_words.intersection(_words(plain)):
        return "not English"
    return "not words" if sum(map(str.isalpha, plain)) < LEAST_ALPHABETIC * len(plain) else None


def is_puzzle(question: str, words: WordLists) -> bool:
    """Return whether a market is about a puzzle or a game of words; such markets are left out."""
    return _contains(_pad(question), words.puzzles)


def split_of(platform: Platform, question: str, labels: Iterable[str], words: WordLists) -> str:
    """Return the split of a market: the first one of its platform with a word in the question, else in a label.

    Only whole words count. The question comes first, as labels are broader.
    """
    for text in (_pad(question), _pad(" ".join(labels))):
        for split in words.splits[platform]:
            if split != OTHER and _contains(text, words.topics[split]):
                return split
    return OTHER


def _words(text: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(text)]


def _pad(text: str) -> str:
    # Labels join words with hyphens and underscores.
    return f" {' '.join(_words(text.replace('-', ' ').replace('_', ' ')))} "


def _contains(padded: str, phrases: Iterable[str]) -> bool:
    return any(f" {phrase} " in padded for phrase in phrases)
