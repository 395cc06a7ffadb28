"""Keyset lists of Gamma: reads one page by page, and notices when it breaks its contract."""

from collections import Counter
from collections.abc import Iterator

from predibot.errors import VenueChanged, VenueUnavailable
from predibot.venues import fields
from predibot.venues.http import VenueClient
from predibot.venues.polymarket.parse import UNKNOWN_ID, payload_id

PAGE_SIZE = 100
"""Gamma silently clamps larger ones."""
MAX_PAGES = 1_000
PAGE_SECONDS = 2.0
"""Each page adds this to the time for the whole list."""


def pages(
    client: VenueClient,
    url: str,
    *,
    field: str,
    order: str,
    deadline_seconds: float,
) -> Iterator[tuple[list[object], bool]]:
    """Yield the objects of each page in `field`, and whether it is the last; a short page is not the end.

    `order` is the camelCase field to order by, highest first, and only a hint. Each page adds `PAGE_SECONDS` to the
    deadline of the whole list. Raises `VenueUnavailable` if a page cannot be read, or the list does not end in time,
    and `VenueChanged` if a page breaks the contract.
    """
    first_ids, cursors, ids = set[str](), set[str](), set[str]()
    # Without `closed` the venue returns closed events.
    fixed = [("closed", "false"), ("order", order), ("ascending", "false"), ("limit", str(PAGE_SIZE))]
    cursor: object = None
    until = client.until(deadline_seconds)
    for number in range(MAX_PAGES):
        try:
            page = client.get(url, [*fixed, *([("after_cursor", str(cursor))] if cursor else [])], until=until)
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
        first_id = payload_id(entries[0]) if entries else UNKNOWN_ID
        if first_id != UNKNOWN_ID and first_id in first_ids:
            raise VenueChanged(
                f"two pages of the list begin with {first_id}: the venue ignores after_cursor; update predibot"
            )
        first_ids.add(first_id)
        # An entry that moves to the next page while the list is read is taken once. One that a page repeats did not
        # move, so the next page may have it again.
        fresh = [entry for entry in entries if payload_id(entry) not in ids]
        ids |= {each for each, count in Counter(map(payload_id, fresh)).items() if count == 1 and each != UNKNOWN_ID}
        cursor = None if page.get("next_cursor") == "" else page.get("next_cursor")
        if not isinstance(cursor, str | None):
            raise VenueChanged(f"next_cursor is {fields.short_repr(cursor)}, not a text; update predibot")
        if cursor in cursors:
            raise VenueChanged(
                f"the cursor {fields.short_repr(cursor)} came twice: the list has no end; try again later"
            )
        cursors |= {cursor} if cursor else set()
        left = until - client.until(0.0)
        yield fresh, cursor is None
        # The caller's work on a page does not count.
        until = client.until(left + PAGE_SECONDS)
        if cursor is None:
            return
    raise VenueChanged(f"{url} has more than {MAX_PAGES} pages and no end; try again later")
