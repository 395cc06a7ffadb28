"""Concurrency: grows while a provider bears it, shrinks when it refuses or slows down, and is shared fairly."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predibot.errors import LedgerUnusable
from predibot.net.concurrency import FIRST_LIMIT, HOLD, Gate, Gates, Limit, OwnPermits, Window, fair_shares
from predibot.net.failures import TryAgain

NOW = datetime(2026, 3, 1, tzinfo=UTC)
SECOND = timedelta(seconds=1)


def test_a_limit_doubles_until_it_is_lowered_then_holds_and_grows_by_a_tenth() -> None:
    grown = Limit(10.0).after("grow", began_at=NOW, now=NOW, under_way=10)
    assert grown == Limit(20.0)
    lowered = grown.after("refused", began_at=NOW, now=NOW + SECOND, under_way=20)
    assert lowered == Limit(14.0, NOW + SECOND)
    held = lowered.after("grow", began_at=NOW, now=NOW + 2 * SECOND, under_way=14)
    assert held == lowered
    later = NOW + SECOND + HOLD
    assert lowered.after("grow", began_at=NOW, now=later, under_way=14).calls == pytest.approx(15.4)


def test_calls_that_begin_while_a_limit_is_being_lowered_do_not_lower_it_again() -> None:
    limit = Limit(64.0).after("refused", began_at=NOW, now=NOW, under_way=22)
    for tenth in range(1, 100):
        now = NOW + tenth * SECOND / 10
        for signal in ("refused", "slow", "grow"):
            limit = limit.after(signal, began_at=now, now=now, under_way=15)
    assert limit == Limit(pytest.approx(15.4), NOW)
    # One from before the lowering tells nothing new, however late it is refused.
    later = NOW + HOLD
    assert limit.after("refused", began_at=NOW, now=later, under_way=15) == limit
    assert limit.after("refused", began_at=later, now=later, under_way=15).calls == pytest.approx(10.5)


def test_a_refusal_lowers_to_what_was_under_way_and_late_answers_a_little_and_not_below_four() -> None:
    assert Limit(64.0).after("refused", began_at=NOW, now=NOW, under_way=10).calls == 7.0
    assert Limit(1.0).after("refused", began_at=NOW, now=NOW, under_way=1).calls == 1.0
    for calls, lowered in ((20.0, 18.0), (4.2, 4.0), (2.0, 2.0)):
        assert Limit(calls).after("slow", began_at=NOW, now=NOW, under_way=int(calls)).calls == lowered
    # A burst lowers it once.
    limit = Limit(20.0)
    for number in range(20):
        limit = limit.after("refused", began_at=NOW, now=NOW + number * SECOND, under_way=20)
    assert limit == Limit(14.0, NOW)


def rounds(*seconds: float, is_full: bool = True) -> list[str | None]:
    """Return what rounds of ten equal calls say."""
    window = Window()
    said = []
    for each in seconds:
        said += [[window.add(each, is_full=is_full, limit=10) for _ in range(10)][-1]]
    return said


def test_rounds_that_were_full_and_not_late_say_grow_and_late_ones_slow() -> None:
    assert rounds(1.0, 1.5, 0.5, 1.2) == ["grow", "grow", "grow", "slow"]
    assert rounds(1.0, 1.0, is_full=False) == [None, None]


@given(st.integers(0, 50), st.lists(st.integers(0, 30), min_size=1, max_size=6), st.integers(0, 9))
def test_fair_shares_are_all_there_is_and_never_more_than_is_wanted(calls: int, wishes: list[int], turn: int) -> None:
    wanted = {str(number): wish for number, wish in enumerate(wishes)}
    shares = fair_shares(calls, wanted, turn)
    assert sum(shares.values()) == min(calls, sum(wishes))
    assert all(0 <= share <= wanted[name] for name, share in shares.items())


def test_where_there_are_fewer_calls_than_processes_each_has_its_turn() -> None:
    turns = [fair_shares(2, {"a": 9, "b": 9, "c": 9}, turn) for turn in range(3)]
    assert {name: sum(shares[name] for shares in turns) for name in "abc"} == {"a": 2, "b": 2, "c": 2}


def test_a_gate_lets_so_many_through_as_its_ceiling_says() -> None:
    gate, most, under_way = Gate("acme", 3, OwnPermits()), [0], [0]
    lock = threading.Lock()

    def call() -> None:
        with gate.turn(time.monotonic() + 60.0):
            with lock:
                under_way[0] += 1
                most[0] = max(most[0], under_way[0])
            threading.Event().wait(0.01)
            with lock:
                under_way[0] -= 1

    threads = [threading.Thread(target=call) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert 1 <= most[0] <= 3


def test_whose_turn_does_not_come_in_time_is_told_and_nothing_is_sent() -> None:
    gate = Gate("acme", 1, OwnPermits())
    with (
        gate.turn(time.monotonic() + 60.0),
        pytest.raises(TryAgain, match="no turn came in time") as caught,
        gate.turn(time.monotonic()),
    ):
        pytest.fail("it was let through")
    assert caught.value.tries == 1 and not caught.value.ill
    # Without a ceiling nobody waits.
    with Gates().turn("acme", 0.0), Gates().turn("acme", 0.0):
        pass


def test_a_provider_that_refuses_is_asked_by_fewer() -> None:
    permits = OwnPermits()
    gate = Gate("acme", 256, permits)
    seen = [FIRST_LIMIT]
    for _ in range(3):
        with pytest.raises(TryAgain), gate.turn(time.monotonic() + 60.0):
            raise TryAgain("429", ill=False, too_many=True)
        seen.append(permits.limits["acme"].calls)
    assert seen[1] == 1.0
    assert all(later <= earlier for earlier, later in pairwise(seen))


def test_a_limit_that_was_lowered_is_obeyed_as_calls_end() -> None:
    gate, soon = Gate("acme", 256, OwnPermits()), time.monotonic() + 60.0
    with ExitStack() as first, ExitStack() as second:
        for under_way in (first, first, first, second):
            under_way.enter_context(gate.turn(soon))
        with pytest.raises(TryAgain, match="429"), gate.turn(soon):
            raise TryAgain("429", too_many=True)
        # Five were under way, so that it bears three: one of four ends, and nobody may come after it.
        second.close()
        with pytest.raises(TryAgain, match="asked by 4 at once, and no turn"), gate.turn(time.monotonic()):
            pytest.fail("it was let through")


def test_what_one_thread_lowers_no_other_one_that_looks_puts_back(monkeypatch: pytest.MonkeyPatch) -> None:
    permits, looks = OwnPermits(), threading.Event()
    report = partial(permits.share, "acme", under_way=8, wanted=8, ceiling=8, began_at=datetime.now(UTC))
    slowly = Slowly(permits.limits, looks)
    monkeypatch.setattr(permits, "limits", slowly)
    with ThreadPoolExecutor() as pool:
        look = pool.submit(report, signal=None)
        looks.wait()
        lowered = pool.submit(report, signal="refused")
        # Unless it waits for the other one, it has done before that goes on.
        wait([lowered], timeout=0.5)
        slowly.go_on.set()
        wait([look, lowered])
        assert permits.limits["acme"].calls == lowered.result().limit == 5.6


class Slowly(dict[str, Limit]):
    """Limits of which the first one who looks takes long."""

    def __init__(self, limits: dict[str, Limit], looks: threading.Event) -> None:
        super().__init__(limits)
        self.looks, self.go_on = looks, threading.Event()

    def get(self, provider: str, default: Limit) -> Limit:  # type: ignore[override]
        """Look, and have the first one wait before it goes on."""
        found = super().get(provider, default)
        if not self.looks.is_set():
            self.looks.set()
            self.go_on.wait()
        return found


class Away(OwnPermits):
    """Permits of a ledger that goes away while a call is under way."""

    def share(self, provider, *, signal, **more):  # type: ignore[no-untyped-def]
        """Answer as long as a provider let nothing be known."""
        if signal is not None:
            raise LedgerUnusable("away")
        return super().share(provider, signal=signal, **more)


def test_an_answer_is_kept_where_the_ledger_cannot_be_told_how_its_provider_bears_it() -> None:
    gate = Gate("acme", 8, Away())
    with pytest.raises(TryAgain, match="too many"), gate.turn(time.monotonic() + 5):
        raise TryAgain("too many", too_many=True)
    with gate.turn(time.monotonic() + 5):
        pass
