"""Tasks on comments, and the draw of their items, which is the same on every machine."""

import hashlib
import heapq
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, ClassVar, Literal

from predibot.errors import UsageError
from predibot.studies.label_game import LabelItem, Rows
from predibot.studies.stakebench.cleaning import FEWEST_IN_SPLIT
from predibot.studies.stakebench.data_set import LabelledComment, LabelledWindow, stake_weighted_direction

TaskName = Literal["G1", "G2", "G2before", "G3", "G3f", "G3d", "G4"]
NEUTRAL = "NEUTRAL"
_MEND = "collect the data set again, or name folders that share no market"
CROWD = "O2"
"""No task for bots: how often the side with the larger stakes won in the markets of a split."""


TASKS: Mapping[str, tuple[str, ...]] = {
    "G1": ("YES", "NO"),
    "G2": ("YES", "NO", NEUTRAL),
    # Comments from before the first position, for an audit only.
    "G2before": ("YES", "NO", NEUTRAL),
    "G3": ("flip", "increase", "decrease", "hold"),
    "G3f": ("flip", "hold"),
    "G3d": ("decrease", "hold"),
    "G4": ("UP", "DOWN", NEUTRAL),
}
"""The possible answers of each task; the possible truths come first."""


def subject_kind(task: str) -> Literal["comment", "window"]:
    """Return what a task is on."""
    return "window" if task == "G4" else "comment"


@dataclass(frozen=True, slots=True)
class Truth:
    """The hidden part of an item; baselines may learn from the truth of other markets."""

    label: str
    stakes: tuple[tuple[str, float], ...] = ()
    """Sides and sizes of the positions behind the comments."""
    user: str = ""
    resolved: int = 0
    """1 for YES, -1 for NO, 0 for anything else."""
    volume: float = 0.0
    days_left: float = 0.0
    """Days from the text to the end of trading."""
    actions: tuple[str, ...] = ()
    """The writer's first action within each of `ACTION_HOURS`; only in G3."""
    written: int = 0
    """Comments of the writer below the market; 0 for a window."""

    @property
    def side(self) -> str:
        """Return the side of the first position; empty without any."""
        return self.stakes[0][0] if self.stakes else ""

    @property
    def stake(self) -> float:
        """Return the size of the first position; 0 without any."""
        return self.stakes[0][1] if self.stakes else 0.0


@dataclass(frozen=True, slots=True)
class Item(LabelItem):
    """A text to be labelled, with all that is shown beside it."""

    noun: ClassVar = "item of a text task"
    task: str
    id: str
    split: str
    """As `polymarket/crypto`."""
    market: str
    question: str
    texts: tuple[str, ...]
    side: str | None = None
    """Shown in the tasks on the writer's next action."""
    size: float | None = None
    """The stake, shown with the side; negative after profits."""
    price: float | None = None
    """The mean price of YES while the texts were written; shown in G4."""
    truth: Truth | None = None

    @property
    def subject_id(self) -> str:
        """Return the subject of decisions on it."""
        return f"{self.task}/{self.id}"

    @property
    def known(self) -> Truth:
        """Return its truth; raise `UsageError` where that is not there."""
        if self.truth is None:
            raise UsageError(f"the run has no truth of {self.subject_id[:60]!r}; it was altered after it was made")
        return self.truth

    @property
    def platform(self) -> str:
        """Return the platform."""
        return self.split.partition("/")[0]

    @property
    def topic(self) -> str:
        """Return the topic of its market."""
        return self.split.partition("/")[2]


@dataclass(frozen=True, slots=True)
class ItemDraw:
    """The items of a run."""

    items: tuple[Item, ...]
    crowds: Mapping[str, tuple[int, int]]
    """By split: markets in which the side with the larger stakes won, and markets where that is known."""
    notes: tuple[str, ...] = ()


@dataclass(slots=True)
class _Draw:
    """Keeps the first items by a rank that depends on seed, task and id only."""

    seed: int
    most: int
    kept: dict[tuple[str, ...], list[tuple[int, str, int, Any]]] = field(default_factory=lambda: defaultdict(list))
    seen: dict[tuple[str, ...], int] = field(default_factory=lambda: defaultdict(int))

    def offer(self, key: tuple[str, ...], id_: str, thing: object) -> None:
        rank = int.from_bytes(hashlib.sha256(f"{self.seed}|{key[0]}|{id_}".encode()).digest()[:8], "big")
        self.seen[key] += 1
        # The number keeps items of equal rank and id from being compared.
        heap, entry = self.kept[key], (-rank, id_, -self.seen[key], thing)
        if len(heap) < self.most:
            heapq.heappush(heap, entry)
        elif entry > heap[0]:
            heapq.heapreplace(heap, entry)

    def first(self, key: tuple[str, ...]) -> list[Any]:
        return [entry[-1] for entry in sorted(self.kept[key], key=lambda entry: (-entry[0], entry[1]))]


def draw_items(rows: Rows, *, tasks: Collection[str], per_split: int, seed: int) -> ItemDraw:
    """Return the items of a run: up to `per_split` for each task and split.

    G1 has as many comments with a position as without. A split with fewer than twelve items is left out of a task, and
    a note says so. The files are read twice; only drawn items, the ids of markets and one market's comments are in
    memory at once. Raises `ValueError` for a market, a comment or an item that is there more than once.
    """
    draw, crowds, known = _Draw(seed, per_split), dict[str, tuple[int, int]](), set[tuple[str, str]]()
    for key, market in groupby(rows("comments"), key=lambda row: (row.platform, row.market)):
        if key in known:
            raise ValueError(f"market {key[1][:40]!r} of {key[0]} is there more than once; {_MEND}")
        known.add(key)
        comments = list(market)
        if len({row.comment for row in comments}) < len(comments):
            raise ValueError(f"a comment of market {key[1][:40]!r} is there more than once; {_MEND}")
        _offer_market(draw, comments, tasks)
        split = _split(comments[0])
        won, counted = crowds.get(split, (0, 0))
        says = stake_sign((row.side or "", row.size) for row in comments)
        if says and comments[0].resolved:
            crowds[split] = (won + (says == comments[0].resolved), counted + 1)
    if "G4" in tasks:
        for window in rows("windows"):
            draw.offer(("G4", _split(window)), _window_id(window), window)
    chosen, notes = _choose_rows(draw, per_split)
    return ItemDraw(_items(chosen, rows), dict(sorted(crowds.items())), tuple(notes))


def _offer_market(draw: _Draw, comments: Sequence[LabelledComment], tasks: Collection[str]) -> None:
    holders = {row.user for row in comments if row.side is not None}
    written = Counter(row.user for row in comments)
    for row in comments:
        split = _split(row)
        wanted: list[tuple[str, ...]] = [("G1", split, "holds" if row.side is not None else "does not")]
        if row.side is not None:
            wanted.append(("G2", split))
        elif not row.ever_held and row.user in holders:
            wanted.append(("G2before", split))
        if row.action is not None:
            wanted.append(("G3", split))
            wanted += [("G3f", split)] if row.action in TASKS["G3f"] else []
            wanted += [("G3d", split)] if row.action in TASKS["G3d"] else []
        for key in wanted:
            if key[0] in tasks:
                draw.offer(key, row.comment, (row, written[row.user]))


def _choose_rows(draw: _Draw, per_split: int) -> tuple[list[tuple[str, Any]], list[str]]:
    found: list[tuple[str, Any]] = []
    notes = []
    order = {name: number for number, name in enumerate(TASKS)}
    for task, split in sorted({(key[0], key[1]) for key in draw.seen}, key=lambda key: (order[key[0]], key[1])):
        if task == "G1":
            held, other = draw.first(("G1", split, "holds")), draw.first(("G1", split, "does not"))
            of_each = min(per_split // 2, len(held), len(other))
            rows = [*held[:of_each], *other[:of_each]]
        else:
            rows = draw.first((task, split))
        if len(rows) < FEWEST_IN_SPLIT:
            notes.append(f"{task} of {split} has {len(rows)} instances, fewer than {FEWEST_IN_SPLIT}: left out")
        else:
            found += [(task, row) for row in rows]
    return found, notes


def _items(chosen: Iterable[tuple[str, Any]], rows: Rows) -> tuple[Item, ...]:
    chosen = list(chosen)
    wanted = {name for task, row in chosen if task == "G4" for name in row.comments}
    comments = {row.comment: row for row in rows("comments") if row.comment in wanted} if wanted else {}
    items = tuple(_window(row, comments) if task == "G4" else _comment(task, *row) for task, row in chosen)
    if twice := [name for name, times in Counter(item.subject_id for item in items).items() if times > 1]:
        raise ValueError(f"{twice[0]} is there more than once; {_MEND}")
    return items


def _comment(task: str, row: LabelledComment, written: int) -> Item:
    labels = {"G1": "YES" if row.side is not None else "NO", "G2": row.side, "G2before": ""}
    asks_action = task.startswith("G3")
    return Item(
        task,
        row.comment,
        _split(row),
        row.market,
        row.question,
        (row.text,),
        side=row.side if asks_action else None,
        size=row.size if asks_action else None,
        truth=Truth(
            label=str(labels.get(task, row.action)),
            stakes=() if row.side is None else ((row.side, row.size),),
            user=row.user,
            resolved=row.resolved,
            volume=row.volume,
            days_left=row.days_left,
            actions=row.actions if task == "G3" else (),
            written=written,
        ),
    )


def _window(row: LabelledWindow, comments: Mapping[str, LabelledComment]) -> Item:
    if missing := next((name for name in row.comments if name not in comments), None):
        raise ValueError(f"a window names comment {missing[:40]!r}, which is not among the comments")
    inside = [comments[name] for name in row.comments]
    stakes = tuple((each.side or "", each.size) for each in inside)
    truth = Truth(row.direction, stakes, resolved=inside[0].resolved, volume=inside[0].volume)
    texts = tuple(each.text for each in inside)
    return Item(
        "G4", _window_id(row), _split(row), row.market, row.question, texts, price=row.price_before, truth=truth
    )


def stake_sign(stakes: Iterable[tuple[str, float]]) -> int:
    """Return the side with the larger stakes, by magnitude: 1 for YES, -1 for NO, 0 for a tie."""
    held: Any = [(side, size) for side, size in stakes if side in ("YES", "NO")]
    says = stake_weighted_direction([side for side, _ in held], [size for _, size in held])
    return {"UP": 1, "DOWN": -1, None: 0}[says]


def _split(row: LabelledComment | LabelledWindow) -> str:
    return f"{row.platform}/{row.split}"


def _window_id(row: LabelledWindow) -> str:
    return f"{row.market}.{row.start}"
