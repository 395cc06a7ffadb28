"""Asking a model until its answer is valid, within limits of time and repairs."""

from collections.abc import Callable
from dataclasses import dataclass, field

from predibot.agents.answer.result import MAX_REASON_CHARACTERS, MAX_REPAIRS, LoopEnd
from predibot.contracts import ChatModel
from predibot.domain.chat import ChatReply, ChatRequest


@dataclass(slots=True)
class ModelDialogue:
    """One conversation with a model: its time, its replies and its repairs."""

    model: ChatModel
    """Metered, so that a limit shows as `BudgetSpent`."""
    seconds: float
    clock: Callable[[], float]
    most_repairs: int = MAX_REPAIRS
    replies: int = 0
    repairs: int = 0
    complaint: str = ""
    """About the latest answer that was not valid."""
    began: float = field(init=False)

    def __post_init__(self) -> None:
        """Note the start."""
        self.began = self.clock()

    def ask(self, request: ChatRequest) -> ChatReply:
        """Return the model's reply. Raises `LoopEnd` if no time is left or the model refuses to answer, `BudgetSpent`
        if the call does not fit the budget, and `ModelError` as `ChatModel.chat` does.
        """
        left_seconds = self.left_seconds()
        if left_seconds <= 0:
            raise LoopEnd(f"no answer within {self.seconds:g} seconds{self.complaint_suffix()}")
        reply = self.model.chat(request, deadline_seconds=left_seconds)
        self.replies += 1
        if refusal := refusal_of(reply):
            raise LoopEnd(refusal)
        return reply

    def left_seconds(self) -> float:
        """Return the time that is left."""
        return self.seconds - (self.clock() - self.began)

    def repair(self, complaint: str) -> bool:
        """Count an invalid answer, and return whether the model may try again."""
        self.complaint = complaint
        self.repairs += 1
        return self.repairs <= self.most_repairs

    def too_many_repairs(self) -> LoopEnd:
        """Return the error for an answer that stayed invalid."""
        return LoopEnd(f"no answer held after {self.most_repairs} repairs{self.complaint_suffix()}")

    def complaint_suffix(self) -> str:
        """Return the latest complaint as the end of an error message; empty if there was none."""
        return f"; the last complaint: {self.complaint}" if self.complaint else ""


def refusal_of(reply: ChatReply) -> str:
    """Return why a model refused to answer; empty if it answered."""
    if reply.finish_reason != "refusal":
        return ""
    return f"the model refused to answer: {reply.refusal or reply.message.text}"[:MAX_REASON_CHARACTERS]
