"""Spending: accounts in the ledger, which all threads and processes keep to together."""

import multiprocessing
import secrets
import signal
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from multiprocessing import SimpleQueue
from threading import Barrier

import psutil
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from predibot.agents.budget.account import Exact, LimitAccount, Standing
from predibot.agents.budget.budget import Budget
from predibot.domain.budget import Limits, Spending
from predibot.errors import BudgetSpent
from predibot.ledger.store import Store
from predibot.ledger.write.process_identity import helper_owner, new_owner
from predibot.ledger.write.spending import Holder, LedgerAccount, book_reservations, renew_reservations
from tests.soaks import ONE_DATABASE, few

NOW = datetime(2026, 3, 1, tzinfo=UTC)
DIME = Spending(usd=0.1, tokens=7, steps=1, searches=2, seconds=0.3)


def spend_dimes(address: str, tries: int, dollars: float, start: Barrier) -> int:
    """Try to spend a dime so many times, from an opening of the ledger of one's own; return how often it fitted."""
    with Store.open(address) as store:
        start.wait(timeout=120)
        account = LedgerAccount(store, "day", "day", Limits(usd=dollars))
        return sum(account.try_add(DIME) for _ in range(tries))


def put_dimes(fitted: "SimpleQueue[int]", address: str, tries: int, dollars: float, start: Barrier) -> None:
    """Spend dimes in a process of its own."""
    fitted.put(spend_dimes(address, tries, dollars, start))


def test_an_account_starts_empty_and_adds_up_exactly(store: Store) -> None:
    account: LimitAccount = LedgerAccount(store, "run 1", "run", Limits(usd=0.3))
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
    start = Barrier(4)
    with ThreadPoolExecutor(4) as pool:
        fitted = list(pool.map(lambda _: spend_dimes(address, 8, 2.0, start), range(4)))
    assert sum(fitted) == 20
    assert LedgerAccount(store, "day", "day", Limits()).spent().usd == 2.0


@pytest.mark.parametrize("address", few(["sqlite", "postgresql"], "postgresql"), indirect=True)
def test_processes_cannot_overshoot(store: Store, address: str) -> None:
    context = multiprocessing.get_context("spawn")
    fitted, start = context.SimpleQueue(), context.Barrier(2)
    other = context.Process(target=put_dimes, args=(fitted, address, 30, 4.0, start))
    other.start()
    here = spend_dimes(address, 30, 4.0, start)
    there = fitted.get()
    other.join()
    assert here + there == 40
    assert LedgerAccount(store, "day", "day", Limits()).spent().usd == 4.0


def elsewhere(store: Store, *, limits: Limits, owner: str, at: datetime = NOW) -> LedgerAccount:
    """Return the run's account as another process holds it."""
    return LedgerAccount(store, "run 1", "run", limits, Holder(owner, timedelta(minutes=1), lambda: at))


def dead_owner() -> str:
    """Return the name of a process of this machine that ran and runs no more."""
    with subprocess.Popen([sys.executable, "-c", "pass"]) as process:
        machine, _, _, token = new_owner().split("/")
        name = f"{machine}/{process.pid}/{psutil.Process(process.pid).create_time():.2f}/{token}"
    return name


def test_what_is_settled_set_aside_and_kept_stands_apart(store: Store) -> None:
    account = LedgerAccount(store, "run 1", "run", Limits(usd=1.0))
    assert account.try_add(DIME)
    assert account.try_add(Spending(steps=1), kept=True)
    account.replace(Spending(usd=0.05), Spending(usd=0.02, tokens=3))
    now = account.standing()
    assert now.settled == Exact.of(Spending(usd=0.02, tokens=3))
    assert now.reserved == Exact.of(Spending(usd=0.05, tokens=7, steps=1, searches=2, seconds=0.3))
    assert now.kept == Exact.of(Spending(steps=1))


def test_what_a_dead_process_had_set_aside_is_given_up_at_once_and_said(
    store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    limits = Limits(usd=0.3)
    gone = elsewhere(store, limits=limits, owner=dead_owner())
    assert gone.try_add(Spending(usd=0.2)) and gone.try_add(Spending(usd=0.06), kept=True)
    account = elsewhere(store, limits=limits, owner=new_owner())
    assert account.try_add(Spending(usd=0.04))
    assert account.spent().usd == pytest.approx(0.3)
    assert account.try_add(Spending(usd=0.26))
    assert account.spent().usd == pytest.approx(0.3)
    assert "run 1: $0.260000 that a process had set aside is free again" in caplog.text


def test_what_a_helper_has_set_aside_lasts_as_long_as_who_it_works_for_and_is_booked_by_it(store: Store) -> None:
    limits, owner = Limits(usd=1.0), new_owner()
    helpers = [elsewhere(store, limits=limits, owner=helper_owner(owner, number)) for number in (1, 2, 11)]
    mine, other = (elsewhere(store, limits=limits, owner=each) for each in (owner, new_owner()))
    assert helpers[0].try_add(Spending(usd=0.25, tokens=3)) and helpers[0].try_add(Spending(usd=0.125), kept=True)
    assert helpers[2].try_add(Spending(usd=0.25)) and mine.try_add(Spending(usd=0.125))
    assert not other.try_add(Spending(usd=0.5))
    with store.write() as connection:
        assert book_reservations(connection, helper_owner(owner, 1)) == 0.25
        assert book_reservations(connection, helper_owner(owner, 1)) == 0.0
    now = other.standing()
    assert (now.settled, now.kept) == (Exact.of(Spending(usd=0.25, tokens=3)), Exact())
    assert now.reserved == Exact.of(Spending(usd=0.375))
    with store.write() as connection:
        assert book_reservations(connection, owner) == 0.375
    assert other.standing().total == other.standing().settled == Exact.of(Spending(usd=0.625, tokens=3))
    # One that had been taken for gone settles its call after all, and takes nothing of anybody.
    helpers[0].replace(Spending(usd=0.25), Spending(usd=0.0625))
    assert other.spent().usd == 0.6875


def test_what_a_dead_process_and_its_helpers_had_set_aside_is_free(store: Store) -> None:
    limits, dead = Limits(usd=0.3), dead_owner()
    assert elsewhere(store, limits=limits, owner=helper_owner(dead, 1)).try_add(Spending(usd=0.3))
    assert elsewhere(store, limits=limits, owner=new_owner()).try_add(Spending(usd=0.3))


def test_a_step_that_was_kept_for_is_booked_whole_when_it_is_under_way(store: Store) -> None:
    owner = new_owner()
    account = elsewhere(store, limits=Limits(usd=1.0), owner=owner)
    budget = Budget(account)
    budget.keep(Spending(usd=0.25)).offer()
    budget.reserve(Spending(usd=0.375))
    assert account.standing() == Standing(reserved=Exact.of(Spending(usd=0.375)))
    with store.write() as connection:
        book_reservations(connection, owner)
    assert account.standing() == Standing(settled=Exact.of(Spending(usd=0.375)))


def test_a_stopped_process_of_this_machine_keeps_what_it_has_set_aside_beyond_its_lease(store: Store) -> None:
    limits, later = Limits(usd=1.0), NOW + timedelta(hours=1)
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        machine, _, _, token = new_owner().split("/")
        stopped = f"{machine}/{process.pid}/{psutil.Process(process.pid).create_time():.2f}/{token}"
        process.send_signal(signal.SIGSTOP)
        assert elsewhere(store, limits=limits, owner=stopped).try_add(Spending(usd=0.75))
        here = elsewhere(store, limits=limits, owner=new_owner(), at=later)
        assert not here.try_add(Spending(usd=0.5))
        process.kill()
        process.wait()
        assert here.try_add(Spending(usd=0.5))


def test_of_another_machine_a_reservation_lasts_as_long_as_its_lease(store: Store) -> None:
    limits, far = Limits(usd=1.0), "other@boot@ns/17/1.00/abcd"
    assert elsewhere(store, limits=limits, owner=far).try_add(Spending(usd=0.75))
    seconds = [59, 61, 119, 121]
    fits = []
    for number, each in enumerate(seconds):
        if number == 2:
            with store.write() as connection:
                renew_reservations(connection, far, lease=timedelta(minutes=1), now=NOW + timedelta(minutes=1))
        here = elsewhere(store, limits=limits, owner=new_owner(), at=NOW + timedelta(seconds=each))
        fits.append(here.try_add(Spending(usd=0.5)))
        if number == 1:
            here.replace(Spending(usd=0.5), Spending())
            assert elsewhere(store, limits=limits, owner=far, at=NOW).try_add(Spending(usd=0.75))
    assert fits == [False, True, False, True]


def test_who_was_taken_for_dead_settles_the_truth_and_takes_back_nothing_of_others(store: Store) -> None:
    limits, far = Limits(usd=1.0), "other@boot@ns/17/1.00/abcd"
    slept = elsewhere(store, limits=limits, owner=far)
    assert slept.try_add(Spending(usd=0.75))
    here = elsewhere(store, limits=limits, owner=new_owner(), at=NOW + timedelta(minutes=2))
    assert here.try_add(Spending(usd=0.5))
    slept.replace(Spending(usd=0.75), Spending(usd=0.2))
    assert (here.standing().settled.spending().usd, here.standing().reserved.spending().usd) == (0.2, 0.5)


def test_amounts_that_no_database_holds_are_the_most_that_one_does(store: Store) -> None:
    account = LedgerAccount(store, "run 1", "run", Limits(usd=1.0))
    for _ in range(3):
        account.replace(Spending(), Spending(usd=1e308, tokens=10**400, seconds=1e300))
    assert account.spent().usd > 9e6
    assert account.spent().tokens == 2**63 - 1
    assert not account.try_add(Spending(usd=1e-9))


def test_budgets_of_two_openings_wait_for_each_other(store: Store, address: str) -> None:
    with Store.open(address) as other, ThreadPoolExecutor(1) as pool:
        days = [LedgerAccount(each, "day", "day", Limits(usd=1.0)) for each in (store, other)]
        here, there = (Budget(day).inside("decision", Limits(), wait_seconds=60.0) for day in days)
        reserved = here.reserve(Spending(usd=0.75))
        waiting = pool.submit(there.reserve, Spending(usd=0.5))
        reserved.settle(Spending(usd=0.25))
        waiting.result(timeout=120.0).settle(Spending(usd=0.5))
    assert days[0].spent().usd == 0.75


OPS = st.lists(
    st.tuples(st.integers(0, 2), st.sampled_from(["reserve", "keep", "settle", "live"]), st.integers(1, 9)), max_size=25
)
HALF_A_MINUTE = timedelta(seconds=30)


@ONE_DATABASE
@given(OPS)
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_processes_do_in_whatever_order_the_limit_holds_and_nothing_is_lost(
    store: Store, steps: list[tuple[int, str, int]]
) -> None:
    """Three processes reserve, keep and settle; a minute passes that one of them lives through, seen or not."""
    key, limits, minute, settled = f"run {secrets.token_hex(8)}", Limits(tokens=20), 0, 0
    held: Counter[tuple[int, bool]] = Counter()
    # Each amount has a lease of its own; the later one of a process counts for both.
    last_seen: Counter[tuple[int, bool]] = Counter()
    for number, kind, tokens in steps:
        minute += kind == "live"
        now, owner = NOW + timedelta(minutes=minute), f"other@boot@ns/{number}/1.00/abcd"
        account = LedgerAccount(store, key, "run", limits, Holder(owner, HALF_A_MINUTE, lambda at=now: at))
        is_kept = kind == "keep"
        if kind == "live":
            with store.write() as connection:
                renew_reservations(connection, owner, lease=HALF_A_MINUTE, now=now)
            last_seen |= {(number, False): minute, (number, True): minute}
        elif kind == "settle":
            aside = min(tokens, held[number, False])
            account.replace(Spending(tokens=aside), Spending(tokens=aside // 2))
            held[number, False] -= aside
            settled += aside // 2
            # What is given back whole leaves no row that could show it.
            last_seen[number, False] = minute if held[number, False] else last_seen[number, False]
        else:
            if settled + held.total() + tokens > 20:
                seen = {number, *(mine[0] for mine in held if held[mine] and last_seen[mine] == minute)}
                held = Counter({mine: held[mine] for mine in held if mine[0] in seen})
            fits = settled + held.total() + tokens <= 20
            assert account.try_add(Spending(tokens=tokens), kept=is_kept) is fits
            held[number, is_kept] += tokens * fits
            last_seen[number, is_kept] = minute if fits else last_seen[number, is_kept]
        stands = account.standing()
        assert stands.settled.tokens == settled
        assert stands.kept.tokens == sum(amount for (_, kept), amount in held.items() if kept)
        assert stands.total.tokens == settled + held.total() <= 20
