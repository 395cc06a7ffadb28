"""The Python interface: what the commands do, as typed rows."""

import csv
import io
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import predibot
from predibot.api import python as api
from predibot.errors import LedgerUnusable, RecipeError, RunConflict, UsageError
from predibot.ledger.read.export import export_rows
from predibot.ledger.store import Store
from tests.acceptance.conftest import said_here, taken_for_real

ROOT = Path(__file__).parents[1]
RECIPE = """
game = "dollar_per_event"
venue = "sandbox:events=20"
every = "1d"

[selection]
events = 2

[limits.decision]
usd = 0.5
tokens = 500_000
searches = 20

[[bots]]
strategy = "market_price"

[[bots]]
strategy = "random_bet"

[[bots]]
name = "script_noisy"
strategy = "tool_agent"
model = "sandbox/noisy"
knowledge_cutoff = 2025-01-01

[[bots]]
name = "script_lazy"
strategy = "tool_agent"
model = "sandbox/lazy"
"""
FIRST = datetime(2026, 1, 5, 12, tzinfo=UTC)
DAYS = 3


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Return a folder, the current one, with a recipe that was replayed for three days; the last run is void."""
    place = tmp_path_factory.mktemp("api")
    (place / "mine.toml").write_text(RECIPE, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        predibot.replay("mine.toml", last=FIRST + timedelta(days=DAYS - 1))
        assert said_here("runs", "void", "mine@2026-01-07T00:00Z", "--reason", "a test").code == 0
        taken_for_real("runs/out/predibot.db")
        yield place


@pytest.fixture
def ledger(folder: Path) -> Iterator[predibot.Ledger]:
    """Open the folder's ledger."""
    with predibot.open_ledger() as opened:
        yield opened


def exported(table: str) -> list[dict[str, Any]]:
    with Store.open("sqlite:///runs/out/predibot.db") as store, store.read() as connection:
        return [instants_in_full(row) for row in export_rows(connection, table)]


def instants_in_full(row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: datetime.fromisoformat(cell).isoformat() if name.endswith("_at") and cell else cell
        for name, cell in row.items()
    }


def as_exported(row: dict[str, Any]) -> dict[str, Any]:
    """Return cells as the export writes them: instants as text, lists as JSON."""
    written: dict[str, Any] = {}
    for name, cell in row.items():
        if isinstance(cell, tuple) or name == "models":
            written[f"{name}_json"] = None if cell is None else json.dumps(cell)
        else:
            written[name] = cell.isoformat() if isinstance(cell, datetime) else cell
    return written


def ordered(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(rows, key=lambda row: json.dumps([row["run"], row["bot"], row["subject_id"], row.get("market_id")]))


def shared(rows: list[dict[str, Any]], others: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], ...]:
    """Return both tables in one order, with the columns that both have."""
    names = [name for name in rows[0] if name in others[0]]
    return tuple([{name: row[name] for name in names} for row in ordered(table)] for table in (rows, others))


def test_every_public_name_is_there_and_no_other() -> None:
    assert all(getattr(predibot, name) is not None for name in predibot.__all__)
    with pytest.warns(DeprecationWarning, match="is now ReplayInstant"):
        assert predibot.Played is predibot.ReplayInstant
    with pytest.raises(AttributeError, match="open_legder"):
        getattr(predibot, "open_legder")  # noqa: B009 - a type checker refuses it as an attribute


def test_runs_are_those_of_the_command(ledger: predibot.Ledger) -> None:
    shown = said_here("runs", "--json").document["runs"]
    runs = ledger.runs()
    assert [row.run for row in runs] == [each["key"] for each in shown]
    for name in ("recipe", "venue", "game", "bots", "events", "recorded", "refused", "failed", "abstained"):
        assert [getattr(row, name) for row in runs] == [each[name] for each in shown]
    assert [(row.void, row.void_reason) for row in runs] == [(0, None), (0, None), (1, "a test")]
    assert runs[0].as_of == FIRST


def test_decisions_are_those_of_the_export_under_the_same_names(ledger: predibot.Ledger) -> None:
    rows = [as_exported(row) for row in ledger.decisions(void=True).to_dicts()]
    told, stored = shared(rows, exported("decisions"))
    assert told == stored
    assert len(told[0]) == len(exported("decisions")[0])
    assert len(told) == DAYS * 2 * 4


def test_decisions_say_who_decided_and_what_models_can_have_known(ledger: predibot.Ledger) -> None:
    lazy = ledger.decisions(bots=["script_lazy"])
    assert {(row.strategy, row.model, row.knowledge_cutoff, row.knowledge) for row in lazy} == {
        ("tool_agent", "sandbox/lazy", None, "unknown")
    }
    assert {row.knowledge_cutoff for row in ledger.decisions(bots=["script_noisy"])} == {date(2025, 1, 1)}
    cards = said_here("report", "--json").document["bots"]
    found = Counter((row.bot, row.knowledge) for row in ledger.decisions())
    assert found == {(card["bot"], name): card[name] for card in cards for name in ("clean", "unknown") if card[name]}


def test_forecasts_are_those_of_the_export_with_bets_and_payouts(ledger: predibot.Ledger) -> None:
    rows = [as_exported(row) for row in ledger.forecasts(void=True).to_dicts()]
    for table in ("forecasts", "bets"):
        told, stored = shared(rows, exported(table))
        assert told == stored
        assert len(told[0]) == len(exported(table)[0])
    paid = {row["market_id"]: row["payout_yes"] for row in exported("resolutions")}
    assert {row["market_id"]: row["payout_yes"] for row in rows} == {
        row["market_id"]: paid[row["market_id"]] for row in rows
    }


def test_nothing_later_than_the_instant_is_told(ledger: predibot.Ledger) -> None:
    at = FIRST + timedelta(days=1)
    early, whole = ledger.forecasts(as_of=at), ledger.forecasts()
    assert {row.slot_at for row in early} == {row.slot_at for row in whole if row.decided_at <= at}
    assert all(row.settled_at is None or row.settled_at <= at for row in early)
    assert any(row.settled_at is None for row in early)
    assert all(row.payout_yes is not None for row in whole)
    assert len(ledger.decisions(as_of=FIRST - timedelta(seconds=1))) == 0


def test_rows_can_be_chosen_by_run_recipe_and_bot(ledger: predibot.Ledger) -> None:
    key = ledger.runs()[1].run
    chosen = ledger.decisions(run=key, recipe="mine", bots=["random_bet", "market_price"])
    assert {(row.run, row.bot) for row in chosen} == {(key, "random_bet"), (key, "market_price")}
    assert {row.void for row in ledger.decisions()} == {0}


def test_scores_are_the_table_of_report(ledger: predibot.Ledger) -> None:
    printed = list(csv.DictReader(io.StringIO(said_here("report", "--csv").out)))
    scores = ledger.evaluate()
    assert [
        {name: "" if cell is None else str(cell) for name, cell in row.items()} for row in scores.to_dicts()
    ] == printed
    assert [(row.knowledge, row.bot) for row in scores] == [
        ("clean", "market_price"),
        ("clean", "random_bet"),
        ("clean", "script_noisy"),
        ("unknown", "script_lazy"),
    ]
    card = scores[1].card
    assert card is not None
    assert card.horizons["7"].quote_mean_return == scores.to_dicts()[1]["7d_quote_mean_return"]
    assert scores.evaluation.question.wanted == api.Question().wanted


def test_the_leaderboard_is_that_of_the_scores(ledger: predibot.Ledger) -> None:
    board = ledger.leaderboard()
    assert [row.bot for row in board] == [card.bot for card in ledger.evaluate().evaluation.leaderboard]
    assert board.to_dicts()[0]["verdict"] == "too few events"
    assert (board[0].rank, len(board[0].curve)) == (None, 2)
    assert [row.bot for row in ledger.leaderboard(knowledge="unknown")] == ["script_lazy"]
    assert board.to_dicts() == ledger.evaluate().leaderboard().to_dicts()
    for row, told in zip(board.to_dicts(), said_here("report", "--json").document["leaderboard"], strict=False):
        verdict = {"finding" if name == "verdict" else name.removeprefix("verdict_"): row[name] for name in row}
        assert {name: verdict[name] for name in told["verdict"]} == told["verdict"]
        assert {name: row[name] for name in told if name in row and name not in ("verdict", "curve")} == {
            name: cell for name, cell in told.items() if name not in ("verdict", "curve", "knowledge")
        }


def test_parts_have_a_row_each(ledger: predibot.Ledger) -> None:
    parts = ledger.evaluate(by="category", bots=["random_bet"], resamples=200, horizons_days=[1])
    assert {row.by for row in parts} == {"category"}
    assert [row.group for row in parts] == [cells["category"] for cells in parts.to_dicts()]
    together = ledger.evaluate(clusters="related", resamples=200).evaluation.joined
    assert together is not None
    assert together.clusters <= together.events
    assert parts.evaluation.joined is None
    forecasts = ledger.evaluate(by="confidence", bots=["script_noisy"], resamples=200)
    assert [row.card for row in forecasts] == [None] * len(forecasts)


@pytest.mark.parametrize("of", ["runs", "decisions", "forecasts", "evaluate", "leaderboard"])
def test_a_table_is_the_same_in_pandas_and_polars(ledger: predibot.Ledger, of: str) -> None:
    rows = getattr(ledger, of)()
    pandas, polars = rows.to_pandas(), rows.to_polars()
    assert list(pandas.columns) == polars.columns == list(rows.columns)
    lists = {name for name in rows.columns if str(polars[name].dtype).startswith("List")}
    for row, cells in zip(polars.to_dicts(), rows.to_dicts(), strict=True):
        assert {**row, **{name: None if row[name] is None else tuple(row[name]) for name in lists}} == cells
    assert pandas.shape == polars.shape
    for name in rows.columns:
        assert pandas[name].isna().sum() == polars[name].null_count()
    assert (rows[:0].to_pandas().dtypes == pandas.dtypes).all()
    assert rows[:0].to_polars().schema == polars.schema


def test_instants_stay_aware_in_frames(ledger: predibot.Ledger) -> None:
    runs = ledger.runs()
    assert runs.to_pandas()["as_of"].iloc[0].to_pydatetime() == FIRST
    assert runs.to_polars()["as_of"][0] == FIRST


def test_replay_says_what_each_instant_came_to_and_prints_nothing(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    steps: list[predibot.Progress] = []
    told: list[predibot.ReplayInstant] = []
    done = predibot.replay(
        folder / "mine.toml",
        ledger=folder / "again.db",
        first=FIRST,
        last=FIRST + timedelta(days=1),
        bots=["market_price", "random_bet"],
        events=2,
        listener=steps.append,
        told=told.append,
    )
    assert done.instants.to_pandas()["recorded"].tolist() == [4, 4]
    assert (list(done.instants), done.notes) == (told, ())
    assert [row.bot for row in done.scores] == ["market_price", "random_bet"]
    assert {"decide", "track"} & {step.stage for step in steps}
    assert capfd.readouterr() == ("", "")


def test_decide_makes_what_is_missing_and_returns_it(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    asked: dict[str, Any] = {"ledger": folder / "decided.db", "as_of": FIRST, "events": 2}
    first = predibot.decide("mine.toml", bots=["random_bet"], **asked)
    both = predibot.decide("mine.toml", bots=["random_bet"], models=["sandbox/lazy"], **asked)
    assert [row.status for row in first.decisions] == ["recorded"] * 2
    assert [row.status for row in both.decisions] == ["skipped"] * 2 + ["recorded"] * 2
    assert both.decisions[-1].bot == "sandbox-lazy"
    assert both.run is not None
    with predibot.open_ledger(folder / "decided.db") as ledger:
        assert [row.run for row in ledger.runs()] == [both.run.key]
        assert len(ledger.decisions()) == 4
    assert capfd.readouterr() == ("", "")


def test_another_run_of_a_slot_is_a_conflict_that_says_how_to_make_one(folder: Path) -> None:
    with pytest.raises(RunConflict, match="new_run=True"):
        predibot.decide("mine.toml", as_of=FIRST, events=1)


def test_mistakes_are_told_in_our_own_errors(ledger: predibot.Ledger, folder: Path) -> None:
    wrong: list[tuple[str, Any]] = [
        ("no bot 'random'", lambda: ledger.decisions(bots=["random"])),
        ("no run holds the key 'mine'", lambda: ledger.forecasts(run="mine")),
        ("has no 'months'. Did you mean 'month'", lambda: ledger.evaluate(by="months")),
        ("clusters has no 'relate'. Did you mean 'related'", lambda: ledger.evaluate(clusters="relate")),
        ("sizings has no 'flatt'", lambda: ledger.evaluate(sizings=["flatt"])),
        ("horizons_days", lambda: ledger.evaluate(horizons_days=[1, 0])),
        ("delays_days", lambda: ledger.evaluate(delays_days=[1, 1])),
        ("no convention", lambda: ledger.evaluate(convention="mine")),
        ("resamples is 99; give a whole number of at least 100", lambda: ledger.evaluate(resamples=99)),
        ("knowledge has no 'ahead'", lambda: ledger.leaderboard(knowledge="ahead")),
        ("Valid are: clean, unknown", lambda: ledger.evaluate().leaderboard("zzz")),  # type: ignore[arg-type]
        ("A ledger is named by", lambda: predibot.open_ledger("mysql://host/x")),
        ("without a time zone", lambda: ledger.leaderboard(as_of=datetime(2026, 1, 6))),  # noqa: DTZ001
        ("give a list", lambda: ledger.leaderboard(bots="random_bet")),
        ("models is the text 'a/b'; give a list", lambda: predibot.decide("mine.toml", models="a/b")),
        ("give a datetime with a time zone", lambda: ledger.leaderboard(as_of="2026-01-06")),  # type: ignore[arg-type]
        ("sizings is the text 'flat'", lambda: ledger.evaluate(sizings="flat")),
        ("retry is the text 'failed'", lambda: predibot.decide("mine.toml", retry="failed")),  # type: ignore[arg-type]
        ("every is datetime.timedelta.0.; give", lambda: predibot.replay("mine.toml", every=timedelta(0))),
        ("every is '1d'; give", lambda: predibot.replay("mine.toml", every="1d")),  # type: ignore[arg-type]
        ("retry has no", lambda: predibot.decide("mine.toml", retry=["refused"])),  # type: ignore[list-item]
        ("is live", lambda: predibot.replay("mine.toml", venue="polymarket")),
    ]
    for said, ask in wrong:
        with pytest.raises(UsageError, match=said):
            ask()
    with pytest.raises(RecipeError, match=r"no recipe 'mine'"):
        predibot.decide("mine")


def test_a_ledger_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(LedgerUnusable, match=r"there is no ledger.* or name the ledger that is meant"):
        predibot.open_ledger(tmp_path / "none.db")
    assert list(tmp_path.iterdir()) == []


def test_a_closed_ledger_says_so(folder: Path) -> None:
    ledger = predibot.open_ledger()
    ledger.close()
    with pytest.raises(LedgerUnusable, match="was closed"):
        ledger.runs()
