"""Beliefs made up for the tests: markets in groups that jump together, or do not."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from predibot.related.beliefs import Beliefs, MarketPrices
from predibot.related.features import PAPER, Features, ScoreForm
from predibot.scoring.arguments import Floats, Ints

FIRST_DAY = 20_000


def from_logits(logits: Floats, **columns: Any) -> Beliefs:
    """Return one market an event from their daily logits, (markets, days)."""
    return from_prices([row.tolist() for row in 1.0 / (1.0 + np.exp(-logits))], **columns)


def from_prices(
    prices: Sequence[Sequence[float]],
    *,
    texts: Sequence[str] | None = None,
    tags: Sequence[Sequence[str]] | None = None,
    events: Sequence[str] | None = None,
    volumes: Sequence[float] | None = None,
    first_days: Sequence[int] | None = None,
    domains: Sequence[str] | None = None,
) -> Beliefs:
    """Return markets with a price a day from `FIRST_DAY` on, or from a first day of their own; NaN is no price."""
    n = len(prices)
    starts = [0] * n if first_days is None else first_days
    cells = [
        (market, FIRST_DAY + start + day, price)
        for market, (start, row) in enumerate(zip(starts, prices, strict=True))
        for day, price in enumerate(row)
        if not np.isnan(price)
    ]
    market, day, price = (np.array(column) for column in zip(*cells, strict=True))
    return Beliefs(
        market_ids=tuple(f"m{number:04}" for number in range(n)),
        event_ids=tuple(events or (f"e{number:04}" for number in range(n))),
        texts=tuple(texts or ("",) * n),
        tags=tuple(frozenset(each) for each in (tags or ((),) * n)),
        domains=tuple(domains or ("Politics",) * n),
        volume_usd=np.full(n, np.nan) if volumes is None else np.array(volumes, dtype=np.float64),
        prices=MarketPrices(market.astype(np.int64), day.astype(np.int64), price.astype(np.float64)),
    )


def groups_of(markets: int, groups: int) -> Ints:
    """Return the group of each market, in blocks of equal size."""
    return np.arange(markets, dtype=np.int64) * groups // markets


def logits_in_groups(
    generator: np.random.Generator, group: Ints, *, days: int = 120, shared: int = 6, noise: float = 0.1
) -> Floats:
    """Return daily logits, (markets, days): a start of N(0, 1), noise, and jumps of 1 that a group has in common.

    Each market of a group jumps on the same days; up or down, by one draw for all of them.
    """
    steps = generator.normal(0.0, noise, (group.size, days))
    steps[:, 0] = generator.normal(0.0, 1.0, group.size)
    for number in range(int(group.max()) + 1):
        on = generator.choice(np.arange(1, days), shared, replace=False)
        steps[np.ix_(group == number, on)] += generator.choice([-1.0, 1.0], shared)
    return np.cumsum(steps, axis=1)


def random_words(generator: np.random.Generator, texts: int, words: int = 12) -> list[str]:
    """Return texts of words that say nothing of their market."""
    vocabulary = np.array([f"word{number}" for number in range(500)])
    return [" ".join(generator.choice(vocabulary, words)) for _ in range(texts)]


def scores_of(beliefs: Beliefs, form: ScoreForm = PAPER) -> Floats:
    """Return S of every two markets, (n, n), symmetric, in [0, 1]."""
    features = Features(beliefs, form=form)
    found = np.full((features.n, features.n), np.nan)
    for rows, columns, block in features.blocks():
        found[rows, columns] = block.scores(form.weights)
    # What is above the diagonal counts below it too.
    return np.where(np.tri(features.n, k=-1, dtype=np.bool_), np.triu(found).T, found)
