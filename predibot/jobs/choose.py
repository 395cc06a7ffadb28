"""Choosing: reading a venue's events and selecting those a run plays."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from predibot.contracts import Progress, ProgressListener, Venue
from predibot.domain.event import Event, EventPage, Skip
from predibot.errors import VenueChanged, VenueUnavailable
from predibot.selection import Selection, SelectionRules, ranking_is_settled, select

MAX_UNREADABLE_SHARE = 0.2
"""Of the events a venue lists; above it the venue has changed, and what is left is no fair choice."""
_SHOWN_REASONS = 5
_QUOTED = re.compile(r"'[^']*'|[\d.]+")
"""What differs between two events that cannot be read for one reason: the values that were seen."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A selection, and what the venue's list was like."""

    selection: Selection
    listed: int
    skipped: tuple[Skip, ...]
    complete: bool
    unreadable: tuple[str, ...] = ()
    """Why an event could not be read, or lacks what every playable one states; one reason an event."""

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

    def check_readable(self, *, live: bool) -> None:
        """Refuse a choice that says more about the venue's state than about its events.

        Frozen, it would be played for the whole slot, whatever the venue says a minute later.

        Args:
            live: Whether the venue is real, so that a list without any event is its fault.

        Raises:
            VenueChanged: If more than `MAX_UNREADABLE_SHARE` of the events could not be read, or none was chosen
                while something could not.
            VenueUnavailable: If the venue listed nothing.
        """
        events = self.listed + sum(skip.kind == "event" for skip in self.skipped)
        if live and not events:
            raise VenueUnavailable("the venue lists no event at all. No run is made; try again later")
        reasons = self.unreadable or tuple(f"{skip.kind} {skip.reason}" for skip in self.skipped)
        if len(self.unreadable) > MAX_UNREADABLE_SHARE * events:
            what = f"{len(self.unreadable)} of the {events} events that the venue lists could not be read"
        elif reasons and not self.selection.selected:
            what = f"none of the {events} events that the venue lists was chosen, and not all could be read"
        else:
            return
        again = "No run is made; try again later, or update predibot if it stays so"
        raise VenueChanged(f"{what}: {_counted(reasons)}. {again}")


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
    unreadable = tuple(_unreadable(page, named=only_event_id is not None))
    return Choice(_explained(selection, page.skipped), len(page.events), page.skipped, page.complete, unreadable)


def _unreadable(page: EventPage, *, named: bool) -> Iterator[str]:
    """Yield the reason of each event that could not be read, or does not state what is always stated."""
    skipped = {skip.event_id: skip.reason for skip in page.skipped if skip.kind == "market"}
    yield from (skip.reason for skip in page.skipped if skip.kind == "event")
    for event in page.events:
        # A field that was renamed looks like one that is not stated.
        is_open = [market for market in event.markets if not market.closed]
        if not any(market.quote is not None and market.quote.price is not None for market in is_open):
            if event.id in skipped:
                yield f"market {skipped[event.id]}"
            elif not event.markets:
                yield "it has no market"
            elif is_open and not event.closed:
                yield "none of its markets has a price"
        elif not named and not any([event.closes_at, *(market.closes_at for market in event.markets)]):
            yield "it has no end"


def _counted(reasons: Sequence[str]) -> str:
    """Return how often each reason was given, the most frequent first, each with the first value that was seen."""
    first = {_QUOTED.sub("", reason): reason for reason in reversed(reasons)}
    counts = Counter(_QUOTED.sub("", reason) for reason in reasons)
    shown = [f"{count} because {first[kind]}" for kind, count in counts.most_common(_SHOWN_REASONS)]
    more = sum(counts.values()) - sum(count for _, count in counts.most_common(_SHOWN_REASONS))
    return "; ".join([*shown, *([f"{more} for other reasons"] if more else [])])


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
