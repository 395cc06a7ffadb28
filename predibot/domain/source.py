"""Sources: what a bot searched for and read before it decided."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

SourceKind = Literal["search", "page"]


@dataclass(frozen=True, slots=True)
class Source:
    """One search or one page; what is not known, or has no meaning for its kind, is None."""

    kind: SourceKind
    text: str
    """The query of a search, the address that was asked for of a page."""
    final_url: str | None = None
    """Where the page was in the end, after redirects."""
    sha256: str | None = None
    """Of the page's text as the bot could read it, by which it is kept."""
    title: str = ""
    published_at: datetime | None = None
    """An aware instant."""
    results: int | None = None
    """How many a search returned."""
