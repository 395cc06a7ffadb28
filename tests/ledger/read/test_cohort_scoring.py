"""What scoring reads of cohorts: results by hand, nothing of later, archived ones apart, methodologies apart."""

from datetime import timedelta

import pytest

from predibot.ledger.read.accounts.cohort_scoring import cohort_records
from predibot.ledger.store import Store
from predibot.reports.terminal.boards.accounts import cohort_grid
from predibot.reports.views.accounts import cohort_conclusions
from predibot.scoring.accounts.cohorts import CohortBoard, CohortBot, cohort_consistency, with_scores
from predibot.scoring.accounts.record import SizedBet
from predibot.scoring.inference.uncertainty import Uncertainty
from predibot.scoring.records.part import Part
from tests.ledger.cohorts_by_hand import HOLD, SUNDAY, VENUE, WEEK, Weeks, bets, sells
from tests.soaks import ONE_DATABASE

LATER = SUNDAY + 52 * WEEK


def records(store: Store, at: object = LATER, **asked: object) -> tuple[CohortBoard, ...]:
    with store.read() as connection:
        return cohort_records(connection, VENUE, at, **asked)  # type: ignore[arg-type]


def bot(record: CohortBoard, name: str) -> CohortBot:
    return next(each for each in record.bots if each.bot == name)


def played(store: Store) -> Weeks:
    """Play two weeks: `one` wins and sells, `two` loses and is void, both hold nothing in the end."""
    weeks = Weeks(store)
    first = weeks.start(0, names={"one": "Model One"})
    weeks.prices.update(a=0.4, b=0.5, c=0.8)
    weeks.decide(0, first, "one", {**bets(("a", "YES", 1_000.0), ("b", "YES", 500.0)), "probabilities": {"a": 0.7}})
    weeks.decide(0, first, "two", bets(("a", "NO", 600.0), ("c", "YES", 800.0)))
    weeks.value(SUNDAY + timedelta(days=1))
    second = weeks.start(1)
    weeks.paid.update(a=1.0)
    weeks.prices["b"] = 0.6
    weeks.decide(1, first, "one", sells(("p2", 100)))
    weeks.decide(1, second, "one", HOLD)
    weeks.decide(1, second, "two", bets(("a", "YES", 500.0)))
    weeks.paid.update(c=0.5)
    weeks.value(SUNDAY + 2 * WEEK)
    return weeks


def test_results_are_what_one_reckons_by_hand(store: Store) -> None:
    played(store)
    (record,) = records(store)
    assert (record.recipe, record.game, record.mode, record.methodology) == ("weekly", "weekly_cohort", "replay", "v2")
    assert (record.cohorts, record.complete, record.archived) == (2, 0, 0)
    one, two = bot(record, "one"), bot(record, "two")
    # 2,500 shares pay $1; 1,000 shares bought at .5 are sold at .6.
    assert [each.value_usd for each in one.results] == [pytest.approx(10_000 + 1_500 + 100), 10_000.0]
    # $600 on NO are lost; of 1,000 shares bought at .8 each pays .5.
    assert [each.value_usd for each in two.results] == [pytest.approx(10_000 - 600 - 300), 10_000.0]
    assert [(each.won, each.lost, each.cancelled) for each in (one.results[0], two.results[0])] == [
        (1, 0, 0),
        (0, 1, 1),
    ]
    assert one.forecasts == ((0.7, 1.0),)
    assert one.bets == (SizedBet(1_000.0, 10_000.0, True),)
    assert two.bets == (SizedBet(600.0, 10_000.0, False), SizedBet(800.0, 9_400.0, None))
    assert (one.decisions["recorded"], two.decisions["recorded"], two.decisions["refused"]) == (3, 1, 1)
    assert one.cost_usd == pytest.approx(0.03)


@ONE_DATABASE
def test_the_board_has_both_brier_scores_and_no_rank(store: Store) -> None:
    played(store)
    (record,) = records(store)
    board = with_scores(record)
    assert [each.bot for each in board.scores] == ["one", "two"]
    one, two = board.scores
    assert (one.score.profit_usd, one.score.win_rate, one.score.resolved) == (pytest.approx(1_600.0), 1.0, 1)
    assert one.stated is not None and (one.stated.score, one.stated.n) == (pytest.approx(0.09), 1)
    # $1,000 of the $2,500 that a bet may be.
    assert one.implied is not None and one.implied.score == pytest.approx((0.4 - 1.0) ** 2)
    assert two.stated is None
    assert two.implied is not None and (two.implied.score, two.implied.n) == (pytest.approx(0.24**2), 1)
    assert board.ranks == {} and {each.verdict for each in board.scores} == {"too few"}
    assert "2 cohorts, of which up to 2 overlap, count as 1, and 30 are needed" in " ".join(cohort_conclusions(board))


def test_replicates_are_one_bot_with_the_mean_of_their_accounts_and_a_spread(store: Store) -> None:
    weeks = Weeks(store)
    first = weeks.start(0, ("one#1", "one#2", "two"))
    weeks.prices.update(a=0.4, b=0.5)
    weeks.decide(0, first, "one#1", {**bets(("a", "YES", 1_000.0)), "probabilities": {"a": 0.7}})
    weeks.decide(0, first, "one#2", {**bets(("b", "YES", 500.0)), "probabilities": {"a": 0.9}})
    weeks.decide(0, first, "two", HOLD)
    weeks.paid.update(a=1.0, b=0.0)
    weeks.value(SUNDAY + WEEK)
    (board,) = map(with_scores, records(store))
    one, two = board.scores
    assert (one.bot, one.display_name, two.bot, two.replicates) == ("one", "one", "two", None)
    # One made $1,500 of $10,000, the other lost $500.
    assert (one.score.profit_usd, one.score.cohorts, one.accounts) == (pytest.approx(500.0), 1, 2)
    assert (one.score.win_rate, one.decisions["recorded"]) == (0.5, 2)
    assert one.stated is not None and one.stated.score == pytest.approx((0.3**2 + 0.1**2) / 2)
    assert one.replicates is not None and one.replicates.mean_return is not None
    assert (one.replicates.mean_return.low, one.replicates.mean_return.high) == pytest.approx((-0.05, 0.15))
    (alone,) = records(store, part=Part(bots=("one#2",)))[0].bots
    assert (alone.bot, alone.results[0].value_usd) == ("one#2", pytest.approx(9_500.0))
    assert "2: -5.0% to +15%" in cohort_grid(board).rows[0]
    # One bet 10 % on `a`, the other 5 % on `b`; `two` held and has no replicates.
    assert [dict(weights) for _, weights in one.first_bets] == [{"a:YES": 0.1}, {"b:YES": 0.05}]
    (again,) = cohort_consistency([(each.bot, each.first_bets) for each in board.scores], Uncertainty(resamples=200))
    assert (again.bot, again.n, again.difference.estimate) == ("one", 1, pytest.approx(0.1))
    assert (again.in_common.estimate, again.weight_deviation) == (0.0, pytest.approx(((0.1**2 + 0.05**2) / 4) ** 0.5))


@ONE_DATABASE
def test_what_the_system_held_has_failed_and_the_board_says_so(store: Store) -> None:
    played(store)
    with store.write() as connection:
        last = "SELECT max(id) FROM decisions WHERE status = 'recorded'"
        connection.exec_driver_sql(f"UPDATE decisions SET reason_kind = 'answer' WHERE id IN ({last})")
    (record,) = records(store)
    one, two = bot(record, "one"), bot(record, "two")
    assert sum(each.decisions["recorded"] for each in (one, two)) == 3
    assert sum(each.decisions["failed"] for each in (one, two)) == 1
    said = "1 decision is a HOLD of the system, because no answer could be taken: counted as failed"
    assert said in with_scores(record).notes


@ONE_DATABASE
def test_nothing_later_than_the_instant_is_read(store: Store) -> None:
    played(store)
    (early,) = records(store, SUNDAY + timedelta(days=2))
    one, two = bot(early, "one"), bot(early, "two")
    assert early.cohorts == 1
    assert [each.value_usd for each in (*one.results, *two.results)] == [10_000.0, 10_000.0]
    assert (one.forecasts, one.bets, one.results[0].won, one.decisions["recorded"]) == ((), (), 0, 1)
    assert records(store, SUNDAY) == ()


@ONE_DATABASE
def test_archived_cohorts_are_in_no_record_unless_asked_for(store: Store) -> None:
    weeks = played(store)
    weeks.archive("2026-03-01")
    (without,), (with_it,) = records(store), records(store, archived=True)
    assert (without.cohorts, without.archived, len(bot(without, "one").results)) == (1, 1, 1)
    assert bot(without, "one").bets == () and bot(without, "one").forecasts == ()
    assert (with_it.cohorts, with_it.archived, len(bot(with_it, "one").results)) == (2, 0, 2)
    weeks.archive("2026-03-08")
    assert records(store) == ()


def test_methodologies_and_modes_are_never_in_one_record(store: Store) -> None:
    for number, (version, mode) in enumerate([("v2", "replay"), ("v1", "replay"), ("v2", "live")]):
        weeks = Weeks(store, version=version, mode=mode, runs={})
        if number:
            with store.write() as connection:
                connection.exec_driver_sql("UPDATE runs SET key = key || '.'")
        weeks.start(0)
    found = records(store)
    assert [(each.mode, each.methodology) for each in found] == [("live", "v2"), ("replay", "v1"), ("replay", "v2")]
    assert [each.cohorts for each in found] == [1, 1, 1]


@ONE_DATABASE
def test_a_cohort_is_complete_when_five_are_newer_and_nothing_is_held(store: Store) -> None:
    weeks = Weeks(store)
    first = weeks.start(0)
    weeks.prices.update(a=0.5, b=0.5)
    weeks.decide(0, first, "one", bets(("a", "YES", 1_000.0)))
    second = weeks.start(1)
    weeks.decide(1, second, "one", bets(("b", "YES", 1_000.0)))
    for week in range(2, 8):
        weeks.start(week)
    weeks.paid["a"] = 1.0
    weeks.value(SUNDAY + 2 * WEEK)
    weeks.value(SUNDAY + 7 * WEEK)
    assert [records(store, SUNDAY + n * WEEK - timedelta(hours=1))[0].complete for n in (5, 6, 7)] == [0, 1, 1]
    ends = [each.end for each in bot(records(store)[0], "one").results]
    # The window of the first ends as the fifth newer one starts; the second holds a market that nobody settles.
    assert ends[0] == SUNDAY + 5 * WEEK + timedelta(minutes=0)
    assert ends[1] == LATER


def test_a_member_without_an_account_is_named_and_counts_for_nothing(store: Store) -> None:
    weeks = Weeks(store)
    weeks.start(0)
    with store.write() as connection:
        connection.exec_driver_sql("DELETE FROM journal WHERE account_id = 2")
        connection.exec_driver_sql("DELETE FROM accounts WHERE id = 2")
    (record,) = records(store)
    assert [each.bot for each in record.bots] == ["one"]
    assert record.remarks == ("without an account in 2026-03-01, and so in no return of it: two",)


@ONE_DATABASE
def test_bots_and_recipes_that_are_not_asked_for_are_left_out(store: Store) -> None:
    played(store)
    (record,) = records(store, part=Part(bots=("two",)))
    assert [each.bot for each in record.bots] == ["two"]
    assert records(store, part=Part(recipe="another")) == ()


@ONE_DATABASE
def test_favourites_of_cohorts_leave_open_what_prices_say_and_a_market_in_two_of_them_is_one(store: Store) -> None:
    weeks = Weeks(store)
    weeks.prices.update(a=0.95, b=0.95, c=0.95)
    for week, (one, two) in enumerate((("a", "c"), ("b", "c"))):
        cohort = weeks.start(week)
        weeks.decide(week, cohort, "one", bets((one, "YES", 1_000.0)))
        weeks.decide(week, cohort, "two", bets((two, "YES", 1_000.0)))
    weeks.paid.update(a=1.0, b=1.0, c=1.0)
    weeks.value(SUNDAY + 3 * WEEK)
    (record,) = records(store)
    shares = 1_000.0 / 0.95 / 10_000.0 / 2
    # Both paid on the same day, so that D is 2; the other held one thing, twice as much of it.
    assert bot(record, "one").deviation == pytest.approx((2 * 2 * shares**2 * 0.0475) ** 0.5)
    assert bot(record, "two").deviation == pytest.approx(((2 * shares) ** 2 * 0.0475) ** 0.5)
