"""The law of copies: what is exported and imported, backed up and restored, or copied is equal row by row.

Of every table there is: one that is added later is in it, and the law fails until the drawn ledger has a row of it.
"""

from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta
from itertools import count
from pathlib import Path

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import run_state_machine_as_test
from sqlalchemy import Column, Integer, MetaData, Table, select

from predibot.domain.account_past import NewsItem
from predibot.domain.decision import Label, Source
from predibot.domain.event import Event, MarketRef
from predibot.domain.price import PricePoint
from predibot.ledger.care.ledger_copy import ledger_tables
from predibot.ledger.read.export import TABLES, export_rows, export_table
from predibot.ledger.schema.natural_keys import REFERS_TO, make_named_table
from predibot.ledger.store import Store
from predibot.ledger.write.decisions import DecisionResult
from predibot.ledger.write.events import add_news, catalogue
from predibot.ledger.write.prices_and_resolutions import ObservationSource, add_observations
from predibot.ledger.write.runs import void_run
from tests.acceptance.conftest import done_here
from tests.laws.test_stored_account_laws import StoredAccounts
from tests.ledger.by_hand import DAY, NOW, a_run, abstained, decide, event_of, failed, finished_with
from tests.ledger.cohorts_by_hand import SUNDAY, Weeks, bets
from tests.ledger.databases import Postgres, address, postgres, store
from tests.soaks import ONE_DATABASE

__all__ = ["address", "postgres", "store"]

DRAWN = settings(max_examples=5, stateful_step_count=12, phases=[Phase.generate], deadline=None)
SHARES = st.floats(-1.0, 1.0, allow_subnormal=False)
TEXTS = st.text(max_size=12)
SOURCES: tuple[ObservationSource, ...] = ("history", "quote")
INSTANTS = st.integers(0, 10**12).map(lambda microseconds: NOW + timedelta(microseconds=microseconds))


@st.composite
def ends(draw: st.DrawFn, event: Event, *, is_recorded: bool) -> DecisionResult:
    """Draw how a bot ended on an event, with all that may be kept of it."""
    at = draw(INSTANTS)
    said = {market.id: (draw(SHARES) / len(event.markets), abs(draw(SHARES))) for market in event.markets}
    recorded = finished_with(event, said, at=at)
    assert recorded.decision is not None
    labels = tuple(Label(f"i{number}", text) for number, text in enumerate(draw(st.lists(TEXTS, min_size=1))))
    sources = draw(st.lists(st.builds(Source, st.sampled_from(["search", "page"]), TEXTS, title=TEXTS), max_size=2))
    ended = replace(recorded, decision=replace(recorded.decision, rationale=draw(TEXTS), labels=labels))
    if not is_recorded:
        ended = draw(st.sampled_from([failed(event, at=at, message=draw(TEXTS)), abstained(event, at=at)]))
    cost_usd = draw(st.none() | st.floats(0.0, 1e6))
    paid = {"cost_usd": cost_usd, "cost_known_usd": cost_usd or 0.5, "seconds": draw(st.floats(0.0, 1e6))}
    return replace(ended, sources=tuple(sources), models=draw(st.none() | st.tuples(TEXTS)), **paid)


def fill(ledger: Store) -> None:
    """Draw runs of events, void ones too, accounts, and cohorts."""
    numbers = count(1)
    run_state_machine_as_test(lambda: StoredAccounts(ledger, next(numbers)), settings=DRAWN)

    @DRAWN
    @given(st.data())
    def draw(data: st.DataObject) -> None:
        known = event_of(next(numbers), data.draw(st.integers(1, 3)))
        for left in reversed(range(data.draw(st.integers(1, 3)))):
            # It may have no tokens yet, or none any more.
            tokens = data.draw(st.booleans())
            listed = [each if tokens else replace(each, ref=MarketRef(each.id)) for each in known.markets]
            event = replace(known, markets=tuple(listed))
            run = a_run(ledger, event, bots=("a", "b"), key=f"drawn@{event.id}", created_at=data.draw(INSTANTS))
            for bot in data.draw(st.sets(st.sampled_from("ab"))) | {"a"}:
                decide(ledger, run, bot, data.draw(ends(event, is_recorded=bot == "a")))
            with ledger.write() as connection:
                rows = catalogue(connection, run.id).instrument_rows.values()
                at, prices = data.draw(INSTANTS), data.draw(st.lists(st.floats(0.0, 1.0), max_size=3))
                points = [PricePoint(at + number * DAY, price) for number, price in enumerate(prices)]
                add_observations(connection, dict.fromkeys(rows, points), data.draw(st.sampled_from(SOURCES)))
                items = data.draw(st.lists(st.builds(NewsItem, TEXTS, TEXTS, INSTANTS, st.none() | TEXTS), max_size=2))
                add_news(connection, run.id, event.markets[0].id, run.venue_name, data.draw(TEXTS), items)
                if left:
                    void_run(connection, run.key, reason=f"wrong{data.draw(TEXTS)}", at=NOW)

    draw()
    weeks = Weeks(ledger)
    cohort = weeks.start(0)
    weeks.decide(0, cohort, "one", {**bets(("a", "YES", 1_000.0), ("b", "NO", 60.0)), "probabilities": {"a": 0.7}})
    weeks.paid["a"] = 1.0
    weeks.value(SUNDAY + DAY)
    weeks.archive(cohort)


def texts(rows: Iterable[Iterable[object]]) -> list[str]:
    """Return rows in an order of their own; SQLite knows one zero only."""
    return sorted(repr([each + 0.0 if isinstance(each, float) else each for each in row]) for row in rows)


def exported(ledger: str) -> dict[str, list[str]]:
    """Return the rows of a ledger by the names that things have."""
    with Store.open(ledger) as opened, opened.read() as connection:
        return {table: texts(each.values() for each in export_rows(connection, table)) for table in TABLES}


def stored(ledger: str) -> dict[str, list[str]]:
    with Store.open(ledger) as opened, opened.read() as connection:
        return {table.name: texts(connection.execute(select(table))) for table in ledger_tables()}


@ONE_DATABASE
def test_every_copy_is_equal_row_by_row(
    store: Store, address: str, postgres: Postgres, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    fill(store)
    store.close()
    before = exported(address)
    assert [table for table, rows in before.items() if not rows] == []
    for kind, other in (("jsonl", postgres.empty()), ("parquet", "sqlite:///imported.db")):
        done_here("export", kind, "--format", kind, "--ledger", address)
        done_here("import", "ledger", kind, "--ledger", other)
        assert exported(other) == before
    copied, restored = postgres.empty(), "sqlite:///restored.db"
    done_here("ledger", "copy", address, copied)
    done_here("ledger", "backup", "backup.db", "--ledger", copied)
    done_here("ledger", "restore", "backup.db", "--ledger", restored)
    assert stored(copied) == stored(restored) == stored(address)
    assert exported(restored) == before


def test_no_row_refers_to_two_rows_of_another_table() -> None:
    """The names of what is known of one would be those of the other."""
    for table in ledger_tables():
        referred = [REFERS_TO[column.name].name for column in table.c if column.name in REFERS_TO]
        assert sorted(referred) == sorted({*referred})


def test_a_table_that_nobody_names_is_known_by_its_own_constraints() -> None:
    columns = (Column(name, Integer, primary_key=name.endswith("id")) for name in ("account_id", "market_row", "wish"))
    wishes = make_named_table(Table("wishes", MetaData(), *columns))
    names = [each.name for each in wishes.columns]
    assert names[:3] == ["recipe", "game", "mode"] and names[-4:] == ["subject_id", "market_venue", "market_id", "wish"]
    assert (wishes.n_keys, [*wishes.references]) == (8, ["account_id", "market_row"])


def test_every_column_is_exported_but_what_belongs_to_this_very_ledger() -> None:
    tables = [export_table(table) for table in TABLES if table != "bets"]
    columns = {(each.table, column.name) for each in tables for column in each.table.c}
    exported = {(each.table, column.path[0].name) for each in tables for column in each.columns}
    left_out = {name for _, name in columns - exported} - {"id"}
    assert left_out == {"receipted", "receipts", "task_id"}
