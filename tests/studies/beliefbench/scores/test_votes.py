"""Votes on reasons: candidates do not tell who wrote them, and shares are counted by hand."""

from typing import Any

import pytest

from predibot.studies.beliefbench.scores.cases import candidates_of, vote_table
from predibot.studies.beliefbench.scores.tables import PairReadings

REASONS = {
    "a": {"p1": "They share a court.", "p2": "Alike.", "p3": "Alone."},
    "b": {"p1": "No link.", "p2": "Alike."},
    "c": {"p1": "A rule joins them.", "p2": "Apart."},
}
CANDIDATES = candidates_of(PairReadings({}, {}, reasons=REASONS))


def id_of(pair: str, bot: str) -> str:
    return next(name for name, each in CANDIDATES[pair].items() if bot in each.bots)


def test_candidates_are_the_different_texts_of_a_pair_whoever_wrote_them() -> None:
    assert {pair: len(texts) for pair, texts in CANDIDATES.items()} == {"p1": 3, "p2": 2}
    assert id_of("p2", "a") == id_of("p2", "b")
    # Other bots with these texts are shown as these are.
    renamed = candidates_of(PairReadings({}, {}, reasons={f"z{bot}": said for bot, said in REASONS.items()}))
    assert {pair: [*texts] for pair, texts in renamed.items()} == {pair: [*texts] for pair, texts in CANDIDATES.items()}


def test_a_vote_is_shared_by_what_was_chosen_and_a_common_text_counts_for_both() -> None:
    votes = {
        "ann": {"p1": {id_of("p1", "a"), id_of("p1", "c")}, "p2": {id_of("p2", "a")}},
        "bob": {"p1": {id_of("p1", "a")}},
    }
    table = vote_table(CANDIDATES, votes)
    rows: dict[Any, dict[str, Any]] = {row[0]: dict(zip(table.columns, row, strict=True)) for row in table.rows}
    # On p1 a has .5 of ann and 1 of bob, on p2 all of ann; chance is 1/3, 1/3 and 1/2.
    assert rows["a"]["share"] == pytest.approx(2.5 / 3)
    assert rows["a"]["by chance"] == pytest.approx((1 / 3 + 1 / 3 + 1 / 2) / 3)
    assert (rows["a"]["raters"], rows["a"]["pairs"], rows["a"]["votes"]) == (2, 2, 3)
    assert (rows["b"]["share"], rows["c"]["share"]) == (pytest.approx(1 / 3), pytest.approx(0.5 / 3))
    assert list(rows) == ["a", "b", "c"]
    # Two raters of a pair are no two pairs: Wilson's interval of 2.5 / 3 and 2 pairs.
    assert (rows["a"]["low"], rows["a"]["high"]) == (pytest.approx(0.2408, abs=1e-4), pytest.approx(0.9875, abs=1e-4))
