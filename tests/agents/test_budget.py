"""Budgets: reserved before, settled after, at every level or at none."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predibot.agents.account import Account, MemoryAccount, Standing
from predibot.agents.budget import Budget, Reserved
from predibot.domain.budget import LimitLevel, Limits, Spending
from predibot.errors import BudgetSpent

AMOUNTS = st.builds(
    Spending,
    usd=st.floats(0.0, 2.0),
    tokens=st.integers(0, 2_000),
    steps=st.integers(0, 3),
    searches=st.integers(0, 3),
    seconds=st.floats(0.0, 30.0),
)
SMALL = Limits(usd=5.0, tokens=5_000, steps=10, searches=6, seconds=60.0)


def nested(*limits: Limits) -> list[Budget]:
    """Return budgets of day, run, bot and decision, as many as there are limits, outermost first."""
    budgets: list[Budget] = []
    levels: tuple[LimitLevel, ...] = ("day", "run", "bot", "decision")
    for level, each in zip(levels, limits, strict=False):
        outer = budgets[-1] if budgets else None
        budgets.append(Budget(MemoryAccount(level, each), parent=outer))
    return budgets


def over(spent: Spending, limits: Limits) -> list[str]:
    """Return the limits that are passed, by more than floating point can be wrong; waits may end beyond theirs."""
    names = ("usd", "tokens", "steps", "searches")
    return [name for name in names if getattr(spent, name) > (getattr(limits, name) or 0) + 1e-9]


@given(st.lists(AMOUNTS, max_size=30), st.lists(st.booleans(), max_size=30))
def test_what_is_reserved_and_settled_within_it_never_passes_a_limit(worst: list[Spending], used: list[bool]) -> None:
    run, bot = nested(SMALL, Limits(usd=3.0, tokens=10_000, steps=99, searches=99, seconds=99.0))
    for amount, is_used in zip(worst, used, strict=False):
        try:
            reservation = bot.reserve(amount)
        except BudgetSpent:
            continue
        if is_used:
            reservation.settle(Spending(amount.usd / 2, amount.tokens // 2, amount.steps, 0, amount.seconds / 3))
    assert not over(run.spent(), SMALL)
    assert bot.spent() == run.spent()


@given(st.lists(AMOUNTS, min_size=1, max_size=20))
def test_what_is_given_back_whole_leaves_nothing(amounts: list[Spending]) -> None:
    (budget,) = nested(Limits())
    for reservation in [budget.reserve(amount) for amount in amounts]:
        reservation.settle(Spending())
    assert budget.spent() == Spending()


@given(AMOUNTS, AMOUNTS)
def test_a_refusal_at_an_outer_level_changes_no_level(first: Spending, second: Spending) -> None:
    day, run, bot = nested(SMALL, Limits(), Limits())
    bot.reserve(first)
    before = [each.spent() for each in (day, run, bot)]
    with pytest.raises(BudgetSpent, match="day's limit"):
        bot.reserve(Spending(usd=second.usd + 5.01))
    assert [each.spent() for each in (day, run, bot)] == before


def test_an_amount_that_just_fits_fits_though_floats_do_not_add_up() -> None:
    (budget,) = nested(Limits(usd=0.3))
    for _ in range(3):
        budget.reserve(Spending(usd=0.1))
    with pytest.raises(BudgetSpent):
        budget.reserve(Spending(usd=1e-9))


@pytest.mark.parametrize(
    ("limits", "amount", "message"),
    [
        (Limits(usd=0.5), Spending(usd=0.75), r"day's limit of \$0.5 is reached: \$0 spent or set aside.*\$0.75"),
        (Limits(tokens=10), Spending(tokens=11), "day's limit of 10 tokens"),
        (Limits(steps=0), Spending(steps=1), "day's limit of 0 steps"),
        (Limits(searches=2), Spending(searches=3), "day's limit of 2 searches"),
        (Limits(seconds=0.0), Spending(seconds=2.0), "day's limit of 0 seconds.*may take 2 seconds"),
    ],
)
def test_the_message_names_level_and_limit(limits: Limits, amount: Spending, message: str) -> None:
    (budget,) = nested(limits)
    with pytest.raises(BudgetSpent, match=message):
        budget.reserve(amount)


def test_the_truth_may_be_more_than_was_set_aside_and_then_nothing_fits() -> None:
    run, decision = nested(Limits(usd=1.0), Limits())
    decision.reserve(Spending(usd=0.5)).settle(Spending(usd=1.25))
    assert run.spent().usd == 1.25
    assert run.left().usd == 0.0
    with pytest.raises(BudgetSpent):
        decision.reserve(Spending(usd=0.01))


@given(st.lists(st.floats(0.1, 30.0), min_size=1, max_size=10))
def test_who_waits_takes_no_second_from_who_waits_beside_it(waits: list[float]) -> None:
    run = Budget.of("run", Limits(seconds=30.0))
    waiting = [run.inside("decision", Limits()).reserve(Spending(seconds=30.0)) for _ in waits]
    assert run.left().seconds == 30.0
    for reservation, seconds in zip(waiting, waits, strict=True):
        reservation.settle(Spending(seconds=seconds))
    assert run.spent().seconds == pytest.approx(sum(waits))
    assert run.left().seconds == pytest.approx(max(0.0, 30.0 - sum(waits)))


@pytest.mark.parametrize(("booked", "is_refused"), [(29.9, False), (30.0, True), (31.0, True)])
def test_once_the_seconds_are_booked_nothing_is_begun(booked: float, is_refused: bool) -> None:
    run, decision = nested(Limits(seconds=30.0), Limits())
    decision.reserve(Spending(seconds=30.0)).settle(Spending(seconds=booked))
    for next_step in (Spending(steps=1, seconds=9.0), Spending(searches=1)):
        if is_refused:
            with pytest.raises(BudgetSpent, match=f"day's limit of 30 seconds is reached: {booked:g} seconds"):
                decision.reserve(next_step)
        else:
            decision.reserve(next_step).settle(Spending())
    assert run.spent() == Spending(seconds=booked)


def test_a_reservation_is_settled_once() -> None:
    (budget,) = nested(Limits())
    reservation = budget.reserve(Spending(tokens=5))
    reservation.settle(Spending(tokens=3))
    with pytest.raises(ValueError, match="settled already"):
        reservation.settle(Spending())
    assert budget.spent() == Spending(tokens=3)


@pytest.mark.parametrize("usd", [-0.01, float("nan"), float("inf")])
def test_what_cannot_be_spent_changes_nothing(usd: float) -> None:
    (budget,) = nested(Limits(usd=1.0))
    with pytest.raises(ValueError, match="cannot be spent"):
        budget.reserve(Spending(usd=usd))
    reservation = budget.reserve(Spending(usd=0.5))
    with pytest.raises(ValueError, match="cannot be spent"):
        reservation.settle(Spending(usd=usd))
    assert budget.spent().usd == 0.5


def test_what_is_left_is_the_least_over_all_levels() -> None:
    _, _, decision = nested(Limits(usd=1.0), Limits(usd=5.0, tokens=100), Limits(seconds=9.0))
    decision.reserve(Spending(usd=0.25, tokens=40)).settle(Spending(usd=0.25, tokens=40, seconds=2.0))
    assert decision.left() == Limits(usd=0.75, tokens=60, seconds=7.0)


def test_no_limit_is_no_limit() -> None:
    (budget,) = nested(Limits(usd=float("inf")))
    budget.reserve(Spending(usd=1e9, tokens=10**12))
    assert Budget.of("run", Limits()).inside("bot", Limits()).left() == Limits()


@pytest.mark.parametrize("threads", [8])
def test_agents_at_once_cannot_overshoot_at_any_level(threads: int) -> None:
    """Each agent reserves $0.10 and uses it; the run has room for 50, each bot for 40."""
    run = Budget.of("run", Limits(usd=5.0))
    bots = [run.inside("bot", Limits(usd=4.0)) for _ in range(2)]
    start = threading.Barrier(threads)

    def agent(number: int) -> int:
        meter, done = bots[number % 2].inside("decision", Limits()), 0
        start.wait()
        for _ in range(40):
            try:
                meter.reserve(Spending(usd=0.1, steps=1)).settle(Spending(usd=0.1, steps=1))
            except BudgetSpent:
                continue
            done += 1
        return done

    with ThreadPoolExecutor(threads) as pool:
        done = sum(pool.map(agent, range(threads)))
    assert done == 50
    assert (run.spent().usd, run.spent().steps) == (5.0, 50)
    assert all(bot.spent().usd <= 4.0 for bot in bots)


class Shared:
    """An account elsewhere, which another process may fill between two looks."""

    level: LimitLevel = "day"
    limits = Limits(usd=1.0)
    is_shared = True

    def __init__(self) -> None:
        self.kept = MemoryAccount("day", self.limits)

    def try_add(self, amount: Spending, *, kept: bool = False) -> bool:
        return self.kept.try_add(amount, kept=kept)

    def replace(self, added: Spending, by: Spending, *, kept: bool = False) -> None:
        self.kept.replace(added, by, kept=kept)

    def standing(self) -> Standing:
        return self.kept.standing()

    def spent(self) -> Spending:
        return self.kept.spent()


def test_a_level_may_be_kept_elsewhere() -> None:
    elsewhere = Shared()
    account: Account = elsewhere
    here, there = (Budget(account).inside("run", Limits()) for _ in range(2))
    reservation: Reserved = here.reserve(Spending(usd=0.75))
    with pytest.raises(BudgetSpent, match="day's limit"):
        there.reserve(Spending(usd=0.5))
    assert there.spent() == Spending()
    reservation.settle(Spending(usd=0.5))
    there.reserve(Spending(usd=0.5))
