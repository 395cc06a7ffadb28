"""Groups: the same bots scored on parts of what they did, by what the events are about or when."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from predibot.scoring.arguments import Floats, Ints
from predibot.scoring.records.forecasts import Forecasts
from predibot.scoring.records.track_record import TrackRecord

GROUPINGS = ("event", "category", "month")
LEAD_TIMES_DAYS = (1.0, 7.0, 30.0, 90.0)
"""Where the groups of `by_lead_time` begin and end."""
CONFIDENCES = (2.0, 4.0, 6.0, 8.0)
"""Where the groups of `by_confidence` begin and end, of 0 to 10."""


@dataclass(frozen=True, slots=True)
class BotGroup:
    """One bot on one part of what it did."""

    bot: str
    group: str


def record_by(record: TrackRecord, grouping: str) -> tuple[TrackRecord, tuple[BotGroup, ...]]:
    """Return the record as if each bot were another on each part, and which each of these is.

    Scored like any record, it gives a scorecard a part. A bot has no part where
    it decided nothing.

    Args:
        record: What was done.
        grouping: One of `GROUPINGS`.

    Raises:
        ValueError: If there is no such grouping.
    """
    codes, names = _groups(record, grouping)
    cells, part = np.unique(record.decision_bot * len(names) + codes, return_inverse=True)
    parts = tuple(BotGroup(record.bots[cell // len(names)], names[cell % len(names)]) for cell in cells.tolist())
    # Scores only want names that differ; what they stand for is said beside them.
    split = replace(record, bots=tuple(str(row) for row in range(len(parts))), decision_bot=part.astype(np.int64))
    return split, parts


def forecasts_by(
    forecasts: Forecasts, values: Floats, edges: Sequence[float], names: Sequence[str] = ()
) -> tuple[Forecasts, tuple[BotGroup, ...]]:
    """Return the forecasts as if each forecaster were another in each bin of a number, and which each of these is.

    Args:
        forecasts: On what is settled.
        values: What the bins are of, such as the lead time, (n,); a row with NaN is in none.
        edges: Where one bin ends and the next begins, rising; the lower edge is in the bin.
        names: What to call the bins, one more than there are edges; left out, by their edges.
    """
    kept = np.flatnonzero(~np.isnan(values))
    names = names or _names_of_bins(edges)
    own = forecasts.only(kept)
    codes = own.forecaster * len(names) + np.searchsorted(np.asarray(edges), values[kept], "right")
    cells, part = np.unique(codes, return_inverse=True)
    parts = tuple(
        BotGroup(forecasts.forecasters[cell // len(names)], names[cell % len(names)]) for cell in cells.tolist()
    )
    split = replace(own, forecasters=tuple(str(row) for row in range(len(parts))), forecaster=part.astype(np.int64))
    return split, parts


def _groups(record: TrackRecord, grouping: str) -> tuple[Ints, tuple[str, ...]]:
    """Return the group of each decision, (n_d,), as an index into names in the order they are shown."""
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
    """Return what to call each event; those that recur under one title are told apart by their numbers."""
    titles = [known.get(row, str(row)) for row in events]
    n = Counter(titles)
    return tuple(title if n[title] == 1 else f"{title} #{row}" for row, title in zip(events, titles, strict=True))


def _names_of_bins(edges: Sequence[float]) -> tuple[str, ...]:
    """Return what to call each bin.

    Examples:
        >>> _names_of_bins((1.0, 7.0))
        ('below 1', '1 to 7', '7 and more')
    """
    between = (f"{low:g} to {high:g}" for low, high in pairwise(edges))
    return (f"below {edges[0]:g}", *between, f"{edges[-1]:g} and more")
