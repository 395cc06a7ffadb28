"""Keyset lists of Gamma: reads one page by page, and notices when it breaks its contract."""

from collections import Counter
from collections.abc import Iterator, Sequence

from predibot.errors import VenueChanged, VenueUnavailable
from predibot.venues import fields
from predibot.venues.http import VenueClient
from predibot.venues.polymarket.parse import UNKNOWN_ID, payload_id

PAGE_SIZE = 100
"""Gamma silently clamps larger ones."""
MAX_PAGES = 1_000
PAGE_SECONDS = 2.0
"""Each page adds this to the time for the whole list."""


class PageGuard:
    """Remembers earlier pages, and refuses signs that paging does not work."""

    def __init__(self) -> None:
        """Start before the first page."""
        self._first_ids: set[str] = set()
        self._cursors: set[str] = set()
        self._ids: set[str] = set()

    def fresh(self, entries: Sequence[object]) -> list[object]:
        """Return the entries of a page that were on no page before; raise `VenueChanged` if it begins like another one.

        An entry that moves to the next page while the list is read is taken once. One that a page repeats did not move,
        so the next page may have it again.
        """
        first_id = payload_id(entries[0]) if entries else UNKNOWN_ID
        if first_id != UNKNOWN_ID and first_id in self._first_ids:
            raise VenueChanged(
                f"two pages of the list begin with {first_id}: the venue ignores after_cursor; update predibot"
            )
        self._first_ids.add(first_id)
        fresh = [entry for entry in entries if payload_id(entry) not in self._ids]
        self._ids.update(
            each for each, count in Counter(map(payload_id, fresh)).items() if count == 1 and each != UNKNOWN_ID
        )
        return fresh

    def next_cursor(self, page: dict[str, object]) -> str | None:
        """Return where the next page begins, None after the last; raise `VenueChanged` for a malformed or repeated
        cursor.
        """
        cursor = page.get("next_cursor")
        if cursor is None or cursor == "":
            return None
        if not isinstance(cursor, str):
            raise VenueChanged(f"next_cursor is {fields.short_repr(cursor)}, not a text; update predibot")
        if cursor in self._cursors:
            raise VenueChanged(
                f"the cursor {fields.short_repr(cursor)} came twice: the list has no end; try again later"
            )
        self._cursors.add(cursor)
        return cursor


def pages(
    client: VenueClient,
    url: str,
    *,
    field: str,
    order: str,
    params: Sequence[tuple[str, str]],
    deadline_seconds: float,
) -> Iterator[tuple[list[object], bool]]:
    """Yield the objects of each page in `field`, and whether it is the last; a short page is not the end.

    `order` is the camelCase field to order by, highest first, and only a hint. Each page adds `PAGE_SECONDS` to the
    deadline of the whole list. Raises `VenueUnavailable` if a page cannot be read, or the list does not end in time,
    and `VenueChanged` if a page breaks the contract.
    """
    guard = PageGuard()
    fixed = [*params, ("order", order), ("ascending", "false"), ("limit", str(PAGE_SIZE))]
    cursor: str | None = None
    until = client.until(deadline_seconds)
    for number in range(MAX_PAGES):
        try:
            page = client.get(url, [*fixed, *([("after_cursor", cursor)] if cursor else [])], until=until)
        except VenueUnavailable as error:
            if client.until(0.0) < until:
                raise
            raise VenueUnavailable(
                f"{url}: {number} pages in {deadline_seconds + PAGE_SECONDS * number:g} s and no end; "
                "try again later, or raise list_deadline_seconds"
            ) from error
        entries = page.get(field) if isinstance(page, dict) else None
        if not isinstance(page, dict) or not isinstance(entries, list):
            raise VenueChanged(f"{url} answered no list of {field} but {fields.short_repr(page)}; update predibot")
        fresh = guard.fresh(entries)
        cursor = guard.next_cursor(page)
        left = until - client.until(0.0)
        yield fresh, cursor is None
        # The caller's work on a page does not count.
        until = client.until(left + PAGE_SECONDS)
        if cursor is None:
            return
    raise VenueChanged(f"{url} has more than {MAX_PAGES} pages and no end; try again later")
