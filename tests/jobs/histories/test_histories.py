"""Histories of bots, events and ledgers: what is told is what is stored, on both databases."""

from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from predibot.domain.resolution import Resolution
from predibot.errors import UsageError
from predibot.jobs.histories.bot import bot_history, gains_of_bot
from predibot.jobs.histories.event import event_history
from predibot.jobs.histories.ledger import edge_history, ledger_history
from predibot.jobs.histories.pair import shared_questions
from predibot.jobs.histories.snapshot import take_snapshot
from predibot.ledger.store import Store
from predibot.ledger.write.events import markets
from predibot.ledger.write.prices_and_resolutions import add_resolutions
from predibot.scoring.evaluation.horizon_series import EDGE, GAIN
from predibot.scoring.records.part import Part
from tests.jobs.relatedness import related_world
from tests.ledger.by_hand import DAY, NOW, a_run, abstained, decide, event_of, failed, finished_with
from tests.ledger.databases import address, other, postgres, store
from tests.soaks import ONE_DATABASE

__all__ = ["address", "other", "postgres", "store"]
LATER = NOW + 3 * DAY


def _clock() -> datetime:
    return LATER


@pytest.fixture
def filled(store: Store) -> Store:
    one, two = event_of(1), event_of(2)
    run = a_run(store, one, two, bots=("a", "b", "c"))
    decide(store, run, "a", finished_with(one, {"m1a": (0.5, 0.7)}))
    decide(store, run, "a", failed(two, message="out of money"))
    decide(store, run, "b", finished_with(one, {"m1a": (-0.5, 0.1)}, at=NOW + timedelta(hours=1)))
    decide(store, run, "c", abstained(one))
    decide(store, run, "c", abstained(two))
    return store


@ONE_DATABASE
def test_a_bot_is_told_with_what_it_did_not_answer(filled: Store) -> None:
    found = bot_history(filled, "a", clock=_clock)
    assert dict(found.statuses) == {"recorded": 1, "failed": 1}
    assert [(each.status, each.message, each.n) for each in found.unanswered] == [("failed", "out of money", 1)]
    assert (found.first_at, found.last_at, found.as_of) == (NOW, NOW, LATER)
    silent = bot_history(filled, "c", clock=_clock)
    assert [(each.status, each.n) for each in silent.unanswered] == [("abstained", 2)]
    assert (silent.best, silent.worst, silent.markets) == ((), (), ())
    elsewhere = a_run(filled, event_of(1), key="other@2026-03-01T00:00Z", venue="manifold", venue_name="manifold")
    decide(filled, elsewhere, "a", failed(event_of(1), message="out of mana"))
    of_venue = bot_history(filled, "a", Part(venue="polymarket"), clock=_clock)
    assert (of_venue.statuses, of_venue.unanswered) == (found.statuses, found.unanswered)
    of_event = event_history(filled, "e1", Part(venue="manifold"), clock=_clock)
    assert [(each.bot, each.message) for each in of_event.decisions] == [("a", "out of mana")]
    later = bot_history(filled, "a", Part(venue="polymarket", since=LATER, as_of=LATER), clock=_clock)
    assert (dict(later.statuses), later.positions) == ({}, ())


@ONE_DATABASE
def test_without_a_later_price_nothing_has_a_value(filled: Store) -> None:
    found = bot_history(filled, "a", clock=_clock)
    (scored,) = found.scored
    assert EDGE not in scored.running and GAIN not in scored.running
    assert (scored.card.edge.edge, found.accounts, found.cohorts) == (None, (), ())


def test_an_event_has_the_prices_at_which_bets_were_booked(filled: Store) -> None:
    found = event_history(filled, "e1", clock=_clock)
    (market,) = found.markets
    assert [price for _, price in market.prices] == [0.4, 0.4] and market.payout_yes is None
    assert [(each.bot, each.probability) for each in found.forecasts] == [("a", 0.7), ("b", 0.1)]
    assert [each.status for each in found.decisions] == ["recorded", "recorded", "abstained"]
    early = event_history(filled, "e1", Part(as_of=NOW), clock=_clock)
    assert [each.bot for each in early.forecasts] == ["a"]
    with pytest.raises(UsageError, match=r"no run of the ledger has an event 'x'. `predibot report --event` lists"):
        event_history(filled, "x", clock=_clock)


@ONE_DATABASE
def test_a_ledger_tells_the_markets_decided_on(filled: Store) -> None:
    found = ledger_history(filled, clock=_clock)
    assert [each.market.market_id for each in found.markets] == ["m1a"]
    assert [(each.bot, each.bet_usd) for each in found.markets[0].decisions] == [("a", 0.5), ("b", -0.5)]
    alone = ledger_history(filled, Part(bots=("b",)), clock=_clock)
    assert [each.bot for each in alone.markets[0].decisions] == ["b"]


@ONE_DATABASE
def test_two_bots_are_told_where_they_differ_most_first(filled: Store) -> None:
    found = shared_questions(filled, "a", "b", clock=_clock)
    (both,) = found
    assert (both.market.market_id, both.one, both.other, both.price_yes) == ("m1a", 0.7, 0.1, 0.4)
    assert (both.payout_yes, both.error_difference, both.one_at) == (None, None, NOW)
    with filled.write() as connection:
        row = connection.execute(markets.select().where(markets.c.market_id == "m1a")).one()
        paid = [Resolution(1.0, NOW + DAY, "venue", NOW + DAY)]
        add_resolutions(connection, row.id, paid, stored=0, seen_at=NOW + DAY)
    (both,) = shared_questions(filled, "b", "a", clock=_clock)
    assert both.error_difference == pytest.approx(0.81 - 0.09)
    # c abstained, so that there is nothing to compare.
    assert not shared_questions(filled, "a", "c", clock=_clock)
    # What was computed of all bots together is what is computed of each alone.
    whole = take_snapshot(filled, ("evidence", "intervals"), clock=_clock)
    together, alone = bot_history(filled, "a", clock=_clock, whole=whole), bot_history(filled, "a", clock=_clock)
    ((scored,), (sums,)) = together.scored, whole.sums.values()
    assert replace(together, evaluation=alone.evaluation) == alone
    assert scored.running[EDGE] is sums[1][EDGE]["a"] and whole.evaluation != alone.evaluation
    assert edge_history(filled, clock=_clock, whole=whole) == edge_history(filled, clock=_clock)
    assert [*shared_questions(filled, "b", "a", clock=_clock, whole=whole)] == [both]
    gains = gains_of_bot(filled, "a", clock=_clock).of("e1", NOW)
    assert gains_of_bot(filled, "a", clock=_clock, whole=whole).of("e1", NOW) == gains
    by_label = {each.label: each.mid for each in gains}
    # 0.50 on YES at .4 came to 1.25.
    assert [by_label["now"], by_label["settled"]] == pytest.approx([0.75, 0.75])
    (day,) = bot_history(filled, "a", clock=_clock).days
    assert (day.bets, day.unknown) == (1, 0) and day.gain_usd == pytest.approx(0.75)


@ONE_DATABASE
def test_a_bot_is_told_how_far_its_beliefs_break_the_rules_of_probability(store: Store) -> None:
    said = ("Fewer than 10 seats?", "10 to 19 seats?", "20 or more seats?")
    event = event_of(1, 3)
    asked = [
        replace(market, question=text, exclusive_group="g") for market, text in zip(event.markets, said, strict=True)
    ]
    # Of the second event's markets nobody can tell what hitting binds.
    other_event = event_of(2, 2)
    hit = [
        replace(market, question=f"Will it hit {n}?") for market, n in zip(other_event.markets, (40, 50), strict=True)
    ]
    one, two = replace(event, markets=tuple(asked)), replace(other_event, markets=tuple(hit))
    run = a_run(store, one, two, bots=("a", "b"))
    decide(store, run, "a", finished_with(one, {"m1a": (0.1, 0.2), "m1b": (0.1, 0.3), "m1c": (0.1, 0.2)}))
    decide(store, run, "a", finished_with(two, {"m2a": (0.1, 0.2), "m2b": (0.1, 0.3)}))
    decide(store, run, "b", finished_with(one, {"m1a": (0.1, 0.9), "m1b": (0.1, 0.9)}))
    found = bot_history(store, "a", clock=_clock).coherence
    # 0.7 of 1; its prices were 0.4 each.
    assert [(each.name, round(each.bot, 6), round(each.market, 6)) for each in found.rules] == [
        ("all", 0.3, 0.2),
        ("exclusive", 0.3, 0.2),
    ]
    assert (found.exhaustive, found.unsure_groups, found.unsure_markets) == (1, 1, 2)
    assert [each.name for each in found.events] == ["Event 1"]
    partly = bot_history(store, "b", clock=_clock).coherence
    assert round(partly.rules[0].bot, 6) == 0.8 and partly.unsure_groups == 0
    before = NOW - timedelta(hours=1)
    with pytest.raises(UsageError):
        bot_history(store, "x", Part(as_of=before), clock=_clock)
    early = bot_history(store, "a", Part(as_of=before), clock=_clock).coherence
    assert (early.rules, early.unsure_groups) == ((), 0)


@ONE_DATABASE
def test_a_bot_is_told_how_much_of_its_stakes_moves_together(store: Store, tmp_path: Path) -> None:
    related_world.play(store, related_world.write_related(tmp_path / "archive"))
    at = related_world.AS_OF
    found = bot_history(store, "random_bet", Part(as_of=at), clock=lambda: at)
    together = [each for each in found.exposures.groups if len(each.events) > 1]
    assert together and sum(each.share for each in found.exposures.groups) == pytest.approx(1.0)
    for each in together:
        assert len({related_world.GROUP[int(event.removeprefix("e")) - 1] for event in each.events}) == 1
        assert all(found.titles[event].startswith("The ") for event in each.events)
    everything = bot_history(store, "market_price", Part(as_of=at), clock=lambda: at)
    # A dollar on each of twelve events, of four groups.
    assert [(len(each.events), each.share) for each in everything.exposures.groups] == [(3, 0.25)] * 4
