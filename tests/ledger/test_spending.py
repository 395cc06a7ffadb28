"""Spending: accounts in the ledger, which all threads and processes keep to together."""

import multiprocessing
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from predibot.agents.account import Account
from predibot.agents.budget import Budget
from predibot.domain.budget import Limits, Spending
from predibot.errors import BudgetSpent
from predibot.ledger.spending import LedgerAccount
from predibot.ledger.store import Store

DIME = Spending(usd=0.1, tokens=7, steps=1, searches=2, seconds=0.3)


def spend_dimes(address: str, tries: int, dollars: float, start: threading.Barrier) -> int:
    """Try to spend a dime so many times, from an opening of the ledger of one's own; return how often it fitted."""
    with Store.open(address) as store:
        start.wait(timeout=30)
        account = LedgerAccount(store, "day", "day", Limits(usd=dollars))
        return sum(account.try_add(DIME) for _ in range(tries))


def test_an_account_starts_empty_and_adds_up_exactly(store: Store) -> None:
    account: Account = LedgerAccount(store, "run 1", "run", Limits(usd=0.3))
    assert (account.spent(), account.level, account.limits) == (Spending(), "run", Limits(usd=0.3))
    assert [account.try_add(DIME) for _ in range(4)] == [True, True, True, False]
    assert account.spent() == Spending(usd=0.3, tokens=21, steps=3, searches=6, seconds=0.9)


def test_the_truth_takes_the_place_of_what_was_set_aside_even_over_the_limit(store: Store) -> None:
    account = LedgerAccount(store, "run 1", "run", Limits(usd=1.0))
    assert account.try_add(Spending(usd=1.0, tokens=100))
    account.replace(Spending(usd=1.0, tokens=100), Spending(usd=1.5, tokens=40))
    assert account.spent() == Spending(usd=1.5, tokens=40)
    assert not account.try_add(Spending(usd=1e-9))


def test_who_opens_an_account_again_finds_what_was_spent_and_others_are_apart(store: Store, address: str) -> None:
    LedgerAccount(store, "run 1", "run", Limits()).try_add(DIME)
    with Store.open(address) as other:
        assert LedgerAccount(other, "run 1", "run", Limits()).spent() == DIME
        assert LedgerAccount(other, "run 2", "run", Limits()).spent() == Spending()


def test_large_amounts_are_kept_whole(store: Store) -> None:
    account = LedgerAccount(store, "run 1", "run", Limits())
    large = Spending(usd=1e6, tokens=10**12, seconds=1e9)
    assert account.try_add(large)
    assert account.spent() == large


def test_what_cannot_be_spent_changes_nothing(store: Store) -> None:
    account = LedgerAccount(store, "run 1", "run", Limits())
    with pytest.raises(ValueError, match="cannot be spent"):
        account.try_add(Spending(usd=-1.0))
    with pytest.raises(ValueError, match="cannot be spent"):
        account.replace(Spending(), Spending(seconds=float("nan")))
    assert account.spent() == Spending()


def test_budgets_of_two_openings_share_a_day(store: Store, address: str) -> None:
    with Store.open(address) as other:
        days = [LedgerAccount(each, "day", "day", Limits(usd=1.0)) for each in (store, other)]
        here, there = (Budget(day).inside("run", Limits()) for day in days)
        reserved = here.reserve(Spending(usd=0.75))
        with pytest.raises(BudgetSpent, match=r"day's limit of \$1 .* \$0.75 spent"):
            there.reserve(Spending(usd=0.5))
        reserved.settle(Spending(usd=0.5))
        there.reserve(Spending(usd=0.5))
    assert (there.spent().usd, days[0].spent().usd) == (0.5, 1.0)


def test_threads_with_openings_of_their_own_cannot_overshoot(store: Store, address: str) -> None:
    start = threading.Barrier(4)
    with ThreadPoolExecutor(4) as pool:
        fitted = list(pool.map(lambda _: spend_dimes(address, 8, 2.0, start), range(4)))
    assert sum(fitted) == 20
    assert LedgerAccount(store, "day", "day", Limits()).spent().usd == 2.0


def test_processes_cannot_overshoot(store: Store, address: str) -> None:
    context = multiprocessing.get_context("spawn")
    with context.Manager() as manager, context.Pool(2) as pool:
        fitted = pool.starmap(spend_dimes, [(address, 30, 4.0, manager.Barrier(2))] * 2, chunksize=1)
    assert sum(fitted) == 40
    assert LedgerAccount(store, "day", "day", Limits()).spent().usd == 4.0
