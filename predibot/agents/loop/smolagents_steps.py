"""smolagents' loop over our turns: it steps and dispatches, we decide what is asked and what is taken.

Importing this module imports smolagents, which costs 0.3 s; only a loop that
runs does.
"""

from collections.abc import Iterable
from typing import Any, Protocol

import smolagents
from smolagents.agents import EMPTY_PROMPT_TEMPLATES
from smolagents.models import (
    ChatMessage,
    ChatMessageToolCall,
    ChatMessageToolCallFunction,
    MessageRole,
)

from predibot.domain.chat import ToolCall
from predibot.errors import AnswerError


class Turns(Protocol):
    """What is asked next, and what a call returns."""

    def next_call(self) -> ToolCall:
        """Return the call that is to be made next, talking to the model where none waits."""
        ...

    def perform(self, call_id: str) -> str:
        """Return what a call returns.

        Raises:
            AnswerError: If it hands in an answer that is not taken; the model was told.
        """
        ...


class _Model(smolagents.Model):  # type: ignore[misc]
    """Our turns in the form smolagents calls a model."""

    def __init__(self, turns: Turns, name: str) -> None:
        super().__init__(model_id=name)
        self._turns = turns

    def generate(self, _messages: object, **_: object) -> ChatMessage:
        """Return one call a step: smolagents makes several in threads that outlive Ctrl-C."""
        call = self._turns.next_call()
        # Only the id travels through smolagents, which reads JSON leniently and
        # replaces arguments that are equal to a key of its state.
        function = ChatMessageToolCallFunction(name=call.name, arguments={"call_id": call.id})
        calls = [ChatMessageToolCall(id=call.id, type="function", function=function)]
        return ChatMessage(role=MessageRole.ASSISTANT, content=None, tool_calls=calls)


class _Tool(smolagents.Tool):  # type: ignore[misc]
    """One of our tools in the form smolagents calls one."""

    description = "The model is told by our own schema."
    inputs = {"call_id": {"type": "string", "description": "The call that is made."}}  # noqa: RUF012
    output_type = "string"

    def __init__(self, turns: Turns, name: str) -> None:
        self.name = name
        self._turns = turns
        super().__init__()

    def forward(self, call_id: str) -> str:
        """Return what the call returns."""
        return self._turns.perform(call_id)


def step_through(turns: Turns, names: Iterable[str], *, model_name: str, max_steps: int) -> None:
    """Let smolagents make call after call until one of `final_answer` returns.

    Whatever else a turn or a call raises comes out of here as it was raised.

    Args:
        turns: What is asked and made.
        names: Of all tools, `final_answer` among them.
        model_name: Shown in smolagents' own records.
        max_steps: More than the turns allow: at its own end smolagents would
            ask for free text and call it an answer.
    """
    agent = smolagents.ToolCallingAgent(
        tools=[_Tool(turns, name) for name in names],
        model=_Model(turns, model_name),
        # Nobody reads its own prompts, and making them costs more than its steps.
        prompt_templates=EMPTY_PROMPT_TEMPLATES,
        max_steps=max_steps,
        verbosity_level=smolagents.LogLevel.OFF,
        step_callbacks=[_let_out],
    )
    try:
        agent.run("The task is in our transcript.")
    except smolagents.AgentGenerationError as error:
        # smolagents calls everything that a model raises a generation error.
        raise error.__cause__ or error from None


def _let_out(step: Any, agent: object = None) -> None:
    """Raise what a tool raised, which smolagents would only tell the model; a complaint is told already."""
    cause = getattr(step.error, "__cause__", None)
    if isinstance(step.error, smolagents.AgentGenerationError) or isinstance(cause, AnswerError):
        return
    if step.error is not None:
        raise cause or step.error
