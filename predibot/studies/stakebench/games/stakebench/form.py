"""The answer form of a label: what is asked, and what is taken for an answer."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import ClassVar

from predibot.domain.chat import ToolSchema
from predibot.domain.decision import Decision, Label
from predibot.domain.price import PricePoint
from predibot.games.answers import LABEL, AnswerComplaint, Words, final_answer, quoted
from predibot.games.game import AnswerForm
from predibot.studies.stakebench.games.stakebench.words import label_words
from predibot.studies.stakebench.tasks import TASKS, Item


@dataclass(frozen=True, slots=True)
class LabelForm(AnswerForm):
    """How a label is asked for and read, once."""

    fields: ClassVar[Collection[str]] = (LABEL,)
    enough_tokens: ClassVar = 50
    seen: Item
    price_blind: bool = False
    """Whether the price is left out of the words, where there is one."""
    strict: bool = False
    """Whether nothing but the bare answer is read, without marks or words around it."""

    @property
    def labels(self) -> tuple[str, ...]:
        """Return what may be answered."""
        return TASKS[self.seen.task].labels

    @property
    def schema(self) -> ToolSchema:
        """Return the tool by which an answer is handed in."""
        label = {"type": "string", "enum": list(self.labels), "description": "The label."}
        return final_answer("Hand in your label, once, alone.", {LABEL: label})

    @property
    def shape(self) -> str:
        """Return the labels as they are shown to a model."""
        return ", ".join(self.labels)

    @property
    def ending(self) -> str:
        """Return how a prompt ends."""
        return f"Answer with exactly one of these and nothing else: {self.shape}"

    def words(self, *, history: Callable[[str], tuple[PricePoint, ...]], untrusted: Callable[[str], str]) -> Words:
        """Return what a model is told about the text."""
        return label_words(self.seen, self.labels, price_blind=self.price_blind, untrusted=untrusted)

    def parse(self, answer: object) -> Decision:
        """Return the decision of an answer that is exactly one allowed label, apart from case and space.

        Raises:
            AnswerError: If it is anything else.
        """
        said = answer
        if isinstance(said, Mapping) and list(said) == [LABEL]:
            said = said[LABEL]
        if not isinstance(said, str):
            raise AnswerComplaint(f"the answer is {quoted(said)}; it is one of {self.shape}")
        word = said.strip().casefold()
        label = next((label for label in self.labels if label.casefold() == word), None)
        if label is None:
            raise AnswerComplaint(f"the answer is {quoted(word)}; it is exactly one of {self.shape}")
        return Decision(labels=(Label(self.seen.subject_id, label),))
