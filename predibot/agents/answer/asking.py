"""Asking: one model that is asked until its answer holds, for so long and with so many repairs."""

from collections.abc import Callable
from dataclasses import dataclass, field

from predibot.agents.answer.result import MAX_REASON_CHARACTERS, MAX_REPAIRS, LoopEnded
from predibot.contracts import ChatModel
from predibot.domain.chat import ChatReply, ChatRequest


@dataclass(slots=True)
class Asking:
    """What is counted while a model is asked, whatever it is asked in."""

    model: ChatModel
    """Metered, so that a limit shows as `BudgetSpent`."""
    seconds: float
    """For the answer and its repairs together."""
    clock: Callable[[], float]
    most_repairs: int = MAX_REPAIRS
    replies: int = 0
    repairs: int = 0
    complaint: str = ""
    """The latest about an answer."""
    began: float = field(init=False)

    def __post_init__(self) -> None:
        """See when it begins."""
        self.began = self.clock()

    def ask(self, request: ChatRequest) -> ChatReply:
        """Return what the model answers.

        Raises:
            LoopEnded: If there is no time left, or the model refuses to answer.
            BudgetSpent: If it does not fit the budget.
            ModelError: If the model could not be reached, or refuses for good.
        """
        left_seconds = self.left_seconds()
        if left_seconds <= 0:
            raise LoopEnded(f"no answer within {self.seconds:g} seconds{self.after_complaint()}")
        reply = self.model.chat(request, deadline_seconds=left_seconds)
        self.replies += 1
        if refusal := refusal_of(reply):
            raise LoopEnded(refusal)
        return reply

    def left_seconds(self) -> float:
        """Return how long it may still take."""
        return self.seconds - (self.clock() - self.began)

    def repair(self, complaint: str) -> bool:
        """Count an answer that did not hold, and return whether another may follow."""
        self.complaint = complaint
        self.repairs += 1
        return self.repairs <= self.most_repairs

    def not_held(self) -> LoopEnded:
        """Return how it ends where none may follow."""
        return LoopEnded(f"no answer held after {self.most_repairs} repairs{self.after_complaint()}")

    def after_complaint(self) -> str:
        """Return how a reason ends: with the latest complaint, if there was one."""
        return f"; the last complaint: {self.complaint}" if self.complaint else ""


def refusal_of(reply: ChatReply) -> str:
    """Return why a model answered nothing at all, or no text."""
    said = f"the model refused to answer: {reply.refusal or reply.message.text}"
    return said[:MAX_REASON_CHARACTERS] if reply.finish_reason == "refusal" else ""
