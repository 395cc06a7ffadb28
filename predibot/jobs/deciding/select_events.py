"""Choosing: a venue's events are read, and those selected that a run plays."""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from predibot.contracts import Progress, ProgressListener, Venue
from predibot.domain.clock import format_instant
from predibot.domain.event import Event, EventPage, Market, Skip
from predibot.domain.price import money_sign
from predibot.errors import UsageError, VenueChanged, VenueUnavailable
from predibot.jobs.price_histories import read_histories, shorten_failures
from predibot.plugins.venues import venue_or_defaults
from predibot.selection import (
    MARKET_VOLUME,
    QUIET_PAGES,
    QUIET_SHARE,
    Selection,
    SelectionRules,
    ranking_is_settled,
    ranking_volume_usd,
    select,
)

if TYPE_CHECKING:
    from predibot.related.features import Embed

MAX_DOUBTFUL_SHARE = 0.2
"""The share of unreadable events or markets above which no run is made, because the rest is no fair choice.

Also the share of the most traded events, or of their open markets, that lack a field; of 60 and 436 recorded ones none
does.
"""
MIN_TELLING_EVENTS = 10
"""Fewer events may lack a field by chance."""
MOST_TRADED_EVENTS = 100
"""So many events from the top of the list normally have every field; untraded ones have no volume."""
NOTED_SHARE = 0.1
"""Share from which on a note warns; runs are stopped at the other share only."""
MAX_UNRANKED_SHARE = 0.5
"""The share of the most traded events without any volume above which the ranking means nothing."""
_LOOK_AT_IT = f"; look at it from {NOTED_SHARE:.0%} on, above "
_SHOWN_REASONS = 5
_SPARE = 3
"""If some events may be passed over for their prices, this many times the events of a run are read."""
MAX_NOTED_SKIPS = 1_000
"""A run stores its notes, and a replay those of all runs; further unreadable things are counted."""
_NO_CLOSED = "it does not say whether it is closed"
_QUOTED = re.compile(r"'[^']*'|[\d.]+")
"""The values in a reason; without them equal reasons can be counted."""

_HISTORY_WORKERS = 4
_LEAST_PRICES = 2
_ROUNDING = 1e-9
"""A market from 0.40 to 0.42 moved by 0.02, whatever the difference of two floats says."""


class Doubt(NamedTuple):
    """A doubt about a venue's list, with the share of events concerned."""

    share: float
    text: str
    most: float
    """Above this share no run is made."""

    @property
    def note(self) -> str:
        """Return the doubt as a note."""
        return f"{self.text}{_LOOK_AT_IT}{self.most:.0%} no run is made"


@dataclass(frozen=True, slots=True)
class Choice:
    """A selection, and the state of the venue's list."""

    selection: Selection
    listed: int
    skipped: tuple[Skip, ...]
    complete: bool
    unreadable: tuple[str, ...] = ()
    """One reason for each event that could not be read, or lacks a field that every playable event has."""
    doubts: tuple[Doubt, ...] = ()
    remarks: tuple[str, ...] = ()
    """The venue's own remarks on its list, and rules it cannot follow."""
    listed_by: str = "one-week"

    @property
    def notes(self) -> tuple[str, ...]:
        """Return notes on the list for a reader of the selection."""
        notes = [*self.selection.notes, *self.remarks[:MAX_NOTED_SKIPS]]
        if not self.complete:
            notes.append(
                f"read {self.listed} events, listed by {self.listed_by} volume, until {QUIET_PAGES} pages held "
                f"nothing above {QUIET_SHARE:.0%} of the last one chosen"
            )
        notes += [doubt.note for doubt in self.doubts if doubt.share >= NOTED_SHARE]
        notes += [f"{skip.kind} {skip.id} could not be read: {skip.reason}" for skip in self.skipped[:MAX_NOTED_SKIPS]]
        if more := [f"{skip.kind} {skip.reason}" for skip in self.skipped[MAX_NOTED_SKIPS:]]:
            notes.append(f"{len(more):,} more could not be read: {_count_reasons(more)}")
        return tuple(notes)

    def check_readable(self, *, live: bool) -> None:
        """Refuse a choice that depends more on the venue's state than on its events.

        A frozen choice is played for the whole slot, even if the venue recovers a minute later.

        Args:
            live: Whether the venue is real, so that an empty list is its fault.

        Raises:
            VenueChanged: If too many events or markets are unreadable or lack a field of the rules or the volume of the
                ranking, or if none was chosen while something was unreadable.
            VenueUnavailable: If the venue listed nothing.
        """
        events = self.listed + sum(skip.kind == "event" for skip in self.skipped)
        if live and not events:
            raise VenueUnavailable("the venue lists no event at all. No run is made; try again later")
        reasons = self.unreadable or tuple(f"{skip.kind} {skip.reason}" for skip in self.skipped)
        doubts = [doubt.text for doubt in self.doubts if doubt.share > doubt.most]
        if doubts:
            what = "; ".join(doubts)
        elif reasons and not self.selection.selected:
            what = (
                f"none of the {events} events that the venue lists was chosen, and not all could be read: "
                f"{_count_reasons(reasons)}"
            )
        else:
            return
        raise VenueChanged(f"{what}. No run is made; try again later, or update predibot if it stays so")


def doubts_in(notes: Sequence[str]) -> tuple[str, ...]:
    """Return the doubts in a run's notes, without the values that were seen."""
    return tuple(note.partition(_LOOK_AT_IT)[0].partition(":")[0] for note in notes if _LOOK_AT_IT in note)


def choose(
    venue: Venue, rules: SelectionRules, as_of: datetime, *, only_event_id: str | None, listener: ProgressListener
) -> Choice:
    """Return which events of a venue a run plays as of an instant.

    Raises:
        UsageError: If a named event or the game's instruments do not exist, or the model that finds duplicates is not
            on this machine.
    """
    listed_by = venue_or_defaults(venue.name).lists_by
    remarks: tuple[str, ...] = ()
    if listed_by != "volume_1wk" and rules.rank_by not in (listed_by, MARKET_VOLUME):
        lacks = "no week's volume" if rules.rank_by == "volume_1wk" else "no day's volume of an answer"
        remarks = (f"ranked by what events traded in 24 h: the venue states {lacks}",)
        rules = replace(rules, rank_by=listed_by)
    embed = None
    if rules.drop_duplicates and rules.duplicate_port == "embeddings" and only_event_id is None:
        # Imported here: few recipes use it.
        from predibot.jobs.relatedness.embeddings import open_embedding

        embed = open_embedding(rules.duplicate_model)
    named = only_event_id is not None
    if only_event_id is not None:
        page = EventPage((venue.event(only_event_id, as_of),))
    else:
        page = _read_events(venue, rules, as_of, listed_by, listener=listener, embed=embed)
    seen_at = _read_at(venue, page.events, as_of)
    if rules.only and not named and {event.id for event in page.events}.isdisjoint(rules.only):
        raise UsageError(
            f"{venue.name} has none of {', '.join(rules.only[:_SHOWN_REASONS])} by {format_instant(as_of)}, which the "
            "recipe plays. Name a venue that has them with --venue, or a later instant"
        )
    sign = money_sign(venue_or_defaults(venue.name).currency)
    pick = partial(select, page.events, rules, seen_at, only_event_id=only_event_id, embed=embed, money_sign=sign)
    if not rules.history_days or rules.only or named:
        selection = pick()
    else:
        selection = _select_moving(venue, pick, rules, seen_at, listener)
    # Instruments that a game names are not doubted: a stock has no end, and a halted one no price.
    listed = replace(page, events=()) if rules.only else page
    unread = {skip.event_id: skip.reason for skip in page.skipped if skip.kind == "market"}
    unreadable = tuple(_unreadable(listed, unread, named=named))
    doubts = [*_doubts(page, listed, unread, unreadable, named=named)]
    if not named and not rules.only:
        doubts += _missing_fields(page.events[:MOST_TRADED_EVENTS], rules)
    is_by_week = listed_by == "volume_1wk"
    return Choice(
        _explain_unread(selection, page.skipped),
        len(page.events),
        page.skipped,
        page.complete,
        unreadable=unreadable,
        doubts=tuple(doubts),
        remarks=(*remarks, *page.notes),
        listed_by="whole-life" if rules.rank_by == MARKET_VOLUME else "one-week" if is_by_week else "24 h",
    )


def _select_moving(
    venue: Venue, pick: Callable[..., Selection], rules: SelectionRules, until: datetime, listener: ProgressListener
) -> Selection:
    """Return the selection, of markets with a history as the rules ask for one.

    Histories of the chosen are read; where one is flat its market is left out and the next is chosen, until all move.
    A choice must not depend on which history could be read: `VenueUnavailable` is raised if any is unread.
    """
    flat: dict[str, str | None] = {}
    while True:
        selection = pick(flat=flat)
        chosen = {market.id: market for event in selection.selected for market in event.markets}
        new = {market_id: market for market_id, market in chosen.items() if market_id not in flat}
        found = _read_flat_markets(venue, new, rules, until, listener) if new else {}
        if not any(found.values()):
            return selection
        flat = {**flat, **found}


def _doubts(
    page: EventPage, listed: EventPage, unread: Mapping[str | None, str], unreadable: Sequence[str], *, named: bool
) -> Iterator[Doubt]:
    contradicting = [] if named else [*filter(None, (_contradiction(event, unread) for event in listed.events))]
    if wrong := (*unreadable, *contradicting):
        events = len(page.events) + sum(skip.kind == "event" for skip in page.skipped)
        bad = "are not open or could not be read" if contradicting else "could not be read"
        yield _doubt(len(wrong), events, "events", f"{bad}: {_count_reasons(wrong)}")
    unread_markets = [skip.reason for skip in page.skipped if skip.kind == "market"]
    if bad_markets := [*unread_markets, *_unplayable_markets(listed.events)]:
        markets = sum(len(event.markets) for event in page.events) + len(unread_markets)
        yield _doubt(len(bad_markets), markets, "markets", f"could not be read: {_count_reasons(bad_markets)}")


def _doubt(number: int, all_listed: int, things: str, what: str, most: float = MAX_DOUBTFUL_SHARE) -> Doubt:
    text = f"{number} of the {all_listed} {things} that the venue lists {what}"
    return Doubt(number / all_listed, text, most)


def _unreadable(page: EventPage, unread: Mapping[str | None, str], *, named: bool) -> Iterator[str]:
    """Yield the reason of each event that could not be read, or lacks a field that all have."""
    yield from (skip.reason for skip in page.skipped if skip.kind == "event")
    for event in page.events:
        # A renamed field looks like a missing one.
        is_open = _open_markets(event)
        if not named and _contradiction(event, unread):
            continue
        if event.closed is None:
            yield _NO_CLOSED
        elif is_open and not any(market.outcomes for market in is_open):
            yield "none of its markets has outcomes"
        elif not any(market.is_priced for market in is_open):
            if event.id in unread:
                yield f"market {unread[event.id]}"
            elif not event.markets:
                yield "it has no market"
            elif is_open and not event.closed:
                yield "none of its markets has a price"
        elif not named and not any([event.closes_at, *(market.closes_at for market in event.markets)]):
            yield "it has no end"


def _contradiction(event: Event, unread: Collection[str | None]) -> str | None:
    """Return why an event is not open; single closed markets are normal."""
    if event.closed:
        return "it is closed, though open ones were asked for"
    if not event.markets or _open_markets(event) or event.id in unread:
        return None
    return "all its markets are closed, though open events were asked for"


def _unplayable_markets(events: Sequence[Event]) -> Iterator[str]:
    for market in (market for event in events for market in _open_markets(event)):
        if market.closed is None:
            yield _NO_CLOSED
        elif not market.outcomes:
            yield "it has no outcomes"
        elif not market.is_priced:
            yield "it has no price"


def _missing_fields(events: Sequence[Event], rules: SelectionRules) -> Iterator[Doubt]:
    """Yield fields that the rules need and some of the most traded events lack, which would change the choice."""
    if len(events) < MIN_TELLING_EVENTS:
        return
    # Only fields that the rules use.
    ranked = {
        "volume_1wk": "a week's volume above 0 (volume1wk), by which rank_by orders",
        "volume_24h": "a day's volume above 0, by which rank_by orders",
        "market_volume_24h": "a market with a day's volume above 0 (volume24hr), by which rank_by orders",
        MARKET_VOLUME: "a market with a volume above 0 (volumeNum), by which rank_by orders",
    }[rules.rank_by]
    stated: dict[str, list[bool]] = {ranked: [bool(ranking_volume_usd(each, rules.rank_by)) for each in events]}
    if rules.min_volume_24h_usd > 0.0:
        what = "a day's volume above 0 (volume24hr), which min_volume_24h_usd needs"
        stated[what] = [bool(each.volume_24h_usd) for each in events]
    if rules.exclude or rules.include or rules.per_category:
        what = "a tag (tags), which exclude, include and per_category need"
        stated[what] = [bool(each.tags) for each in events]
    for what, flags in stated.items():
        yield from _doubt_lack("events", flags, what, most=MAX_UNRANKED_SHARE if what == ranked else MAX_DOUBTFUL_SHARE)
    has_tokens = [bool(market.ref.token_ids) for event in events for market in _open_markets(event)]
    yield from _doubt_lack("open markets", has_tokens, "tokens (clobTokenIds), which their prices are of")


def _doubt_lack(things: str, stated: Sequence[bool], what: str, *, most: float = MAX_DOUBTFUL_SHARE) -> Iterator[Doubt]:
    if lacking := stated.count(False):
        yield _doubt(lacking, len(stated), f"most traded {things}", f"lack {what}", most)


def _open_markets(event: Event) -> list[Market]:
    return [market for market in event.markets if not market.closed]


def _count_reasons(reasons: Sequence[str]) -> str:
    """Return how often each reason occurs, the most frequent first, each with its first example."""
    first = {_QUOTED.sub("", reason): reason for reason in reversed(reasons)}
    counts = Counter(_QUOTED.sub("", reason) for reason in reasons)
    shown = [f"{count} because {first[kind]}" for kind, count in counts.most_common(_SHOWN_REASONS)]
    more = sum(counts.values()) - sum(count for _, count in counts.most_common(_SHOWN_REASONS))
    return "; ".join([*shown, *([f"{more} for other reasons"] if more else [])])


def _explain_unread(selection: Selection, skipped: Sequence[Skip]) -> Selection:
    """Name the unreadable market of each event that was passed over for lack of usable ones."""
    unread = {skip.event_id: skip for skip in skipped if skip.kind == "market"}
    why = {event_id: f"market {skip.id} could not be read: {skip.reason}" for event_id, skip in unread.items()}
    passed_over = tuple(
        replace(each, reason=f"{each.reason}; {why[each.event_id]}")
        if each.rule == "unusable markets" and each.event_id in unread
        else each
        for each in selection.passed_over
    )
    return replace(selection, passed_over=passed_over)


def _read_events(
    venue: Venue,
    rules: SelectionRules,
    as_of: datetime,
    listed_by: str,
    *,
    listener: ProgressListener,
    embed: "Embed | None",
) -> EventPage:
    pages: list[Sequence[Event]] = []
    listed = venue.events
    if rules.rank_by == MARKET_VOLUME and venue.ranks_markets:
        listed, listed_by = venue.events_by_market, MARKET_VOLUME

    if rules.history_days:
        # Some of the chosen will turn out to be flat.
        rules = replace(rules, events=_SPARE * rules.events)

    def enough(so_far: Sequence[Event]) -> bool:
        listener(Progress("events", len(so_far), text="reading the venue's list"))
        if page := so_far[sum(map(len, pages)) :]:
            pages.append(page)
        return ranking_is_settled(pages, rules, _read_at(venue, so_far, as_of), listed_by=listed_by, embed=embed)

    return listed(as_of, enough=enough)


def _read_at(venue: Venue, events: Sequence[Event], as_of: datetime) -> datetime:
    """Return the instant up to which quotes were read: a live list takes a while, a replay is exact."""
    if not venue.live:
        return as_of
    quoted = [quote.at for event in events for market in event.markets for quote in market.quotes]
    return max([as_of, *quoted])


def flat_because(prices: Sequence[float], rules: SelectionRules) -> str | None:
    """Return why a market with these prices of the last `history_days` is not played, or None.

    Examples:
        >>> from predibot.domain.category import CryptoWords
        >>> flat_because([0.01, 0.012, 0.01], SelectionRules(crypto=CryptoWords({}), history_days=10, min_range=0.02))
        'moved by 0.002 in 10 days, below min_range 0.02'
    """
    if len(prices) < _LEAST_PRICES:
        return f"without a history of {rules.history_days:g} days"
    moved = max(prices) - min(prices)
    if moved >= rules.min_range - _ROUNDING:
        return None
    return f"moved by {moved:.3g} in {rules.history_days:g} days, below min_range {rules.min_range:g}"


def _read_flat_markets(
    venue: Venue, markets: Mapping[str, Market], rules: SelectionRules, until: datetime, listener: ProgressListener
) -> Mapping[str, str | None]:
    """Return why markets are not played for their prices, or None, by id."""
    found: dict[str, str | None] = {}
    start = until - timedelta(days=rules.history_days)

    def read(market_id: str) -> str | None:
        market = markets[market_id]
        # NO moves as YES does; of more outcomes one that moved is enough.
        outcomes = market.instruments(venue.name)[: None if market.is_named else 1]
        paths = [venue.price_path(each, start=start, until=until) for each in outcomes]
        reasons = [flat_because([point.price for point in path.points], rules) for path in paths]
        return None if None in reasons else next(iter(reasons), "without an outcome")

    def keep(answered: Sequence[tuple[str, str | None]]) -> int:
        found.update(answered)
        return len(answered)

    names = {market_id: f"market {market_id}" for market_id in markets}
    _, failures = read_histories(names, read, keep, "select", _HISTORY_WORKERS, listener)
    if failures:
        raise VenueUnavailable(f"{'; '.join(shorten_failures(failures))}. No run is made; try again later")
    return found
