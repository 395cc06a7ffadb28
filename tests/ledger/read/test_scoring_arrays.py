"""What scoring reads: a small ledger made by hand, with numbers one can check in the head."""

from collections import Counter
from dataclasses import replace
from datetime import date
from typing import Any

import numpy as np
import pytest
from sqlalchemy import select, update

from predibot.domain.event import OrderTerms, Tag
from predibot.domain.price import FeeSchedule, Quote
from predibot.ledger.read.model_knowledge import knowledge_of_decisions
from predibot.ledger.read.row_filter import RowFilter
from predibot.ledger.read.rows_for_python import select_decisions
from predibot.ledger.read.scoring_arrays import track_record
from predibot.ledger.store import Store
from predibot.ledger.write.decisions import bots
from predibot.ledger.write.runs import BotPlan, runs, void_run
from predibot.scoring.evaluation.scorecard import scorecards
from predibot.scoring.records.knowledge import KNOWLEDGE
from predibot.scoring.records.part import Part
from predibot.scoring.records.track_record import TrackRecord
from tests.ledger.by_hand import DAY, NOW, a_run, abstained, decide, event_of, failed, finished_with, observe, settle
from tests.soaks import ONE_DATABASE

ONE, TWO = event_of(1, 2), event_of(2)


@pytest.fixture
def followed(filled: Store) -> Store:
    """Return the ledger of four decisions with prices since, and with the refund of half a market."""
    observe(filled, "m1a", (1, 0.5), (2, 0.6))
    observe(filled, "m1a", (2, 0.7), source="quote")
    observe(filled, "m2a", (2, 0.2))
    settle(filled, "m1b", (3, 0.5))
    return filled


def record_of(store: Store, days: float, **part: Any) -> TrackRecord:
    """Return what was known so many days after `NOW`."""
    with store.read() as connection:
        return track_record(connection, "polymarket", NOW + days * DAY, Part(**part))


def test_every_decision_and_bet_is_read_with_what_belongs_to_it(filled: Store) -> None:
    record = record_of(filled, 10)
    assert record.bots == ("a", "b")
    assert record.decision_bot.tolist() == [0, 0, 1, 1]
    assert record.decision_status.tolist() == [0, 0, 2, 3]
    assert record.bet_decision.tolist() == [0, 0, 1]
    assert record.bet_usd.tolist() == [0.5, 0.0, -1.0]
    assert record.bet_probability.tolist() == [0.6, 0.2, 0.3]
    assert record.bet_price_yes.tolist() == [0.4] * 3
    assert record.decided_at.tolist() == [NOW.timestamp(), (NOW + DAY).timestamp(), NOW.timestamp(), NOW.timestamp()]


def test_of_a_quote_and_a_point_at_one_instant_the_quote_comes_last(followed: Store) -> None:
    record = record_of(followed, 10)
    assert record.observation_price_yes.tolist() == [0.5, 0.6, 0.7, 0.2]


@ONE_DATABASE
@pytest.mark.parametrize(
    ("days", "paid"),
    [(2.9, [np.nan, np.nan, np.nan]), (3, [0.0, 0.5, np.nan]), (4.9, [0.0, 0.5, np.nan]), (5, [1.0, 0.5, np.nan])],
)
def test_a_payout_is_the_last_revision_known_at_the_instant(followed: Store, days: float, paid: list[float]) -> None:
    record = record_of(followed, days)
    np.testing.assert_array_equal(record.payout_yes, paid)


@ONE_DATABASE
def test_nothing_later_than_the_instant_is_read(followed: Store) -> None:
    record = record_of(followed, 0.5)
    assert record.decision_bot.tolist() == [0, 1, 1]
    assert record.observation_at.size == 0
    assert np.isnan(record.payout_yes).all()
    assert record_of(followed, -1).decided_at.size == 0
    # What is of the instant itself is known.
    record = record_of(followed, 1)
    assert (record.decision_bot.tolist(), record.observation_at.size) == ([0, 0, 1, 1], 1)


def test_the_numbers_that_follow_are_those_done_by_hand(followed: Store) -> None:
    card = next(card for card in scorecards(record_of(followed, 5)) if card.bot == "a")
    assert (card.forecasts, card.settled, card.void, card.n_brier_open) == (3, 1, 1, 1)
    assert card.brier == pytest.approx(0.4**2)
    # 50 cents on YES at 0.40, which costs 0.50 a day later; a dollar on NO at 0.60, which costs 0.80.
    assert card.horizons["1"].mean_return == pytest.approx((0.5 * 0.25 + (0.8 / 0.6 - 1)) / 2)


def test_a_ledger_without_decisions_is_an_empty_record(store: Store) -> None:
    record = record_of(store, 1)
    assert (record.bots, record.decided_at.size, record.bet_usd.size) == ((), 0, 0)
    assert scorecards(record) == ()


def test_only_the_bots_and_recipes_asked_for_are_read(filled: Store) -> None:
    with filled.read() as connection:
        record = track_record(connection, "polymarket", NOW + DAY, Part(bots=["b"]))
    assert (record.bots, record.decided_at.size, record.bet_usd.size) == (("b",), 2, 0)
    assert record_of(filled, 1, recipe="weekly").bots == ()


@ONE_DATABASE
def test_other_venues_and_void_runs_are_not_read(filled: Store) -> None:
    with filled.read() as connection:
        assert track_record(connection, "sandbox", NOW + DAY).bots == ()
    with filled.write() as connection:
        void_run(connection, "daily@2026-03-01T00:00Z", reason="wrong", at=NOW)
    assert record_of(filled, 1).bots == ()


@ONE_DATABASE
def test_the_same_bot_of_two_runs_is_one_bot(filled: Store) -> None:
    run = a_run(filled, ONE, key="daily@2026-03-02T00:00Z", as_of=NOW + DAY, slot_at=NOW + DAY, bots=("b", "a"))
    decide(filled, run, "a", finished_with(ONE, {"m1a": (1.0, 0.9), "m1b": (0.0, 0.9)}, at=NOW + DAY))
    record = record_of(filled, 10)
    assert record.bots == ("a", "b")
    assert record.decision_bot.tolist() == [0, 0, 1, 1, 0]
    assert np.diff(record.decision_day[[0, 4]]).tolist() == [1]


def test_an_unknown_cost_is_missing_and_not_zero(store: Store) -> None:
    run = a_run(store, ONE, TWO)
    decide(store, run, "a", replace(failed(ONE), cost_usd=None, cost_known_usd=0.25))
    decide(store, run, "a", replace(failed(TWO), cost_usd=0.5, cost_known_usd=0.5))
    record = record_of(store, 1)
    np.testing.assert_array_equal(record.decision_cost_usd, [np.nan, 0.5])
    assert record.decision_cost_known_usd.tolist() == [0.25, 0.5]


ARCHIVE = "archive:/recorded"
MODELS = ("m",)


def knowledge_in(store: Store, days: float = 10, **asked: Any) -> list[str]:
    """Return what can have been known for each decision of the ledger."""
    codes = record_of(store, days, **asked).decision_knowledge
    assert codes is not None
    words = [KNOWLEDGE[code] for code in codes]
    told = RowFilter(bots=asked.get("bots", ()), as_of=NOW + days * DAY)
    with store.read() as connection:
        # A reader of rows is told the same.
        assert Counter(row.knowledge for row in select_decisions(connection, told)) == Counter(words)
    return words


def cutoff_after(days: float | None) -> date | None:
    """Return the day that begins half a day before so many days after the run."""
    return None if days is None else (NOW + days * DAY).date()


KNOWN = (
    # The models, the days of the cutoff and of the look, and what is known of both decisions in a recording.
    ((), 5, 10, ["clean", "clean"]),
    (MODELS, None, 10, ["unknown", "unknown"]),
    (MODELS, 0, 10, ["clean", "clean"]),
    (MODELS, 1, 10, ["ahead", "ahead"]),
    (MODELS, 4, 10, ["ahead", "ahead"]),
    (MODELS, 5, 10, ["contaminated", "ahead"]),
    (MODELS, 5, 3.5, ["ahead", "ahead"]),
    # Of an older ledger it is only known that the bot has a model.
    (None, 5, 10, ["contaminated", "ahead"]),
    (None, None, 10, ["unknown", "unknown"]),
)


@ONE_DATABASE
@pytest.mark.parametrize("venue", [ARCHIVE, "polymarket"])
def test_what_a_model_may_have_known_follows_from_its_cutoff_the_decision_and_the_settlement(
    store: Store, venue: str
) -> None:
    """The markets of the first event settle 3 and 4 days after noon; of the second one nothing is known."""
    run = a_run(store, ONE, TWO, bots=(), venue=venue)
    for number, (models, cutoff_days, *_) in enumerate(KNOWN):
        plan = BotPlan(f"b{number}", "a", {}, "s", "m", cutoff_after(cutoff_days))
        # What a bot did not answer is no cleaner for it.
        decide(store, run, plan, replace(failed(ONE), models=models))
        decide(store, run, plan, replace(finished_with(TWO, {"m2a": (-1.0, 0.3)}), models=models))
    settle(store, "m1a", (3, 0.0))
    settle(store, "m1b", (4, 1.0))
    for number, (*_, as_of_days, expected) in enumerate(KNOWN):
        live = ["clean", "clean"]
        assert knowledge_in(store, as_of_days, bots=[f"b{number}"]) == (expected if venue == ARCHIVE else live)


def test_an_opened_model_counts_whatever_named_it_and_a_bot_without_any_is_clean(store: Store) -> None:
    run = a_run(store, TWO, bots=(), venue=ARCHIVE)
    for name, model, models in (("judge", None, MODELS), ("none", None, None), ("lazy", "m", ())):
        decide(store, run, BotPlan(name, name, {}, "s", model), replace(failed(TWO), models=models))
    assert dict(zip(("judge", "lazy", "none"), knowledge_in(store), strict=True)) == {
        "judge": "unknown", "lazy": "clean", "none": "clean",
    }  # fmt: skip


@ONE_DATABASE
@pytest.mark.parametrize("is_old", [False, True])
def test_a_bot_that_pools_others_inherits_the_worst_of_its_members(store: Store, is_old: bool) -> None:
    run = a_run(store, ONE, TWO, bots=(), venue=ARCHIVE)
    cutoffs = {"early": -9, "late": 5, "soon": 1, "unsaid": None}
    for name, days in cutoffs.items():
        for event in (ONE, TWO):
            plan = BotPlan(name, name, {}, "s", "m", cutoff_after(days))
            decide(store, run, plan, replace(failed(event), models=MODELS))
    members = {
        "p_all": list(cutoffs),
        "p_clean": ["early"],
        "p_soon": ["early", "soon"],
        "p_unsaid": ["early", "unsaid"],
    }
    for name, of in members.items():
        # What a strategy declares, whatever its arguments are called; before that was stored, the ensemble's argument.
        arguments = {"members": of} if is_old else {"voices": of}
        decide(store, run, BotPlan(name, "panel", arguments, "s", members=tuple(of)), replace(failed(ONE), models=()))
    if is_old:
        with store.write() as connection:
            connection.execute(update(bots).values(members_json=None))
    settle(store, "m1a", (3, 0.0))
    settle(store, "m1b", (4, 1.0))
    expected = {"p_all": "contaminated", "p_clean": "clean", "p_soon": "ahead", "p_unsaid": "unknown"}
    for name, word in expected.items():
        # Members count also where only the pool is asked for.
        assert knowledge_in(store, bots=[name]) == [word]
    whole = record_of(store, 10)
    said = dict(zip([whole.bots[row] for row in whole.decision_bot], knowledge_in(store), strict=True))
    assert {name: said[name] for name in expected} == expected


def test_a_pool_costs_what_its_members_do_each_once_and_an_unknown_cost_stays_unknown(store: Store) -> None:
    run = a_run(store, ONE, bots=())
    for name, cost in (("a", 0.5), ("b", 0.25), ("c", None)):
        paid = replace(failed(ONE), models=MODELS, cost_usd=cost, cost_known_usd=cost or 0.125)
        decide(store, run, BotPlan(name, name, {}, "s", "m"), paid)
    pools = {"p": ("a", "b"), "q": ("p", "a"), "r": ("c",)}
    for name, of in pools.items():
        decide(store, run, BotPlan(name, "panel", {}, "s", members=of), replace(failed(ONE), models=()))
    expected = {"a": 0.5, "b": 0.25, "p": 0.75, "q": 0.75, "c": np.nan, "r": np.nan}
    for bots_asked, known in ((["p", "r"], [0.75, 0.125]), ([], [0.5, 0.25, 0.125, 0.75, 0.75, 0.125])):
        record = record_of(store, 1, bots=bots_asked)
        names = [record.bots[row] for row in record.decision_bot]
        np.testing.assert_array_equal(record.decision_cost_usd, [expected[name] for name in names])
        np.testing.assert_array_equal(record.decision_cost_known_usd, known)


@ONE_DATABASE
def test_members_of_another_run_taint_nobody(store: Store) -> None:
    for number, cutoff in enumerate((5, -9)):
        run = a_run(store, TWO, key=f"daily@{number}", bots=(), venue=ARCHIVE)
        plan = BotPlan("a", "a", {}, "s", "m", cutoff_after(cutoff))
        decide(store, run, plan, replace(finished_with(TWO, {"m2a": (-1.0, 0.3)}), models=MODELS))
        decide(store, run, BotPlan("p", "panel", {}, "s", members=("a",)), replace(failed(TWO), models=()))
    settle(store, "m2a", (3, 0.0))
    assert knowledge_in(store) == ["contaminated", "contaminated", "clean", "clean"]


def test_what_the_book_was_when_a_bet_was_booked_is_read_with_what_the_venue_charges(store: Store) -> None:
    first, second = event_of(1, 2).markets
    sold = replace(first, fees=FeeSchedule(0.05, 2.0), orders=OrderTerms(True, 0.01, 15.0))
    event = replace(event_of(1, 2), markets=(sold, second))
    run = a_run(store, event)
    shown, booked = Quote(NOW, bid=0.1, ask=0.2), Quote(NOW, bid=0.39, ask=0.41, displayed=0.4)
    finished = finished_with(event, {"m1a": (0.5, 0.6), "m1b": (0.0, 0.2)})
    # Nobody bids for the second, and nobody asks.
    empty = Quote(NOW, bid=0.0, ask=1.0, displayed=0.4)
    seen = {"m1a": shown, "m1b": shown}
    decide(store, run, "a", replace(finished, shown=seen, booked={"m1a": booked, "m1b": empty}))
    record = record_of(store, 1)
    np.testing.assert_array_equal(record.bet_bid_yes, [0.39, np.nan])
    np.testing.assert_array_equal(record.bet_ask_yes, [0.41, np.nan])
    np.testing.assert_array_equal(record.bet_fee_rate, [0.05, np.nan])
    np.testing.assert_array_equal(record.bet_fee_exponent, [2.0, np.nan])
    np.testing.assert_array_equal(record.bet_least_shares, [15.0, np.nan])


def test_stated_confidence_is_read_and_an_unstated_one_is_missing(store: Store) -> None:
    finished = finished_with(ONE, {"m1a": (0.5, 0.6), "m1b": (0.0, 0.2)})
    assert finished.decision is not None
    sure, unsure = finished.decision.forecasts
    said = replace(finished.decision, forecasts=(replace(sure, confidence=0.0), unsure))
    decide(store, a_run(store, ONE), "a", replace(finished, decision=said))
    confidence = record_of(store, 1).bet_confidence
    assert confidence is not None
    np.testing.assert_array_equal(confidence, [0.0, np.nan])


def test_events_have_titles_categories_and_the_slot_of_their_run(store: Store) -> None:
    event = replace(TWO, tags=(Tag("Sports", "sports"),))
    run = a_run(store, ONE, event)
    decide(store, run, "a", finished_with(ONE, {"m1a": (0.5, 0.6), "m1b": (0.0, 0.2)}, at=NOW + DAY / 2))
    decide(store, run, "a", finished_with(event, {"m2a": (0.5, 0.6)}, at=NOW + DAY))
    record = record_of(store, 2)
    assert record.decision_category is not None
    assert [record.categories[code] for code in record.decision_category] == ["no category", "Sports"]
    assert [record.event_names[row] for row in record.decision_event.tolist()] == ["Event 1", "Event 2"]
    assert record.slots().tolist() == [NOW.replace(hour=0).timestamp()] * 2


@ONE_DATABASE
def test_observations_of_another_venue_are_not_read(followed: Store) -> None:
    with followed.read() as connection:
        assert track_record(connection, "sandbox", NOW + 10 * DAY).observation_at.size == 0
    assert record_of(followed, 10).observation_at.size == 4


def test_every_decision_was_asked_about_the_markets_its_run_froze(filled: Store) -> None:
    record = record_of(filled, 10)
    decision, market = record.questions()
    assert record.bots[record.decision_bot[2]] == "b"
    # Both markets of the first event, of who failed too, and the one of the second.
    assert list(zip(decision.tolist(), market.tolist(), strict=True)) == [
        (0, 0),
        (0, 1),
        (1, 2),
        (2, 0),
        (2, 1),
        (3, 2),
    ]
    only = record_of(filled, 10, bots=["b"])
    assert [each.tolist() for each in only.questions()] == [[0, 0, 1], [0, 1, 2]]


@ONE_DATABASE
def test_a_later_run_may_ask_about_fewer_markets(filled: Store) -> None:
    later = a_run(
        filled, replace(ONE, markets=ONE.markets[1:]), bots=("a",), key="daily@2026-03-02T00:00Z", as_of=NOW + DAY
    )
    decide(filled, later, "a", failed(ONE))
    decision, market = record_of(filled, 10).questions()
    assert market[decision == 4].tolist() == [1]


@ONE_DATABASE
def test_what_only_other_recipes_ask_leaves_the_settled_figures_of_a_bot_alone(filled: Store) -> None:
    def at_settlement() -> list[tuple[str, int, float | None]]:
        cards = scorecards(record_of(filled, 10, bots=["a", "b"]))
        return [(card.bot, card.horizons["settled"].n, card.horizons["settled"].mean_return) for card in cards]

    settle(filled, "m2a", (3, 0.0))
    before = at_settlement()
    assert [n for _, n, _ in before] == [2, 1]
    # The second event has another market, which is not settled.
    more = replace(TWO, markets=(*TWO.markets, replace(event_of(2, 2).markets[1])))
    other = a_run(filled, more, bots=("c",), key="other@2026-03-02T00:00Z", as_of=NOW + DAY)
    decide(filled, other, "c", abstained(more, at=NOW + DAY))
    assert at_settlement() == before


def test_outcomes_that_exclude_each_other_are_read_event_by_event(store: Store) -> None:
    events = [
        replace(event, markets=tuple(replace(market, exclusive_group="negRisk") for market in event.markets))
        for event in (ONE, TWO)
    ]
    a_run(store, *events, replace(event_of(3), description='{"ref":{"id":"m1a"},"exclusive_group":"x"}'))
    assert record_of(store, 10).market_exclusive.tolist() == [0, 0, 1, -1]  # type: ignore[union-attr]


def test_a_baseline_is_one_by_its_strategy_in_all_its_runs_and_by_no_name(store: Store) -> None:
    strategies = {
        "market_price": ("mine", "mine"),
        "plain": ("market_price", "market_price"),
        "changed": ("random_bet", "mine"),
    }
    for number, event in enumerate((ONE, TWO)):
        run = a_run(store, event, key=f"daily@{number}", bots=())
        for name, used in strategies.items():
            decide(store, run, BotPlan(name, used[number], {}, "s"), abstained(event))
    cards = {each.bot: each.baseline for each in scorecards(record_of(store, 10))}
    assert cards == {"market_price": False, "plain": True, "changed": False}


@ONE_DATABASE
@pytest.mark.parametrize(("venue_name", "word"), [("sandbox", "clean"), ("sandbox_mana", "clean"), ("m", "unknown")])
def test_in_a_world_that_is_made_up_a_model_without_a_cutoff_is_clean(store: Store, venue_name: str, word: str) -> None:
    run = a_run(store, TWO, bots=(), venue=ARCHIVE)
    decide(store, run, BotPlan("a", "a", {}, "s", "m"), replace(failed(TWO), models=MODELS))
    with store.write() as connection:
        # As of a recording of it, too.
        connection.execute(update(runs).values(venue_name=venue_name))
        bot_row, event = connection.execute(select(bots.c.id)).scalar_one(), np.array([1])
        columns = [("bot_id", np.float64), ("opened", np.float64), ("decided_at", np.float64)]
        decided = np.array([(bot_row, 1.0, NOW.timestamp() * 1e6)], dtype=columns)
        found = knowledge_of_decisions(connection, decided, event, np.array([np.inf]), is_live=np.array([False]))
        assert [KNOWLEDGE[code] for code in found] == [word]
