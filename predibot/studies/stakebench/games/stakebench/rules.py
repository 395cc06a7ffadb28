"""The game of labelling comments: its items, prompts, answers and references."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal, get_args

from pydantic import Field

from predibot.domain.decision import Decision, Label, Subject
from predibot.domain.event import Event
from predibot.domain.price import PricePoint
from predibot.domain.untrusted_text import paragraph, title_line
from predibot.errors import UsageError
from predibot.games.answers import LABEL, AnswerComplaint, Words, quoted, words_of_label
from predibot.studies.label_game import ItemReferences, LabelForm, LabelGame, Learnt, Rows, freeze_item
from predibot.studies.stakebench.cleaning import MONEY_SIGNS
from predibot.studies.stakebench.tasks import CROWD, NEUTRAL, TASKS, Item, TaskName, draw_items, subject_kind

MAX_COMMENT_CHARACTERS = 4_000
MAX_WINDOW_CHARACTERS = 60_000
"""All comments of a window are cut alike to fit."""


_SIDE = (
    "You read a comment from below a question on a prediction market, and say on which side its writer has put money.",
    f"""Say which side of the question the writer's words show them to hold. What counts is what they hold, not who
will turn out right, and not whether the tone is friendly.
- YES: they speak as somebody who gains if the question is answered YES.
- NO: they speak as somebody who gains if it is answered NO.
- {NEUTRAL}: the words lean neither way, weigh both, or only pass on information.
Where the question is about a price, expecting it to rise is YES and expecting it to fall is NO; slang for a rise or a
fall counts as saying so.""",
)
_ACTION = (
    "You read a comment from below a question on a prediction market, know what its writer holds there, and say what "
    "they do next."
)
_WHAT_IS_DONE = "Say what the writer does first within the 48 hours after the comment:"
_ACTIONS = {
    "flip": "they change over to the other side",
    "increase": "they add to what they hold",
    "decrease": "they sell a part of it, or all of it",
    "hold": "they change nothing, or too little to count",
}
_TASKS = {
    "G1": (
        "You read a comment from below a question on a prediction market, and say whether its writer has money on it.",
        """Say whether the writer held a position in this very market when they wrote the comment: YES or NO.

An example. Comment: "Bought more this morning, I'm in until the vote." Answer: YES""",
    ),
    "G2": _SIDE,
    "G2before": _SIDE,
    "G4": (
        "You read what holders of positions wrote below a question on a prediction market, and say where its price "
        "goes.",
        f"""Say where the mean price of YES goes from the stretch in which these comments were written to the next one,
which is as long: UP, DOWN, or {NEUTRAL} if the comments do not tell.""",
    ),
}


_OBJECTIVE = (
    "What counts is how often your label is the one that the records of the market show; make that as often as you "
    "can. Each label counts, the rare ones too, and an answer that is none of them is wrong. Nothing is bet."
)


_OWN_FIELDS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("G2", "G2before"), ("topic",)),
    **dict.fromkeys(("G3", "G3f", "G3d"), ("side", "size")),
    "G4": ("price",),
}


def _parts(item: Item, *, price_blind: bool, untrusted: Callable[[str], str]) -> Mapping[str, str]:
    shown_price = "not shown" if price_blind or item.price is None else f"{item.price:.2f}"
    size = "" if item.size is None else f"{MONEY_SIGNS[item.platform]}{item.size:,.0f}"
    every = {"topic": item.topic, "side": item.side or "", "size": size, "price": shown_price}
    return {
        "question": untrusted(title_line(item.question)),
        "comments": untrusted("\n\n".join(_cut_comments(item))),
        **{name: every[name] for name in _OWN_FIELDS.get(item.task, ())},
    }


def _cut_comments(item: Item) -> list[str]:
    most = min(MAX_COMMENT_CHARACTERS, MAX_WINDOW_CHARACTERS // max(1, len(item.texts)))
    return [paragraph(text, most) for text in item.texts]


def _view(item: Item, *, price_blind: bool, untrusted: Callable[[str], str]) -> str:
    parts = ["# The comments" if item.price is not None else "# The comment"]
    shown = [f"question: {title_line(item.question)}"]
    if item.task in ("G2", "G2before"):
        parts.append(f"Topic of the market: {item.topic}")
    if item.price is not None and not price_blind:
        parts.append(f"Mean price of YES while these were written: {item.price:.2f}")
    if item.side is not None and item.size is not None:
        parts.append(f"What the writer holds: {item.side}, staked {MONEY_SIGNS[item.platform]}{item.size:,.0f}")
    comments = _cut_comments(item)
    numbers = [""] if len(comments) == 1 else [f" {number}" for number in range(1, len(comments) + 1)]
    shown += [f"comment{number}: {text}" for number, text in zip(numbers, comments, strict=True)]
    return "\n\n".join([*parts, untrusted("\n\n".join(shown))])


@dataclass(frozen=True, slots=True)
class TextForm(LabelForm):
    """The prompt and the parser for the label of a text."""

    tool_description: ClassVar = "Hand in your label, once, alone."
    enough_tokens: ClassVar = 50
    price_blind: bool = False

    @property
    def labels(self) -> tuple[str, ...]:
        """Return the labels of its task."""
        return TASKS[self.item.task]

    @property
    def shape(self) -> str:
        """Return the labels as they are shown to a model."""
        return ", ".join(self.labels)

    @property
    def ending(self) -> str:
        """Return how a prompt ends."""
        return f"Answer with exactly one of these and nothing else: {self.shape}"

    def words(self, *, history: Callable[[str], tuple[PricePoint, ...]], untrusted: Callable[[str], str]) -> Words:
        """Return the prompt about the text."""
        listed = "\n".join(f"- {label}: {_ACTIONS[label]}" for label in self.labels if label in _ACTIONS)
        task, ask = _TASKS.get(self.item.task) or (_ACTION, f"{_WHAT_IS_DONE}\n{listed}")
        return words_of_label(
            task,
            _OBJECTIVE,
            _view(self.item, price_blind=self.price_blind, untrusted=untrusted),
            ask,
            self.labels,
            report_about="on this text",
            extract_about="about a text",
            parts=_parts(self.item, price_blind=self.price_blind, untrusted=untrusted),
        )

    def parse(self, answer: object) -> Decision:
        """Return the decision of an answer that is one allowed label in any case and space.

        Raises `AnswerError` for any other.
        """
        text = answer[LABEL] if isinstance(answer, Mapping) and list(answer) == [LABEL] else answer
        if not isinstance(text, str):
            raise AnswerComplaint(f"the answer is {quoted(text)}; it is one of {self.shape}")
        label = self.find_label(text.strip())
        if label is None:
            raise AnswerComplaint(f"the answer is {quoted(text.strip().casefold())}; it is exactly one of {self.shape}")
        return Decision(labels=(Label(self.item.subject_id, label),))


FOLDS = 5


@dataclass(frozen=True, slots=True)
class Reference:
    """What a baseline may know of one item."""

    stakes: tuple[tuple[str, float], ...]
    """Sides and sizes of the writers of a window; empty for a single comment, whose writer is in question."""
    examples: tuple[Item, ...]
    """Items of the same task and platform with their truth, from markets of other folds."""
    _run: "StakebenchReferences"
    _key: tuple[str, str, int]

    def learnt(self, name: str, learn: Callable[[Sequence[Item]], Learnt]) -> Learnt:
        """Return a lesson from the examples, in the order of their ids, learnt once for all items of a fold.

        `name` is the learner's, with its settings; equal names share a lesson.
        """
        return self._run.once((name, *self._key), lambda: learn(self.examples))


class StakebenchReferences(ItemReferences):
    """What baselines may know of the texts of a run."""

    needs: ClassVar = "truth"
    noun: ClassVar = "texts"

    def of(self, subject_id: str) -> Reference:
        """Return what may be known about a subject; raise `UsageError` if there is no such subject."""
        item: Item = self.find_item(subject_id)
        key = (item.task, item.platform, self._folds[item.market])
        examples: tuple[Item, ...] = self.once(("examples", *key), lambda: self._examples(*key))
        stakes = item.truth.stakes if item.truth is not None and len(item.texts) > 1 else ()
        return Reference(stakes, examples, self, key)

    @property
    def _folds(self) -> dict[str, int]:
        """The part of the markets that each belongs to, in turn: two markets are enough to learn from another."""
        return self.once(("folds",), lambda: {market: n % FOLDS for n, market in enumerate(self._markets())})

    def _markets(self) -> list[str]:
        return sorted({item.market for item in self.items.values()})

    def _examples(self, task: str, platform: str, fold: int) -> tuple[Item, ...]:
        return tuple(
            item
            for _, item in sorted(self.items.items())
            if item.task == task and item.platform == platform and self._folds[item.market] != fold
        )


@dataclass(frozen=True, slots=True)
class Stakebench(LabelGame):
    """Labels for comments: who holds a position, on which side, what follows, and where the odds go."""

    name: ClassVar = "stakebench"
    item: ClassVar = Item
    item_noun: ClassVar = "text"
    per_split: Annotated[int, Field(ge=12, le=100_000)] = 200
    """At most so many items of each task, topic and platform."""
    tasks: tuple[TaskName, ...] = get_args(TaskName)
    """Which are asked: G1 to G4, G3f and G3d with two labels, G2before for an audit."""
    labels: Literal["lenient", "strict"] = "lenient"
    """Whether words around a label are ignored, or only the bare label is read."""

    def __post_init__(self) -> None:
        """Refuse a list of tasks that asks for none, or for one twice."""
        if not self.tasks or len(set(self.tasks)) < len(self.tasks):
            raise ValueError(f"tasks are {list(self.tasks)}; name at least one, each once")

    @property
    def view_fields(self) -> Mapping[str, bool]:
        """Return the question, the comments, and what all of its tasks show."""
        own = set.intersection(*({*_OWN_FIELDS.get(task, ())} for task in self.tasks))
        return {"question": True, "comments": True, **dict.fromkeys(sorted(own), False)}

    def drawn(self, rows: Rows, seed: int) -> tuple[tuple[Event, ...], tuple[str, ...]]:
        """Return the items of a run as events to be frozen, and notes.

        Raises `UsageError` if the rows do not go together.
        """
        try:
            found = draw_items(rows, tasks=self.tasks, per_split=self.per_split, seed=seed)
        except ValueError as error:
            raise UsageError(f"the data set cannot be played: {error}") from None
        asked = [freeze_item(item, item.question, f"{item.task} {item.split}") for item in found.items]
        crowds = [
            Event(f"{CROWD}/{split}", f"{CROWD} of {split}", (), payload=json.dumps({"won": won, "counted": counted}))
            for split, (won, counted) in found.crowds.items()
        ]
        return (*asked, *crowds), found.notes

    def subjects(self, events: Sequence[Event]) -> tuple[Subject, ...]:
        """Return one subject for each text that is asked about."""
        named = ((event.id.partition("/")[0], event.id) for event in events)
        return tuple(Subject(subject_kind(task), id_) for task, id_ in named if task in TASKS)

    def form(self, view: Item, *, price_blind: bool = False) -> TextForm:
        """Return how a label is asked for and read."""
        return TextForm(view, price_blind=price_blind, strict=self.labels == "strict")

    def references(self, events: Sequence[Event]) -> StakebenchReferences:
        """Return what baselines may know, from all texts of a run with their truth."""
        asked = {event.id for event in events if event.id.partition("/")[0] in TASKS}
        return StakebenchReferences({event.id: Item.from_json(event.payload) for event in events if event.id in asked})

    def allowed(self, view: Item) -> tuple[tuple[str, ...], ...]:
        """Return the labels of its task."""
        return (TASKS[view.task],)
