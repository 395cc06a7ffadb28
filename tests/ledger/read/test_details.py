"""Details of one bot, event or decision, and what happened lately, on each kind of database."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from predibot.domain.decision import Source
from predibot.domain.event import Event, Tag
from predibot.ledger.care.ledger_copy import copy_ledger
from predibot.ledger.read.accounts.as_of import holdings_over_time
from predibot.ledger.read.accounts.statement import find_accounts, statement_of
from predibot.ledger.read.details.bots import bot_setup, count_setups, evidence_of_bot, list_settled_forecasts
from predibot.ledger.read.details.decisions import decision_details
from predibot.ledger.read.details.events import find_related_events, labels_of_events, revisions_of
from predibot.ledger.read.standing import under_way
from predibot.ledger.store import Store
from predibot.ledger.write.runs import void_run
from tests.benchmarks.account_ledgers import Portfolios, fill_accounts
from tests.ledger.by_hand import (
    DAY,
    LEASE,
    NOW,
    a_run,
    abstained,
    bot,
    claimant,
    decide,
    event_of,
    finished_with,
    settle,
    take,
)
from tests.soaks import ONE_DATABASE

AI, SPORT = Tag("AI", "ai"), Tag("Sport", "sport")


def of(number: int, *tags: Tag, series: str = "") -> Event:
    payload = f'{{"series": [{{"title": "{series}"}}]}}' if series else "{}"
    return replace(event_of(number), tags=tags, payload=payload)


ONE, TWO, THREE, FOUR = of(1, AI, SPORT, series="Cup"), of(2, AI), of(3, series="Cup"), of(4, AI, SPORT)
READ = (
    Source("search", "who won?", results=3),
    Source("page", "https://a.example/x", "https://a.example/y", "ab" * 32, "A page", NOW - DAY),
)


@pytest.fixture
def filled(store: Store) -> Store:
    """Return a ledger in which `a` decided twice and `b` abstained; the first market paid, and then otherwise."""
    run = a_run(store, ONE, TWO, THREE, FOUR, bots=("a", "b"))
    decide(store, run, "a", replace(finished_with(ONE, {"m1a": (0.5, 0.6)}), sources=READ))
    decide(store, run, "a", finished_with(TWO, {"m2a": (-1.0, 0.3)}, at=NOW + DAY))
    decide(store, run, "b", abstained(THREE, at=NOW + DAY))
    decide(store, run, "b", finished_with(ONE, {"m1a": (0.0, 0.2)}, at=NOW + DAY))
    settle(store, "m1a", (3, 0.0), (5, 1.0))
    return store


def test_a_bot_is_told_as_its_newest_run_froze_it(filled: Store) -> None:
    later = {"key": "daily@2026-03-03T00:00Z", "slot_at": NOW + 2 * DAY, "as_of": NOW + 2 * DAY}
    a_run(filled, ONE, bots=(bot("a", size=2),), **later)  # type: ignore[arg-type]
    with filled.read() as connection:
        found = bot_setup(connection, "a")
        assert bot_setup(connection, "nobody") is None
        assert count_setups(connection, "a") == 2
    assert found is not None
    assert (found.run, found.arguments_json) == ("daily@2026-03-03T00:00Z", '{"size": 2}')
    with filled.write() as connection:
        void_run(connection, "daily@2026-03-03T00:00Z", reason="a mistake", at=NOW + 9 * DAY)
        found = bot_setup(connection, "a")
        assert count_setups(connection, "a") == 1
    assert found is not None and found.arguments_json == "{}"


def test_the_evidence_of_a_decision_is_counted(filled: Store) -> None:
    with filled.read() as connection:
        assert dict(evidence_of_bot(connection, "a")) == {("e1", NOW): 2, ("e2", NOW + DAY): 0}


def test_a_decision_is_told_with_its_orders_fills_and_sources(filled: Store) -> None:
    with filled.read() as connection:
        found = decision_details(connection, "daily@2026-03-01T00:00Z", "a", "e2")
        (order,), (fill,) = found.orders, found.fills
        assert (order.outcome, order.amount, order.unit, order.status) == ("NO", 1.0, "usd", "filled")
        assert (order.question, fill.price, fill.cash_usd) == ("m2a?", 0.6, -1.0)
        read = decision_details(connection, "daily@2026-03-01T00:00Z", "a", "e1").sources
        assert [(each.kind, each.text, each.results, each.published_at) for each in read] == [
            ("search", "who won?", 3, None),
            ("page", "https://a.example/x", None, NOW - DAY),
        ]
        nothing = decision_details(connection, "daily@2026-03-01T00:00Z", "nobody", "e1")
        assert (nothing.orders, nothing.fills, nothing.sources) == ((), (), ())


def test_an_event_has_every_revision_and_what_is_filed_under_the_same(filled: Store) -> None:
    with filled.read() as connection:
        assert [(each.payout_yes, each.revision) for each in revisions_of(connection, ("e1", "e2"))["e1"]] == [
            (0.0, 1),
            (1.0, 2),
        ]
        labels = labels_of_events(connection)
    # Nobody decided on the fourth.
    assert set(labels) == {"e1", "e2", "e3"}
    assert [(each.event_id, each.shared) for each in find_related_events("e1", labels)] == [
        ("e3", ("series Cup",)),
        ("e2", ("tag AI",)),
    ]
    assert find_related_events("nothing", labels) == ()


def test_what_settled_last_is_told_by_its_last_revision_with_all_that_was_said(filled: Store) -> None:
    with filled.read() as connection:
        said = list_settled_forecasts(connection, 5)
        assert [(each.bot, each.probability, each.price_yes, each.payout_yes) for each in said] == [
            ("a", 0.6, 0.4, 1.0),
            ("b", 0.2, 0.4, 1.0),
        ]
        assert list_settled_forecasts(connection, 0) == []


def test_what_is_under_way_is_told_until_its_lease_ends(filled: Store) -> None:
    run = a_run(filled, FOUR, bots=("c",), key="daily@2026-03-02T00:00Z")
    at = NOW + 2 * DAY
    take(filled, run, "c", FOUR, claimant(began_at=at), now=at)
    with filled.read() as connection:
        (found,) = under_way(connection, at, 10)
        assert (found.bot, found.subject_id, found.since) == ("c", "e4", at)
        assert under_way(connection, at + 2 * LEASE, 10) == []


@ONE_DATABASE
def test_what_an_account_held_is_worth_its_valuations(store: Store, tmp_path: Path) -> None:
    with Store.open(f"sqlite:///{tmp_path}/filled.db") as filled:
        fill_accounts(filled, Portfolios(bots=2, days=9), np.random.default_rng(5))
        copy_ledger(filled, store, lambda _: None)
    with store.read() as connection:
        (first, *_) = connection.exec_driver_sql("SELECT bot FROM accounts ORDER BY id").scalars()
        (name,) = find_accounts(connection, first, None)
        found = holdings_over_time(connection, name.row, 100)
        stated = statement_of(connection, name, found[-1].at)
        few = holdings_over_time(connection, name.row, 3)
    assert [(each.at, each.value_usd) for each in found] == [(each.at, each.value_usd) for each in stated.valuations]
    assert len(few) == 3 and few[-1] == found[-1]
    assert max(len(each.worth) for each in found) > 0
    for each in found:
        assert each.cash_usd + sum(worth for _, worth in each.worth) == pytest.approx(each.value_usd)
