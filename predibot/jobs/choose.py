"""Choosing: reading a venue's events and selecting those a run plays."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from predibot.contracts import Progress, ProgressListener, Venue
from predibot.domain.event import Event, EventPage, Skip
from predibot.selection import Selection, SelectionRules, ranking_is_settled, select


@dataclass(frozen=True, slots=True)
class Choice:
    """A selection, and what the venue's list was like."""

    selection: Selection
    listed: int
    skipped: tuple[Skip, ...]
    complete: bool

    @property
    def notes(self) -> tuple[str, ...]:
        """Return what a reader of the selection should know about the list it was made from."""
        notes = list(self.selection.notes)
        if not self.complete:
            notes.append(
                f"read the {self.listed} events with the highest one-week volume; "
                "every other has less than the last one chosen"
            )
        return (*notes, *_skip_notes(self.skipped))


def choose(
    venue: Venue,
    rules: SelectionRules,
    as_of: datetime,
    *,
    only_event_id: str | None,
    listener: ProgressListener,
) -> Choice:
    """Return which events of a venue a run plays as of an instant.

    Raises:
        UsageError: If the event that was named does not exist.
        VenueError: If the list could not be read whole.
    """
    page = _read(venue, rules, as_of, only_event_id=only_event_id, listener=listener)
    seen_at = _seen_at(venue, page.events, as_of)
    selection = select(page.events, rules, seen_at, only_event_id=only_event_id)
    return Choice(_explained(selection, page.skipped), len(page.events), page.skipped, page.complete)


def _explained(selection: Selection, skipped: Sequence[Skip]) -> Selection:
    """Say of an event none of whose markets could be read that this is why it has none."""
    unread = {skip.event_id: skip for skip in skipped if skip.kind == "market"}
    passed_over = tuple(
        replace(
            each,
            reason=f"{each.reason}; market {unread[each.event_id].id} could not be read: "
            f"{unread[each.event_id].reason}",
        )
        if each.rule == "unusable markets" and each.event_id in unread
        else each
        for each in selection.passed_over
    )
    return replace(selection, passed_over=passed_over)


def _read(
    venue: Venue, rules: SelectionRules, as_of: datetime, *, only_event_id: str | None, listener: ProgressListener
) -> EventPage:
    if only_event_id is not None:
        return EventPage((venue.event(only_event_id, as_of),))

    def enough(so_far: Sequence[Event]) -> bool:
        listener(Progress("events", len(so_far), text="reading the venue's list"))
        return ranking_is_settled(so_far, rules, _seen_at(venue, so_far, as_of))

    return venue.events(as_of, enough=enough)


def _seen_at(venue: Venue, events: Sequence[Event], as_of: datetime) -> datetime:
    """Return the instant up to which quotes are seen: a live list takes a while to read, a replay is exact."""
    if not venue.live:
        return as_of
    quoted = [market.quote.at for event in events for market in event.markets if market.quote is not None]
    return max([as_of, *quoted])


def _skip_notes(skipped: Sequence[Skip]) -> list[str]:
    return [f"{skip.kind} {skip.id} could not be read: {skip.reason}" for skip in skipped]
