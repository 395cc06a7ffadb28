"""What a baseline may know that no model is shown: the truth of other markets, and the stakes behind a window."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from predibot.errors import UsageError
from predibot.studies.lessons import Learnt, Lessons
from predibot.studies.stakebench.tasks import Item

FOLDS = 5


@dataclass(frozen=True, slots=True)
class Reference:
    """What a baseline may know of one item."""

    stakes: tuple[tuple[str, float], ...]
    """The sides and sizes of those who wrote a window's comments; none of a single comment, whose writer is asked
    about."""
    examples: tuple[Item, ...]
    """The items of the same task and platform with their truth, none of a market of this item's fold."""
    _kept: "StakebenchReferences"
    _key: tuple[str, str, int]

    def learnt(self, name: str, learn: Callable[[Sequence[Item]], Learnt]) -> Learnt:
        """Return what is learnt of the examples, once for all items of a fold.

        Args:
            name: Of what learns, with its settings; the same name is the same lesson.
            learn: Makes it of the examples, which are in the order of their ids.
        """
        return self._kept.lessons.once((name, *self._key), lambda: learn(self.examples))


@dataclass(slots=True)
class StakebenchReferences:
    """What baselines may know of a run's items; thread-safe."""

    items: Mapping[str, Item]
    """With their truth, by subject."""
    lessons: Lessons = field(default_factory=Lessons)

    def of(self, subject_id: str) -> Reference:
        """Return what may be known about a subject.

        Raises:
            UsageError: If there is no such subject.
        """
        item = self.items.get(subject_id)
        if item is None or item.truth is None:
            raise UsageError(f"nothing is known of {subject_id[:60]!r}; a baseline can be asked about texts of the run")
        key = (item.task, item.platform, fold_of(item.market))
        examples: tuple[Item, ...] = self.lessons.once(("examples", *key), lambda: self._examples(*key))
        return Reference(item.truth.stakes if len(item.texts) > 1 else (), examples, self, key)

    def _examples(self, task: str, platform: str, fold: int) -> tuple[Item, ...]:
        return tuple(
            item
            for _, item in sorted(self.items.items())
            if item.task == task and item.platform == platform and fold_of(item.market) != fold
        )


def fold_of(market: str) -> int:
    """Return the part of the markets that one belongs to, the same on every machine.

    Examples:
        >>> 0 <= fold_of("any market") < FOLDS
        True
    """
    return int.from_bytes(hashlib.sha256(market.encode()).digest()[:4], "big") % FOLDS
