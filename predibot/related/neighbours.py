"""Neighbours of an event: the events most like it, and why."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from predibot.related.beliefs import Beliefs
from predibot.related.features import TUNED, WITHIN_DAYS, Embed, Features, tf_idf_words
from predibot.related.filters import FilterResult, Filters, apply_filters, open_days, overlap_days
from predibot.related.wording import FREE_WORDS
from predibot.scoring.relatedness.relevance import CLASSES, relevance_class

_WORDS = 5
_SAYS_NOTHING = FREE_WORDS | {"and", "by", "from", "not", "or"}


@dataclass(frozen=True, slots=True)
class Neighbour:
    """An event like another one: the most alike markets of both, and why."""

    event_id: str
    market_id: str
    own_market_id: str
    score: float
    features: tuple[float | None, ...]
    """In the order of `FEATURES`; None where one is missing."""
    shared_jumps: tuple[tuple[int, int], ...]
    """Days since 1970 of change points less than two days apart: the event's, and the neighbour's."""
    tags: tuple[str, ...]
    words: tuple[str, ...]
    """The common words that count most in their likeness, by weight."""
    common_days: int
    """Days on which both were open."""

    @property
    def relevance(self) -> str:
        """Return the class of the score, one of `CLASSES`."""
        return CLASSES[int(relevance_class([self.score])[0])]


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """The neighbours of an event, the most alike first, with counts of markets."""

    event_id: str
    neighbours: tuple[Neighbour, ...]
    markets: int
    own_markets: int
    """The event's own markets that are compared; the filters may leave none."""
    left_out: FilterResult | None
    """None without filters."""


def neighbours_of(
    event_id: str, beliefs: Beliefs, *, filters: Filters | None, embed: Embed | None = None
) -> Neighbourhood:
    """Return every event that was open at the same time as one of those compared, sorted by S of the most alike
    markets.
    """
    left_out = None if filters is None else apply_filters(beliefs, filters)
    # Markets of one event stand together.
    compared = (beliefs if left_out is None else beliefs.only(left_out.kept)).in_order()
    own = np.flatnonzero(np.array([name == event_id for name in compared.event_ids], dtype=np.bool_))
    if not own.size:
        return Neighbourhood(event_id, (), beliefs.n, 0, left_out)
    features = Features(compared, None if embed is None else embed(compared.texts), TUNED)
    rows = slice(int(own[0]), int(own[-1]) + 1)
    block = features.block(rows, slice(0, compared.n))
    first, last = open_days(compared)
    days = overlap_days(first, last, own[:, np.newaxis], np.arange(compared.n))
    scores = np.where(days > 0, block.scores(TUNED.weights), np.nan)
    scores[:, rows] = np.nan
    best: dict[str, tuple[float, int, int]] = {}
    for ours, theirs in zip(*np.nonzero(~np.isnan(scores)), strict=True):
        name = compared.event_ids[theirs]
        # Ties go to the market of the lower id.
        if name not in best or scores[ours, theirs] > best[name][0]:
            best[name] = float(scores[ours, theirs]), int(ours), int(theirs)
    words, vocabulary = tf_idf_words(compared.texts)
    found = []
    for name, (score, ours, theirs) in sorted(best.items(), key=lambda item: (-item[1][0], item[0])):
        row = rows.start + ours
        alike = words[[row]].multiply(words[[theirs]]).tocsr()
        common = zip(-alike.data, (vocabulary[column] for column in alike.indices), strict=True)
        telling = sorted(each for each in common if each[1] not in _SAYS_NOTHING)
        values = [float(each[ours, theirs]) for each in block.each]
        found.append(
            Neighbour(
                event_id=name,
                market_id=compared.market_ids[theirs],
                own_market_id=compared.market_ids[row],
                score=score,
                features=tuple(None if np.isnan(value) else value for value in values),
                shared_jumps=_near(features.points_of(row), features.points_of(theirs)),
                tags=tuple(sorted(compared.tags[row] & compared.tags[theirs])),
                words=tuple(word for _, word in telling[:_WORDS]),
                common_days=int(days[ours, theirs]),
            )
        )
    return Neighbourhood(event_id, tuple(found), beliefs.n, own.size, left_out)


def _near(ours: Sequence[int], theirs: Sequence[int]) -> tuple[tuple[int, int], ...]:
    return tuple((day, other) for day in ours for other in theirs if abs(day - other) < WITHIN_DAYS)
