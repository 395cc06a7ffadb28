"""Lessons: what baselines learn of a run once for all their decisions in a worker."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

Learnt = TypeVar("Learnt")


@dataclass(slots=True)
class Lessons:
    """Keeps what is learnt; thread-safe."""

    _lock: threading.RLock = field(default_factory=threading.RLock)
    _made: dict[tuple[object, ...], Any] = field(default_factory=dict)

    def once(self, key: tuple[object, ...], make: Callable[[], Learnt]) -> Learnt:
        """Return what is kept under a key, made where it is not there yet."""
        with self._lock:
            if key not in self._made:
                self._made[key] = make()
            found: Learnt = self._made[key]
            return found
