"""What a run over pairs asks about: drawn by seed alone, of each domain and label alike, and without its truth."""

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from predibot.studies.beliefbench.pairs import LABELS, LabelledPair, PairedMarket, PairItem, draw_pairs
from predibot.studies.label_game import Rows

MARKETS = [
    PairedMarket(
        f"m{n}", f"e{n}", f"Will {n} happen?", f"Rule {n}.", ("a",), "Crypto", 10.0 * n, "2025-01-01", "2025-02-01"
    )
    for n in range(40)
]
PAIRS = [
    LabelledPair(
        first=f"m{a}",
        second=f"m{b}",
        domain=("Crypto", "Politics")[a % 2],
        synchrony=0.5,
        tags=None,
        nearness=0.5,
        text=0.5,
        score=((a + b) % 5 + 0.5) / 5,
        label=LABELS[(a + b) % 5],
    )
    for a in range(20)
    for b in range(20, 40)
]


def rows_of(pairs: Sequence[LabelledPair] = PAIRS, markets: Sequence[PairedMarket] = MARKETS) -> Rows:
    found: dict[str, Sequence[Any]] = {"pairs": pairs, "markets": markets}
    return lambda name: iter(found[name])


def ids(pairs: Sequence[LabelledPair] = PAIRS, **more: Any) -> list[str]:
    return [item.id for item in draw_pairs(rows_of(pairs), **{"per_class": 5, "domains": (), "seed": 7, **more})[0]]


def test_the_draw_is_the_same_wherever_and_in_whatever_order_the_rows_come() -> None:
    first = ids()
    cell = [pair.id for pair in PAIRS if pair.domain == "Crypto" and pair.label == LABELS[0]]
    assert first[:5] == sorted(cell, key=lambda name: hashlib.sha256(f"7|{name}".encode()).digest())[:5]
    assert ids(PAIRS[::-1]) == first
    assert ids(seed=8) != first
    # More of them are the same and then more.
    assert ids(per_class=9)[:5] == first[:5]


def test_each_domain_and_label_has_as_many_and_a_note_tells_of_those_that_have_not() -> None:
    items, notes = draw_pairs(rows_of(), per_class=5, domains=(), seed=7)
    counts = Counter((item.truth.domain, item.truth.label) for item in items if item.truth)
    assert set(counts.values()) == {5} and len(counts) == 10
    assert notes == ()
    few = [pair for pair in PAIRS if pair.domain == "Crypto" or pair.label != LABELS[4]]
    assert draw_pairs(rows_of(few), per_class=40, domains=("Politics",), seed=7)[1] == (
        "Politics has fewer than 40 pairs of some labels (0.8-1.0: 0)",
    )


def test_only_the_domains_that_are_asked_for_are_drawn() -> None:
    items, _ = draw_pairs(rows_of(), per_class=5, domains=("Politics",), seed=7)
    assert {item.truth.domain for item in items if item.truth} == {"Politics"}
    with pytest.raises(ValueError, match="no pair is of domain 'Sport'; there are Crypto, Politics"):
        draw_pairs(rows_of(), per_class=5, domains=("Sport",), seed=7)


def test_an_item_reads_back_as_it_was_and_is_shown_with_its_words_alone() -> None:
    (item, *_), _ = draw_pairs(rows_of(), per_class=5, domains=(), seed=7)
    assert PairItem.from_json(item.as_json()) == item
    assert PairItem.from_json(PairItem.public_json(item.as_json())) == replace(item, markets=None, truth=None)
    assert "Crypto" not in PairItem.public_json(item.as_json())
    assert PairItem.public_json("no JSON") == PairItem.public_json('{"id": 1}') == ""


@pytest.mark.parametrize(
    ("pairs", "markets", "said"),
    [
        ([PAIRS[0], PAIRS[0]], MARKETS, "more than once"),
        ([PAIRS[0]], [*MARKETS, replace(MARKETS[0])], "market 'm0' is there more than once"),
        ([PAIRS[0]], MARKETS[:3], "names market 'm20', which is not among the markets"),
        ([PAIRS[0], replace(PAIRS[0], first=PAIRS[0].second, second=PAIRS[0].first)], MARKETS, "more than once"),
    ],
)
def test_rows_that_do_not_go_together_are_refused(
    pairs: list[LabelledPair], markets: list[PairedMarket], said: str
) -> None:
    with pytest.raises(ValueError, match=said):
        draw_pairs(rows_of(pairs, markets), per_class=5, domains=(), seed=7)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"label": "0.5"}, "the label is '0.5'"),
        ({"label": "0.8-1.0"}, "the label is 0.8-1.0 and the score 0.1, which is outside of it"),
        ({"score": 0.2}, "the score 0.2, which is outside"),
        ({"score": float("nan")}, "the score is nan"),
        ({"score": 1.5, "label": "0.8-1.0"}, "the score is 1.5"),
        ({"synchrony": -0.1}, "each is in"),
        ({"text": float("inf")}, "each is in"),
        ({"second": "m0"}, "a pair is of two markets"),
    ],
)
def test_a_row_that_is_no_labelled_pair_is_refused(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        replace(PAIRS[0], **wrong)


def test_the_last_label_has_both_its_ends() -> None:
    assert [replace(PAIRS[0], label=LABELS[4], score=score).score for score in (0.8, 1.0)] == [0.8, 1.0]


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"first_on": "2025-13-01"}, "month must be in 1..12"),
        ({"first_on": "2025-02-02"}, "after last_on"),
        ({"volume_usd": -1.0}, "an amount of money"),
        ({"volume_usd": float("nan")}, "an amount of money"),
    ],
)
def test_a_row_that_is_no_market_is_refused(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        replace(MARKETS[0], **wrong)


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        '{"id": "x", "texts": [["a", "b"]]}',
        '{"texts": []}',
        "null",
        '{"id": "x", "texts": [["a", "b"], ["c", "d"]], "markets": []}',
    ],
)
def test_what_is_no_pair_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        PairItem.from_json(text)
