"""What evaluations keep in the ledger for the next one: never used after a change, and never needed."""

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import create_engine, make_url, text

from predibot.domain.event import Tag
from predibot.jobs.evaluate import evaluate
from predibot.jobs.evaluation_text import evaluation_from_text, evaluation_to_text
from predibot.ledger.store import Store
from predibot.reports.views.decide import Document
from predibot.reports.views.evaluation_json import evaluation_document
from predibot.scoring.evaluation.evaluation import Question
from predibot.scoring.inference.uncertainty import Uncertainty
from tests.ledger.by_hand import DAY, NOW, a_run, abstained, decide, event_of, finished_with
from tests.ledger.databases import Postgres
from tests.ledger.read.test_scoring_arrays import observe, settle

ASKED = Question(uncertainty=Uncertainty(resamples=100))
ONE, TWO = replace(event_of(1, 2), tags=(Tag("Sports", "sports"),)), event_of(2)
KEPT = ("run_packs", "memos")
CHANGES = {
    "forecasts": ("UPDATE forecasts SET probability = 0.9", "DELETE FROM forecasts"),
    "bets": (
        "UPDATE bets SET booked_usd = booked_usd / 2",
        "DELETE FROM bets",
        "INSERT INTO bets (decision_id, market_row, asked_usd, booked_usd, price_yes, price_source)"
        " SELECT f.decision_id, f.market_row, 0, 0, 0.4, 'mid' FROM forecasts f WHERE NOT EXISTS"
        " (SELECT 1 FROM bets WHERE bets.decision_id = f.decision_id AND bets.market_row = f.market_row)",
    ),
    "quotes": ("UPDATE quotes SET bid = 0.4, ask = 0.45 WHERE role = 'booked'", "DELETE FROM quotes"),
    "decisions": ("UPDATE decisions SET cost_known_usd = 7, cost_usd = 7",),
    "bots": ("UPDATE bots SET name = 'renamed' WHERE name = 'a'",),
    "runs": ("UPDATE runs SET voided_at = 1",),
    "resolutions": (
        "UPDATE resolutions SET payout_yes = 1 - payout_yes",
        "DELETE FROM resolutions",
        "INSERT INTO resolutions (market_row, revision, payout_yes, settled_at, settled_source, effective_at, seen_at)"
        " SELECT id, 9, 1, 1, 'venue', 1, 1 FROM markets",
    ),
    "price_paths": ("DELETE FROM price_paths",),
    "run_events": ("UPDATE run_events SET event_json = replace(event_json, 'ports', 'tars')",),
    "markets": ("UPDATE markets SET event_row = 1",),
    "instruments": ("UPDATE instruments SET side = NULL",),
}
BEFORE = {
    "INSERT INTO bets": "DELETE FROM bets WHERE booked_usd < 0",
    "DELETE FROM quotes": "UPDATE quotes SET bid = 0.4, ask = 0.45 WHERE role = 'booked'",
}


def filled(store: Store) -> Store:
    """Have two bots decide, and store what became of it."""
    run = a_run(store, ONE, TWO, bots=("a", "b"))
    for bot, said in (("a", 0.6), ("b", 0.2)):
        decide(store, run, bot, finished_with(ONE, {"m1a": (0.5, said), "m1b": (-0.25, said / 2)}))
    decide(store, run, "a", finished_with(TWO, {"m2a": (-1.0, 0.3)}, at=NOW + DAY / 2))
    decide(store, run, "b", abstained(TWO))
    for market in ("m1a", "m1b", "m2a"):
        observe(store, market, (1, 0.5), (2, 0.7))
    settle(store, "m1a", (3, 1.0))
    return store


@pytest.fixture
def ledger(store: Store) -> Store:
    """Return a ledger with decisions, on each kind of database."""
    return filled(store)


def document(store: Store) -> Document:
    """Evaluate, and return the document."""
    return evaluation_document(evaluate(store=store, venue_name="polymarket", as_of=NOW + 9 * DAY, question=ASKED))


def run_sql(address: str, *statements: str) -> int:
    """Run statements past predibot, and return how many rows the last one touched."""
    url = make_url(address)
    if url.get_backend_name() == "sqlite":
        with closing(sqlite3.connect(str(url.database))) as raw, raw:
            return [raw.execute(statement) for statement in statements][-1].rowcount
    engine = create_engine(url.set(drivername="postgresql+psycopg"))
    try:
        with engine.begin() as connection:
            return [connection.execute(text(statement)) for statement in statements][-1].rowcount
    finally:
        engine.dispose()


def count(store: Store, table: str) -> int:
    """Return how many rows a table has."""
    with store.read() as connection:
        return int(connection.execute(text(f"SELECT count(*) FROM {table}")).scalar_one())


@pytest.mark.parametrize(
    "statement",
    [pytest.param(each, id=f"{table}-{each.split()[0]}") for table, every in CHANGES.items() for each in every],
)
def test_rows_that_are_altered_past_predibot_change_the_evaluation(ledger: Store, address: str, statement: str) -> None:
    run_sql(address, *(each for begin, each in BEFORE.items() if statement.startswith(begin)), "SELECT 1")
    before = document(ledger)
    assert document(ledger) == before
    assert count(ledger, "run_packs") == count(ledger, "memos") == 1
    assert run_sql(address, statement) > 0
    after = document(ledger)
    assert after != before
    run_sql(address, *(f"DELETE FROM {table}" for table in KEPT))
    assert document(ledger) == after


def test_a_title_that_is_altered_shows_nowhere_but_makes_a_new_evaluation(ledger: Store, address: str) -> None:
    document(ledger)
    run_sql(address, "UPDATE events SET title = 'other'")
    document(ledger)
    assert count(ledger, "memos") == 2


def test_a_replacing_insert_is_counted_too(tmp_path: Path) -> None:
    with Store.open(f"sqlite:///{tmp_path}/ledger.db") as store:
        before = document(filled(store))
        columns = "decision_id, market_row, asked_usd, booked_usd, price_yes, price_source"
        chosen = f"SELECT {columns.replace('booked_usd', '0')} FROM bets"
        run_sql(f"sqlite:///{tmp_path}/ledger.db", f"INSERT OR REPLACE INTO bets ({columns}) {chosen}")
        assert document(store) != before


def test_rows_that_a_server_truncates_are_gone_from_the_evaluation(postgres: Postgres) -> None:
    with Store.open(postgres.fresh()) as store:
        before = document(filled(store))
        run_sql(postgres._named("ledger"), "TRUNCATE price_paths")
        assert document(store) != before


def test_without_a_count_nothing_is_kept(ledger: Store, address: str) -> None:
    run_sql(address, "DELETE FROM changes")
    before = document(ledger)
    assert count(ledger, "run_packs") == count(ledger, "memos") == 0
    run_sql(address, "UPDATE forecasts SET probability = 0.9")
    assert document(ledger) != before


def test_what_is_kept_and_broken_is_made_again(ledger: Store, address: str) -> None:
    before = document(ledger)
    for broken in ("UPDATE run_packs SET content = 'rubbish'", "UPDATE memos SET content = '[1, {}]'"):
        run_sql(address, broken, "DELETE FROM memos" if "packs" in broken else broken)
        assert document(ledger) == before
    with ledger.read() as connection:
        assert len(connection.execute(text("SELECT content FROM memos")).scalar_one()) > 1000


def test_a_decision_more_is_in_the_next_evaluation(ledger: Store) -> None:
    document(ledger)
    later = a_run(ledger, TWO, bots=("a",), key="later", slot_at=NOW + DAY)
    decide(ledger, later, "a", finished_with(TWO, {"m2a": (1.0, 0.9)}, at=NOW + DAY))
    made = evaluate(store=ledger, venue_name="polymarket", as_of=NOW + 9 * DAY, question=ASKED)
    assert [card.decisions for card in made.cards] == [3, 2]
    assert count(ledger, "run_packs") == 2


def test_a_ledger_that_cannot_be_written_is_evaluated_all_the_same(postgres: Postgres) -> None:
    address = postgres.empty()
    with Store.open(address) as store:
        filled(store)
    name = make_url(address).database
    run_sql(address, f"ALTER DATABASE {name} SET default_transaction_read_only = on")
    with Store.open(address) as store:
        first = document(store)
        assert count(store, "run_packs") == count(store, "memos") == 0
    run_sql(
        address, "SET transaction_read_only = off", f"ALTER DATABASE {name} SET default_transaction_read_only = off"
    )
    with Store.open(address) as store:
        assert document(store) == first == document(store)
        assert count(store, "run_packs") == count(store, "memos") == 1


def test_an_evaluation_is_read_back_to_the_last_digit(ledger: Store) -> None:
    made = evaluate(store=ledger, venue_name="polymarket", as_of=NOW + 9 * DAY, question=ASKED)
    again = evaluation_from_text(evaluation_to_text(made))
    assert evaluation_to_text(again) == evaluation_to_text(made)
    assert evaluation_document(again) == evaluation_document(made)


@pytest.mark.parametrize(
    "kind", ["os:system", "predibot.scoring.evaluation.evaluation:replace", "predibot.jobs.track:TrackReport"]
)
def test_only_objects_of_scoring_are_read_back(kind: str) -> None:
    with pytest.raises(ValueError, match="is no kind of object that evaluations are made of"):
        evaluation_from_text(f'{{"kind": "{kind}"}}')
