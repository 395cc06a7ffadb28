"""Decisions: stored whole with all that belongs to them, or not at all."""

from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from sqlalchemy.exc import IntegrityError

from predibot.domain.decision import Decision, MarketDecision, Source
from predibot.ledger.read.export import export_rows
from predibot.ledger.store import Store
from predibot.ledger.write.claims import Claim, release_claims
from predibot.ledger.write.decisions import DecisionResult, StoredBet, question_sha256, read_decisions
from tests.ledger.by_hand import (
    DAY,
    NOW,
    a_run,
    abstained,
    claimant,
    decide,
    event_of,
    failed,
    finished_with,
    put,
    take,
)
from tests.ledger.statements import found

EVENT = event_of(1, 2)
SAID = {"m1a": (0.5, 0.6), "m1b": (-0.25, 0.1)}


def test_a_decision_is_read_back_as_it_was_made(store: Store) -> None:
    run = a_run(store, EVENT)
    decide(store, run, "a", finished_with(EVENT, SAID))
    (told,) = store.run_read(partial(read_decisions, run_id=run.id))
    assert (told.bot, told.subject_id, told.status, told.unallocated_usd) == ("a", "e1", "recorded", 0.25)
    assert told.bets == (StoredBet("m1a", 0.5, 0.6, None, 0.4), StoredBet("m1b", -0.25, 0.1, None, 0.4))


def test_one_fill_is_stored_for_each_bet_that_costs_something(store: Store) -> None:
    decide(store, a_run(store, EVENT), "a", finished_with(EVENT, {"m1a": (0.5, 0.6), "m1b": (0.0, 0.1)}))
    assert found(store, "SELECT shares, price, cash_usd FROM fills") == [(1.25, 0.4, -0.5)]


def test_a_failure_half_way_leaves_neither_decision_nor_end_of_the_claim(store: Store) -> None:
    run = a_run(store, EVENT)
    held = take(store, run, "a", EVENT, claimant())
    assert isinstance(held, Claim)
    impossible = Decision((MarketDecision("m1a", 7.5), MarketDecision("m1b", 0.5)))
    with pytest.raises(IntegrityError):
        put(store, run, "a", held, replace(finished_with(EVENT, SAID), decision=impossible))
    for table in ("decisions", "forecasts", "orders", "fills", "quotes"):
        assert found(store, f"SELECT count(*) FROM {table}") == [0], table
    assert found(store, "SELECT status FROM tasks") == ["claimed"]
    put(store, run, "a", held, finished_with(EVENT, SAID))


def test_who_abstains_has_a_row_without_bets(store: Store) -> None:
    run = a_run(store, EVENT)
    decide(store, run, "a", abstained(EVENT))
    (told,) = store.run_read(partial(read_decisions, run_id=run.id))
    assert (told.status, told.message, told.bets, told.unallocated_usd) == ("abstained", "no idea", (), None)


def test_a_clarified_question_has_another_hash() -> None:
    market = EVENT.markets[0]
    same = question_sha256(EVENT, market)
    assert question_sha256(replace(EVENT, payload="x", volume_24h_usd=3.0), market) == same
    assert question_sha256(EVENT, replace(market, description="by noon")) != same
    assert question_sha256(replace(EVENT, description="by noon"), market) != same


@pytest.mark.parametrize(
    ("costs", "total_usd", "known_usd"),
    [
        ([(0.25, 0.25), (0.5, 0.5), (0.125, 0.125)], 0.875, 0.875),
        ([(None, 0.25), (0.5, 0.5)], None, 0.75),
        ([(0.25, 0.25), (None, 0.5)], None, 0.75),
    ],
)
def test_the_cost_of_a_decision_is_the_sum_over_its_tries(
    store: Store, costs: list[tuple[float | None, float]], total_usd: float | None, known_usd: float
) -> None:
    run = a_run(store, EVENT)
    for number, (usd, known) in enumerate(costs):
        end = failed(EVENT, at=NOW - (len(costs) - number) * DAY)
        end = finished_with(EVENT, SAID) if number == len(costs) - 1 else end
        decide(store, run, "a", replace(end, cost_usd=usd, cost_known_usd=known))
    (told,) = store.run_read(partial(read_decisions, run_id=run.id))
    assert (told.status, told.cost_usd, told.cost_known_usd) == ("recorded", total_usd, known_usd)


@pytest.mark.parametrize(("could_cost", "usd"), [(True, None), (False, 0.5)])
def test_of_a_try_that_was_broken_off_nobody_knows_what_it_cost(
    store: Store, could_cost: bool, usd: float | None
) -> None:
    run = a_run(store, EVENT)
    assert isinstance(take(store, run, "a", EVENT, claimant(owner="gone")), Claim)
    with store.write() as connection:
        release_claims(connection, "gone", now=NOW)
    end = finished_with(EVENT, SAID)
    decide(store, run, "a", replace(end, cost_usd=0.5, cost_known_usd=0.5, could_cost=could_cost))
    (told,) = store.run_read(partial(read_decisions, run_id=run.id))
    assert (told.cost_usd, told.cost_known_usd) == (usd, 0.5)


READ = (
    Source("search", "who \x00 wins?", results=7),
    Source("page", "https://a.example/x", "https://a.example/y", "ab" * 32, "A page", NOW - DAY),
)


def sources_in(store: Store) -> list[dict[str, Any]]:
    """Return what is kept of the sources, without whose they are."""
    with store.read() as connection:
        rows = list(export_rows(connection, "sources"))
    return [{name: row[name] for name in list(row)[5:]} for row in rows]


@pytest.mark.parametrize("finished", [finished_with(EVENT, SAID), abstained(EVENT), failed(EVENT)])
def test_sources_and_trace_are_kept_whatever_became_of_the_decision(store: Store, finished: DecisionResult) -> None:
    decide(store, a_run(store, EVENT), "a", replace(finished, sources=READ, trace_sha256="cd" * 32))
    search, page = sources_in(store)
    assert (search["number"], search["text"], search["results"]) == (1, "who \ufffd wins?", 7)
    assert page == {
        "number": 2,
        "kind": "page",
        "text": "https://a.example/x",
        "final_url": "https://a.example/y",
        "sha256": "ab" * 32,
        "title": "A page",
        "published_at": "2026-02-28T12:00Z",
        "results": None,
    }
    assert found(store, "SELECT trace_sha256 FROM decisions") == ["cd" * 32]


def test_what_a_failed_attempt_read_goes_when_another_one_replaces_it(store: Store) -> None:
    run = a_run(store, EVENT)
    decide(store, run, "a", replace(failed(EVENT, at=NOW - DAY), sources=READ))
    decide(store, run, "a", replace(finished_with(EVENT, SAID), sources=READ[1:]))
    assert [source["text"] for source in sources_in(store)] == ["https://a.example/x"]
