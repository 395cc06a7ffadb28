"""Deadlines: how long a call is waited for."""

import threading
from collections.abc import Collection
from concurrent.futures import Future
from types import SimpleNamespace

import pytest

from predibot.net import deadline
from predibot.net.deadline import call_in_waits


def test_a_call_is_waited_for_in_short_waits_however_long_each_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    waits, ended = list[float](), threading.Event()

    def stand_still(_: Collection[Future[bool]], timeout: float) -> SimpleNamespace:
        waits.append(timeout)
        return SimpleNamespace(done=set())

    monkeypatch.setattr(deadline, "wait", stand_still)
    with pytest.raises(TimeoutError):
        call_in_waits(ended.wait, 5.0)
    ended.set()
    assert (len(waits), sum(waits)) == (20, 5.0)
    monkeypatch.undo()
    assert call_in_waits(ended.wait, 5.0)
