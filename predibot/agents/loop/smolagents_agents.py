"""smolagents' agents with our models and tools: smolagents runs the steps and keeps the memory.

Importing this module imports smolagents, which takes 0.3 s, so only a running loop does. smolagents' own local executor
is no sandbox and is never used.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import smolagents
from smolagents.agents import EMPTY_PROMPT_TEMPLATES
from smolagents.local_python_executor import CodeOutput, PythonExecutor
from smolagents.models import ChatMessage, ChatMessageToolCall, ChatMessageToolCallFunction, MessageRole

from predibot.agents.answer.result import MAX_REPAIRS
from predibot.agents.loop.belief import ERROR
from predibot.agents.loop.container import CodeError, Container, ContainerSpec, Parameters
from predibot.agents.loop.tool_loop import Talk
from predibot.agents.loop.turns import MAX_OLD_WORDS, ModelTurn, cut
from predibot.agents.prompts.untrusted_text import complaint_for_model
from predibot.domain.chat import ChatRequest, Message, ToolSchema
from predibot.domain.trace import CodeStep
from predibot.errors import AnswerError
from predibot.games.answers import FINAL_ANSWER, read_json

CODE_SECONDS = 120.0
"""How long one piece of code may run, its calls included."""
_TAGS = ("<code>", "</code>")
_OLD_CHARACTERS = 700
_NO_CODE = f"There is no piece of Python in what you wrote; write it between {_TAGS[0]} and {_TAGS[1]}."


def run_tool_agent(talk: Talk) -> None:
    """Let smolagents' `ToolCallingAgent` call tools until an answer is taken; raise other errors unchanged."""
    _run(
        _ToolAgent,
        talk,
        tools=[_Tool(schema, talk) for schema in talk.available_tools()],
        model=_ToolModel(talk),
        # Our own prompt has the instructions, and rendering smolagents' templates takes longer than a step.
        prompt_templates=EMPTY_PROMPT_TEMPLATES,
        final_answer_checks=[lambda answer, memory, agent: talk.take_answer(answer)],
    )


def run_code_agent(talk: Talk, container: Callable[[Parameters], ContainerSpec]) -> None:
    """Let smolagents' `CodeAgent` run code in a container until an answer is taken; raise other errors unchanged."""
    tools = [_Tool(schema, talk) for schema in talk.available_tools()]
    executor, spec = _Executor(talk), container({tool.name: tuple(tool.inputs) for tool in tools})
    with Container(spec, executor.perform) as executor.container:
        more = {"executor": executor, "code_block_tags": _TAGS}
        _run(smolagents.CodeAgent, talk, tools=tools, model=_CodeModel(talk), **more)


def _run(kind: Any, talk: Talk, **more: Any) -> None:
    # More steps than the limits allow: at its own end smolagents would ask for free text and call it an answer.
    most = {"max_steps": talk.limits.max_steps + MAX_REPAIRS + 2}
    agent = kind(verbosity_level=smolagents.LogLevel.OFF, step_callbacks=[_raise_unexpected], **most, **more)
    try:
        agent.run(talk.prompt)
    except smolagents.AgentGenerationError as error:
        # smolagents wraps whatever a model raises in a generation error.
        raise error.__cause__ or error from None


def _raise_unexpected(step: Any, agent: object = None) -> None:
    """Raise the error of a call or check, unless the model gets to read and mend it."""
    error = step.error
    cause = getattr(error, "__context__", None)
    if error is None or isinstance(cause, AnswerError | CodeError):
        return
    if isinstance(error, smolagents.AgentParsingError) and isinstance(cause, ValueError):
        # smolagents would repeat the model's text in words that look like ours.
        error.args = (_NO_CODE,)
        return
    raise cause or error


class _Tool(smolagents.Tool):  # type: ignore[misc]
    """One of our tools, as smolagents wants it."""

    output_type = "string"
    skip_forward_signature_validation = True

    def __init__(self, schema: ToolSchema, talk: Talk) -> None:
        properties = schema.parameters["properties"]
        names = properties if isinstance(properties, Mapping) else {}
        self.name = schema.name
        self.description = f"{schema.description} Its arguments as a JSON schema: {dict(schema.parameters)}"
        self.inputs = {name: {"type": "any", "description": name, "nullable": True} for name in names}
        self._talk = talk
        super().__init__()

    def forward(self, arguments: Mapping[str, object]) -> object:
        """Return what the call returns; the final answer itself, which the agent's check then takes or refuses."""
        return arguments if self.name == FINAL_ANSWER else self._talk.look_up(self.name, arguments)


class _ToolAgent(smolagents.ToolCallingAgent):  # type: ignore[misc]
    """smolagents' agent over our turns, which keep the ids of their calls."""

    def write_memory_to_messages(self, summary_mode: bool = False) -> list[ModelTurn]:
        """Return the turns; our model makes the messages of them."""
        return [step.model_output_message.raw for step in self.memory.steps if isinstance(step, smolagents.ActionStep)]

    def process_tool_calls(self, chat_message: ChatMessage, memory_step: Any) -> Iterator[Any]:
        """Make the calls in order; smolagents would use threads, which outlive Ctrl-C."""
        for call in chat_message.tool_calls or ():
            yield from super().process_tool_calls(replace(chat_message, tool_calls=[call]), memory_step)

    def execute_tool_call(self, tool_name: str, arguments: Mapping[str, object]) -> object:
        """Call a tool without smolagents' check of the arguments; the tool checks them itself."""
        return self.tools[tool_name].forward(arguments)


class _Model(smolagents.Model):  # type: ignore[misc]
    def __init__(self, talk: Talk) -> None:
        super().__init__(model_id=talk.model.name)
        self._talk, self._states = talk, dict[str, str]()


class _ToolModel(_Model):
    """A model that returns its calls beside its text."""

    def generate(self, messages: list[ModelTurn], **_: object) -> ChatMessage:
        turn = self._talk.next_turn(messages)
        calls = []
        for call in turn.said.tool_calls:
            arguments = read_json(call.arguments_json, self._talk.form.fields)
            function = ChatMessageToolCallFunction(name=call.name, arguments=arguments)
            calls.append(ChatMessageToolCall(id=call.id, type="function", function=function))
        return ChatMessage(role=MessageRole.ASSISTANT, content=turn.said.text, tool_calls=calls, raw=turn)

    def parse_tool_calls(self, message: ChatMessage) -> ChatMessage:
        """Refuse a turn without calls; calls written in words were parsed before."""
        raise AnswerError(message.raw.complaint)


class _AnswerTaken(Exception):
    """The code went on after its answer was taken; its further calls are not made."""


class _Executor(PythonExecutor):  # type: ignore[misc]
    """A container as smolagents' executor, and the maker of the code's calls. Nothing of this machine is sent into the
    container, and nothing it prints is enough for a decision.
    """

    container: Container

    def __init__(self, talk: Talk) -> None:
        self._talk = talk
        self._complaint = ""

    def send_tools(self, tools: object) -> None:
        """Do nothing: the container knows the tools' names, and their code stays here."""

    def send_variables(self, variables: object) -> None:
        """Do nothing: no variable is ever sent."""

    def __call__(self, code_action: str) -> CodeOutput:
        """Return what the code printed, in the fence, and whether an answer was taken while it ran."""
        talk = self._talk
        talk.write(CodeStep(code_action))
        printed, problem = "", None
        try:
            printed = self.container.run(code_action, deadline_seconds=min(CODE_SECONDS, talk.left_seconds()))
        except (_AnswerTaken, CodeError) as error:
            problem = error
        if problem is not None and talk.decision is None:
            raise CodeError(self._observation(str(problem))) from problem
        return CodeOutput(output=None, logs=self._observation(printed), is_final_answer=talk.decision is not None)

    def perform(self, name: str, arguments: Mapping[str, object]) -> Mapping[str, object]:
        talk = self._talk
        if talk.decision is not None:
            raise _AnswerTaken
        if name == FINAL_ANSWER:
            try:
                talk.take_answer(arguments)
            except AnswerError as error:
                self._complaint = f"final_answer: {complaint_for_model(error, talk.research.fence)}"
                return {"error": str(error)}
            return {"taken": True}
        if name not in talk.research.tools():
            return {"error": f"there is no tool {name[:60]!r}"}
        found = talk.look_up(name, arguments)
        # Code may take the text apart, so the fence goes around all output of the code.
        return {"result": f"{ERROR} {found.words}" if found.outcome in ("error", "limit") else found.words}

    def _observation(self, printed: str) -> str:
        """Return the fenced output of the code, and our complaint about its answer."""
        fenced = self._talk.research.fence.around(printed) if printed.strip() else ""
        complaint, self._complaint = self._complaint, ""
        return "\n".join(filter(None, (fenced, complaint)))


class _CodeModel(_Model):
    def generate(self, messages: list[Any], **_: object) -> ChatMessage:
        """Return the model's text up to the end of its first piece of code."""
        reply = self._talk.reply(lambda: self._request(messages))
        if _TAGS[0] in reply.message.text and reply.finish_reason != "length":
            self._talk.unusable = 0
        else:
            self._talk.count_unusable(_NO_CODE)
        # Half a piece of code is not run. Text behind a piece is the model's imagination of its result.
        text = "(cut off)" if reply.finish_reason == "length" else reply.message.text.partition(_TAGS[1])[0]
        self._states[text.strip()] = reply.message.state_json
        return ChatMessage(role=MessageRole.ASSISTANT, content=text)

    def _request(self, messages: list[Any]) -> ChatRequest:
        """Return smolagents' conversation as a request: earlier observations shortened, the board at its end."""
        talk, rows = self._talk, [(str(getattr(each.role, "value", each.role)), each) for each in messages]
        latest = max((row for row, (role, _) in enumerate(rows) if role == "tool-response"), default=-1)
        sent = [
            self._message(role, message.content, whole=row >= latest or row < 2)
            for row, (role, message) in enumerate(rows)
            # This role repeats the model's text in a form that the model would copy.
            if role != "tool-call"
        ]
        board = talk.research.board
        kept = board.text(talk.research.fence, asks=not talk.submit_only, short=talk.tight, lists_found=True)
        if kept:
            sent.append(Message("user", kept))
        if talk.submit_only:
            sent.append(Message("user", f"Call final_answer now, with what you know ({talk.submit_only})."))
        return ChatRequest(tuple(sent), max_output_tokens=talk.max_output_tokens())

    def _message(self, role: str, content: Any, *, whole: bool) -> Message:
        text = content if isinstance(content, str) else "\n".join(part.get("text", "") for part in content or ())
        if role == "assistant":
            # smolagents appends the closing tag.
            state_json = self._states.get(text.partition(_TAGS[1])[0].strip(), "")
            return Message("assistant", cut(text, MAX_OLD_WORDS if whole else _OLD_CHARACTERS), state_json=state_json)
        fence, short = self._talk.research.fence, text if whole else cut(text, _OLD_CHARACTERS)
        unclosed = short.rfind(fence.opening) > short.rfind(fence.closing)
        return Message("system" if role == "system" else "user", f"{short}\n{fence.closing}" if unclosed else short)
