"""An agent's belief: what it thinks while it still reads, which is no answer and is never played."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Self

from predibot.domain.trace import Step, ToolStep
from predibot.domain.untrusted_text import cut_line
from predibot.errors import AnswerError
from predibot.games.answers import AnswerComplaint, list_ids, quoted

UPDATE_BELIEF = "update_belief"
"""The tool that rewrites the belief."""
ERROR = "error:"
"""Tells the model that a call failed."""
MAX_WORDS_CHARACTERS = 600
"""The most characters of each of `evidence_for`, `evidence_against` and `open_questions`."""
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
        """Return the belief in the arguments of a call, each text on one line and cut to `MAX_WORDS_CHARACTERS`.

        Open questions and one kind of evidence may be missing. Raises `AnswerError` if another part is missing or of a
        wrong kind; the message says what to write.
        """
        rows = arguments.get("probabilities")
        if not isinstance(rows, Sequence) or isinstance(rows, str) or not 1 <= len(rows) <= MAX_MARKETS:
            raise AnswerError(f"give probabilities as a list of 1 to {MAX_MARKETS} markets")
        texts = [arguments.get(name) or "" for name in ("evidence_for", "evidence_against", "open_questions")]
        if not all(isinstance(text, str) for text in texts):
            raise AnswerError("give evidence_for, evidence_against and open_questions as text")
        words = [cut_line(str(text), MAX_WORDS_CHARACTERS) for text in texts]
        if not words[0] and not words[1]:
            raise AnswerError("give evidence_for or evidence_against, or say in them that there is none")
        return cls(tuple(map(_probability, rows)), *words)

    def require_markets(self, market_ids: Collection[str]) -> None:
        """Raise `AnswerComplaint` if a market is named twice, or is none of the known ones, where any are known; the
        message says what to write.
        """
        names = [market_id for market_id, _ in self.probabilities]
        for market_id in names:
            if market_ids and market_id not in market_ids:
                raise AnswerComplaint(
                    f"there is no market {quoted(market_id)} here; write one of {list_ids([*market_ids])}"
                )
            if names.count(market_id) > 1:
                raise AnswerComplaint(
                    f"market {quoted(market_id)} is given {names.count(market_id)} times; give it once"
                )

    def lines(self) -> tuple[tuple[str, str], ...]:
        """Return what it says, each part with its label."""
        chances = ", ".join(
            f"{cut_line(market_id, MAX_ID_CHARACTERS)} {probability:.3g}"
            for market_id, probability in self.probabilities
        )
        parts = (self.evidence_for, self.evidence_against, self.open_questions)
        labels = ("evidence for", "evidence against", "open questions")
        return (("belief", chances), *((label, text) for label, text in zip(labels, parts, strict=True) if text))


def last_belief(steps: Iterable[Step]) -> Belief | None:
    """Return the last belief of a trace, or None."""
    found = None
    for step in steps:
        if not isinstance(step, ToolStep) or step.name != UPDATE_BELIEF or step.result.startswith(ERROR):
            # One that was refused leaves the one before.
            continue
        if isinstance(step.arguments, Mapping):
            with suppress(AnswerError):
                found = Belief.of(step.arguments)
    return found


def _probability(row: object) -> tuple[str, float]:
    match row:
        case {"market_id": str(market_id), "probability": float() | int() as probability} if (
            market_id.strip() and not isinstance(probability, bool) and 0.0 <= probability <= 1.0
        ):
            return market_id, float(probability)
    raise AnswerError("each of probabilities has a market_id as text and a probability from 0 to 1")
