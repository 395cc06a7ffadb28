"""Budgets: reserved before, settled after, at every level or at none."""

import threading
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predibot.agents.budget.account import Exact, LimitAccount, MemoryAccount
from predibot.agents.budget.budget import Budget, BudgetHeld, BudgetReservation
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


def test_agents_at_once_cannot_overshoot_at_any_level() -> None:
    """Each agent reserves $0.10 and uses it; the run has room for 50, each bot for 40."""
    threads = 8
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


class Shared(MemoryAccount):
    """Stands for an account elsewhere, which another process may fill between two looks."""

    is_shared = True

    def __init__(self) -> None:
        super().__init__("day", Limits(usd=1.0))


def test_a_level_may_be_kept_elsewhere() -> None:
    account: LimitAccount = Shared()
    here, there = (Budget(account).inside("run", Limits()) for _ in range(2))
    reservation: BudgetReservation = here.reserve(Spending(usd=0.75))
    with pytest.raises(BudgetSpent, match="day's limit"):
        there.reserve(Spending(usd=0.5))
    assert there.spent() == Spending()
    reservation.settle(Spending(usd=0.5))
    there.reserve(Spending(usd=0.5))


def waiting(outer: Budget) -> Budget:
    """Return the budget of a decision that may wait for others, for longer than any test takes."""
    return outer.inside("decision", Limits(), wait_seconds=60.0)


def hurried(outer: Budget) -> Budget:
    """Return the budget of a decision whose time is over: it may wait, and has no second to."""
    return outer.inside("decision", Limits(), wait_seconds=0.0)


def test_only_what_is_settled_refuses_what_is_set_aside_is_waited_for() -> None:
    run = Budget.of("run", Limits(usd=1.0))
    first = waiting(run).reserve(Spending(usd=0.75))
    with pytest.raises(BudgetHeld, match=r"others held what is left of the run's limit of \$1 .* \$0.75 spent or set"):
        hurried(run).reserve(Spending(usd=0.5))
    first.settle(Spending(usd=0.75))
    with pytest.raises(BudgetSpent, match=r"run's limit of \$1 is reached: \$0.75 spent"):
        hurried(run).reserve(Spending(usd=0.5))


def test_who_waits_is_woken_by_what_is_given_back() -> None:
    run = Budget.of("run", Limits(usd=1.0))
    first = waiting(run).reserve(Spending(usd=0.75))
    with ThreadPoolExecutor(4) as pool:
        others = [pool.submit(waiting(run).reserve, Spending(usd=0.3)) for _ in range(4)]
        first.settle(Spending(usd=0.1))
        while others:
            # Three of $0.30 fit beside what the first one spent, the fourth after one of them.
            done, _ = wait(others, return_when=FIRST_COMPLETED)
            others = [each for each in others if each not in done]
            for each in done:
                each.result().settle(Spending(usd=0.01))
    assert run.spent().usd == pytest.approx(0.1 + 4 * 0.01)


def test_who_waits_is_told_when_what_was_set_aside_is_spent_for_good() -> None:
    run = Budget.of("run", Limits(usd=1.0))
    first = waiting(run).reserve(Spending(usd=0.75))
    with ThreadPoolExecutor(1) as pool:
        other = pool.submit(waiting(run).reserve, Spending(usd=0.5))
        first.settle(Spending(usd=0.75))
        with pytest.raises(BudgetSpent):
            other.result(timeout=120.0)


def test_nobody_waits_for_what_stands_in_the_way_itself() -> None:
    decision = waiting(Budget.of("run", Limits(steps=2, usd=1.0)))
    decision.keep(Spending(steps=2))
    with pytest.raises(BudgetSpent, match="run's limit of 2 steps"):
        decision.reserve(Spending(steps=1))
    decision.reserve(Spending(usd=0.75))
    with pytest.raises(BudgetSpent, match=r"run's limit of \$1 "):
        decision.reserve(Spending(usd=0.5))


def test_who_keeps_a_step_counts_those_of_others_as_spent_and_who_has_none_waits_for_one() -> None:
    run = Budget.of("run", Limits(steps=2))
    first, second = waiting(run), waiting(run)
    kept = [each.keep(Spending(steps=1)) for each in (first, second)]
    with pytest.raises(BudgetSpent, match="run's limit of 2 steps"):
        first.reserve(Spending(steps=1))
    with pytest.raises(BudgetHeld):
        hurried(run).keep(Spending(steps=1))
    kept[0].release()
    kept[0].release()
    hurried(run).keep(Spending(steps=1)).settle(Spending())


def test_a_kept_step_that_is_offered_goes_to_its_own_answer_and_to_nobody_else() -> None:
    run = Budget.of("run", Limits(steps=1))
    decision = waiting(run)
    kept = decision.keep(Spending(steps=1))
    kept.offer()
    with pytest.raises(BudgetHeld):
        hurried(run).reserve(Spending(steps=1))
    decision.reserve(Spending(searches=1)).settle(Spending())
    answer = decision.reserve(Spending(steps=1, tokens=9))
    kept.release()
    assert run.spent() == Spending(steps=1, tokens=9)
    answer.settle(Spending(steps=1, tokens=5))
    assert run.spent() == Spending(steps=1, tokens=5)


@pytest.mark.parametrize("steps", [8, 9, 30])
def test_agents_at_once_that_share_a_limit_in_steps_all_answer(steps: int) -> None:
    """Eight of them, with dollars for three calls at a time."""
    run = Budget.of("run", Limits(steps=steps, usd=1.0))
    decisions = [waiting(run) for _ in range(8)]
    kept = [decision.keep(Spending(steps=1)) for decision in decisions]

    def call(number: int) -> None:
        decisions[number].reserve(Spending(steps=1, usd=0.3)).settle(Spending(steps=1, usd=0.001))

    def agent(number: int) -> None:
        with suppress(BudgetSpent):
            for _ in range(5):
                call(number)
        kept[number].offer()
        call(number)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(agent, range(8)))
    assert run.spent().steps == steps


@given(st.lists(AMOUNTS, max_size=6), st.lists(AMOUNTS, max_size=6), AMOUNTS)
def test_a_refusal_is_for_good_exactly_where_the_settled_alone_leaves_no_room(
    settled: list[Spending], aside: list[Spending], asked: Spending
) -> None:
    limits = Limits(usd=5.0, tokens=5_000, steps=10, searches=6)
    account = MemoryAccount("run", limits)
    run = Budget(account)
    for each in settled:
        with suppress(BudgetSpent):
            run.inside("decision", Limits()).reserve(each).settle(each)
    for each in aside:
        with suppress(BudgetSpent):
            run.inside("decision", Limits()).reserve(each)
    now = account.standing()
    fits = now.total.plus(Exact.of(replace(asked, seconds=0.0))).within(limits)
    may_fit = now.settled.plus(Exact.of(replace(asked, seconds=0.0))).within(limits)
    try:
        hurried(run).reserve(asked)
        seen = "fits"
    except BudgetHeld:
        seen = "held"
    except BudgetSpent:
        seen = "spent"
    assert seen == ("fits" if fits else "held" if may_fit else "spent")


def test_a_refusal_names_the_level_that_refuses_and_not_one_that_others_only_hold() -> None:
    run = Budget.of("run", Limits(tokens=10))
    bot = run.inside("bot", Limits(usd=1.0, steps=9))
    run.inside("decision", Limits()).reserve(Spending(tokens=8)).settle(Spending(tokens=8))
    bot.inside("decision", Limits()).reserve(Spending(usd=0.75))
    with pytest.raises(BudgetSpent, match="the run's limit of 10 tokens is reached: 8 tokens spent"):
        hurried(bot).reserve(Spending(usd=0.5, tokens=5))


class Broken(Shared):
    """An account whose place cannot be reached."""

    def try_add(self, amount: Spending, *, kept: bool = False) -> bool:
        raise OSError("no place")


def test_where_a_level_cannot_be_reached_nothing_stays_set_aside() -> None:
    inner = MemoryAccount("run", Limits())
    with pytest.raises(OSError, match="no place"):
        Budget(inner, parent=Budget(Broken())).reserve(Spending(usd=0.5))
    assert inner.spent() == Spending()


def test_who_waits_for_others_leaves_a_fair_part_of_the_time_for_what_is_waited_for() -> None:
    seconds = iter(range(0, 1_000, 5))
    now = [0]

    def monotonic() -> float:
        now[0] = next(seconds)
        return now[0]

    run = Budget(Shared(), monotonic=monotonic)
    run.inside("decision", Limits()).reserve(Spending(usd=0.75))
    for set_aside in (Budget.reserve, Budget.keep):
        decision = run.inside("decision", Limits(), wait_seconds=40.0)
        began = now[0]
        with pytest.raises(BudgetHeld):
            set_aside(decision, Spending(usd=0.5))
        assert 20 <= now[0] - began <= 35
    # A call waits no longer than it may take.
    began = now[0]
    with pytest.raises(BudgetHeld):
        run.inside("decision", Limits(), wait_seconds=40.0).reserve(Spending(usd=0.5), wait_seconds=10.0)
    assert now[0] - began <= 25


def test_a_closed_budget_refuses_with_a_sentence_and_what_is_under_way_is_settled_when_it_ends() -> None:
    run = Budget.of("run", Limits(usd=1.0))
    decision = waiting(run)
    kept, under_way = decision.keep(Spending(usd=0.2)), decision.reserve(Spending(usd=0.5))
    decision.close()
    with pytest.raises(BudgetSpent, match="was given up, so nothing more is spent for it; run the same"):
        decision.reserve(Spending(usd=0.1))
    assert (decision.is_in_flight, run.spent().usd) == (True, 0.5)
    kept.release()
    under_way.settle(Spending(usd=0.1))
    assert (decision.is_in_flight, run.spent().usd) == (False, 0.1)


def test_what_is_written_off_is_booked_once_at_its_worst_case() -> None:
    account = MemoryAccount("run", Limits(usd=1.0))
    decision = waiting(Budget(account))
    decision.keep(Spending(usd=0.25))
    under_way = decision.reserve(Spending(usd=0.5))
    decision.write_off()
    decision.write_off()
    under_way.settle(Spending(usd=0.125))
    assert account.standing().settled.spending().usd == 0.5
    assert account.standing().total.spending().usd == 0.5
