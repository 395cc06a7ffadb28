"""`predibot cohort`, and the boards of cohorts in `evaluate`."""

import csv
import io
import sqlite3
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest

from predibot.ledger.store import Store
from tests.cli.conftest import Predibot
from tests.ledger.cohorts_by_hand import HOLD, SUNDAY, WEEK, Weeks, bets, sells
from tests.worlds import Worlds

LEDGER = ("--ledger", "sqlite:///weeks.db")


def two_weeks() -> None:
    """Make `weeks.db`, two weeks of two bots: a win, a sale, a loss, a void, a closed market, and one held by both."""
    with Store.open(f"sqlite:///{Path.cwd() / 'weeks.db'}") as store:
        weeks = Weeks(store)
        first = weeks.start(0, names={"one": "Model One"})
        weeks.prices.update(a=0.4, b=0.5, c=0.8, d=0.25)
        weeks.decide(0, first, "one", bets(("a", "YES", 1_000.0), ("b", "YES", 500.0), ("d", "YES", 250.0)))
        weeks.decide(0, first, "two", bets(("a", "NO", 600.0), ("c", "YES", 800.0), ("d", "NO", 750.0)))
        weeks.value(SUNDAY + timedelta(days=1))
        second = weeks.start(1)
        weeks.paid["a"] = 1.0
        weeks.prices.update(b=0.6, d=0.5)
        weeks.decide(1, first, "one", sells(("p2", 100)))
        weeks.decide(1, second, "one", HOLD)
        weeks.decide(1, second, "two", bets(("a", "YES", 500.0)))
        weeks.paid["c"] = 0.5
        weeks.value(SUNDAY + WEEK + timedelta(days=1))
        weeks.close("d")
        weeks.value(SUNDAY + WEEK + timedelta(days=2))


@pytest.fixture
def played(predibot: Predibot, tmp_path: Path, worlds: Worlds) -> Predibot:
    worlds.copy(two_weeks, tmp_path)
    return predibot


def test_the_list_says_what_each_cohort_came_to(played: Predibot) -> None:
    lines = played("cohort", *LEDGER).out.splitlines()
    assert [line.split() for line in lines[2:4]] == [
        ["2026-03-01", "weekly", "v2", "replay", "2", "2", "+$350", "decides"],
        ["2026-03-08", "weekly", "v2", "replay", "2", "0", "+$0", "decides"],
    ]


def test_a_cohort_shows_members_positions_markets_in_common_and_what_is_due(played: Predibot) -> None:
    shown = played("cohort", "2026-03-01", "--full", *LEDGER)
    assert shown.code == 0
    text = [" ".join(line.split()) for line in shown.out.splitlines()]
    assert "Cohort 2026-03-01: weekly_cohort v2 of weekly, replay, as of 2026-03-10T00:00Z" in text
    assert "week 2, decides; 2 of 4 markets unresolved" in text
    # `one` decided this week, `two` did not.
    assert "Due this week: two." in text
    assert "one Model One $11,850.00 +$1,850 $11,350.00 1 1 0 1 0 0 of 2 $0.02 bet" in text
    assert "two – $8,850.00 -$1,150 $8,350.00 1 0 1 0 1 0 of 1 $0.01 bet" in text
    states = {line.split()[1]: line for line in text if line.startswith("one p")}
    assert all(f" {state} " in states[name] for name, state in (("p1", "WON"), ("p2", "EXITED"), ("p3", "PENDING")))
    # It was bought at .25 and last priced at .5; a closed market keeps that price, and the page says so.
    assert "1,000.00 0.250 0.500 $500.00 +$250" in states["p3"] and states["p3"].endswith("valuation~")
    assert "d Will d happen? one YES 1,000; two NO 1,000" in text
    assert "Booked at: displayed 7." in text


def test_what_the_system_held_has_failed_and_the_cohort_says_so(played: Predibot) -> None:
    with Store.open("sqlite:///weeks.db") as store, store.write() as connection:
        of_one = "SELECT d.id FROM decisions d JOIN bots b ON b.id = d.bot_id WHERE b.name = 'one' ORDER BY d.id"
        _, second, _ = connection.exec_driver_sql(of_one).scalars()
        connection.exec_driver_sql(f"UPDATE decisions SET reason_kind = 'answer' WHERE id = {second}")
    shown = " ".join(played("cohort", "2026-03-01", *LEDGER).out.split())
    assert " 1 of 2 $0.02 bet" in shown
    assert "one failed at 2026-03-08T00:05Z: no answer could be taken, so the system held" in shown
    (found,) = played("cohort", "2026-03-01", "--json", *LEDGER).document["cohorts"]
    assert found["members"][0]["decisions"] == {"recorded": 1, "failed": 1}
    # It has decided all the same.
    assert found["due"] == ["two"]
    bot = played("report", "--bot", "one", *LEDGER)
    assert bot.code == 0, bot.err
    told = " ".join(bot.out.split())
    assert "1 failed" in told and "no answer could be taken, so the system held" in told


def test_the_document_of_a_cohort_adds_up(played: Predibot) -> None:
    (found,) = played("cohort", "2026-03-01", "--json", *LEDGER).document["cohorts"]
    assert (found["cohort"], found["methodology"], found["week"], found["due"]) == ("2026-03-01", "v2", 2, ["two"])
    assert (found["decides"], found["complete_at"], found["unresolved_markets"]) == (True, None, 2)
    for member in found["members"]:
        own = [each for each in found["positions"] if each["bot"] == member["bot_id"]]
        held = sum(each["value_usd"] for each in own if each["value_usd"] is not None)
        assert member["value_usd"] == pytest.approx(member["cash_usd"] + held)
        gained = sum(each["realised_usd"] + (each["value_usd"] or 0.0) - each["cost_usd"] for each in own)
        assert member["profit_usd"] == pytest.approx(gained)
        assert sum(member["positions"].values()) == len(own)
    states = {(each["bot"], each["market_id"]): each["state"] for each in found["positions"]}
    assert states == {
        ("one", "a"): "WON", ("one", "b"): "EXITED", ("one", "d"): "PENDING",
        ("two", "a"): "LOST", ("two", "c"): "CANCELLED", ("two", "d"): "PENDING",
    }  # fmt: skip
    (common,) = found["markets_in_common"]
    assert common["market_id"] == "d" and [each["side"] for each in common["holders"]] == ["YES", "NO"]


def test_an_account_of_a_cohort_shows_states_what_settled_and_how(played: Predibot) -> None:
    shown = played("account", "one", "--cohort", "2026-03-01", *LEDGER).out
    text = [" ".join(line.split()) for line in shown.splitlines()]
    assert text[0] == "one: weekly_cohort v2 of weekly, replay, cohort 2026-03-01"
    (won,) = [line for line in text if line.startswith("p1 a YES")]
    (held,) = [line for line in text if line.startswith("p3 d YES")]
    assert " WON – – – – +$1,500" in won
    assert " PENDING 1,000.00 0.250 0.500 $500.00 +$250 2026-03-09T00:00Z" in held
    assert "2026-03-08T00:05Z settlement a_Yes Will a happen? 1.00 -2,500.00 +$2,500.00" in text
    assert any(line.endswith("bet $1,000.00 a_Yes, bet $500.00 b_Yes, bet $250.00 d_Yes") for line in text)
    assert any(line.endswith("sell 1,000.00 b_Yes") for line in text)
    both = played("account", "one", "--json", *LEDGER).document["accounts"]
    assert [(each["subject"], each["methodology"], len(each["cohort_positions"])) for each in both] == [
        ("2026-03-01", "v2", 3),
        ("2026-03-08", "v2", 0),
    ]
    assert "in a cohort '2026-04-05'" in played("account", "one", "--cohort", "2026-04-05", *LEDGER).err


def test_each_snapshot_has_its_exposure_and_what_was_resolved_by_then(played: Predibot) -> None:
    (found,) = played("account", "one", "--cohort", "2026-03-01", "--json", *LEDGER).document["accounts"]
    names = ("cash_usd", "exposure_usd", "value_usd", "resolved_bets", "brier_implied_confidence")
    seen = {each["at"]: tuple(each[name] for name in names) for each in found["valuations"]}
    # Before its bets; then of $10,000 are 1,000 in a, 500 in b and 250 in d, at the prices that were paid.
    assert seen["2026-03-01T00:00Z"] == (10_000.0, 0.0, 10_000.0, 0, None)
    assert seen["2026-03-02T00:00Z"] == pytest.approx((8_250.0, 1_750.0, 10_000.0, 0, None))
    # The bet of $1,000 won, which implies a confidence of 1,000 / 2,500; b was sold and d is open.
    assert seen["2026-03-09T00:00Z"] == pytest.approx((11_350.0, 500.0, 11_850.0, 1, 0.36))
    text = " ".join(played("account", "one", "--cohort", "2026-03-01", *LEDGER).out.split())
    assert "2026-03-09T00:00Z $11,350.00 $500.00 $11,850.00 1 0.3600" in text


def test_prices_of_one_outcome_and_instant_that_disagree_are_flagged(predibot: Predibot) -> None:
    with Store.open(f"sqlite:///{Path.cwd() / 'weeks.db'}") as store:
        weeks = Weeks(store)
        first = weeks.start(0)
        weeks.prices.update(a=0.4, b=0.5)
        weeks.last.update(a=0.5, b=0.55)
        weeks.decide(0, first, "one", bets(("a", "NO", 1_000.0), ("b", "YES", 500.0)))
    (found,) = predibot("cohort", first, "--json", *LEDGER).document["cohorts"]
    (conflict,) = found["price_conflicts"]
    assert (conflict["outcome"], conflict["at"]) == ("a", "2026-03-01T00:05Z")
    assert conflict["low"] == {"source": "displayed", "price": 0.4}
    assert conflict["high"] == {"source": "last", "price": 0.5}
    for command in (("cohort", first), ("account", "one")):
        shown = predibot(*command, *LEDGER).out
        assert "Prices that disagree by more than .05 at one instant: 1" in shown
        assert "a at 2026-03-01T00:05Z: displayed 0.400, last 0.500" in shown


def test_who_cannot_bet_is_marked(predibot: Predibot) -> None:
    with Store.open(f"sqlite:///{Path.cwd() / 'weeks.db'}") as store:
        weeks = Weeks(store)
        first = weeks.start(0)
        with store.write() as connection:
            connection.exec_driver_sql("UPDATE journal SET cash_usd = 199.0 WHERE account_id = 1")
            connection.exec_driver_sql("UPDATE journal SET cash_usd = 200.0 WHERE account_id = 2")
        weeks.value(SUNDAY + timedelta(days=1))
    (found,) = predibot("cohort", first, "--json", *LEDGER).document["cohorts"]
    assert [each["standing"] for each in found["members"]] == ["cannot bet", "playing"]
    shown = predibot("report", *LEDGER).out
    assert "one!" in shown and "two!" not in shown
    assert "!: one cannot bet in 1 of 1." in shown


def test_an_archived_cohort_is_in_no_score_until_it_is_asked_for(played: Predibot) -> None:
    assert played("cohort", "2026-03-01", "--leave-out", "prices were wrong", *LEDGER).code == 0
    again = played("cohort", "2026-03-01", "--leave-out", "another reason", *LEDGER)
    assert "it was so before" in again.err
    (document,) = played("cohort", "2026-03-01", "--json", *LEDGER).document["cohorts"]
    assert document["archived_reason"] == "prices were wrong" and document["due"] == []
    (board,) = played("report", "--json", *LEDGER).document["cohorts"]
    assert (board["cohorts"], board["archived_left_out"]) == (1, 1)
    assert [each["profit_usd"] for each in board["leaderboard"]] == [0.0, 0.0]
    (board,) = played("report", "--json", "--archived", *LEDGER).document["cohorts"]
    assert (board["cohorts"], board["archived_left_out"]) == (2, 0)
    assert played("cohort", "2026-03-01", "--count-again", *LEDGER).code == 0
    (board,) = played("report", "--json", *LEDGER).document["cohorts"]
    assert board["cohorts"] == 2


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("2026-03-02",), "2026-03-02 is no Sunday; the cohort of that week is 2026-03-01"),
        (("2026-04-05",), "there is no cohort 2026-04-05; the latest of 2 are 2026-03-01, 2026-03-08"),
        (("2026-03-08", "--as-of", "2026-03-07"), "the cohort 2026-03-08 had not started"),
        (("--recipe", "weakly"), "recipe 'weakly' has no cohorts"),
        (("--leave-out", "why"), "say which WEEK"),
        (("2026-03-01", "--leave-out", " "), "a cohort is archived for a reason"),
    ],
)
def test_what_cannot_be_shown_says_why(played: Predibot, arguments: tuple[str, ...], said: str) -> None:
    found = played("cohort", *arguments, *LEDGER)
    assert found.code != 0 and said in " ".join(found.err.split())


def test_a_leaderboard_of_cohorts_is_recomputed_from_the_journals(played: Predibot) -> None:
    rows = list(csv.DictReader(io.StringIO(played("report", "--csv", *LEDGER).out)))
    with closing(sqlite3.connect("weeks.db")) as database:
        journal = database.execute(
            "SELECT bot, subject_row, journal.kind, shares, cash_usd, instrument_id FROM journal"
            " JOIN accounts ON accounts.id = account_id LEFT JOIN instruments ON instruments.id = instrument_row"
        ).fetchall()
    prices = {"d:YES": 0.5, "d:NO": 0.5}
    for row in rows:
        own = [each for each in journal if each[0] == row["bot"]]
        cohorts = {each[1] for each in own}
        gains = [
            sum(cash + shares * prices.get(name or "", 0.0) for _, of, kind, shares, cash, name in own if of == cohort)
            - 10_000.0
            for cohort in sorted(cohorts)
        ]
        assert float(row["profit_usd"]) == pytest.approx(sum(gains))
        assert float(row["mean_return"]) == pytest.approx(sum(gains) / 10_000.0 / len(gains))
        settled = [each for each in own if each[2] == "settlement"]
        won = sum(cash == pytest.approx(-shares) for *_, shares, cash, _ in settled)
        lost = sum(cash == 0.0 for *_, cash, _ in settled)
        assert float(row["win_rate"]) == won / (won + lost)
        assert int(row["resolved"]) == len(settled)


def test_the_boards_of_cohorts_fit_80_columns(played: Predibot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    shown = played("report", *LEDGER).out
    lines = shown.splitlines()
    assert lines[0].startswith("Nobody is proven to gain")
    board = lines.index("weekly_cohort v2 of weekly, replay: 2 cohorts, 0 complete")
    assert " ".join(lines[board + 1].split()) == "# bot return low high P/L wins cohorts resolved cost"
    assert "Nobody is proven to gain, to lose or to be better: 2 cohorts, of which up to 2 overlap, count as 1" in (
        " ".join(shown.split())
    )
    table = played("report", "--table", "cohorts", *LEDGER).out
    assert "Brier scores: of what was stated, and of the confidence that sizes of bets imply" in table


def test_a_methodology_that_nobody_knows_is_one_sentence(played: Predibot) -> None:
    with closing(sqlite3.connect("weeks.db")) as connection, connection:
        connection.execute("UPDATE cohorts SET methodology = 'v9' WHERE id = 1")
    for command in (("cohort",), ("evaluate", "--no-track")):
        said = played(*command, *LEDGER)
        assert (said.code, "'v9' is no methodology" in said.err) == (1, True), said.err
