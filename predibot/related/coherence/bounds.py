"""Bounds: the date, number or range in a question, and whether its direction is sure."""

import calendar
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from functools import lru_cache
from itertools import pairwise

from predibot.related.wording import parse_wording

MOST_CHARACTERS = 600
"""Longer texts are no questions and have no bound."""
PAST_DAYS = 45
"""A date without a year in the last so many days may also be next year's."""


def _word_set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_ABOVE = _word_set("above over exceed exceeds exceeding reach reaches least")
_BELOW = _word_set("below under most")
_THAN = {"more": 1, "greater": 1, "higher": 1, "less": -1, "fewer": -1, "lower": -1}
_OR = {"more": 1, "greater": 1, "higher": 1, "above": 1, "less": -1, "fewer": -1, "lower": -1, "below": -1}
_SINKS = _word_set("dip dips drop drops fall falls")
_UNSURE = _word_set("hit hits at to u")
"""A number after one of these is a bound of an unknown side."""
_TURNED = _word_set("""
    not no never none nobody nothing neither nor without cannot fail fails avoid avoids refuse refuses only exactly
    unless instead until through #1
""")
"""Words that reverse or destroy the order of bounds."""
_STATES = _word_set("""
    is are was have has had remain remains stay stays still keep keeps hold holds last lasts survive survives continue
    continues maintain maintains lead leads own owns between
""")
"""States that may end again, so that `by` may mean `on`."""
_HAPPENED = re.compile(
    r"\w{3,}ed|\w+(?:wn|ught|aken|iven|osen|oken|itten)|out|made|cut|won|built|hit|sent|held|sold|found|lost|eaten"
)
"""Words after `be` for something that happens once."""
_DATE = re.compile(r"(\d{1,2})/(\d{1,2})|month (\d{1,2})|((?:19|20)\d\d)")
_LEVEL = re.compile(r"([-+]?)([$€£¥]?)([-+]?)(\d+(?:\.\d+)?)(%|bps|pp)?(\+?)")
_WRITTEN = r"[$€£¥]?(\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d{1,15}(?:\.\d{1,9})?)"
_SCALE = r"(?: ?(k|m|bn?|t|thousand|million|billion|trillion)\b)?(?: ?(?:%|°[cf]?))?"
_RANGE = re.compile(rf"(?<![\w.,$€£¥-]){_WRITTEN}{_SCALE}(?: ?- ?| to | and ){_WRITTEN}{_SCALE}(?![\w-]|[.,]\d)", re.I)
_TENS = {"k": 3, "thousand": 3, "m": 6, "million": 6, "b": 9, "bn": 9, "billion": 9, "t": 12, "trillion": 12}


@dataclass(frozen=True, slots=True)
class Bound:
    """A bound, and the question around it."""

    form: tuple[str, ...]
    """The words with a mark in place of the bound; questions of one form differ by bounds alone."""
    value: Decimal | date
    direction: int
    """1 if the probability must not fall as the value grows, -1 if it must not rise, 0 if unsure."""


def date_bound(question: str, asked_on: date) -> Bound | None:
    """Return the date by or before which something is to happen; None without exactly one.

    A date without a year is the next such date; within `PAST_DAYS` before `asked_on` it is unsure.

    Examples:
        >>> date_bound("Will it rain by June 30?", date(2025, 9, 1)).value
        datetime.date(2026, 6, 30)
        >>> date_bound("Will she still be mayor by June 30?", date(2025, 9, 1)).direction
        0
    """
    words = _words(question)
    found = []
    for place, word in enumerate(words):
        if word not in ("by", "before", "until", "through"):
            continue
        start = place + 1
        while start < len(words) and words[start] in ("the", "end", "of"):
            start += 1
        match = _DATE.fullmatch(words[start]) if start < len(words) else None
        if match is None:
            continue
        end = start + 1
        year = int(words[end]) if end < len(words) and re.fullmatch(r"(?:19|20)\d\d", words[end]) else None
        end += year is not None
        if match[4] is not None and end < len(words):
            # Inside a text it is a number like others.
            continue
        kind = "day" if match[1] else "month" if match[3] else "year"
        form = (*words[:start], f"<{kind}>", *words[end:])
        found.append((form, _date(match, year, asked_on)))
    if len(found) != 1:
        return None
    form, value = found[0]
    if value is None:
        return Bound(form, asked_on, 0)
    return Bound(form, value, 0 if _may_end(words) else 1)


def level_bound(question: str) -> Bound | None:
    """Return the number above or below which something is to be; None without exactly one.

    Examples:
        >>> level_bound("Will the index close above 4,200 on May 5?").value
        Decimal('4200')
        >>> level_bound("Will it cost less than $1.5m?").direction, level_bound("Will it hit $80?").direction
        (1, 0)
    """
    words = _words(question)
    found = []
    for place, word in enumerate(words):
        match = _LEVEL.fullmatch(word)
        placed = None if match is None else _side(words, place, plus=bool(match[6]))
        if match is not None and placed is not None:
            side, start, end = placed
            form = (*words[:start], f"<{side}{match[2]}{match[5] or ''}>", *words[end:])
            found.append((form, Decimal(f"{match[1] or match[3]}{match[4]}"), side))
    if len(found) != 1 or _RANGE.search(question[:MOST_CHARACTERS]):
        return None
    form, value, side = found[0]
    # Being above a higher number is rarer.
    return Bound(form, value, 0 if _TURNED & set(words) else -side)


@dataclass(frozen=True, slots=True)
class Range:
    """The numbers that a question asks about, from low to high; an open end is infinite."""

    low: Decimal
    high: Decimal
    step: Decimal
    """The last decimal place of the numbers: 1 for 10 to 19."""


def span_of(question: str) -> Range | None:
    """Return the numbers that a question asks about; None without exactly one sure range.

    Examples:
        >>> span_of("Will they cut between $50-100b?").high, span_of("Fewer than 5 seats?").low
        (Decimal('1.00E+11'), Decimal('-Infinity'))
    """
    text = question[:MOST_CHARACTERS].replace("–", "-").replace("—", "-")
    ranges = _RANGE.findall(text) if len(question) <= MOST_CHARACTERS else []
    if len(ranges) == 1:
        low, low_scale, high, high_scale = ranges[0]
        tens = [_TENS[(scale or high_scale).lower()] if scale or high_scale else 0 for scale in (low_scale, high_scale)]
        ends = [Decimal(end.replace(",", "")).scaleb(by) for end, by in zip((low, high), tens, strict=True)]
        step = min(
            Decimal(1).scaleb(by - len(end.partition(".")[2])) for end, by in zip((low, high), tens, strict=True)
        )
        return Range(ends[0], ends[1], step) if ends[0] < ends[1] else None
    bound = level_bound(question)
    if bound is None or bound.direction == 0 or not isinstance(bound.value, Decimal):
        return None
    infinite = Decimal("Infinity")
    return Range(-infinite, bound.value, infinite) if bound.direction > 0 else Range(bound.value, infinite, infinite)


def cover_everything(spans: Sequence[Range]) -> bool:
    """Return whether ranges cover all numbers, without overlaps or gaps of more than a step.

    Examples:
        >>> cover_everything([span_of(each) for each in ("below 10", "10 to 19", "20 or more")])
        True
    """
    ordered = sorted(spans, key=lambda each: (each.low, each.high))
    if len(ordered) < 2 or ordered[0].low.is_finite() or ordered[-1].high.is_finite():
        return False
    for before, after in pairwise(ordered):
        if not (before.high.is_finite() and after.low.is_finite()):
            return False
        if after.low != before.high and after.low - before.high != min(before.step, after.step):
            return False
    return True


@lru_cache(maxsize=8_192)
def _words(question: str) -> tuple[str, ...]:
    return tuple(token.word for token in parse_wording(question).tokens) if len(question) <= MOST_CHARACTERS else ()


def _date(match: re.Match[str], year: int | None, asked_on: date) -> date | None:
    """Return the stated date, or the first day of a stated month or year; None if it is none or unsure."""
    if match[4]:
        return date(int(match[4]), 1, 1)
    month, day = int(match[1] or match[3]), int(match[2] or 1)
    years = (year,) if year is not None else (asked_on.year, asked_on.year + 1)
    for each in years:
        if each > date.max.year or not 1 <= month <= 12 or not 1 <= day <= calendar.monthrange(each, month)[1]:
            return None
        found = date(each, month, day)
        last = found if match[1] else date(each, month, calendar.monthrange(each, month)[1])
        if year is not None or last >= asked_on:
            return found
        if last >= asked_on - timedelta(days=PAST_DAYS):
            return None
    return None


def _may_end(words: Sequence[str]) -> bool:
    """Return whether the words allow the event to be true by one date and false by a later one."""
    if (_TURNED | _STATES) & set(words):
        return True
    for place, word in enumerate(words):
        after = words[place + 1] if place + 1 < len(words) else ""
        if word == "be" and not _HAPPENED.fullmatch(after):
            return True
        # An exact number.
        if word == "will" and after.isdigit():
            return True
    return False


def _side(words: tuple[str, ...], place: int, *, plus: bool) -> tuple[int, int, int] | None:
    """Return the side of a bound, and where its words start and end; None for no bound."""
    before, earlier = (words[place - by] if place >= by else "" for by in (1, 2))
    # Degrees are a separate word.
    next_one = place + 2 if words[place + 1 : place + 2] in (("c",), ("f",)) else place + 1
    after = words[next_one : next_one + 2]
    if len(after) == 2 and after[0] == "or" and after[1] in _OR:
        return _OR[after[1]], place, next_one + 2
    if plus:
        return 1, place, place + 1
    if before == "than" and earlier in _THAN:
        return _THAN[earlier], place - 2, place + 1
    if before == "to" and earlier in _SINKS:
        return -1, place - 2, place + 1
    if before in ("high", "low") and earlier in ("hit", "hits"):
        return (1 if before == "high" else -1), place - 2, place + 1
    if {before, earlier} == {"over", "under"} or before in _UNSURE:
        return 0, place, place + 1
    if before in _ABOVE or before in _BELOW:
        # Both words of `at least` go.
        start = place - 2 if before in ("least", "most") and earlier == "at" else place - 1
        return (1 if before in _ABOVE else -1), start, place + 1
    return None
