"""Beliefs: what a ledger and an archive know of markets as of an instant, and nothing later."""

from pathlib import Path

import numpy as np

from predibot.jobs.relatedness.beliefs import (
    LabelledBeliefs,
    beliefs_of_ledger,
    beliefs_of_venue,
    cluster_ledger_events,
)
from predibot.jobs.relatedness.graph import relations_of
from predibot.ledger.store import Store
from predibot.related.filters import Filters
from predibot.reports.terminal.closeups.related import relations_document
from tests.jobs.relatedness.related_world import AS_OF, DAY, EVENTS, GROUP, related
from tests.jobs.tiny import opened
from tests.related.made import scores_of
from tests.soaks import ONE_DATABASE
from tests.venues.payloads import NOW
from tests.worlds import Worlds


def in_ledger(store: Store) -> LabelledBeliefs:
    with store.read() as connection:
        return beliefs_of_ledger(connection, "polymarket", AS_OF)


def in_archive(folder: Path) -> LabelledBeliefs:
    with opened(folder, AS_OF) as venue:
        return beliefs_of_venue(venue.venue, AS_OF)


@ONE_DATABASE
def test_a_ledger_knows_words_tags_volumes_and_a_price_a_day(played: Store) -> None:
    known = in_ledger(played)
    beliefs = known.beliefs
    row = beliefs.market_ids.index("5")
    assert (beliefs.n, beliefs.event_ids[row], beliefs.tags[row]) == (EVENTS, "5", {"rates"})
    assert beliefs.texts[row] == "The rates, town 5. Will the rates be called off in town 5?"
    assert (beliefs.domains[row], beliefs.volume_usd[row]) == ("Rates", 5000.0)
    assert (known.titles["5"], known.questions["5"]) == ("The rates, town 5", "Will the rates be called off in town 5?")
    # Decided on day 0 and paid on day 99.5: from the decision's day on, to the last price before the payout.
    days = beliefs.prices.day[beliefs.prices.market == row] - int(NOW.timestamp() // 86_400)
    assert days.tolist() == list(range(1, 100))


def test_a_ledger_and_the_archive_it_was_played_on_say_the_same(played: Store, worlds: Worlds) -> None:
    ours, theirs = in_ledger(played).beliefs.in_order(), in_archive(worlds(related) / "archive").beliefs.in_order()
    assert ours.market_ids == theirs.market_ids
    assert ours.texts == theirs.texts
    # The archive has the price of the day of the decision too, so that a change more is known.
    np.testing.assert_allclose(scores_of(ours), scores_of(theirs), atol=0.2)


@ONE_DATABASE
def test_related_events_of_a_ledger_are_its_groups(played: Store) -> None:
    with played.read() as connection:
        clusters = cluster_ledger_events(connection, "polymarket", AS_OF)
    # In the order of ids as text: the first of each group.
    assert clusters == {str(number): {0: "1", 1: "4", 2: "7", 3: "10"}[GROUP[number - 1]] for number in range(1, 13)}


@ONE_DATABASE
def test_nothing_later_than_the_instant_changes_anything(played: Store, worlds: Worlds, bent: Path) -> None:
    found = []
    with Store.open_to_read(f"sqlite:///{bent}/ledger.db") as other:
        for store, folder in ((played, worlds(related)), (other, bent)):
            known = in_ledger(store)
            with store.read() as connection:
                clusters = cluster_ledger_events(connection, "polymarket", AS_OF)
            relations = [
                relations_document(relations_of("4", each, filters=Filters(), model=None))
                for each in (known, in_archive(folder / "archive"))
            ]
            found.append((scores_of(known.beliefs.in_order()).tolist(), clusters, relations))
    assert found[0] == found[1]


@ONE_DATABASE
def test_before_the_first_run_nothing_is_known(played: Store) -> None:
    with played.read() as connection:
        known = beliefs_of_ledger(connection, "polymarket", NOW - DAY)
    assert known.beliefs.n == 0
