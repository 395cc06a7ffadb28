"""Groups: markets of one event whose probabilities bind each other, as far as that is sure."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

import numpy as np

from predibot.related.coherence.bounds import Bound, cover_everything, date_bound, level_bound, span_of
from predibot.scoring.arguments import Floats, Ints, same_length

Rule = Literal["exclusive", "dates", "thresholds"]
RULES: tuple[Rule, ...] = ("exclusive", "dates", "thresholds")


@dataclass(frozen=True, slots=True)
class RuleGroup:
    """Two markets or more of one event that are bound by one rule of probability."""

    rule: Rule
    markets: tuple[int, ...]
    """Their rows. Nested ones stand in the order in which probabilities must not fall."""
    exhaustive: bool = False
    """Whether exactly one pays YES, and not at most one."""


@dataclass(frozen=True, slots=True)
class Groups:
    """What binds markets, and what might."""

    sure: tuple[RuleGroup, ...]
    unsure: tuple[tuple[int, ...], ...]
    """Rows of markets that differ by a date or a number alone, of which nobody can tell what it binds."""


def groups_of(questions: Sequence[str], event: Ints, exclusive: Ints, asked_at: Floats) -> Groups:
    """Return the groups of some markets.

    That some exclude each other is what the venue says. They leave nothing out
    where their questions name ranges that follow one another over all numbers.
    Nested are those of one event whose questions differ by the date by which,
    or the number above or below which, and by nothing else.

    Args:
        questions: What each market asks, (n,); texts of others.
        event: The event of each, (n,).
        exclusive: The group of each in which at most one pays YES, (n,), -1 for none.
        asked_at: When each was asked first, in seconds since 1970, (n,): by it a date without a year is read.
            Markets with NaN were not asked, and are in no group.
    """
    same_length(questions=np.empty(len(questions)), event=event, exclusive=exclusive, asked_at=asked_at)
    sure, unsure = list[RuleGroup](), list[tuple[int, ...]]()
    asked = np.flatnonzero(~np.isnan(asked_at)).tolist()
    excluding, of_event = defaultdict[int, list[int]](list), defaultdict[int, list[int]](list)
    for row in asked:
        of_event[int(event[row])].append(row)
        if exclusive[row] >= 0:
            excluding[int(exclusive[row])].append(row)
    for rows in excluding.values():
        if len(rows) > 1:
            spans = [span_of(questions[row]) for row in rows]
            known = [span for span in spans if span is not None]
            sure.append(RuleGroup("exclusive", tuple(rows), len(known) == len(rows) and cover_everything(known)))
    for rows in of_event.values():
        if len(rows) > 1:
            days = [datetime.fromtimestamp(asked_at[row], UTC).date() for row in rows]
            by_date = [date_bound(questions[row], day) for row, day in zip(rows, days, strict=True)]
            for rule, bounds in (("dates", by_date), ("thresholds", [level_bound(questions[row]) for row in rows])):
                for group, is_sure in _nested(rows, bounds):
                    if is_sure:
                        sure.append(RuleGroup("dates" if rule == "dates" else "thresholds", group))
                    else:
                        unsure.append(group)
    return Groups(tuple(sure), tuple(unsure))


def _nested(rows: Sequence[int], bounds: Sequence[Bound | None]) -> Iterator[tuple[tuple[int, ...], bool]]:
    """Yield the markets whose bounds alone differ, in their order, and whether that is sure."""
    by_form = defaultdict[tuple[str, ...], list[tuple[int, Bound]]](list)
    for row, bound in zip(rows, bounds, strict=True):
        if bound is not None:
            by_form[bound.form].append((row, bound))
    for members in by_form.values():
        if len(members) < 2:
            continue
        times = Counter(bound.value for _, bound in members)
        # What says the same twice is not told apart by it.
        told = [(row, bound) for row, bound in members if bound.direction and times[bound.value] == 1]
        rest = [row for row, bound in members if not (bound.direction and times[bound.value] == 1)]
        if len(told) > 1:
            # Of one form all bounds are dates, or all numbers, and of one side.
            told.sort(key=lambda each: (each[1].value, each[0]), reverse=told[0][1].direction < 0)
            yield tuple(row for row, _ in told), True
        else:
            rest = [row for row, _ in members]
        if rest:
            yield tuple(rest), False
