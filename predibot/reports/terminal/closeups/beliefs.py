"""A bot's beliefs that belong together: how far they break the rules of probability, and how much it staked on them."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime

from predibot.domain.clock import format_instant
from predibot.reports import figures
from predibot.reports.document import Document, document, number
from predibot.reports.terminal.grid import Column, Grid
from predibot.reports.terminal.text import plain
from predibot.scoring.coherence.coherence import Coherence, CoherenceScore
from predibot.scoring.relatedness.exposure import Exposures

_EVENTS = 10
_TITLE_CELLS = 40
_RULES = {
    "all": "all rules",
    "exclusive": "at most one pays",
    "dates": "a later date",
    "thresholds": "a nearer threshold",
}
_VALUES = ("breach", "95% interval", "the price's", "broken", "by the price", "n", "events")
_LEGEND = (
    ("breach", "the mean of |sum - 1| where exactly one pays, max(0, sum - 1) where at most one does, and of what an "
     "earlier date or a farther threshold is more probable"),
    ("the price's", "the same of the prices that were shown with those markets"),
    ("broken", "the share of groups that are off at all, each with every decision on it"),
)  # fmt: skip


def coherence_grids(found: Coherence) -> Iterator[Grid]:
    """Yield how coherent a bot is by rule, by event and over time; nothing where nothing binds, or might."""
    below = list(_below(found))
    if not found.rules:
        if found.unsure_groups:
            yield Grid("Coherence", (Column("rule", "key"), Column("breach")), (), tuple(below))
        return
    rows = tuple((_RULES[each.name], *_cells(each)) for each in found.rules)
    yield Grid("Coherence", (Column("rule", "key"), *map(Column, _VALUES)), rows, tuple(below), legend=_LEGEND)
    columns = tuple(map(Column, _VALUES))
    worst = [each for each in found.events if each.bot > 0.0][:_EVENTS]
    if worst:
        by_event = tuple((plain(each.name, _TITLE_CELLS), *_cells(each)) for each in worst)
        more = sum(each.bot > 0.0 for each in found.events) - len(worst)
        said = (f"{figures.things(more, 'more event')}; --json has them all.",) if more else ()
        grid = Grid("Coherence by event", (Column("event", "text"), *columns), by_event, said)
        yield grid.without("95% interval").without("events")
    if len(found.periods) > 1:
        over_time = tuple((_days(each.first_slot, each.last_slot), *_cells(each.score)) for each in found.periods)
        yield Grid("Coherence over time", (Column("slots", "key"), *columns), over_time).without("95% interval")


def exposure_grid(found: Exposures, titles: Mapping[str, str]) -> Grid | None:
    """Return the largest groups of related events a bot staked on; None without a bet.

    Args:
        found: The groups.
        titles: Of the events, by id; texts of others.
    """
    if not found.groups:
        return None
    rows = tuple(
        (
            plain(titles.get(each.events[0], each.events[0]), _TITLE_CELLS),
            figures.percent(each.share),
            figures.usd(each.staked_usd),
            figures.usd(each.open_usd),
            figures.count(len(each.events)),
            figures.count(each.bets),
        )
        for each in found.groups[:_EVENTS]
    )
    several = sum(each.share for each in found.groups if len(each.events) > 1)
    below = [
        f"{figures.percent(several)} of the stakes are on events that are related to others it staked on. Over all "
        f"{figures.things(len(found.groups), 'group')} they are spread as over {found.effective:.1f} of equal size."
    ]
    if more := len(found.groups) - len(rows):
        below.append(f"{figures.things(more, 'more group')}; --json has them all.")
    columns = (Column("related events", "text"), *map(Column, ("stakes", "staked", "open", "events", "bets")))
    return Grid("Exposure to events that move together", columns, rows, tuple(below))


def exposure_document(found: Exposures, titles: Mapping[str, str]) -> Document:
    """Return how a bot's stakes are spread as JSON has it, titles whole."""
    return {
        "staked_usd": number(found.staked_usd),
        "effective_groups": number(found.effective),
        "groups": [
            {
                "events": [{"event_id": event, "title": titles.get(event)} for event in each.events],
                **document(each, "share staked_usd open_usd bets"),
            }
            for each in found.groups
        ],
    }


def coherence_document(found: Coherence) -> Document:
    """Return how coherent a bot is as JSON has it."""
    return {
        "rules": [{"rule": each.name, **_document(each), **_intervals(each)} for each in found.rules],
        "events": [{"event": each.name, **_document(each)} for each in found.events],
        "periods": [
            {
                "first_slot_at": format_instant(datetime.fromtimestamp(each.first_slot, UTC)),
                "last_slot_at": format_instant(datetime.fromtimestamp(each.last_slot, UTC)),
                **_document(each.score),
            }
            for each in found.periods
        ],
        "groups": found.groups,
        "exhaustive_groups": found.exhaustive,
        "unsure_groups": found.unsure_groups,
        "unsure_markets": found.unsure_markets,
    }


def _below(found: Coherence) -> Iterator[str]:
    if found.groups:
        whole = f", {found.exhaustive:,} of which leave nothing out" if found.exhaustive else ""
        yield (
            f"{figures.things(found.groups, 'group')} of markets of one event{whole}; in which no outcome is looked at."
        )
    if found.unsure_groups:
        # One group has two markets at least.
        yield (
            f"Left out: {figures.things(found.unsure_groups, 'group')} of {found.unsure_markets:,} markets that differ "
            "by a date or a number alone, of which the words do not say what it binds."
        )


def _cells(each: CoherenceScore) -> Sequence[str]:
    interval = each.interval
    return (
        figures.score(each.bot),
        figures.MISSING if interval is None else figures.interval(interval.low, interval.high),
        figures.score(each.market),
        figures.percent(each.broken),
        figures.percent(each.market_broken),
        figures.count(each.n),
        figures.count(each.events),
    )


def _document(each: CoherenceScore) -> Document:
    return {
        "breach": number(each.bot),
        "market_breach": number(each.market),
        "broken_share": number(each.broken),
        "market_broken_share": number(each.market_broken),
        "n": each.n,
        "events": each.events,
    }


def _intervals(each: CoherenceScore) -> Document:
    difference = each.difference
    return {
        "low": None if each.interval is None else number(each.interval.low),
        "high": None if each.interval is None else number(each.interval.high),
        "difference": None if difference is None else number(difference.difference),
        "difference_low": None if difference is None else number(difference.low),
        "difference_high": None if difference is None else number(difference.high),
        "difference_p_value": None if difference is None else number(difference.p_value),
    }


def _days(first: float, last: float) -> str:
    days = [f"{datetime.fromtimestamp(each, UTC):%Y-%m-%d}" for each in (first, last)]
    return days[0] if days[0] == days[1] else " to ".join(days)
