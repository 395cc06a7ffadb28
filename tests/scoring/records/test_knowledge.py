"""Knowledge: which decisions count for the scores of a bot whose model may know the end."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predibot.scoring import (
    KNOWLEDGE,
    Question,
    Scorecard,
    Uncertainty,
    evaluation_of,
    inherited_knowledge,
    knowledge_of,
    notes,
    scorecards,
)
from predibot.scoring.records.knowledge import Knowledge
from tests.scoring.evaluation.test_scorecard import DECISIONS, PAID, QUARTER_DAYS, SEEN
from tests.scoring.made_records import DAY, NAN, Bet, Made, Paid, Seen, record_of

INF = float("inf")
KNOWING = st.builds(lambda made, knowledge: replace(made, knowledge=knowledge), DECISIONS, st.sampled_from(KNOWLEDGE))
BET = (Bet(0, probability=0.9),)


@pytest.mark.parametrize(
    ("opened", "cutoff_at", "is_live", "settled_at", "expected"),
    [
        (False, NAN, False, 2 * DAY, "clean"),
        (False, 3 * DAY, False, 2 * DAY, "clean"),
        (True, NAN, True, 2 * DAY, "clean"),
        (True, 3 * DAY, True, 2 * DAY, "clean"),
        (True, NAN, False, 2 * DAY, "unknown"),
        (True, NAN, False, INF, "unknown"),
        (True, DAY, False, 2 * DAY, "clean"),
        (True, DAY + 1, False, 2 * DAY, "ahead"),
        (True, 2 * DAY, False, 2 * DAY, "ahead"),
        (True, 2 * DAY + 1, False, 2 * DAY, "contaminated"),
        (True, 9 * DAY, False, INF, "ahead"),
    ],
)
def test_who_can_have_known_the_end_of_what_was_decided_on_the_first_day(
    opened: bool, cutoff_at: float, is_live: bool, settled_at: float, expected: Knowledge
) -> None:
    codes = knowledge_of([opened], [cutoff_at], is_live=[is_live], decided_at=[DAY], event_settled_at=[settled_at])
    assert [KNOWLEDGE[code] for code in codes] == [expected]


@given(st.lists(st.integers(0, 3), min_size=1, max_size=8), st.data())
def test_what_pools_others_is_as_bad_as_the_worst_below_it(codes: list[int], data: st.DataObject) -> None:
    rows = st.integers(0, len(codes) - 1)
    edges = data.draw(st.lists(st.tuples(rows, rows), max_size=8))
    below: dict[int, set[int]] = {row: {row} for row in range(len(codes))}
    for _ in codes:
        for above, under in edges:
            below[above] |= below[under]
    expected = [max(codes[each] for each in below[row]) for row in range(len(codes))]
    assert inherited_knowledge(codes, [a for a, _ in edges], [b for _, b in edges]).tolist() == expected


def scores(card: Scorecard) -> Scorecard:
    """Return a card without what is counted of all decisions."""
    counts = dict.fromkeys(("decisions", "refused", "failed", "abstained", *KNOWLEDGE), 0)
    return replace(card, **counts, cost_usd=0.0, cost_known_usd=0.0)  # type: ignore[arg-type]  # mypy takes ** for any.


@given(st.lists(KNOWING, max_size=8), SEEN, PAID, QUARTER_DAYS)
def test_scores_are_those_of_a_record_of_clean_decisions_and_apart_those_of_the_unknown(
    made: list[Made], seen: list[Seen], paid: dict[int, Paid], as_of: float
) -> None:
    record = record_of(made, seen=seen, paid=paid, as_of=as_of, bots=("a", "b"))
    clean, unknown = (
        record_of(
            [replace(one, knowledge="clean") for one in made if one.knowledge == each],
            seen=seen, paid=paid, as_of=as_of, bots=("a", "b"),
        )
        for each in ("clean", "unknown")
    )  # fmt: skip
    assert [scores(card) for card in scorecards(record)] == [scores(card) for card in scorecards(clean)]
    apart, alone = record.apart(), [scores(card) for card in scorecards(unknown)]
    found = {} if apart is None else {card.bot: scores(card) for card in scorecards(apart)}
    assert found == {card.bot: card for card in alone if card.bot in found}
    assert set(found) == {one.bot for one in made if one.knowledge == "unknown" and one.at <= as_of}


def test_decisions_of_any_status_are_counted_and_still_cost_what_they_cost() -> None:
    made = [
        Made(bets=BET, cost_usd=1.0, cost_known_usd=1.0, knowledge="contaminated"),
        Made(bets=BET, knowledge="ahead"),
        Made(status="failed", knowledge="contaminated"),
        Made(status="refused", knowledge="unknown"),
        Made(bets=BET),
        Made(at=20, knowledge="contaminated"),
    ]
    (card,) = scorecards(record_of(made, as_of=9, paid={0: Paid(8, 1.0)}))
    assert (card.decisions, card.clean, card.unknown, card.ahead, card.contaminated) == (5, 1, 1, 1, 2)
    assert (card.forecasts, card.n_brier, card.failed, card.cost_usd) == (1, 1, 1, 1.0)
    assert (card.horizons["settled"].n, card.horizons["settled"].n_market) == (1, 1)
    assert card.horizons["settled"].coverage == 1.0


def test_the_notes_say_who_may_have_known_and_expect_no_horizon_of_what_is_left_out() -> None:
    made = [Made(bot, bets=BET, knowledge=each) for bot, each in zip("abc", KNOWLEDGE[1:], strict=True)]
    record = record_of(made, as_of=9, seen=[Seen(0, day, 0.5) for day in (1, 2, 7)], paid={0: Paid(8, 1.0)})
    assert notes(record, scorecards(record)) == (
        "Decisions made before a model's knowledge cutoff, of which it may have read what came later: b 1; "
        "they are in no score.",
        "Decisions on events that had ended before a model's knowledge cutoff: c 1; they are in no score.",
    )
    apart = record.apart()
    assert apart is not None
    assert notes(apart, scorecards(apart)) == (
        "Decisions of a replay by a model whose knowledge cutoff is not known: a 1; it may have known how the event "
        "ended, so they are ranked apart.",
    )


def test_unknown_decisions_are_ranked_among_themselves_and_in_no_pair_with_clean_ones() -> None:
    who: list[tuple[str, Knowledge]] = [("a", "clean"), ("b", "unknown"), ("c", "unknown"), ("b", "clean")]
    made = [
        Made(bot, at=event, event=event, bets=(Bet(event, probability=0.6),), knowledge=each)
        for bot, each in who
        for event in range(40)
    ]
    record = record_of(made, as_of=90, paid={market: Paid(50, market % 2) for market in range(40)})
    found = evaluation_of(record, datetime(1970, 3, 1, tzinfo=UTC), Question(uncertainty=Uncertainty(resamples=100)))
    assert found.apart is not None
    assert ([card.bot for card in found.cards], [card.bot for card in found.apart.cards]) == (
        ["a", "b"],
        ["b", "c"],
    )
    assert [(card.decisions, card.n_brier) for card in found.cards] == [(40, 40), (80, 40)]
    assert [(card.decisions, card.clean, card.unknown, card.n_brier) for card in found.apart.cards] == [
        (40, 0, 40, 40)
    ] * 2
    briers = {(pair.first, pair.second): pair.n for pair in found.pairs if pair.metric == "brier"}
    assert briers == {("a", "b"): 40}
    assert [(pair.first, pair.second, pair.n) for pair in found.apart.pairs if pair.metric == "brier"] == [
        ("b", "c", 40)
    ]


def test_dates_that_are_left_out_do_not_overlap() -> None:
    record = record_of([Made(at=0, bets=BET), Made(at=1, bets=BET, knowledge="contaminated")], as_of=30)
    assert "overlap" not in " ".join(notes(record, scorecards(record)))
