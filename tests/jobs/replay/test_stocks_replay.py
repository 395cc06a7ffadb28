"""Portfolios of stocks through the whole walk, over ten days that were made by hand."""

import shutil
from pathlib import Path

import pytest

from predibot.ledger.read.accounts.invariants import check_orders, checks_of_accounts
from predibot.ledger.read.invariants import Checked
from predibot.ledger.store import Store
from tests.acceptance.conftest import Predibot, predibot
from tests.jobs.replay.hand_made_stocks import (
    AAA,
    ACTIONS,
    BBB,
    DAYS,
    at,
    journal_of,
    play,
    recipe_of,
    values_of,
    write_stocks,
)
from tests.jobs.tiny import canonical
from tests.soaks import ONE_DATABASE

__all__ = ["predibot"]

WALK = """
venue = "stocks:stocks"
every = "1d"
[game]
name = "portfolio_weights"
tickers = ["AAA", "BBB"]
[[bots]]
strategy = "all_cash"
[[bots]]
strategy = "buy_and_hold"
[[bots]]
strategy = "equal_weights"
"""


def assert_sound(store: Store) -> None:
    with store.read() as connection:
        checked = Checked()
        broken = [*check_orders(connection, checked)]
        broken += [each for check in checks_of_accounts(connection, checked) for each in check]
    assert broken == []


@ONE_DATABASE
def test_buy_and_hold_is_worth_what_a_split_and_a_dividend_leave(store: Store, tmp_path: Path) -> None:
    folder = write_stocks(tmp_path / "stocks")
    play(store, folder, recipe_of("all_cash", "buy_and_hold"))
    # Decided on the 5th after its close, bought at the close of the 6th.
    aaa, bbb = 500.0 / 104.0, 500.0 / 52.0
    rows = journal_of(store, "buy_and_hold")
    assert [(row.kind, row.at) for row in rows] == [
        ("deposit", at(5)),
        ("fill", at(6, minute=0)),
        ("fill", at(6, minute=0)),
        ("split", at(9, minute=0)),
        ("dividend", at(13, minute=0)),
    ]
    assert rows[3].shares == pytest.approx(3.0 * aaa, abs=1e-12)
    assert rows[4].cash_usd == bbb * 0.5
    expected = {
        at(int(day), minute=0): (4.0 if int(day) >= 9 else 1.0) * aaa * AAA[place]
        + bbb * BBB[place]
        + (bbb * 0.5 if int(day) >= 13 else 0.0)
        for place, day in enumerate(DAYS)
        if place
    }
    assert values_of(store, "buy_and_hold") == pytest.approx({at(5, minute=0): 1_000.0, **expected}, abs=1e-9)
    assert set(values_of(store, "all_cash").values()) == {1_000.0}
    assert_sound(store)


def test_daily_decisions_are_made_on_trading_days_alone_with_one_valuation_each(ledger: Store, tmp_path: Path) -> None:
    bots = ("equal_weights", "random_weights")
    played = play(ledger, write_stocks(tmp_path / "stocks"), recipe_of(*bots), last=at(13))
    days = [int(day) for day in DAYS if int(day) <= 13]
    assert [each.at for each in played] == [at(day) for day in days]
    for bot in bots:
        assert list(values_of(ledger, bot)) == [at(day, minute=0) for day in days]


def test_an_order_of_saturday_is_filled_at_the_close_of_monday_between_weekly_slots(
    ledger: Store, tmp_path: Path
) -> None:
    folder = write_stocks(tmp_path / "stocks")
    weekly = recipe_of("buy_and_hold", every="7d")
    play(ledger, folder, weekly, first=at(10, 0), last=at(11))
    assert [row.kind for row in journal_of(ledger, "buy_and_hold")] == ["deposit"]
    # The next slot is Saturday the 17th: by then the week has been gone through close by close.
    play(ledger, folder, weekly, first=at(10, 0), last=at(17, 0))
    rows = journal_of(ledger, "buy_and_hold")
    assert [(row.kind, row.at) for row in rows[1:]] == [
        ("fill", at(12, minute=0)),
        ("fill", at(12, minute=0)),
        ("dividend", at(13, minute=0)),
    ]
    assert {row.shares for row in rows[1:3]} == {500.0 / 29.0, 500.0 / 53.0}
    assert list(values_of(ledger, "buy_and_hold"))[1:] == [at(day, minute=0) for day in (12, 13, 14, 15, 16)]
    assert_sound(ledger)


def test_other_prices_from_a_close_on_change_nothing_before_it(tmp_path: Path) -> None:
    """Through the hours of the 13th: what becomes known at its close, or after it, is not there before 21:00."""
    bent = {
        "AAA": (*AAA[:6], *(9.0 * price for price in AAA[6:])),
        "BBB": (*BBB[:6], *(price / 7 for price in BBB[6:])),
    }
    late = (ACTIONS[0], "2026-01-13,AAA,split,9", "2026-01-14,BBB,delisting,")
    folders = (write_stocks(tmp_path / "as_it_was"), write_stocks(tmp_path / "bent", bent, late))
    daily, hourly = (recipe_of("equal_weights", "random_weights", every=every) for every in ("1d", "5h"))
    before: list[object] = []
    after: dict[int, list[object]] = {21: [], 23: []}
    for folder in folders:
        with Store.open(f"sqlite:///{folder}.db") as store:
            play(store, folder, daily, last=at(12))
            play(store, folder, hourly, first=at(13, 0, 0), last=at(13, 20, 0))
            before.append(canonical(store))
        for hour, seen in after.items():
            # Of two ledgers that are the same so far.
            with Store.open(f"sqlite:///{shutil.copy(f'{folder}.db', f'{folder}{hour}.db')}") as store:
                play(store, folder, hourly, first=at(13, hour, 0), last=at(13, hour, 0))
                seen.append(canonical(store))
    assert before[0] == before[1]
    assert all(one != other for one, other in after.values())


def test_a_halted_stock_is_kept_split_while_it_is_not_traded_and_marked_in_shares_of_now(
    ledger: Store, tmp_path: Path
) -> None:
    # The split of the 9th falls into a halt of two days, and CCC and DDD keep those trading days.
    halted = (*AAA[:4], None, None, *AAA[6:])
    closes = {"AAA": halted, "BBB": BBB, "CCC": BBB, "DDD": BBB}
    play(ledger, write_stocks(tmp_path / "stocks", closes), recipe_of("buy_and_hold"), last=at(13))
    values = values_of(ledger, "buy_and_hold")
    aaa, bbb = 500.0 / 104.0, 500.0 / 52.0
    # Four shares at a quarter of its last close: the split alone changes nothing.
    assert values[at(9, minute=0)] == pytest.approx(aaa * 112.0 + bbb * 54.0, abs=1e-9)
    assert values[at(12, minute=0)] == pytest.approx(aaa * 112.0 + bbb * 53.0, abs=1e-9)
    assert values[at(13, minute=0)] == pytest.approx(4 * aaa * 30.0 + bbb * 55.5, abs=1e-9)
    assert_sound(ledger)


@pytest.mark.parametrize(
    ("payout", "worth", "kinds"), [("20", 20.0, ["delisting"]), ("0", 0.0, ["delisting"]), ("", 104.0, [])]
)
def test_a_delisted_share_is_worth_its_payout_or_its_last_close(
    payout: str, worth: float, kinds: list[str], ledger: Store, tmp_path: Path
) -> None:
    gone = (100.0, 104.0, 104.0, *[None] * 7)
    folder = write_stocks(tmp_path / "stocks", {"AAA": gone, "BBB": BBB}, (f"2026-01-08,AAA,delisting,{payout}",))
    play(ledger, folder, recipe_of("buy_and_hold", "equal_weights"), last=at(13))
    aaa, bbb = 500.0 / 104.0, 500.0 / 52.0
    assert [row.kind for row in journal_of(ledger, "buy_and_hold")][3:] == kinds
    assert values_of(ledger, "buy_and_hold")[at(13, minute=0)] == pytest.approx(aaa * worth + bbb * 55.0, abs=1e-9)
    sold = [row.kind for row in journal_of(ledger, "equal_weights") if row.instrument and row.instrument.id == "AAA"]
    assert sold.count("fill") <= 2 + (not payout) and "settlement" not in sold
    assert_sound(ledger)


def test_trades_cost_their_fee_and_half_of_the_spread(ledger: Store, tmp_path: Path) -> None:
    recipe = recipe_of("buy_and_hold", game="fee_bps = 10\nspread_bps = 20")
    play(ledger, write_stocks(tmp_path / "stocks"), recipe, last=at(7))
    fills = [row for row in journal_of(ledger, "buy_and_hold") if row.kind == "fill"]
    fees = [row for row in journal_of(ledger, "buy_and_hold") if row.kind == "fee"]
    assert [-row.cash_usd / row.shares for row in fills] == pytest.approx([104.0 * 1.001, 52.0 * 1.001])
    assert [row.cash_usd for row in fees] == pytest.approx([row.cash_usd * 0.001 for row in fills])
    assert sum(row.cash_usd for row in (*fills, *fees)) == pytest.approx(-1_000.0, abs=1e-9)
    assert_sound(ledger)


def test_a_folder_that_grows_day_by_day_comes_to_what_the_whole_one_does(ledger: Store, tmp_path: Path) -> None:
    folder, recipe = tmp_path / "stocks", recipe_of("buy_and_hold", "equal_weights")

    def known(days: int) -> Path:
        closes = {"AAA": AAA, "BBB": BBB}
        return write_stocks(folder, {name: (*row[:days], *[None] * (10 - days)) for name, row in closes.items()})

    for days in (2, 5, 8):
        play(ledger, known(days), recipe)
    with Store.open(f"sqlite:///{tmp_path}/whole.db") as whole:
        play(whole, folder, recipe)
        assert canonical(whole) == canonical(ledger)


def test_what_a_file_says_late_of_a_close_that_was_gone_through_changes_nothing(ledger: Store, tmp_path: Path) -> None:
    folder = write_stocks(tmp_path / "stocks")
    play(ledger, folder, recipe_of("buy_and_hold"), last=at(12))
    before = values_of(ledger, "buy_and_hold"), journal_of(ledger, "buy_and_hold")
    restated = (*AAA[:3], 999.0, *AAA[4:])
    write_stocks(folder, {"AAA": restated, "BBB": BBB}, (*ACTIONS, "2026-01-08,BBB,dividend,7"))
    play(ledger, folder, recipe_of("buy_and_hold"))
    values, journal = values_of(ledger, "buy_and_hold"), journal_of(ledger, "buy_and_hold")
    assert {when: values[when] for when in before[0]} == before[0]
    assert journal[: len(before[1])] == before[1]
    assert [row.kind for row in journal[len(before[1]) :]] == ["dividend"]
    assert_sound(ledger)


def test_a_stock_without_a_file_is_told_of_and_a_folder_with_none_of_them_is_refused(
    predibot: Predibot, tmp_path: Path
) -> None:
    write_stocks(tmp_path / "stocks", {"AAA": (*AAA[:9], None), "CCC": BBB}, ())
    (tmp_path / "walk.toml").write_text(WALK)
    said = predibot("replay", "walk.toml", "--ledger", "sqlite:///walk.db")
    assert said.code == 0
    assert "note: BBB is not listed by the venue, and is not played" in said.out
    assert "note: AAA has no close of 2026-01-16: a halt, or a late file; it is not traded" in said.out
    (tmp_path / "walk.toml").write_text(WALK.replace('"AAA", "BBB"', '"YYY", "ZZZ"'))
    for venue in ("stocks:stocks", "sandbox"):
        refused = predibot("replay", "walk.toml", "--venue", venue, "--ledger", "sqlite:///none.db")
        assert refused.code == 1
        assert " has none of YYY, ZZZ by 2026-01-" in refused.err


def test_an_action_that_was_stated_too_late_is_told_of_with_who_lacks_it(predibot: Predibot, tmp_path: Path) -> None:
    folder = write_stocks(tmp_path / "stocks")
    (tmp_path / "walk.toml").write_text(WALK)
    run = ("replay", "walk.toml", "--ledger", "sqlite:///walk.db", "--json")
    assert not [note for note in predibot(*run).document["notes"] if "stated after" in note]
    # Nobody held anything on the 5th, two of the three held BBB on the 8th; a split of one share is none.
    late = ("2026-01-08,BBB,dividend,7", "2026-01-05,AAA,dividend,1", "2026-01-07,AAA,split,1")
    write_stocks(folder, None, (*ACTIONS, *late))
    (said,) = [note for note in predibot(*run).document["notes"] if "stated after" in note]
    assert said == (
        "the dividend of BBB of 2026-01-08 was stated after buy_and_hold, equal_weights went through its close; it is "
        "not booked. Replay into another ledger to have it"
    )
