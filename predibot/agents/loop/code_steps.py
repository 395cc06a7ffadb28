"""smolagents' loop over code: the model writes Python, a container runs it, its calls are made out here.

Importing this module imports smolagents, which costs 0.3 s; only a loop that
runs does. smolagents' own executor for this machine is no sandbox and is never
used.
"""

from collections.abc import Mapping
from typing import Any

import smolagents
from smolagents.local_python_executor import CodeOutput, PythonExecutor
from smolagents.models import ChatMessage, MessageRole

from predibot.agents.loop.code_tools import offered_tools, parameter_names
from predibot.agents.loop.container import CodeFailed, Container, ContainerSpec
from predibot.agents.loop.evidence import ERROR, Told
from predibot.agents.loop.tool_loop import Talk
from predibot.agents.loop.transcript import MAX_OLD_WORDS, cut
from predibot.domain.chat import ChatRequest, Message, ToolSchema
from predibot.domain.trace import CodeStep
from predibot.errors import AnswerError
from predibot.games.answers import FINAL_ANSWER

CODE_SECONDS = 120.0
"""How long one piece of code may run, its calls included."""
_TAGS = ("<code>", "</code>")
_OLD_CHARACTERS = 700
_NO_CODE = f"There is no piece of Python in what you wrote; write it between {_TAGS[0]} and {_TAGS[1]}."


def code_through(talk: Talk, prompt: str, spec: ContainerSpec, *, max_steps: int) -> None:
    """Let smolagents run piece after piece of code until an answer is taken.

    Whatever else the model or a call raises comes out of here as it was raised.

    Args:
        talk: With the model, its research and the limits.
        prompt: What it is asked.
        spec: Of the container.
        max_steps: More than the limits allow: at its own end smolagents would
            ask for free text and call it an answer.
    """
    calls = _Calls(talk)
    with Container(spec, calls.perform) as container:
        agent = smolagents.CodeAgent(
            tools=[_Tool(schema) for schema in offered_tools(talk.research, talk.form)],
            model=_Model(talk),
            executor=_Executor(container, talk, calls),
            code_block_tags=_TAGS,
            max_steps=max_steps,
            verbosity_level=smolagents.LogLevel.OFF,
            step_callbacks=[_let_out],
        )
        try:
            agent.run(prompt)
        except smolagents.AgentGenerationError as error:
            raise error.__cause__ or error from None


class _Calls:
    """The calls of the code; the container's word is never enough for a decision."""

    def __init__(self, talk: Talk) -> None:
        self._talk = talk
        self._complaint = ""

    def perform(self, name: str, arguments: Mapping[str, object]) -> Mapping[str, object]:
        """Return the answer to a call."""
        talk = self._talk
        if name == FINAL_ANSWER:
            try:
                talk.take(arguments)
            except AnswerError as error:
                self._complaint = f"final_answer: {talk.told_complaint(error)}"
                talk.write_tool(name, arguments, Told.own(f"{ERROR} {error}"))
                return {"error": str(error)}
            talk.write_tool(name, arguments, Told.own("taken"))
            return {"taken": True}
        if name not in talk.research.tools():
            return {"error": f"there is no tool {name[:60]!r}"}
        told = talk.look_up(name, arguments)
        talk.write_tool(name, arguments, told)
        # The code may take it apart, so the fence goes around all that the code prints.
        return {"result": f"{ERROR} {told.words}" if told.outcome in ("error", "limit") else told.words}

    def seen(self, printed: str) -> str:
        """Return what the model sees of what its code printed: untrusted text, and our complaint on its answer."""
        fenced = self._talk.research.fence.around(printed) if printed.strip() else ""
        said, self._complaint = self._complaint, ""
        return "\n".join(filter(None, (fenced, said)))


class _Executor(PythonExecutor):  # type: ignore[misc]
    """The container in the form smolagents calls an executor; nothing of this machine is sent into it."""

    def __init__(self, container: Container, talk: Talk, calls: _Calls) -> None:
        self._container = container
        self._talk = talk
        self._calls = calls

    def send_tools(self, tools: object) -> None:
        """Do nothing: the container has the names of the tools, and their code stays here."""

    def send_variables(self, variables: object) -> None:
        """Do nothing: there are none."""

    def __call__(self, code_action: str) -> CodeOutput:
        """Return what the code printed, in the fence, and whether an answer was taken while it ran."""
        self._talk.write(CodeStep(code_action))
        allowed_seconds = min(CODE_SECONDS, self._talk.left_seconds())
        try:
            printed = self._container.run(code_action, deadline_seconds=allowed_seconds)
        except CodeFailed as error:
            raise CodeFailed(self._calls.seen(str(error))) from error
        return CodeOutput(output=None, logs=self._calls.seen(printed), is_final_answer=self._talk.decision is not None)


class _Tool(smolagents.Tool):  # type: ignore[misc]
    """One of our tools as smolagents describes it to a model that writes code."""

    output_type = "string"
    skip_forward_signature_validation = True

    def __init__(self, schema: ToolSchema) -> None:
        self.name = schema.name
        self.description = f"{schema.description} Its arguments as a JSON schema: {dict(schema.parameters)}"
        self.inputs = {name: {"type": "any", "description": name, "nullable": True} for name in parameter_names(schema)}
        super().__init__()

    def forward(self, **_: object) -> str:
        """Refuse: calls come through the pipe."""
        raise NotImplementedError("a tool is called inside the container only")


class _Model(smolagents.Model):  # type: ignore[misc]
    """Our model in the form smolagents calls one."""

    def __init__(self, talk: Talk) -> None:
        super().__init__(model_id=talk.model.name)
        self._talk = talk

    def generate(self, messages: list[Any], **_: object) -> ChatMessage:
        """Return what the model writes, up to the end of its first piece of code."""
        reply = self._talk.reply(lambda: _request(self._talk, messages))
        if _TAGS[0] in reply.message.text and reply.finish_reason != "length":
            self._talk.unusable = 0
        else:
            self._talk.count_unusable(_NO_CODE)
        # Half a piece of code is not run; what follows a piece is what the model imagines it returned.
        text = "(cut off)" if reply.finish_reason == "length" else reply.message.text
        return ChatMessage(role=MessageRole.ASSISTANT, content=text.partition(_TAGS[1])[0])


def _request(talk: Talk, messages: list[Any]) -> ChatRequest:
    """Return smolagents' conversation as ours, earlier observations shortened, the board at its end."""
    latest = max((row for row, message in enumerate(messages) if _role(message) == "tool-response"), default=-1)
    sent = [_message(talk, message, whole=row >= latest or row < 2) for row, message in enumerate(messages)]
    if board := talk.research.board_text():
        sent.append(Message("user", board))
    if talk.submit_only:
        sent.append(Message("user", f"Call final_answer now, with what you know ({talk.submit_only})."))
    return ChatRequest(tuple(sent), max_output_tokens=talk.max_output_tokens())


def _message(talk: Talk, message: Any, *, whole: bool) -> Message:
    role, content = _role(message), message.content
    text = content if isinstance(content, str) else "\n".join(part.get("text", "") for part in content or ())
    if role in ("assistant", "tool-call"):
        return Message("assistant", cut(text, MAX_OLD_WORDS) if whole else cut(text, _OLD_CHARACTERS))
    fence = talk.research.fence
    short = text if whole else cut(text, _OLD_CHARACTERS)
    unclosed = short.rfind(fence.opening) > short.rfind(fence.closing)
    return Message("system" if role == "system" else "user", f"{short}\n{fence.closing}" if unclosed else short)


def _role(message: Any) -> str:
    return str(getattr(message.role, "value", message.role))


def _let_out(step: Any, agent: object = None) -> None:
    """Raise what a call of the code raised, which smolagents would only tell the model."""
    error = step.error
    if isinstance(error, smolagents.AgentParsingError):
        # smolagents would say what the model wrote once more, in words that look like ours.
        error.args = (_NO_CODE,)
    told = isinstance(error, smolagents.AgentGenerationError | smolagents.AgentParsingError)
    if error is None or told or isinstance(error.__context__, CodeFailed):
        return
    raise error.__context__ or error
