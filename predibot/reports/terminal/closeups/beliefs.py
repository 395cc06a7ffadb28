"""How coherent a bot's beliefs are, and how much it staked on related events, for a screen and for JSON."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime

from predibot.domain.clock import format_instant
from predibot.related.coherence.coherence import Coherence
from predibot.related.exposure import Exposures
from predibot.reports import figures
from predibot.reports.table import Column, Document, Table, document, table_of
from predibot.reports.terminal.terminal import plain, within
from predibot.reports.views.columns import BREACH, BREACH_INTERVALS, COLUMNS

_EVENTS = 10
_TITLE_CELLS = 40
_RULES = {
    "all": "all rules",
    "exclusive": "at most one pays",
    "dates": "a later date",
    "thresholds": "a nearer threshold",
}
_VALUES = COLUMNS["coherence"]


def coherence_grids(found: Coherence) -> Iterator[Table]:
    """Yield tables of coherence by rule, by event and over time; none if no rule binds any markets."""
    below = tuple(_coherence_footnotes(found))
    if not found.rules:
        if found.unsure_groups:
            yield Table("Coherence", (Column("rule", kind="key"), Column("breach")), (), below)
        return
    yield table_of("Coherence", (Column("rule", "name", _RULES.__getitem__, kind="key"), *_VALUES), found.rules, below)
    worst = [each for each in found.events if each.bot > 0.0]
    if worst:
        columns = (Column("event", "name", within(_TITLE_CELLS), kind="text"), *_VALUES)
        more = len(worst) - _EVENTS
        text = f"{figures.things(more, 'more event')}; --json has them all." if more > 0 else ""
        grid = table_of("Coherence by event", columns, worst[:_EVENTS], [text])
        yield replace(grid.without("95% interval", "events"), legend=())
    if len(found.periods) > 1:
        scores = [{"slots": _days(each.first_slot, each.last_slot), "score": each.score} for each in found.periods]
        of_score = (replace(each, of=f"score.{each.of}") for each in _VALUES)
        over_time = table_of("Coherence over time", (Column("decided", "slots", kind="key"), *of_score), scores)
        yield replace(over_time.without("95% interval"), legend=())


def exposure_grid(found: Exposures, titles: Mapping[str, str]) -> Table | None:
    """Return the largest groups of related events that a bot staked on; None without a bet."""
    if not found.groups:
        return None
    columns = (
        Column("related events", "events.0", lambda event: plain(titles.get(event, event), _TITLE_CELLS), kind="text"),
        Column("stakes", "share", figures.percent),
        Column("staked", "staked_usd", figures.usd),
        Column("open", "open_usd", figures.usd),
        Column("events", "events", lambda events: figures.count(len(events))),
        Column("bets", "bets", figures.count),
    )
    several = sum(each.share for each in found.groups if len(each.events) > 1)
    below = [
        f"{figures.percent(several)} of the stakes are on events that are related to others it staked on. Over all "
        f"{figures.things(len(found.groups), 'group')} they are spread as over {found.effective:.1f} of equal size."
    ]
    if (more := len(found.groups) - _EVENTS) > 0:
        below.append(f"{figures.things(more, 'more group')}; --json has them all.")
    return table_of("Exposure to events that move together", columns, found.groups[:_EVENTS], below)


def exposure_document(found: Exposures, titles: Mapping[str, str]) -> Document:
    """Return how a bot's stakes are spread as JSON has it, titles whole."""
    return {
        **document(found, "staked_usd effective_groups=effective"),
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
        "rules": [document(each, f"rule=name {BREACH} {BREACH_INTERVALS}") for each in found.rules],
        "events": [document(each, f"event=name {BREACH}") for each in found.events],
        "periods": [
            {
                "first_slot_at": format_instant(datetime.fromtimestamp(each.first_slot, UTC)),
                "last_slot_at": format_instant(datetime.fromtimestamp(each.last_slot, UTC)),
                **document(each.score, BREACH),
            }
            for each in found.periods
        ],
        **document(found, "groups exhaustive_groups=exhaustive unsure_groups unsure_markets"),
    }


def _coherence_footnotes(found: Coherence) -> Iterator[str]:
    if found.groups:
        whole = f", {found.exhaustive:,} of which leave nothing out" if found.exhaustive else ""
        yield (
            f"{figures.things(found.groups, 'group')} of markets of one event{whole}; in which no outcome is looked at."
        )
    if found.unsure_groups:
        # A group has at least two markets.
        yield (
            f"Left out: {figures.things(found.unsure_groups, 'group')} of {found.unsure_markets:,} markets that differ "
            "by a date or a number alone, of which the words do not say what it binds."
        )


def _days(first: float, last: float) -> str:
    days = [f"{datetime.fromtimestamp(each, UTC):%Y-%m-%d}" for each in (first, last)]
    return days[0] if days[0] == days[1] else " to ".join(days)
