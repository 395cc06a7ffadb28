"""Measures relatedness: how well groups are found, what joining them does to claims, and how long all pairs take."""

import multiprocessing
import resource
import sys
from concurrent.futures import ProcessPoolExecutor
from time import perf_counter

import numpy as np
import pytest

from predibot.related.beliefs import Beliefs, MarketPrices
from predibot.related.duplicates import TextIndex
from predibot.related.features import Features, pairs_from
from predibot.related.graph import cluster_events
from tests.related.made import from_logits, groups_of, logits_in_groups
from tests.related.question_pairs import PARAPHRASE
from tests.related.related_worlds import Told, sizes_of, told_by

pytestmark = pytest.mark.benchmark

WORLDS = 1_000
MARKETS, DAYS = 20_000, 120


def _pool() -> ProcessPoolExecutor:
    return ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn"))


def _told(seed: int) -> Told:
    return told_by(seed)


def _largest_of_unrelated(seed: int) -> int:
    """Return how many events the largest cluster of a world has in which none are related and all texts are equal."""
    logits = logits_in_groups(np.random.default_rng(seed), np.arange(80))
    return max(sizes_of(cluster_events(from_logits(logits, texts=["Will it rain?"] * 80, tags=[["weather"]] * 80))))


def test_what_joining_related_events_does_to_claims() -> None:
    with _pool() as pool:
        told = list(pool.map(_told, range(WORLDS), chunksize=20))
    found = [each.groups_found for each in told]
    print(f"\n{WORLDS:,} worlds of 80 events in 16 groups: {np.median(found):g} groups found in the median, ", end="")
    print(f"{min(found)} at least, all 16 in {np.mean(np.array(found) == 16):.1%}")
    for name, what in (("equal", "told apart though neither is better"), ("better", "told apart where one is better")):
        alone, joined = np.mean([np.array(each.p_values[name]) <= 0.05 for each in told], axis=0)
        print(f"{what}: {alone:.1%} with each event by itself, {joined:.1%} with related ones joined")


def test_unrelated_events_with_equal_texts_are_never_joined() -> None:
    with _pool() as pool:
        largest = list(pool.map(_largest_of_unrelated, range(WORLDS), chunksize=20))
    print(
        f"\n{sum(each > 1 for each in largest)} of {WORLDS:,} worlds of unrelated events have a cluster of two or more"
    )


def _measure_all_pairs() -> tuple[float, int, float]:
    """Return the seconds all pairs take, how many are at .6 or more, and the peak of memory in megabytes."""
    rng = np.random.default_rng(0)
    group = groups_of(MARKETS, MARKETS // 10)
    price = 1.0 / (1.0 + np.exp(-logits_in_groups(rng, group, days=DAYS)))
    market = np.repeat(np.arange(MARKETS), DAYS)
    # Each group has its own beginning within a year.
    day = (20_000 + rng.integers(0, 245, group.max() + 1)[group][:, np.newaxis] + np.arange(DAYS)).ravel()
    words = np.array([f"word{number}" for number in range(5_000)])
    often = 1.0 / np.arange(1, words.size + 1)
    texts = tuple(" ".join(rng.choice(words, 30, p=often / often.sum())) for _ in range(MARKETS))
    tags = tuple(frozenset({f"topic{number % 150}", f"tag{number}"}) for number in group.tolist())
    names = tuple(map(str, range(MARKETS)))
    volumes, prices = np.full(MARKETS, np.nan), MarketPrices(market, day, price.ravel())
    beliefs = Beliefs(names, names, texts, tags, ("Politics",) * MARKETS, volumes, prices)
    began = perf_counter()
    found = pairs_from(Features(beliefs), 0.6)
    seconds = perf_counter() - began
    unit = 1024**2 if sys.platform == "darwin" else 1024
    return seconds, found.first.size, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def test_all_pairs_of_twenty_thousand_markets() -> None:
    with _pool() as pool:
        seconds, pairs, peak_mb = pool.submit(_measure_all_pairs).result()
    print(
        f"\nall {MARKETS * (MARKETS - 1) // 2 / 1e6:.0f} million pairs of {MARKETS:,} markets: {seconds:.1f} s, ",
        end="",
    )
    print(f"{peak_mb:,.0f} MB at the peak, {pairs:,} pairs at .6 or more")


def _recall(at_least: float) -> float:
    found = []
    for first, second in PARAPHRASE:
        kept = TextIndex(at_least)
        kept.find_or_keep("first", first)
        found.append(kept.find_or_keep("second", second) is not None)
    return float(np.mean(found))


def test_how_many_paraphrases_each_port_finds() -> None:
    """No sentence-transformer is downloaded; whatever its cosines are, it finds no more than differ in no fact."""
    found, most = _recall(0.9), _recall(0.0)
    print(f"\n{len(PARAPHRASE)} paraphrases: tfidf finds {found:.0%} at .9; no port finds more than {most:.0%}")
