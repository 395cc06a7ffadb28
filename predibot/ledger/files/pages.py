"""Pages: the text of every page an agent read, found by its hash."""

from dataclasses import dataclass

from predibot.ledger.files.content_store import ContentStore
from predibot.ledger.store import Store

MAX_PAGE_CHARACTERS = 2_000_000
"""Kept of a page; the longest recorded one has a tenth of that."""


@dataclass(frozen=True, slots=True)
class Pages:
    """The pages of a ledger."""

    store: Store

    def keep(self, text: str) -> str:
        """Write a page's text under the SHA-256 of what is written, and return that hash.

        It is UTF-8 without a change, so nothing in it does anything; only what
        goes beyond `MAX_PAGE_CHARACTERS` is left out, and a last line says so.

        Raises:
            LedgerUnusable: If it cannot be written.
        """
        if len(text) > MAX_PAGE_CHARACTERS:
            text = f"{text[:MAX_PAGE_CHARACTERS]}\n… ({len(text):,} characters)"
        # Half a character pair is no UTF-8, and no reason to lose the rest.
        return self._files.keep(text.encode("utf-8", "surrogatepass"))

    def text(self, digest: str) -> str:
        """Return the text of a page.

        Raises:
            UsageError: If there is none, or its content is not what its name says.
        """
        return self._files.read(digest).decode("utf-8", "surrogatepass")

    @property
    def _files(self) -> ContentStore:
        return ContentStore(self.store, "pages", ".txt", "page")
