"""Selection: which events a run plays, and the first rule that each other event fails.

Pure, and nothing after the run's instant counts.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

from predibot.domain.category import CryptoWords, category_of, crypto_grounds
from predibot.domain.clock import format_instant
from predibot.domain.event import Event, Market, UnplayedMarkets
from predibot.domain.price import Quote
from predibot.domain.spelling import first_of
from predibot.rows import grouped

if TYPE_CHECKING:
    from predibot.related.features import Embed

MAX_QUOTE_AGE = timedelta(hours=24)
CRYPTO = "crypto"
"""The one category that is also recognised by the words of `CryptoWords`, not by tags alone."""
MARKET_VOLUME = "market_volume"
EVENT_VOLUMES: Mapping[str, Callable[[Event], float | None]] = {
    "volume_1wk": lambda event: _week_usd(event),
    "volume_24h": lambda event: event.volume_24h_usd,
}
RANKINGS = (*EVENT_VOLUMES, "market_volume_24h", MARKET_VOLUME)
"""Volume of an event in a week or a day, of its most traded market in a day, or of a market since it opened."""
QUIET_PAGES = 2
"""A list is read until this many pages in a row hold no event of nearly the last chosen event's volume."""
QUIET_SHARE = 0.5
"""The part of the last chosen event's volume that counts as near, because lists are only roughly in order."""
DUPLICATE_TEXTS = ("title", "title_and_questions")
DUPLICATE_PORTS = ("tfidf", "embeddings")
"""How texts are compared: by weighted words, or by a sentence-transformer."""
_NAMED_WORDS = 10
_UNUSABLE = "unusable markets"


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectionRules:
    """The conditions for an event to be played, under the names in recipes."""

    crypto: CryptoWords
    ends_within_days: float | Literal["any"] = 60.0
    """The most days to an event's end; `any` also plays events without an end."""
    min_hours_left: float | Literal["any"] = 1.0
    """The least hours to an event's end; `any` also plays events that ended and still trade."""
    exclude: tuple[str, ...] = (CRYPTO,)
    """Crypto, and categories and tags by label or slug."""
    include: tuple[str, ...] = ()
    """If it is not empty, an event must have one of these categories or tags."""
    per_category: int = 0
    """The most events of one category, 0 for all; events without a category do not count."""
    min_volume_24h_usd: float = 1000.0
    rank_by: str = "volume_1wk"
    max_markets: int = 20
    """The most markets of an event, 0 for all."""
    events: int = 10
    """The most events of a run; ranked by `market_volume` the most markets, of any events."""
    drop_duplicates: float = 0.0
    """Cosine of two texts from which the lower ranked event is a duplicate; 0 drops none."""
    duplicate_text: str = "title_and_questions"
    duplicate_port: str = "tfidf"
    """One of `DUPLICATE_PORTS`; never guessed from the installed packages."""
    duplicate_model: str = ""
    """The name or folder of the sentence-transformer; empty for `tfidf`."""
    history_days: float = 0.0
    """Markets without two recorded prices in so many days are not played; 0 asks for no history."""
    min_range: float = 0.0
    """The least distance of the highest from the lowest price in these days, in [0, 1]."""
    named_outcomes: bool = False
    """Whether markets of more than two outcomes can be played; set by games, not by recipes."""
    only: tuple[str, ...] = ()
    """Ids of the only events to play, whatever the other rules; set by games, not by recipes."""

    def __post_init__(self) -> None:
        """Refuse rules that no event could meet."""
        for name, unit in (("ends_within_days", "days"), ("min_hours_left", "hours")):
            limit = getattr(self, name)
            if limit != "any" and (isinstance(limit, str) or not (math.isfinite(limit) and limit >= 0)):
                raise ValueError(f"{name} is {limit!r}; it is {unit}, 0 or more, or 'any'")
        if not (math.isfinite(self.min_volume_24h_usd) and self.min_volume_24h_usd >= 0):
            raise ValueError(f"min_volume_24h_usd is {self.min_volume_24h_usd!r}; it is dollars, 0 or more")
        for name in ("exclude", "include"):
            if not all(word.strip() for word in getattr(self, name)):
                raise ValueError(f"{name} has an empty word; name a category or a tag by its label or slug")
        if both := {word.casefold() for word in self.exclude} & {word.casefold() for word in self.include}:
            raise ValueError(f"exclude and include both have {min(both)!r}; take it out of one of them")
        if self.per_category < 0:
            raise ValueError(f"per_category is {self.per_category}; it is 1 or more, or 0 for all")
        if self.max_markets < 0:
            raise ValueError(f"max_markets is {self.max_markets}; it is 1 or more, or 0 for all")
        if self.events < 1:
            raise ValueError(f"events is {self.events}; a run plays at least 1")
        if self.rank_by not in RANKINGS:
            raise ValueError(f"rank_by is {self.rank_by!r}; it may be {', '.join(RANKINGS)}")
        if not 0.0 <= self.drop_duplicates <= 1.0:
            raise ValueError(f"drop_duplicates is {self.drop_duplicates!r}; it is a cosine from 0 to 1, and 0 is off")
        for name, known in (("duplicate_text", DUPLICATE_TEXTS), ("duplicate_port", DUPLICATE_PORTS)):
            if getattr(self, name) not in known:
                raise ValueError(f"{name} is {getattr(self, name)!r}; it may be {', '.join(known)}")
        if not (math.isfinite(self.history_days) and self.history_days >= 0):
            raise ValueError(f"history_days is {self.history_days!r}; it is days, 0 or more, and 0 is off")
        if not 0.0 <= self.min_range <= 1.0:
            raise ValueError(f"min_range is {self.min_range!r}; it is a difference of prices, from 0 to 1")
        if self.min_range and not self.history_days:
            raise ValueError("min_range is a range of prices in history_days, such as 10; give both")
        if (self.duplicate_port == "embeddings") != bool(self.duplicate_model):
            raise ValueError("duplicate_model names the model of duplicate_port = 'embeddings'; give both, or neither")


@dataclass(frozen=True, slots=True)
class Rejection:
    """An event that is not played, the rule it failed, and why."""

    event_id: str
    title: str
    rule: str
    reason: str


@dataclass(frozen=True, slots=True)
class Selection:
    """The events of a run, the highest ranked first, each with only the markets to play."""

    selected: tuple[Event, ...]
    passed_over: tuple[Rejection, ...] = ()
    notes: tuple[str, ...] = ()
    rank_by: str = "volume_1wk"


def select(
    events: Sequence[Event],
    rules: SelectionRules,
    as_of: datetime,
    *,
    only_event_id: str | None = None,
    embed: "Embed | None" = None,
    money_sign: str = "$",
    flat: Mapping[str, str | None] = MappingProxyType({}),
) -> Selection:
    """Return the events a run plays, whatever the given order of events and markets.

    The markets of a selected event come most traded first.

    Args:
        as_of: The run's instant; later quotes are ignored.
        only_event_id: The user's own choice: only this event is considered, and the rules about its end, category,
            volume, rank and duplicates are waived.
        embed: Turns texts into vectors, for `embeddings`.
        flat: Why markets are not played for their prices, by id, by `history_days` and `min_range`.
    """
    if rules.only and only_event_id is None:
        return _select_named(events, rules)
    listed, notes = _deduplicate(events)
    listed = [replace(event, volume_1wk_usd=_week_usd(event)) for event in listed]
    if only_event_id is not None:
        listed = [event for event in listed if event.id == only_event_id]
        notes += _notes_on_named(only_event_id, found=bool(listed))
    still = {market_id: reason for market_id, reason in flat.items() if reason is not None}
    drops = {
        event.id: {
            **{market.id: still[market.id] for market in event.markets if market.id in still},
            **_find_unusable_markets(event, as_of, named=rules.named_outcomes),
        }
        for event in listed
    }
    usable = sorted(
        (_drop_markets(event, drops[event.id], rules.rank_by) for event in listed),
        key=lambda event: _event_order(event, rules.rank_by),
    )
    candidates: list[Event] = []
    passed_over: list[Rejection] = []
    words = None
    if only_event_id is None:
        words = (_Words(rules.exclude, rules.crypto), _Words(rules.include, rules.crypto))
    for event in usable:
        failed = _first_failed_rule(event, drops[event.id], rules, as_of, words, money_sign)
        if failed is not None and failed[0] == _UNUSABLE and not drops[event.id].keys().isdisjoint(still):
            failed = ("min_range", failed[1])
        if failed is None:
            candidates.append(event)
        else:
            passed_over.append(Rejection(event.id, event.title, *failed))
    candidates, crowded = _cap_categories(candidates, rules.per_category if only_event_id is None else 0)
    passed_over += crowded
    if rules.drop_duplicates and only_event_id is None:
        candidates, crowded = _drop_duplicates(candidates, rules, embed)
        passed_over += crowded
        notes += [f"event {each.event_id} ({each.title}) is left out: {each.reason}" for each in crowded]
    if rules.rank_by == MARKET_VOLUME and only_event_id is None:
        chosen, crowded = _take_most_traded(candidates, rules.events)
        passed_over += crowded
    else:
        passed_over += _pass_over_rest(candidates, rules, money_sign)
        chosen = candidates[: rules.events]
    if only_event_id is None:
        notes += _notes_on_words(listed, rules)
    if rules.rank_by == MARKET_VOLUME:
        # Hundreds of events have a closed market: a count is enough.
        reasons = Counter(reason for event in chosen for reason in drops[event.id].values())
        if reasons:
            each = ", ".join(f"{count} {reason}" for reason, count in sorted(reasons.items()))
            notes.append(f"markets of these events dropped: {each}")
    else:
        for event in chosen:
            notes += _notes_on_markets(event, drops[event.id], rules)
    counted, noun = (
        (sum(len(event.markets) for event in chosen), "market")
        if rules.rank_by == MARKET_VOLUME
        else (len(chosen), "event")
    )
    if only_event_id is None and counted < rules.events:
        notes.append(f"{counted} of {rules.events} {noun}s: no other {noun} keeps the rules")
    whole = {event.id: event for event in listed}
    trimmed = (
        replace(event, markets=played, left_out=_left_out(whole[event.id], played, as_of))
        for event in chosen
        for played in (event.markets[: rules.max_markets or None],)
    )
    return Selection(tuple(trimmed), tuple(passed_over), tuple(notes), rules.rank_by)


def _select_named(events: Sequence[Event], rules: SelectionRules) -> Selection:
    listed = {event.id: event for event in events}
    found = [listed[name] for name in rules.only if name in listed]
    notes = [f"{name} is not listed by the venue, and is not played" for name in rules.only if name not in listed]
    closed = tuple(
        Rejection(event.id, event.title, "open", "it is not traded any more") for event in found if event.closed
    )
    return Selection(tuple(event for event in found if not event.closed), closed, tuple(notes), rules.rank_by)


def ranking_is_settled(
    pages: Sequence[Sequence[Event]],
    rules: SelectionRules,
    as_of: datetime,
    *,
    listed_by: str = "volume_1wk",
    embed: "Embed | None" = None,
) -> bool:
    """Return whether nothing later on the list is likely to be selected.

    `pages` is the list so far, each with at least one event, roughly ordered by `listed_by`, one of `RANKINGS`.
    """
    by_market = rules.rank_by == MARKET_VOLUME
    if len(pages) < QUIET_PAGES or rules.only or by_market != (listed_by == MARKET_VOLUME):
        # In a list by a week's volume, a market that traded long ago stands anywhere.
        return False
    chosen = select([event for page in pages for event in page], rules, as_of, embed=embed).selected
    volumes = [ranking_volume_usd(event, rules.rank_by) for event in chosen]
    if by_market:
        volumes = [market.volume_usd for event in chosen for market in event.markets]
    known = [volume for volume in volumes if volume is not None]
    if len(known) < rules.events:
        return False
    # A market's volume in a day is at most its event's in a day, and that at most the event's in a week.
    # A page without known volumes settles nothing.
    latest = [
        max((usd for event in page if (usd := ranking_volume_usd(event, listed_by)) is not None), default=math.inf)
        for page in pages[-QUIET_PAGES:]
    ]
    # Events without any volume tie, and a later one may come first by its id.
    return min(known) > 0.0 and max(latest) <= QUIET_SHARE * min(known)


def _week_usd(event: Event) -> float | None:
    """Return the volume of an event in a week: the stated one, else the sum over its markets."""
    if event.volume_1wk_usd is not None:
        return event.volume_1wk_usd
    stated = [market.volume_1wk_usd for market in event.markets if market.volume_1wk_usd is not None]
    return math.fsum(stated) if stated else None


def ranking_volume_usd(event: Event, rank_by: str) -> float | None:
    """Return the volume that ranks an event with its playable markets, None where it is unknown."""
    if rank_by in EVENT_VOLUMES:
        return EVENT_VOLUMES[rank_by](event)
    known = (_volume_usd(market, rank_by) for market in event.markets)
    return max((volume_usd for volume_usd in known if volume_usd is not None), default=None)


def _volume_usd(market: Market, rank_by: str) -> float | None:
    if rank_by == MARKET_VOLUME:
        return market.volume_usd
    if rank_by == "volume_24h" and market.volume_24h_usd is None:
        # Answers of one market state only their volume since they opened.
        return market.volume_usd
    return market.volume_1wk_usd if rank_by == "volume_1wk" else market.volume_24h_usd


def _volume_order(volume_usd: float | None) -> tuple[bool, float]:
    """Return a sort key: the highest volume first, an unknown one last."""
    return (volume_usd is None, -(volume_usd or 0.0))


def _event_order(event: Event, rank_by: str = "volume_1wk") -> tuple[tuple[bool, float], str]:
    of_market = rank_by not in EVENT_VOLUMES and event.markets
    return (_volume_order(ranking_volume_usd(event, rank_by)), event.markets[0].id if of_market else event.id)


def _market_order(market: Market, rank_by: str = "volume_1wk") -> tuple[tuple[bool, float], str]:
    return (_volume_order(_volume_usd(market, rank_by)), market.id)


def _deduplicate(events: Sequence[Event]) -> tuple[list[Event], list[str]]:
    """Return the events by rank, each once, and notes on those listed twice, as on two pages."""
    versions = grouped((event.id, event) for event in events)
    unique = [
        same[0] if len(same) == 1 else min(same, key=lambda event: (_event_order(event), event.payload, repr(event)))
        for same in versions.values()
    ]
    repeated = sorted(event_id for event_id, same in versions.items() if len(same) > 1)
    notes = [f"event {event_id} was listed more than once; the most traded version counts" for event_id in repeated]
    summed = sorted(each.id for each in unique if each.volume_1wk_usd is None and _week_usd(each) is not None)
    if summed:
        count = "1 event states" if len(summed) == 1 else f"{len(summed)} events state"
        notes.append(
            f"{count} no volume of a week, which is the sum of their markets': {first_of(summed, _NAMED_WORDS)}"
        )
    return sorted(unique, key=_event_order), notes


def _notes_on_named(event_id: str, *, found: bool) -> list[str]:
    if not found:
        return [f"event {event_id} is not among the events of the venue"]
    waived = "ends_within_days, min_hours_left, exclude, include, per_category, min_volume_24h_usd and rank_by"
    return [f"event {event_id} was asked for by name, so {waived} were waived"]


def _find_unusable_markets(event: Event, as_of: datetime, *, named: bool) -> Mapping[str, str]:
    """Return the reason against each market that cannot be played, by market id."""
    reasons = {
        market.id: _unusable_because(market, as_of, named=named) for market in sorted(event.markets, key=_market_order)
    }
    return {market_id: reason for market_id, reason in reasons.items() if reason is not None}


def _unusable_because(market: Market, as_of: datetime, *, named: bool) -> str | None:
    if market.closed:
        return "closed"
    if len(market.outcomes) < 2 or (market.is_named and not named):
        return "fewer than two outcomes" if named else "not exactly two outcomes"
    if market.orders.accepted is False:
        return "takes no orders"
    # Of more than two outcomes, one that can be bought is enough.
    reasons = [_unusable_quote(quote, as_of) for quote in market.quotes]
    return None if None in reasons else reasons[0] if reasons else "no quote"


def _unusable_quote(quote: Quote, as_of: datetime) -> str | None:
    if quote.price is None:
        return "no quote"
    if quote.at > as_of:
        return "quoted only later"
    if as_of - quote.at > MAX_QUOTE_AGE:
        return "quote older than 24 h"
    return None if quote.price.usable else "priced at 0 or 1"


def _drop_markets(event: Event, dropped: Mapping[str, str], rank_by: str) -> Event:
    """Return the event without the dropped markets, the most traded first."""
    kept = (market for market in event.markets if market.id not in dropped)
    return replace(event, markets=tuple(sorted(kept, key=lambda market: _market_order(market, rank_by))))


def _left_out(event: Event, played: Sequence[Market], as_of: datetime) -> tuple[UnplayedMarkets, ...]:
    """Return the open markets of an event that are not played, by exclusive group."""
    ids = {market.id for market in played}
    groups = grouped(
        (market.exclusive_group, market) for market in event.markets if market.id not in ids and not market.closed
    )
    return tuple(UnplayedMarkets(len(each), group, _total_price(each, as_of)) for group, each in sorted(groups.items()))


def _total_price(markets: Sequence[Market], as_of: datetime) -> float | None:
    """Return the sum of the prices of YES, None where one has no price of the last day."""
    fresh = [
        market.quote.price
        for market in markets
        if market.quote is not None and timedelta(0) <= as_of - market.quote.at <= MAX_QUOTE_AGE
    ]
    prices = [price.yes for price in fresh if price is not None]
    return math.fsum(prices) if len(prices) == len(markets) else None


def _first_failed_rule(
    event: Event,
    dropped: Mapping[str, str],
    rules: SelectionRules,
    as_of: datetime,
    words: "tuple[_Words, _Words] | None",
    money_sign: str,
) -> tuple[str, str] | None:
    """Return the first rule that an event fails and why, or None.

    `event` has only the markets that can be played; `dropped` are the reasons against the others, by id. `words` are of
    `exclude` and `include`, None for an event that the user named: most rules are then waived.
    """
    if not event.markets:
        dropped_all = f"none of its {len(dropped)} markets can be played: {_group_reasons(dropped)}"
        return _UNUSABLE, dropped_all if dropped else "it has no market"
    if event.closed or event.archived:
        return "open", "it is closed" if event.closed else "it is archived"
    if words is None:
        return None
    excluded, included = words
    if reason := _ends_too_late(event, rules, as_of):
        return "ends_within_days", reason
    if reason := _ends_too_soon(event, rules, as_of):
        return "min_hours_left", reason
    if found := excluded.grounds(event):
        word, grounds = next(iter(found.items()))
        return "exclude", f"{word}, by {grounds}"
    if included.all and not included.grounds(event):
        return "include", f"neither its category nor a tag is one of: {first_of(included.all, _NAMED_WORDS)}"
    volume_usd = event.volume_24h_usd
    if volume_usd is not None and volume_usd < rules.min_volume_24h_usd:
        least = f"{money_sign}{rules.min_volume_24h_usd:,.2f}"
        return "min_volume_24h_usd", f"{money_sign}{volume_usd:,.2f} traded in 24 h, below {least}"
    return None


def _ends_too_late(event: Event, rules: SelectionRules, as_of: datetime) -> str | None:
    ends_at = _end_of(event)
    if isinstance(rules.ends_within_days, str):
        return None
    if ends_at is None:
        return "it has no end"
    days = (ends_at - as_of) / timedelta(days=1)
    if days <= rules.ends_within_days:
        return None
    when = f"{math.ceil(100 * days) / 100:g} days from now"
    return f"it ends at {format_instant(ends_at)}, {when}; ends_within_days is {rules.ends_within_days:g}"


def _ends_too_soon(event: Event, rules: SelectionRules, as_of: datetime) -> str | None:
    ends_at = _end_of(event)
    if ends_at is None or isinstance(rules.min_hours_left, str):
        return None
    hours = (ends_at - as_of) / timedelta(hours=1)
    if hours >= rules.min_hours_left:
        return None
    # Rounded away from the limit, so that the sentence does not contradict itself.
    when = f"{math.floor(100 * hours) / 100:g} hours from now" if hours >= 0.0 else f"{-hours:.2f} hours ago"
    return f"its end is {format_instant(ends_at)}, {when}; min_hours_left is {rules.min_hours_left:g}"


def _end_of(event: Event) -> datetime | None:
    """Return the event's own end, else the latest end of its markets."""
    return event.closes_at or max((market.closes_at for market in event.markets if market.closes_at), default=None)


class _Words:
    """The words of `exclude` or `include`, indexed for all tags of an event."""

    def __init__(self, words: Sequence[str], crypto: CryptoWords) -> None:
        self.all = words
        self._by_folded: dict[str, str] = {}
        self._rank: dict[str, int] = {}
        for rank, word in enumerate(words):
            self._by_folded.setdefault(word.casefold(), word)
            self._rank.setdefault(word.casefold(), rank)
        self._crypto = crypto

    def grounds(self, event: Event) -> dict[str, str]:
        """Return the words that apply to an event, in their order, each with the reason."""
        names: dict[str, str] = {}
        if CRYPTO in self._rank and (found := crypto_grounds(event, self._crypto)):
            names[CRYPTO] = found
        for tag in event.tags:
            for name in (tag.label, tag.slug):
                names.setdefault(name.casefold(), f"its tag {tag.label or tag.slug!r}")
        category = category_of(event.tags)
        if category is not None:
            names.setdefault(category.casefold(), f"its category {category!r}")
        ranked = sorted(names.keys() & self._rank.keys(), key=self._rank.__getitem__)
        return {self._by_folded[name]: names[name] for name in ranked}


def _take_most_traded(candidates: Sequence[Event], most: int) -> tuple[list[Event], list[Rejection]]:
    """Return events with only their markets among the most traded of all, and the events without any."""
    ranked = sorted(
        (_market_order(market, MARKET_VOLUME), number, market.id)
        for number, event in enumerate(candidates)
        for market in event.markets
    )
    # A market of two events belongs to the first.
    first = {market_id: number for _, number, market_id in reversed(ranked)}
    ranked = [(order, number, market_id) for order, number, market_id in ranked if first[market_id] == number]
    kept: dict[int, set[str]] = {}
    for _, number, market_id in ranked[:most]:
        kept.setdefault(number, set()).add(market_id)
    chosen = [
        replace(candidates[number], markets=tuple(m for m in candidates[number].markets if m.id in kept[number]))
        for number in sorted(kept)
    ]
    crowded = [
        Rejection(event.id, event.title, "events", f"none of its markets is among the {most} that traded most")
        for number, event in enumerate(candidates)
        if number not in kept
    ]
    return chosen, crowded


def _cap_categories(candidates: Sequence[Event], per_category: int) -> tuple[list[Event], list[Rejection]]:
    """Return the most traded events of each category, and the others with the reason."""
    if not per_category:
        return list(candidates), []
    kept: list[Event] = []
    crowded: list[Rejection] = []
    seen: Counter[str] = Counter()
    for event in candidates:
        category = category_of(event.tags)
        if category is None or seen[category] < per_category:
            kept.append(event)
        else:
            reason = f"{per_category} more traded events of the category {category!r} are played"
            crowded.append(Rejection(event.id, event.title, "per_category", reason))
        seen.update([category] if category is not None else [])
    return kept, crowded


def _drop_duplicates(
    candidates: Sequence[Event], rules: SelectionRules, embed: "Embed | None"
) -> tuple[list[Event], list[Rejection]]:
    """Return the events without those that repeat a higher ranked one, and these with the reason.

    Events ranked below the last that is played are not compared.
    """
    # Imported here: only duplicates need numpy, and every start imports this module.
    from predibot.related.duplicates import TextIndex

    seen = TextIndex(rules.drop_duplicates, embed)
    titles = {event.id: event.title for event in candidates}
    kept: list[Event] = []
    dropped: list[Rejection] = []
    for rank, event in enumerate(candidates):
        if len(kept) == rules.events:
            return kept + list(candidates[rank:]), dropped
        questions = (market.question for market in sorted(event.markets, key=lambda market: market.id))
        texts = (event.title, *(questions if rules.duplicate_text == "title_and_questions" else ()))
        found = seen.find_or_keep(event.id, ". ".join(dict.fromkeys(texts)))
        if found is None:
            kept.append(event)
            continue
        of, cosine = found
        by = "tfidf" if embed is None else f"{rules.duplicate_port} of {rules.duplicate_model}"
        reason = (
            f"its text is that of event {of} ({titles[of]}): cosine {cosine:.3f} by {by}; "
            f"drop_duplicates is {rules.drop_duplicates:g}"
        )
        dropped.append(Rejection(event.id, event.title, "drop_duplicates", reason))
    return kept, dropped


def _notes_on_words(listed: Sequence[Event], rules: SelectionRules) -> Iterator[str]:
    """Yield the words of `exclude` and `include` that no event has: they may be misspelt."""
    for name, words in (("exclude", rules.exclude), ("include", rules.include)):
        known = _Words(words, rules.crypto)
        seen = {word.casefold() for event in listed for word in known.grounds(event)} | {CRYPTO}
        missing = [word for word in words if word.casefold() not in seen]
        which = f"no category and no tag of the {len(listed)} events listed"
        yield from (f"{name} names {word!r}, which is {which}" for word in missing[:_NAMED_WORDS])
        if len(missing) > _NAMED_WORDS:
            yield f"{name} names {len(missing) - _NAMED_WORDS:,} more words that are {which}"


def _pass_over_rest(candidates: Sequence[Event], rules: SelectionRules, money_sign: str) -> Iterator[Rejection]:
    span = {"volume_1wk": "traded in a week", "volume_24h": "traded in 24 h"}.get(
        rules.rank_by, "traded in 24 h by its most traded market"
    )
    for rank, event in enumerate(candidates[rules.events :], start=rules.events + 1):
        volume_usd = ranking_volume_usd(event, rules.rank_by)
        traded = "an unknown volume" if volume_usd is None else f"{money_sign}{volume_usd:,.2f}"
        reason = f"rank {rank} of {len(candidates)} with {traded} {span}; the run plays {rules.events}"
        yield Rejection(event.id, event.title, "events", reason)


def _notes_on_markets(event: Event, dropped: Mapping[str, str], rules: SelectionRules) -> list[str]:
    """Return notes on the markets left out of a chosen event, at most one a rule."""
    notes = []
    if dropped:
        of = len(dropped) + len(event.markets)
        notes.append(f"event {event.id}: {len(dropped)} of {of} markets dropped: {_group_reasons(dropped)}")
    max_markets = rules.max_markets
    rest = event.markets[max_markets:] if max_markets else ()
    # Where markets are ranked and one an event is taken, this is no news.
    if rest and (max_markets > 1 or rules.rank_by in EVENT_VOLUMES):
        ids = ", ".join(market.id for market in rest)
        notes.append(
            f"event {event.id}: max_markets is {max_markets}, so {len(rest)} less traded are not played: {ids}"
        )
    return notes


def _group_reasons(dropped: Mapping[str, str]) -> str:
    ids_by_reason = grouped((reason, market_id) for market_id, reason in dropped.items())
    return "; ".join(f"{reason} ({', '.join(sorted(ids))})" for reason, ids in sorted(ids_by_reason.items()))
