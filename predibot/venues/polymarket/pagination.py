"""Reading a keyset list of Gamma page by page, and noticing when it does not keep its contract."""

from collections import Counter
from collections.abc import Iterator, Sequence

from predibot.errors import VenueChanged, VenueUnavailable
from predibot.venues import fields
from predibot.venues.http import VenueClient
from predibot.venues.polymarket.parse import UNKNOWN_ID, payload_id

PAGE_SIZE = 100
"""Gamma clamps larger ones without a word."""
MAX_PAGES = 1_000
PAGE_SECONDS = 2.0
"""What each page that came adds to the time for the whole list."""


class PageGuard:
    """Remembers what pages began with, and refuses what shows that paging does not work."""

    def __init__(self) -> None:
        """Begin before the first page."""
        self._first_ids: set[str] = set()
        self._cursors: set[str] = set()
        self._ids: set[str] = set()

    def fresh(self, entries: Sequence[object]) -> list[object]:
        """Return the entries of a page that were on no page before, after checking it.

        An entry moves from one page to the next when something overtakes it
        while the list is read; it is taken once. What stands on one page more than
        once did not move, so it is no reason to pass over anything on the next.

        Raises:
            VenueChanged: If the page begins like an earlier one.
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
        """Return where the next page begins, or None after the last one.

        Raises:
            VenueChanged: If the cursor is none, or was given before.
        """
        cursor = page.get("next_cursor")
        if cursor is None or cursor == "":
            return None
        if not isinstance(cursor, str):
            raise VenueChanged(f"next_cursor is {fields.seen(cursor)}, not a text; update predibot")
        if cursor in self._cursors:
            raise VenueChanged(f"the cursor {fields.seen(cursor)} came twice: the list has no end; try again later")
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
    """Yield the objects of each page, and whether it is the last.

    A short page is not the end: only the absence of `next_cursor` is.

    Args:
        client: Asks.
        url: Of the list, such as `.../events/keyset`.
        field: What holds the objects, `events` or `markets`.
        order: The camelCase field to order by, highest first; a hint, which the venue may not keep.
        params: Filters.
        deadline_seconds: For the whole list, and `PAGE_SECONDS` more for each page that came.

    Raises:
        VenueUnavailable: If a page cannot be read, or the list does not end in time.
        VenueChanged: If a page does not keep the contract.
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
            raise VenueChanged(f"{url} answered no list of {field} but {fields.seen(page)}; update predibot")
        fresh = guard.fresh(entries)
        cursor = guard.next_cursor(page)
        left = until - client.until(0.0)
        yield fresh, cursor is None
        # What is done with a page is not the list's time.
        until = client.until(left + PAGE_SECONDS)
        if cursor is None:
            return
    raise VenueChanged(f"{url} has more than {MAX_PAGES} pages and no end; try again later")
