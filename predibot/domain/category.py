"""Categories: the field of an event by the venue's tags, and whether it is about crypto by whole words of its tags.
Without tags, the words of its title and slug decide about crypto.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from predibot.domain.event import Event, Tag

_WORD = re.compile(r"[^\W_]+")
_UNLESS = "unless"
_NEVER: frozenset[str] = frozenset()

_SLUGS = {
    "sports": "Sports",
    "esports": "Sports",
    "politics": "Politics",
    "elections": "Politics",
    "world-elections": "Politics",
    "geopolitics": "Geopolitics",
    "crypto": "Crypto",
    "economy": "Economy",
    "finance": "Economy",
    "business": "Economy",
    "tech": "Tech",
    "ai": "Tech",
    "science": "Science",
    "weather": "Weather",
    "climate-science": "Weather",
    "culture": "Culture",
    "pop-culture": "Culture",
    "mentions": "Mentions",
    "world": "World",
}
"""The category of each tag, by slug; the first that an event has decides."""


def category_of(tags: Sequence[Tag]) -> str | None:
    """Return an event's category, whatever the order of its tags, else its first label, else None.

    Examples:
        >>> category_of([Tag("All", "all"), Tag("World", "world"), Tag("Politics", "politics")])
        'Politics'
        >>> category_of([Tag("Chess", "chess")])
        'Chess'
    """
    slugs = {tag.slug for tag in tags}
    known = (label for slug, label in _SLUGS.items() if slug in slugs)
    return next(known, next((tag.label for tag in tags if tag.label and tag.slug != "all"), None))


_ELECTIONS = {"election", "elections"}


def domain_of(tags: Sequence[Tag]) -> str | None:
    """Return `Election` where a tag is about elections, else the category.

    Examples:
        >>> domain_of([Tag("Politics", "politics"), Tag("World Elections", "world-elections")])
        'Election'
    """
    about_elections = any(_ELECTIONS.intersection(words_of(tag.slug)) for tag in tags)
    return "Election" if about_elections else category_of(tags)


@dataclass(frozen=True, slots=True)
class CryptoWords:
    """The words that make an event one about crypto."""

    unless: Mapping[str, frozenset[str]]
    """By word, in lower case: the words that cancel it where they are in the title or slug; mostly none."""

    def __post_init__(self) -> None:
        """Refuse what could never match: titles are split into lower-case words."""
        for word in (*self.unless, *(other for others in self.unless.values() for other in others)):
            if words_of(word) != (word,):
                raise ValueError(f"{word!r} is not one word of lower-case letters and digits, so it can never match")

    def extend(self, words: Iterable[str]) -> "CryptoWords":
        """Return these words and further ones, in any case."""
        return CryptoWords({**{word.casefold(): _NEVER for word in words}, **self.unless})


def words_of(text: str) -> tuple[str, ...]:
    """Return the words of a text in lower case; everything but letters and digits separates them.

    Examples:
        >>> words_of("MegaETH market-cap (FDV)?")
        ('megaeth', 'market', 'cap', 'fdv')
    """
    return tuple(_WORD.findall(text.casefold()))


def parse_crypto_words(text: str) -> CryptoWords:
    """Return the words that a list names, one a line; `doge unless budget musk` does not count beside the others."""
    unless: dict[str, frozenset[str]] = {}
    for line in text.splitlines():
        words = line.partition("#")[0].casefold().split()
        if not words:
            continue
        if len(words) > 1 and (words[1] != _UNLESS or len(words) == 2):
            raise ValueError(f"{line.strip()!r} is neither one word nor 'word unless others'")
        unless[words[0]] = frozenset(words[2:])
    return CryptoWords(unless)


def crypto_grounds(event: Event, crypto: CryptoWords) -> str | None:
    """Return the word that makes an event one about crypto and where it stands, or None."""
    own_words = frozenset((*words_of(event.title), *words_of(event.slug)))
    if event.tags:
        texts = [(f"its tag {tag.label or tag.slug!r}", f"{tag.label} {tag.slug}") for tag in event.tags]
    else:
        texts = [("its title", event.title), ("its slug", event.slug)]
    for place, text in texts:
        for word in words_of(text):
            if word in crypto.unless and not crypto.unless[word] & own_words:
                return f"the word {word!r} in {place}"
    return None
