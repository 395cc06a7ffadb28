"""Categories: the field an event belongs to, found among the many labels a venue puts on it."""

from collections.abc import Sequence

from predibot.domain.event import Tag

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
"""A venue's own headings and the tags below them, the telling ones first."""


def category_of(tags: Sequence[Tag]) -> str | None:
    """Return the field of an event, whatever order its tags are in; else its first label, None where it has none.

    Examples:
        >>> category_of([Tag("All", "all"), Tag("World", "world"), Tag("Politics", "politics")])
        'Politics'
        >>> category_of([Tag("Chess", "chess")])
        'Chess'
    """
    slugs = {tag.slug for tag in tags}
    known = (label for slug, label in _SLUGS.items() if slug in slugs)
    stated = (tag.label for tag in tags if tag.label and tag.slug != "all")
    return next(known, next(stated, None))
