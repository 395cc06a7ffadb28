"""Selection: which events a run plays, and why it passes over the others; pure, sees nothing after its instant.

The rules are those of `selection.md`, in its order: the first that an event
fails is the reason given for passing it over.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Literal

from predibot.domain.category import CryptoWords, category_of, crypto_grounds
from predibot.domain.clock import format_instant
from predibot.domain.event import Event, Market
from predibot.domain.price import Quote
from predibot.domain.spelling import first_of

if TYPE_CHECKING:
    from predibot.related.texts import Embed

MAX_QUOTE_AGE = timedelta(hours=24)
CRYPTO = "crypto"
"""The one subject that is known by more than tags: by the words of `CryptoWords`."""
MARKET_VOLUME = "market_volume"
EVENT_VOLUMES: Mapping[str, Callable[[Event], float | None]] = {
    "volume_1wk": lambda event: _week_usd(event),
    "volume_24h": lambda event: event.volume_24h_usd,
}
RANKINGS = (*EVENT_VOLUMES, "market_volume_24h", MARKET_VOLUME)
"""By what an event traded in a week or in a day, what one of its markets traded in a day, or what each ever traded."""
QUIET_PAGES = 2
"""So many pages in a row with nothing that comes near the last one chosen end the reading of a list."""
QUIET_SHARE = 0.5
"""Of the volume of the last one chosen: what comes near it. A list is about in order, and no more."""
DUPLICATE_TEXTS = ("title", "title_and_questions")
"""What of two events is compared."""
DUPLICATE_PORTS = ("tfidf", "embeddings")
"""By which their texts are: by weighted words, or by a sentence-transformer."""
_NAMED_WORDS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectionRules:
    """What an event must be to be played; the names are those of a recipe."""

    crypto: CryptoWords
    ends_within_days: float | Literal["any"] = 60.0
    """Days to the end of an event; `any` plays those too that end later, or state no end."""
    min_hours_left: float | Literal["any"] = 1.0
    """Until the end of an event; `any` plays those too that ended and still trade."""
    exclude: tuple[str, ...] = (CRYPTO,)
    """Crypto, and categories and tags by label or slug."""
    include: tuple[str, ...] = ()
    """The same: an event has one of them. Empty, it need not."""
    per_category: int = 0
    """Events of one category; 0 means all. One without a category is not counted."""
    min_volume_24h_usd: float = 1000.0
    rank_by: str = "volume_1wk"
    max_markets: int = 20
    """An event; 0 means all."""
    events: int = 10
    """Of a run; ranked by `market_volume` it is so many markets, whatever their events."""
    drop_duplicates: float = 0.0
    """The cosine of two texts from which the lower ranked event is a duplicate; 0 drops none."""
    duplicate_text: str = "title_and_questions"
    """One of `DUPLICATE_TEXTS`."""
    duplicate_port: str = "tfidf"
    """One of `DUPLICATE_PORTS`: what a recipe says, whatever is installed."""
    duplicate_model: str = ""
    """The name or folder of the sentence-transformer; empty for `tfidf`."""
    named_outcomes: bool = False
    """Whether markets of more than two outcomes can be played; a game says so, and no recipe."""
    only: tuple[str, ...] = ()
    """The events that are played, by id, whatever else these rules say; a game names them, and no recipe."""

    def __post_init__(self) -> None:
        """Refuse rules that no event could be held to."""
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
        if (self.duplicate_port == "embeddings") != bool(self.duplicate_model):
            raise ValueError("duplicate_model names the model of duplicate_port = 'embeddings'; give both, or neither")


@dataclass(frozen=True, slots=True)
class PassedOver:
    """An event that is not played, the rule it failed, and what was seen."""

    event_id: str
    title: str
    rule: str
    reason: str


@dataclass(frozen=True, slots=True)
class Selection:
    """The events of a run, the highest ranked first, each with only the markets that are played."""

    selected: tuple[Event, ...]
    passed_over: tuple[PassedOver, ...] = ()
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
) -> Selection:
    """Return the events a run plays.

    The order of the events, and of the markets in them, does not matter. The
    markets of a selected event come with the most traded first.

    Args:
        events: As a venue listed them.
        rules: Those of the recipe.
        as_of: The run's instant; a quote taken later is not seen.
        only_event_id: The event the user named. Then only this one is looked
            at, and the rules about its end, subject, volume, rank and duplicates are waived.
        embed: What turns texts into vectors where the rules say `embeddings`.
        money_sign: What stands before amounts of the venue's currency.
    """
    if rules.only and only_event_id is None:
        return _named(events, rules)
    listed, notes = _once_each(events)
    listed = [replace(event, volume_1wk_usd=_week_usd(event)) for event in listed]
    if only_event_id is not None:
        listed = [event for event in listed if event.id == only_event_id]
        notes += _notes_on_named(only_event_id, found=bool(listed))
    drops = {event.id: _dropped_markets(event, as_of, named=rules.named_outcomes) for event in listed}
    usable = sorted(
        (_without(event, drops[event.id], rules.rank_by) for event in listed),
        key=lambda event: _event_order(event, rules.rank_by),
    )
    candidates: list[Event] = []
    passed_over: list[PassedOver] = []
    words = None
    if only_event_id is None:
        words = (_Words(rules.exclude, rules.crypto), _Words(rules.include, rules.crypto))
    for event in usable:
        failed = _first_failed_rule(event, drops[event.id], rules, as_of, words, money_sign)
        if failed is None:
            candidates.append(event)
        else:
            passed_over.append(PassedOver(event.id, event.title, *failed))
    candidates, crowded = _capped(candidates, rules.per_category if only_event_id is None else 0)
    passed_over += crowded
    if rules.drop_duplicates and only_event_id is None:
        candidates, crowded = _without_duplicates(candidates, rules, embed)
        passed_over += crowded
        notes += [f"event {each.event_id} ({each.title}) is left out: {each.reason}" for each in crowded]
    if rules.rank_by == MARKET_VOLUME and only_event_id is None:
        chosen, crowded = _with_most_traded(candidates, rules.events)
        passed_over += crowded
    else:
        passed_over += _below_the_cut(candidates, rules, money_sign)
        chosen = candidates[: rules.events]
    if only_event_id is None:
        notes += _notes_on_words(listed, rules)
    if rules.rank_by == MARKET_VOLUME:
        # Hundreds of events have a market that closed: a count says enough.
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
    trimmed = (replace(event, markets=event.markets[: rules.max_markets or None]) for event in chosen)
    return Selection(tuple(trimmed), tuple(passed_over), tuple(notes), rules.rank_by)


def _named(events: Sequence[Event], rules: SelectionRules) -> Selection:
    """Return the events that the rules name, in their order, without those that are closed."""
    listed = {event.id: event for event in events}
    found = [listed[name] for name in rules.only if name in listed]
    notes = [f"{name} is not listed by the venue, and is not played" for name in rules.only if name not in listed]
    closed = tuple(
        PassedOver(event.id, event.title, "open", "it is not traded any more") for event in found if event.closed
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
    """Return whether nothing that is listed later is likely to enter the selection.

    Args:
        pages: Of the list so far, each with at least one event.
        rules: Those of the recipe.
        as_of: The run's instant.
        listed_by: The one of `RANKINGS` by which they are listed, about the
            highest first.
        embed: As `select` takes it.
    """
    by_market = rules.rank_by == MARKET_VOLUME
    if len(pages) < QUIET_PAGES or rules.only or by_market != (listed_by == MARKET_VOLUME):
        # What was traded long ago stands anywhere in a list of what a week traded.
        return False
    chosen = select([event for page in pages for event in page], rules, as_of, embed=embed).selected
    volumes = [ranked_by_usd(event, rules.rank_by) for event in chosen]
    if by_market:
        volumes = [market.volume_usd for event in chosen for market in event.markets]
    known = [volume for volume in volumes if volume is not None]
    if len(known) < rules.events:
        return False
    # What a market trades in a day is a part of what its event trades in a day, and that of what it trades in a week.
    # A page on which nothing is known says nothing of what comes near.
    latest = [
        max((usd for event in page if (usd := ranked_by_usd(event, listed_by)) is not None), default=math.inf)
        for page in pages[-QUIET_PAGES:]
    ]
    return max(latest) <= QUIET_SHARE * min(known)


def _week_usd(event: Event) -> float | None:
    """Return what an event traded in a week: as it states it, else the sum of what its markets state."""
    if event.volume_1wk_usd is not None:
        return event.volume_1wk_usd
    stated = [market.volume_1wk_usd for market in event.markets if market.volume_1wk_usd is not None]
    return math.fsum(stated) if stated else None


def ranked_by_usd(event: Event, rank_by: str) -> float | None:
    """Return the volume by which an event with the markets that can be played is ranked, None where it is unknown."""
    if rank_by in EVENT_VOLUMES:
        return EVENT_VOLUMES[rank_by](event)
    known = (_traded_usd(market, rank_by) for market in event.markets)
    return max((volume_usd for volume_usd in known if volume_usd is not None), default=None)


def _traded_usd(market: Market, rank_by: str) -> float | None:
    if rank_by == MARKET_VOLUME:
        return market.volume_usd
    if rank_by == "volume_24h" and market.volume_24h_usd is None:
        # Answers of one market state only what they ever traded.
        return market.volume_usd
    return market.volume_1wk_usd if rank_by == "volume_1wk" else market.volume_24h_usd


def _volume_order(volume_usd: float | None) -> tuple[bool, float]:
    """Return what sorts the highest volume first and an unknown one last."""
    return (volume_usd is None, -(volume_usd or 0.0))


def _event_order(event: Event, rank_by: str = "volume_1wk") -> tuple[tuple[bool, float], str]:
    """Return what sorts events by their rank; where markets are ranked, ties go by the id of the best."""
    of_market = rank_by not in EVENT_VOLUMES and event.markets
    return (_volume_order(ranked_by_usd(event, rank_by)), event.markets[0].id if of_market else event.id)


def _market_order(market: Market, rank_by: str = "volume_1wk") -> tuple[tuple[bool, float], str]:
    return (_volume_order(_traded_usd(market, rank_by)), market.id)


def _once_each(events: Sequence[Event]) -> tuple[list[Event], list[str]]:
    """Return the events in their ranking, and a note on each that was listed more than once.

    A list that is read in pages may show an event on two of them.
    """
    versions: dict[str, list[Event]] = {}
    for event in events:
        versions.setdefault(event.id, []).append(event)
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


def _dropped_markets(event: Event, as_of: datetime, *, named: bool) -> Mapping[str, str]:
    """Return why each market that cannot be played is dropped, by market id."""
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
    # Of more than two outcomes one that can be bought is enough.
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


def _without(event: Event, dropped: Mapping[str, str], rank_by: str) -> Event:
    """Return the event with its other markets, the most traded first."""
    kept = (market for market in event.markets if market.id not in dropped)
    return replace(event, markets=tuple(sorted(kept, key=lambda market: _market_order(market, rank_by))))


def _first_failed_rule(
    event: Event,
    dropped: Mapping[str, str],
    rules: SelectionRules,
    as_of: datetime,
    words: "tuple[_Words, _Words] | None",
    money_sign: str,
) -> tuple[str, str] | None:
    """Return the first rule an event fails and what was seen, or None.

    Args:
        event: With the markets that can be played.
        dropped: Why the others cannot, by id.
        rules: Those of the recipe.
        as_of: The run's instant.
        words: Those of `exclude` and of `include`; None for an event that was named, which is spared most rules.
        money_sign: Of the venue's currency.
    """
    if not event.markets:
        dropped_all = f"none of its {len(dropped)} markets can be played: {_grouped(dropped)}"
        return "unusable markets", dropped_all if dropped else "it has no market"
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
    # Rounded away from the limit, so that what is said does not contradict itself.
    when = f"{math.floor(100 * hours) / 100:g} hours from now" if hours >= 0.0 else f"{-hours:.2f} hours ago"
    return f"its end is {format_instant(ends_at)}, {when}; min_hours_left is {rules.min_hours_left:g}"


def _end_of(event: Event) -> datetime | None:
    """Return the event's own end, else the latest of its markets'."""
    return event.closes_at or max((market.closes_at for market in event.markets if market.closes_at), default=None)


class _Words:
    """The words of `exclude` or `include`, looked up once for all tags of an event."""

    def __init__(self, words: Sequence[str], crypto: CryptoWords) -> None:
        self.all = words
        self._by_folded: dict[str, str] = {}
        self._rank: dict[str, int] = {}
        for rank, word in enumerate(words):
            self._by_folded.setdefault(word.casefold(), word)
            self._rank.setdefault(word.casefold(), rank)
        self._crypto = crypto

    def grounds(self, event: Event) -> dict[str, str]:
        """Return what makes an event one of each word that it is one of, by word, in the order of the words."""
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


def _with_most_traded(candidates: Sequence[Event], most: int) -> tuple[list[Event], list[PassedOver]]:
    """Return events with those of their markets that traded most in all, and the events that have none of them."""
    ranked = sorted(
        (_market_order(market, MARKET_VOLUME), number, market.id)
        for number, event in enumerate(candidates)
        for market in event.markets
    )
    # One that two events list is the first one's.
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
        PassedOver(event.id, event.title, "events", f"none of its markets is among the {most} that traded most")
        for number, event in enumerate(candidates)
        if number not in kept
    ]
    return chosen, crowded


def _capped(candidates: Sequence[Event], per_category: int) -> tuple[list[Event], list[PassedOver]]:
    """Return the most traded of each category, and the others with the reason why not."""
    if not per_category:
        return list(candidates), []
    kept: list[Event] = []
    crowded: list[PassedOver] = []
    seen: Counter[str] = Counter()
    for event in candidates:
        category = category_of(event.tags)
        if category is None or seen[category] < per_category:
            kept.append(event)
        else:
            reason = f"{per_category} more traded events of the category {category!r} are played"
            crowded.append(PassedOver(event.id, event.title, "per_category", reason))
        seen.update([category] if category is not None else [])
    return kept, crowded


def _without_duplicates(
    candidates: Sequence[Event], rules: SelectionRules, embed: "Embed | None"
) -> tuple[list[Event], list[PassedOver]]:
    """Return the events without those that ask what a higher ranked one asks, and these with the reason why not.

    What ranks below the last that is played is not looked at.
    """
    # Imported here: arrays are for those who ask for this, and choosing is a part of every start.
    from predibot.related.duplicates import KeptTexts

    seen = KeptTexts(rules.drop_duplicates, embed)
    titles = {event.id: event.title for event in candidates}
    kept: list[Event] = []
    dropped: list[PassedOver] = []
    for rank, event in enumerate(candidates):
        if len(kept) == rules.events:
            return kept + list(candidates[rank:]), dropped
        questions = (market.question for market in sorted(event.markets, key=lambda market: market.id))
        texts = (event.title, *(questions if rules.duplicate_text == "title_and_questions" else ()))
        found = seen.duplicate(event.id, ". ".join(dict.fromkeys(texts)))
        if found is None:
            kept.append(event)
            continue
        by = "tfidf" if embed is None else f"{rules.duplicate_port} of {rules.duplicate_model}"
        reason = (
            f"its text is that of event {found.of} ({titles[found.of]}): cosine {found.similarity:.3f} by {by}; "
            f"drop_duplicates is {rules.drop_duplicates:g}"
        )
        dropped.append(PassedOver(event.id, event.title, "drop_duplicates", reason))
    return kept, dropped


def _notes_on_words(listed: Sequence[Event], rules: SelectionRules) -> Iterator[str]:
    """Yield the words of `exclude` and `include` that no event has: one may be misspelt."""
    for name, words in (("exclude", rules.exclude), ("include", rules.include)):
        known = _Words(words, rules.crypto)
        seen = {word.casefold() for event in listed for word in known.grounds(event)} | {CRYPTO}
        missing = [word for word in words if word.casefold() not in seen]
        which = f"no category and no tag of the {len(listed)} events listed"
        yield from (f"{name} names {word!r}, which is {which}" for word in missing[:_NAMED_WORDS])
        if len(missing) > _NAMED_WORDS:
            yield f"{name} names {len(missing) - _NAMED_WORDS:,} more words that are {which}"


def _below_the_cut(candidates: Sequence[Event], rules: SelectionRules, money_sign: str) -> Iterator[PassedOver]:
    span = {"volume_1wk": "traded in a week", "volume_24h": "traded in 24 h"}.get(
        rules.rank_by, "traded in 24 h by its most traded market"
    )
    for rank, event in enumerate(candidates[rules.events :], start=rules.events + 1):
        volume_usd = ranked_by_usd(event, rules.rank_by)
        traded = "an unknown volume" if volume_usd is None else f"{money_sign}{volume_usd:,.2f}"
        reason = f"rank {rank} of {len(candidates)} with {traded} {span}; the run plays {rules.events}"
        yield PassedOver(event.id, event.title, "events", reason)


def _notes_on_markets(event: Event, dropped: Mapping[str, str], rules: SelectionRules) -> list[str]:
    """Return what was left out of a chosen event, at most one note a rule."""
    notes = []
    if dropped:
        of = len(dropped) + len(event.markets)
        notes.append(f"event {event.id}: {len(dropped)} of {of} markets dropped: {_grouped(dropped)}")
    max_markets = rules.max_markets
    rest = event.markets[max_markets:] if max_markets else ()
    # Where markets are ranked and one an event is taken, that is the rule and no news.
    if rest and (max_markets > 1 or rules.rank_by in EVENT_VOLUMES):
        ids = ", ".join(market.id for market in rest)
        notes.append(
            f"event {event.id}: max_markets is {max_markets}, so {len(rest)} less traded are not played: {ids}"
        )
    return notes


def _grouped(dropped: Mapping[str, str]) -> str:
    """Return reasons with the ids they hold for: `closed (1, 2); no quote (5)`."""
    ids_by_reason: dict[str, list[str]] = {}
    for market_id, reason in dropped.items():
        ids_by_reason.setdefault(reason, []).append(market_id)
    return "; ".join(f"{reason} ({', '.join(sorted(ids))})" for reason, ids in sorted(ids_by_reason.items()))
