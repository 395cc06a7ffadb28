"""Groups: parts of a record or of forecasts, with each bot on each part as a bot of its own."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from predibot.scoring.arguments import Floats, Ints
from predibot.scoring.records.track_record import Forecasts, TrackRecord

GROUPINGS = ("event", "category", "month")
LEAD_TIMES_DAYS = (1.0, 7.0, 30.0, 90.0)
CONFIDENCES = (2.0, 4.0, 6.0, 8.0)
"""The edges of the groups of `by_confidence`, of 0 to 10."""


BotGroup = tuple[str, str]
"""A bot, and the part that it is scored on."""


def record_by(record: TrackRecord, grouping: str) -> tuple[TrackRecord, tuple[BotGroup, ...]]:
    """Return the record with each bot on each part as a bot of its own, and these bots.

    Scored like any record, it gives a scorecard a part. Parts without decisions are left out. Raises `ValueError` if
    `grouping` is not in `GROUPINGS`.
    """
    codes, names = _groups(record, grouping)
    part, parts = _number_parts(record.bots, record.decision_bot, codes, names)
    return replace(record, bots=_numbers(parts), decision_bot=part), parts


def forecasts_by(
    forecasts: Forecasts, values: Floats, edges: Sequence[float], names: Sequence[str] = ()
) -> tuple[Forecasts, tuple[BotGroup, ...]]:
    """Return the forecasts with each forecaster in each bin of a number as one of its own, and these.

    Rows where `values`, (n,), is NaN are left out. A limit of the rising `edges` is in the upper bin. There is one name
    more than edges; by default names are made of the edges.
    """
    kept = np.flatnonzero(~np.isnan(values))
    names = names or _names_of_bins(edges)
    own = forecasts.only(kept)
    codes = np.searchsorted(np.asarray(edges), values[kept], "right")
    part, parts = _number_parts(own.forecasters, own.forecaster, codes, names)
    return replace(own, forecasters=_numbers(parts), forecaster=part), parts


def _number_parts(
    bots: Sequence[str], bot: Ints, codes: Ints, names: Sequence[str]
) -> tuple[Ints, tuple[BotGroup, ...]]:
    cells, part = np.unique(bot * len(names) + codes, return_inverse=True)
    parts = tuple((bots[cell // len(names)], names[cell % len(names)]) for cell in cells.tolist())
    return part.astype(np.int64), parts


def _numbers(parts: Sequence[BotGroup]) -> tuple[str, ...]:
    """Return distinct names, which scores need; the parts tell what they stand for."""
    return tuple(map(str, range(len(parts))))


def _groups(record: TrackRecord, grouping: str) -> tuple[Ints, tuple[str, ...]]:
    if grouping == "month":
        days = record.decision_day.astype("datetime64[D]")
        months, codes = np.unique(days.astype("datetime64[M]"), return_inverse=True)
        return codes.astype(np.int64), tuple(months.astype(str).tolist())
    if grouping == "event":
        events, codes = np.unique(record.decision_event, return_inverse=True)
        return codes.astype(np.int64), _names_of_events(events.tolist(), record.event_names)
    if grouping == "category":
        if record.decision_category is None:
            return np.zeros(record.decision_bot.shape, dtype=np.int64), ("no category",)
        return record.decision_category, record.categories
    raise ValueError(f"no grouping {grouping!r}; there are {', '.join(GROUPINGS)}")


def _names_of_events(events: Sequence[int], known: Mapping[int, str]) -> tuple[str, ...]:
    """Return the name of each event; events with the same title get their numbers."""
    titles = [known.get(row, str(row)) for row in events]
    n = Counter(titles)
    return tuple(title if n[title] == 1 else f"{title} #{row}" for row, title in zip(events, titles, strict=True))


def _names_of_bins(edges: Sequence[float]) -> tuple[str, ...]:
    """Return the names of bins, such as `below 1`, `1 to 7`, `7 and more`."""
    between = (f"{low:g} to {high:g}" for low, high in pairwise(edges))
    return (f"below {edges[0]:g}", *between, f"{edges[-1]:g} and more")
