"""The answer form of a pair: which label is asked for, with or without reasons before it, and what is read as one."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

from predibot.domain.chat import ToolSchema
from predibot.domain.decision import Decision, Label
from predibot.domain.price import PricePoint
from predibot.games.answers import LABEL, AnswerComplaint, Words, final_answer, quoted, read_json
from predibot.games.game import AnswerForm
from predibot.studies.beliefbench.games.beliefbench.words import judge_words, pair_words
from predibot.studies.beliefbench.pairs import LABELS, REASONINGS, PairItem

MAX_REASONS_CHARACTERS = 8_000
"""That are kept of what was said before the label."""


@dataclass(frozen=True, slots=True)
class PairForm(AnswerForm):
    """How a label is asked for and read, once."""

    fields: ClassVar[Collection[str]] = (LABEL,)
    seen: PairItem
    with_reasons: bool = False
    """Whether reasons come first, and the label alone on the last line."""
    judged: str | None = None
    """The reasons whose kind is asked for; None where it is how related the questions are."""
    strict: bool = False
    """Whether nothing but the bare answer is read, without marks or words around it."""

    def reasoned(self) -> "PairForm":
        """Return the form that asks for reasons first."""
        return replace(self, with_reasons=True)

    def judging(self, reasons: str) -> "PairForm":
        """Return the form that asks what kind of reasons somebody else's are."""
        return replace(self, judged=reasons)

    @property
    def labels(self) -> tuple[str, ...]:
        """Return what may be answered."""
        return LABELS if self.judged is None else REASONINGS

    @property
    def schema(self) -> ToolSchema:
        """Return the tool by which an answer is handed in."""
        label = {"type": "string", "enum": list(self.labels), "description": "The label."}
        return final_answer("Hand in your label, once.", {LABEL: label})

    @property
    def shape(self) -> str:
        """Return an answer as it is shown to a model."""
        return f'{{"{LABEL}": "{self.labels[2]}"}}'

    @property
    def ending(self) -> str:
        """Return how a prompt ends."""
        if self.with_reasons:
            return (
                "First say in a few sentences which causal, temporal or thematic links you see. Then give, on a last "
                f"line of its own, one JSON object and nothing else on that line: {self.shape}"
            )
        return f"Answer with one JSON object and nothing else: {self.shape}"

    @property
    def enough_tokens(self) -> int:
        """Return how many tokens a short answer takes."""
        return 400 if self.with_reasons else 50

    def words(self, *, history: Callable[[str], tuple[PricePoint, ...]], untrusted: Callable[[str], str]) -> Words:
        """Return what a model is told of the pair: titles and descriptions alone."""
        if self.judged is not None:
            return judge_words(self.seen, self.judged, untrusted=untrusted)
        return pair_words(self.seen, untrusted=untrusted)

    def parse(self, answer: object) -> Decision:
        """Return the decision of an answer that is `{"label": "0.4-0.6"}`, or has that alone on its last line.

        What stands before the last line, where reasons are asked for, is kept as the rationale.

        Raises:
            AnswerError: If it is anything else.
        """
        said, reasons = answer, ""
        if isinstance(said, str):
            text = said.strip()
            if self.with_reasons:
                before, _, text = text.rpartition("\n")
                reasons = before.strip()[:MAX_REASONS_CHARACTERS]
            said = read_json(text, self.fields)
        if not isinstance(said, Mapping) or list(said) != [LABEL]:
            raise AnswerComplaint(f"the answer is no object with {LABEL} alone; it is such as {self.shape}")
        label = next((label for label in self.labels if label == str(said[LABEL]).casefold()), None)
        if label is None:
            raise AnswerComplaint(f"the label is {quoted(said[LABEL])}; it is exactly one of {', '.join(self.labels)}")
        return Decision(labels=(Label(self.seen.subject_id, label),), rationale=reasons)
