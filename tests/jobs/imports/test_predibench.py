"""Importing PrediBench: every decision of a recorded day, stored once, as its files say it."""

import json
from collections import Counter
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from predibot.domain.price import PricePoint
from predibot.domain.resolution import Resolution
from predibot.errors import RunConflict, UsageError
from predibot.jobs.evaluate import evaluate
from predibot.jobs.imports.predibench import PREDIBENCH, ImportReport, import_days
from predibot.jobs.imports.predibench_files import read_days
from predibot.ledger.read.export import export_rows
from predibot.ledger.store import Store
from predibot.ledger.write.prices_and_resolutions import add_observations, add_resolutions, list_tracked_instruments
from predibot.ledger.write.runs import read_runs, void_run
from predibot.scoring.evaluation.evaluation import Evaluation
from tests.jobs.imports.predibench_day import (
    BEGAN,
    FED,
    FIRST_ANSWER,
    TOKENS,
    answer,
    answers,
    events,
    market,
    said,
    write_day,
    write_json,
)
from tests.jobs.program import Program, wait_until
from tests.jobs.tiny import canonical_at, nobody
from tests.ledger.by_hand import a_run, event_of
from tests.soaks import ONE_DATABASE

NOW = datetime(2026, 1, 1, tzinfo=UTC)
DAY_BEGINS = datetime(2025, 9, 18, tzinfo=UTC)
MODEL = "Acme/Model-A-235B"


def imported(store: Store, folder: Path) -> ImportReport:
    return import_days(PREDIBENCH, read_days(folder), store=store, clock=lambda: NOW, listener=nobody)


def rows(store: Store, table: str) -> list[dict[str, Any]]:
    with store.read() as connection:
        return [dict(row) for row in export_rows(connection, table)]


def a_file(folder: Path, *said: dict[str, Any], number: int = 0) -> None:
    """Write a day with one file, which has these answers."""
    if not (folder / "events.json").exists():
        write_json(folder / "events.json", events())
    content = answers(MODEL, number, 60)
    if said:
        content["event_investment_decisions"] = list(said)
    write_json(folder / f"Acme--Model-A-235B_run_{number}" / "model_investment_decisions.json", content)


def answered(probability: float = 0.06, bet: float = 0.0, *, left: float = 1.0, ended: float = FIRST_ANSWER) -> Any:
    """Return an answer on one market."""
    return answer(FED, [said("553810", probability, bet)], left, ended)


def scored(store: Store) -> Evaluation:
    return evaluate(store=store, venue_name="polymarket", as_of=NOW)


def settle(store: Store, payouts: dict[str, float]) -> None:
    """Store what markets paid a month later."""
    with store.write() as connection:
        for each in list_tracked_instruments(connection, "polymarket"):
            market_id = next(name for name, tokens in TOKENS.items() if tokens[0] == each.instrument.id)
            paid = Resolution(payouts[market_id], DAY_BEGINS + timedelta(days=41), "venue", NOW - timedelta(days=60))
            add_resolutions(connection, each.market_row, [paid], stored=0, seen_at=NOW)
            points = [PricePoint(DAY_BEGINS + timedelta(hours=hours), 0.5) for hours in range(6, 240, 6)]
            add_observations(connection, {each.row: points}, "history")


def test_a_day_is_counted_as_it_is_and_what_had_begun_is_left_out_and_listed(store: Store, tmp_path: Path) -> None:
    found = imported(store, write_day(tmp_path / "2025-09-18", {MODEL: 2}))
    assert (found.decisions, found.forecasts, len(found.bots), found.events, found.notes) == (4, 14, 1, 2, ())
    (left_out,) = found.left_out
    assert (left_out.event_id, left_out.title, left_out.decisions) == (BEGAN, "Angels vs. Brewers", 2)
    assert left_out.reason == "had begun at 2025-09-17T23:40Z, before the decision"
    assert (found.stored_decisions, found.stored_forecasts, found.runs, found.files) == (2, 6, 2, 2)
    assert found.trace_folders == 1
    assert {row["subject_id"] for row in rows(store, "decisions")} == {FED}
    with store.read() as connection:
        passed_over = read_runs(connection)[0].passed_over
    assert [(each["event_id"], each["rule"]) for each in passed_over] == [(BEGAN, "begun")]


def test_a_decision_is_stored_as_its_file_says_it(store: Store, tmp_path: Path) -> None:
    # Seventy decisions in, its rest is stated as 0.5 where the bets leave 0.2.
    a_file(tmp_path)
    imported(store, tmp_path)
    (decision,) = rows(store, "decisions")
    ended = FIRST_ANSWER + 6000.25
    assert datetime.fromisoformat(decision["decided_at"]).timestamp() == ended
    assert (decision["status"], decision["seconds"], decision["bot"]) == ("recorded", 60.5, "Acme--Model-A-235B")
    assert decision["unallocated_usd"] == pytest.approx(0.2)
    assert decision["stated_unallocated_usd"] == 0.5
    assert json.loads(decision["notes_json"]) == ["0.5 is stated as unallocated, the bets leave 0.2"]
    assert (decision["cost_usd"], json.loads(decision["models_json"])) == (None, [MODEL])
    bets = {row["market_id"]: row for row in rows(store, "bets")}
    assert {name: row["booked_usd"] for name, row in bets.items()} == {
        "553810": -0.1,
        "553811": 0.6,
        "553812": -0.1,
        "553813": 0.0,
    }
    assert {(row["price_yes"], row["price_source"]) for row in bets.values()} == {
        (price, "history") for price in (0.0735, 0.785, 0.145, 0.0075)
    }
    assert {(row["at"], row["role"]) for row in rows(store, "quotes")} == {
        ("2025-09-18T00:00Z", role) for role in ("shown", "booked")
    }
    assert {row["probability"] for row in rows(store, "forecasts")} == {0.06, 0.86, 0.1, 0.01}
    assert [(row["kind"], row["text"], row["final_url"]) for row in rows(store, "sources")] == [
        ("search", "", "https://a.example/1"),
        ("search", "", "https://a.example/2"),
        ("page", "https://a.example/1", None),
    ]
    (bot,) = rows(store, "bots")
    assert (bot["strategy"], bot["model"], bot["knowledge_cutoff"]) == ("predibench", MODEL, None)


def test_a_market_that_was_left_out_is_absent_and_a_bet_of_nothing_is_there(ledger: Store, tmp_path: Path) -> None:
    a_file(tmp_path, answered())
    imported(ledger, tmp_path)
    assert [(row["market_id"], row["booked_usd"]) for row in rows(ledger, "bets")] == [("553810", 0.0)]
    assert [row["market_id"] for row in rows(ledger, "forecasts")] == ["553810"]
    assert [row["status"] for row in rows(ledger, "decisions")] == ["recorded"]
    # Shown it was all four.
    assert Counter(row["role"] for row in rows(ledger, "quotes")) == {"shown": 4, "booked": 1}


def test_importing_twice_adds_nothing_and_a_file_that_was_changed_is_named(store: Store, tmp_path: Path) -> None:
    folder = write_day(tmp_path / "2025-09-18", {MODEL: 4})
    imported(store, folder)
    before = {table: rows(store, table) for table in ("runs", "bots", "decisions", "forecasts", "sources", "quotes")}
    again = imported(store, tmp_path)
    assert (again.stored_decisions, again.stored_forecasts, again.runs, again.known_decisions) == (0, 0, 0, 4)
    assert {table: rows(store, table) for table in before} == before
    changed = answers(MODEL, 3, 3)
    changed["event_investment_decisions"][1]["market_investment_decisions"][0]["decision"]["bet"] = -0.05
    write_json(folder / "Acme--Model-A-235B_run_3" / "model_investment_decisions.json", changed)
    noted = imported(store, folder).notes
    assert any("Acme--Model-A-235B_run_3/model_investment_decisions.json was changed since" in note for note in noted)
    assert {table: rows(store, table) for table in before} == before


def test_a_void_run_is_imported_anew(store: Store, tmp_path: Path) -> None:
    a_file(tmp_path)
    imported(store, tmp_path)
    with store.write() as connection:
        void_run(connection, "predibench@2025-09-18T00:00Z", reason="a changed file", at=NOW)
    assert imported(store, tmp_path).stored_decisions == 1


@ONE_DATABASE
def test_replicates_are_one_bot_and_no_independent_evidence(store: Store, tmp_path: Path) -> None:
    imported(store, write_day(tmp_path))
    settle(store, {"553810": 0.0, "553811": 1.0, "553812": 0.0, "553813": 0.0})
    found = scored(store)
    by_bot = {card.bot: card for card in found.cards}
    assert {name: card.decisions for name, card in by_bot.items()} == {
        "Acme--Model-A-235B": 10,
        "Acme--Model-B-480B": 32,
        "open--model-c-120b": 28,
    }
    for card in by_bot.values():
        # Thirty-two answers to one question are one cluster: a score, and no interval.
        assert card.forecast.brier is not None
        assert card.forecast.clusters == 1
        assert {each.n for each in card.horizons.values()} == {card.decisions}
        assert {each.clusters for each in card.horizons.values()} == {1}
    briers = [pair for pair in found.pairs if pair.metric == "brier"]
    # Each question counts once, with the mean over the replicates of each bot; the first left the fourth out.
    assert [(pair.n, pair.clusters, pair.better) for pair in briers] == [(3, 1, None), (3, 1, None), (4, 1, None)]


def test_an_imported_decision_is_clean_and_told_apart_from_one_made_here(store: Store, tmp_path: Path) -> None:
    a_file(tmp_path)
    imported(store, tmp_path)
    found = scored(store)
    assert [(card.clean, card.unknown) for card in found.cards] == [(1, 0)]
    said_so = "1 decision of the ledger was imported: when they were made, and at which prices, is what their files say"
    assert said_so in found.notes
    with store.read() as connection:
        (run,) = read_runs(connection)
    assert (run.recipe, run.digest, run.key) == (
        "predibench",
        "import:predibench",
        "predibench@2025-09-18T00:00Z",
    )
    assert run.notes == ("imported from files of PrediBench: instants, prices and answers are what they say",)


def test_a_run_of_ours_with_the_same_key_is_not_added_to(store: Store, tmp_path: Path) -> None:
    a_run(store, event_of(1), key="predibench@2025-09-18T00:00Z")
    a_file(tmp_path)
    with pytest.raises(RunConflict, match="is there and was not imported"):
        imported(store, tmp_path)
    assert rows(store, "decisions") == []


def test_what_was_answered_in_hindsight_is_left_out(ledger: Store, tmp_path: Path) -> None:
    a_file(tmp_path, answered(ended=FIRST_ANSWER + 5 * 86_400))
    found = imported(ledger, tmp_path)
    assert found.stored_decisions == 0
    assert "was decided on long after its date 2025-09-18" in found.left_out[0].reason


def test_yes_is_the_outcome_whose_prices_are_recorded(store: Store, tmp_path: Path) -> None:
    listed = events()
    first, second = TOKENS["553810"]
    listed[1]["markets"][0]["price_outcome_name"] = "No"
    write_json(tmp_path / "events.json", listed)
    a_file(tmp_path, answered(bet=-0.5, left=0.5))
    imported(store, tmp_path)
    tokens = {row["market_id"]: json.loads(row["token_ids_json"]) for row in rows(store, "markets")}
    assert tokens["553810"] == [second, first]
    assert tokens["553811"] == list(TOKENS["553811"])
    (fill,) = rows(store, "fills")
    assert (fill["instrument_id"], fill["side"], fill["price"]) == (first, "NO", pytest.approx(1 - 0.0735))
    # A ledger that knows it the other way round is left alone.
    write_json(tmp_path / "events.json", events())
    with pytest.raises(UsageError, match="YES is another outcome"):
        imported(store, tmp_path)


def test_a_price_that_came_after_the_decision_is_not_its_price(ledger: Store, tmp_path: Path) -> None:
    a_file(tmp_path, answered(ended=FIRST_ANSWER - 7_000.0))
    imported(ledger, tmp_path)
    # Between noon and evening the price is not known; at noon it was one half.
    assert [(row["price_yes"]) for row in rows(ledger, "bets")] == [0.5]
    (run,) = rows(ledger, "runs")
    assert run["as_of"] == "2025-09-17T22:56:20Z"


def test_whether_an_event_had_begun_is_asked_of_each_decision(ledger: Store, tmp_path: Path) -> None:
    for number, ended in enumerate((FIRST_ANSWER - 5_000.0, FIRST_ANSWER)):
        a_file(tmp_path, answer(BEGAN, [said("600125", 0.06, 0.0)], 1.0, ended), number=number)
    found = imported(ledger, tmp_path)
    assert (found.stored_decisions, found.left_out[0].decisions) == (1, 1)


def test_bets_of_more_than_the_dollar_are_scaled_as_the_rule_says_and_a_note_too(ledger: Store, tmp_path: Path) -> None:
    for number, bets in enumerate(((-0.8, 0.8), (-1.01,), (50,))):
        markets = [said(name, 0.06, bet) for name, bet in zip(("553810", "553811"), bets, strict=False)]
        a_file(tmp_path, answer(FED, markets, 0.0, FIRST_ANSWER), number=number)
    notes = imported(ledger, tmp_path).notes
    assert [note.partition("the bets add up to ")[2] for note in notes] == [
        "1.6 dollars, scaled by 0.625; 0 is stated as left",
        "1.01 dollars, scaled by 0.990099; 0 is stated as left",
        "50 dollars, scaled by 0.02; 0 is stated as left",
    ]
    booked = [(row["asked_usd"], row["booked_usd"]) for row in rows(ledger, "bets")]
    assert booked == [(-0.8, -0.5), (0.8, 0.5), (-1.01, -1), (50, 1)]
    first, *_ = rows(ledger, "decisions")
    assert (first["scale"], first["unallocated_usd"]) == (0.625, 0.0)


def test_without_a_price_a_forecast_is_left_out_with_a_note_and_a_bet_is_refused(ledger: Store, tmp_path: Path) -> None:
    listed = events()
    listed[1]["markets"][0]["prices"] = None
    write_json(tmp_path / "events.json", listed)
    a_file(tmp_path, answer(FED, [said("553810", 0.06, 0.0), said("553811", 0.9, 0.8)], 0.2, FIRST_ANSWER))
    a_file(tmp_path, answered(bet=0.3, left=0.7), number=1)
    left_out, refused = imported(ledger, tmp_path).notes
    assert left_out.endswith("no usable price before the decision, so what was said is left out: market 553810")
    assert refused.endswith("refused: market '553810': it has no usable quote now; set its bet to 0")
    assert [row["market_id"] for row in rows(ledger, "forecasts")] == ["553811"]
    assert [row["status"] for row in rows(ledger, "decisions")] == ["recorded", "refused"]


def _saying(**changes: Any) -> dict[str, Any]:
    one = said("553810", 0.06, 0.0)
    return {"market_investment_decisions": [{**one, "decision": {**one["decision"], **changes}}]}


FILE = "Acme--Model-A-235B_run_0/model_investment_decisions.json"
IN_EVENT = f"{FILE}: event_investment_decisions.0"
WRONG_ANSWERS: list[tuple[dict[str, Any], str]] = [
    ({"event_id": "1"}, f"{FILE}, event 1 is not in events.json"),
    ({"market_investment_decisions": [said("7", 0.5, 0.0)]}, "market 7 is not one of it in events.json"),
    ({"market_investment_decisions": [said("553810", 0.5, 0.0)] * 2}, "market 553810 is decided on twice"),
    ({"timing": None}, f"{IN_EVENT}.timing: it is no object"),
    ({"timing": {"end_time": "soon"}}, f"{IN_EVENT}.timing.end_time: 'soon' is not a number"),
    ({"timing": {"end_time": 1e300}}, "timing.end_time: 1e+300 is not a time in seconds since 1970"),
    ({"timing": {"end_time": 17.0}}, "17.0 is long before there were such files"),
    ({"unallocated_capital": "x"}, f"{IN_EVENT}.unallocated_capital: 'x' is not a number"),
    ({"sources_google": ["a"] * 1_001}, f"{IN_EVENT}.sources_google: Value should have at most 1000 items"),
    (_saying(estimated_probability=1.5), "decision.estimated_probability: 1.5 is not a price in [0, 1]"),
    (_saying(estimated_probability=None), "decision.estimated_probability: no number is stated"),
    (_saying(bet=True), "decision.bet: True is not a number"),
    (_saying(bet=1e300), "decision.bet: Input should be less than or equal to 1000000"),
    (_saying(confidence=11), "decision.confidence: Input should be less than or equal to 10"),
    (_saying(rationale=["a"]), "decision.rationale: ['a'] is not a text"),
]
WRONG_FILES = [
    ("events.json", b"{}", "events.json is {}, no list of events"),
    ("events.json", b"[", "events.json is no JSON that can be read: Expecting value"),
    ("events.json", b"[" * 100_000, "events.json is no JSON that can be read: it is nested too deeply"),
    ("events.json", b"[" + b"9" * 5_000 + b"]", "a number has thousands of digits"),
    ("events.json", b"[{}]", "events.json, event 1: id: Field required"),
    (FILE, b"\xff", f"{FILE} is no JSON that can be read"),
    (FILE, b"[]", f"{FILE}: it is no object"),
    (FILE, b'{"model_id": "../x y"}', f"{FILE}: target_date: Field required"),
]
IN_MARKET = "events.json, event 2: markets.2"
WRONG_MARKETS: list[tuple[dict[str, Any], str]] = [
    ({"price_outcome_name": "Maybe"}, "price_outcome_name 'Maybe' is not one of the outcomes"),
    ({"price_outcome_name": None}, "price_outcome_name is missing, so nobody knows whose the prices are"),
    ({"prices": {"values": [0.1], "index": []}}, "1 values stand beside 0 instants"),
    ({"prices": {"values": [1.5], "index": ["2025-09-18"]}}, "1.5 is not a price in [0, 1]"),
    ({"prices": {"values": [0.5] * 2, "index": ["2025-09-18"] * 2}}, "are not in order of time"),
    ({"outcomes": []}, "List should have at least 2 items"),
]


def refused(store: Store, folder: Path, *said: str) -> None:
    """Import what is refused in one sentence with these words, and stores nothing."""
    with pytest.raises(UsageError) as caught:
        imported(store, folder)
    for each in said:
        assert each in str(caught.value)
    assert rows(store, "runs") == []


def test_what_is_wrong_is_one_sentence_with_file_and_place_and_nothing_is_stored(ledger: Store, tmp_path: Path) -> None:
    a_file(tmp_path, number=1)
    for changes, message in WRONG_ANSWERS:
        a_file(tmp_path, {**answered(), **changes})
        refused(ledger, tmp_path, f"nothing is imported, fix or remove what is wrong: {FILE}", message)
    a_file(tmp_path)
    for path, content, message in WRONG_FILES:
        whole = (tmp_path / path).read_bytes()
        (tmp_path / path).write_bytes(content)
        refused(ledger, tmp_path, message)
        (tmp_path / path).write_bytes(whole)
    for changes, message in WRONG_MARKETS:
        listed = events()
        listed[1]["markets"][2] = {**market("553812", 0.145), **changes}
        write_json(tmp_path / "events.json", listed)
        refused(ledger, tmp_path, IN_MARKET, message)


def test_what_is_no_file_at_all_is_not_read(ledger: Store, tmp_path: Path) -> None:
    a_file(tmp_path)
    (tmp_path / FILE).unlink()
    (tmp_path / FILE).symlink_to("/dev/zero")
    refused(ledger, tmp_path, "it is no file, but a pipe or a device")
    refused(ledger, tmp_path / "Acme--Model-A-235B_run_0", "holds no events.json")
    refused(ledger, tmp_path / "nowhere", "cannot be read: No such file or directory")


def test_a_killed_import_that_is_run_again_gives_the_same_ledger(tmp_path: Path) -> None:
    folder = write_day(tmp_path / "2025-09-18")
    ledgers = []
    for name, kills_at in (("whole", ()), ("killed", (1, 9))):
        program = Program(tmp_path, {})
        address = f"sqlite:///{tmp_path}/{name}.db"
        arguments = ("import", "predibench", str(folder), "--ledger", address)
        for runs_wanted in kills_at:
            process = program.start(*arguments)
            wait_until(partial(_has_runs, address, runs_wanted))
            process.kill()
            process.communicate()
        process = program.start(*arguments)
        process.communicate()
        assert process.returncode == 0
        ledgers.append(canonical_at(address))
    assert ledgers[0] == ledgers[1]


def _has_runs(address: str, wanted: int) -> bool:
    if not Path(address.removeprefix("sqlite:///")).exists():
        return False
    with Store.open(address) as store, store.read() as connection:
        return len(read_runs(connection)) >= wanted


def test_the_recorded_day_is_imported_and_evaluated(store: Store, shared_data: Path) -> None:
    days = [each.parent for each in shared_data.glob("predibench*/**/events.json")]
    if not days:
        pytest.skip("no recorded day of PrediBench beside this checkout")
    found = imported(store, days[0])
    assert (found.decisions, found.forecasts, len(found.bots), found.events, len(found.notes)) == (140, 542, 3, 2, 10)
    assert [each.event_id for each in found.left_out] == [BEGAN]
    assert [card.decisions for card in scored(store).cards] == [
        sum(1 for row in rows(store, "decisions") if row["bot"] == card.bot) for card in scored(store).cards
    ]
