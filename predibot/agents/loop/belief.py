"""An agent's belief: what it thinks while it still reads, which is no answer and is never played."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

from predibot.domain.trace import Step, ToolStep

UPDATE_BELIEF = "update_belief"
"""The tool that rewrites the belief."""
MAX_WORDS_CHARACTERS = 600
"""Of the words for, against, and of the open questions, each."""
MAX_MARKETS = 60
MAX_ID_CHARACTERS = 100


@dataclass(frozen=True, slots=True)
class Belief:
    """Probabilities with the evidence for and against, and what is still to be found out; in a model's own words."""

    probabilities: tuple[tuple[str, float], ...]
    """Market id and probability of YES, in [0, 1], of each market it is about."""
    evidence_for: str
    evidence_against: str
    open_questions: str = ""

    @classmethod
    def of(cls, arguments: Mapping[str, object]) -> Self:
        """Return the belief in the arguments of a call, its texts on one line each and cut to their length.

        Raises:
            ValueError: If a part is missing or of a wrong kind; the message says what to write.
        """
        rows = arguments.get("probabilities")
        if not isinstance(rows, Sequence) or isinstance(rows, str) or not 1 <= len(rows) <= MAX_MARKETS:
            raise ValueError(f"give probabilities as a list of 1 to {MAX_MARKETS} markets")
        texts = [arguments.get(name) or "" for name in ("evidence_for", "evidence_against", "open_questions")]
        if not all(isinstance(text, str) for text in texts):
            raise ValueError("give evidence_for, evidence_against and open_questions as text")
        if not str(texts[0]).strip() and not str(texts[1]).strip():
            raise ValueError("give evidence_for or evidence_against, or say in them that there is none")
        return cls(tuple(map(_probability, rows)), *(_one_line(str(text), MAX_WORDS_CHARACTERS) for text in texts))

    def lines(self) -> tuple[tuple[str, str], ...]:
        """Return what it says, each part with its label."""
        chances = ", ".join(f"{market_id} {probability:.3g}" for market_id, probability in self.probabilities)
        parts = (self.evidence_for, self.evidence_against, self.open_questions)
        labels = ("evidence for", "evidence against", "open questions")
        return (("belief", chances), *((label, text) for label, text in zip(labels, parts, strict=True) if text))


def last_belief(steps: Iterable[Step]) -> Belief | None:
    """Return the last belief of a trace, or None."""
    found = None
    for step in steps:
        if isinstance(step, ToolStep) and step.name == UPDATE_BELIEF and isinstance(step.arguments, Mapping):
            try:
                found = Belief.of(step.arguments)
            except ValueError:
                # It was refused then too, so the one before stands.
                continue
    return found


def _probability(row: object) -> tuple[str, float]:
    match row:
        case {"market_id": str(market_id), "probability": float() | int() as probability} if (
            market_id.strip() and not isinstance(probability, bool) and 0.0 <= probability <= 1.0
        ):
            return _one_line(market_id, MAX_ID_CHARACTERS), float(probability)
    raise ValueError("each of probabilities has a market_id as text and a probability from 0 to 1")


def _one_line(text: str, characters: int) -> str:
    return " ".join(text[: 4 * characters].split())[:characters]
