"""smolagents' agents with our model and our tools: they step, dispatch and keep the memory.

Importing this module imports smolagents, which costs 0.3 s; only a loop that runs does. smolagents' own executor for
this machine is no sandbox and is never used.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import smolagents
from smolagents.agents import EMPTY_PROMPT_TEMPLATES
from smolagents.local_python_executor import CodeOutput, PythonExecutor
from smolagents.models import ChatMessage, ChatMessageToolCall, ChatMessageToolCallFunction, MessageRole

from predibot.agents.answer.result import MAX_REPAIRS
from predibot.agents.loop.container import CodeFailed, Container, ContainerSpec, Parameters
from predibot.agents.loop.evidence import ERROR
from predibot.agents.loop.tool_loop import Talk
from predibot.agents.loop.turns import MAX_OLD_WORDS, ModelTurn, cut
from predibot.agents.prompts.untrusted_text import told
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
    """Let smolagents' `ToolCallingAgent` make call after call until an answer is taken.

    Whatever else the model or a call raises comes out of here as it was raised.
    """
    _run(
        _ToolAgent,
        talk,
        tools=[_Tool(schema, talk) for schema in talk.offered()],
        model=_ToolModel(talk),
        # What the model is told stands in our prompt, and making these costs more than a step.
        prompt_templates=EMPTY_PROMPT_TEMPLATES,
        final_answer_checks=[lambda answer, memory, agent: talk.hand_in(answer)],
    )


def run_code_agent(talk: Talk, container: Callable[[Parameters], ContainerSpec]) -> None:
    """Let smolagents' `CodeAgent` run piece after piece of code in a container until an answer is taken.

    Whatever else the model or a call raises comes out of here as it was raised.
    """
    tools = [_Tool(schema, talk) for schema in talk.offered()]
    executor, spec = _Executor(talk), container({tool.name: tuple(tool.inputs) for tool in tools})
    with Container(spec, executor.perform) as executor.container:
        more = {"executor": executor, "code_block_tags": _TAGS}
        _run(smolagents.CodeAgent, talk, tools=tools, model=_CodeModel(talk), **more)


def _run(kind: Any, talk: Talk, **more: Any) -> None:
    # More steps than the limits allow: at its own end smolagents would ask for free text and call it an answer.
    most = {"max_steps": talk.limits.max_steps + MAX_REPAIRS + 2}
    agent = kind(verbosity_level=smolagents.LogLevel.OFF, step_callbacks=[_let_out], **most, **more)
    try:
        agent.run(talk.prompt)
    except smolagents.AgentGenerationError as error:
        # smolagents calls everything that a model raises a generation error.
        raise error.__cause__ or error from None


def _let_out(step: Any, agent: object = None) -> None:
    """Raise what a call or a check raised, but for what the model is told and may mend."""
    error = step.error
    cause = getattr(error, "__context__", None)
    if error is None or isinstance(cause, AnswerError | CodeFailed):
        return
    if isinstance(error, smolagents.AgentParsingError) and isinstance(cause, ValueError):
        # smolagents would say what the model wrote once more, in words that look like ours.
        error.args = (_NO_CODE,)
        return
    raise cause or error


class _Tool(smolagents.Tool):  # type: ignore[misc]
    """One of our tools in the form smolagents calls one."""

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
        """Return what the call returns; of an answer itself, which the agent's check takes or sends back."""
        return arguments if self.name == FINAL_ANSWER else self._talk.look_up(self.name, arguments)


class _ToolAgent(smolagents.ToolCallingAgent):  # type: ignore[misc]
    """smolagents' agent over turns: it keeps each with the ids of its calls, and makes these one after another."""

    def write_memory_to_messages(self, summary_mode: bool = False) -> list[ModelTurn]:
        """Return its memory as the turns from which our model makes what is sent."""
        return [step.model_output_message.raw for step in self.memory.steps if isinstance(step, smolagents.ActionStep)]

    def process_tool_calls(self, chat_message: ChatMessage, memory_step: Any) -> Iterator[Any]:
        """Make calls in their order; smolagents would make several in threads that outlive Ctrl-C."""
        for call in chat_message.tool_calls or ():
            yield from super().process_tool_calls(replace(chat_message, tool_calls=[call]), memory_step)

    def execute_tool_call(self, tool_name: str, arguments: Mapping[str, object]) -> object:
        """Return what a tool returns, which looks at its arguments itself and says what is wrong with them."""
        return self.tools[tool_name].forward(arguments)


class _Model(smolagents.Model):  # type: ignore[misc]
    """Our model in the form smolagents calls one."""

    def __init__(self, talk: Talk) -> None:
        super().__init__(model_id=talk.model.name)
        self._talk, self._states = talk, dict[str, str]()


class _ToolModel(_Model):
    """One whose calls come beside the text."""

    def generate(self, messages: list[ModelTurn], **_: object) -> ChatMessage:
        """Return the next turn: its calls, if they can be made."""
        turn = self._talk.next_turn(messages)
        calls = []
        for call in turn.said.tool_calls:
            arguments = read_json(call.arguments_json, self._talk.form.fields)
            function = ChatMessageToolCallFunction(name=call.name, arguments=arguments)
            calls.append(ChatMessageToolCall(id=call.id, type="function", function=function))
        return ChatMessage(role=MessageRole.ASSISTANT, content=turn.said.text, tool_calls=calls, raw=turn)

    def parse_tool_calls(self, message: ChatMessage) -> ChatMessage:
        """Have a turn without calls sent back; calls in words were read already."""
        raise AnswerError(message.raw.complaint)


class _AnswerTaken(Exception):
    """Code went on after its answer was taken; nothing more is done for it."""


class _Executor(PythonExecutor):  # type: ignore[misc]
    """A container in the form smolagents calls an executor, and the calls of the code in it.

    Nothing of this machine is sent into it, and its word is never enough for a decision.
    """

    container: Container

    def __init__(self, talk: Talk) -> None:
        self._talk = talk
        self._complaint = ""

    def send_tools(self, tools: object) -> None:
        """Do nothing: the container has the names of the tools, and their code stays here."""

    def send_variables(self, variables: object) -> None:
        """Do nothing: there are none."""

    def __call__(self, code_action: str) -> CodeOutput:
        """Return what the code printed, in the fence, and whether an answer was taken while it ran."""
        talk = self._talk
        talk.write(CodeStep(code_action))
        printed, problem = "", None
        try:
            printed = self.container.run(code_action, deadline_seconds=min(CODE_SECONDS, talk.left_seconds()))
        except (_AnswerTaken, CodeFailed) as error:
            problem = error
        if problem is not None and talk.decision is None:
            raise CodeFailed(self._seen(str(problem))) from problem
        return CodeOutput(output=None, logs=self._seen(printed), is_final_answer=talk.decision is not None)

    def perform(self, name: str, arguments: Mapping[str, object]) -> Mapping[str, object]:
        """Return the answer to a call."""
        talk = self._talk
        if talk.decision is not None:
            raise _AnswerTaken
        if name == FINAL_ANSWER:
            try:
                talk.hand_in(arguments)
            except AnswerError as error:
                self._complaint = f"final_answer: {told(error, talk.research.fence)}"
                return {"error": str(error)}
            return {"taken": True}
        if name not in talk.research.tools():
            return {"error": f"there is no tool {name[:60]!r}"}
        found = talk.look_up(name, arguments)
        # The code may take it apart, so the fence goes around all that the code prints.
        return {"result": f"{ERROR} {found.words}" if found.outcome in ("error", "limit") else found.words}

    def _seen(self, printed: str) -> str:
        """Return what the model sees of what its code printed: untrusted text, and our complaint on its answer."""
        fenced = self._talk.research.fence.around(printed) if printed.strip() else ""
        said, self._complaint = self._complaint, ""
        return "\n".join(filter(None, (fenced, said)))


class _CodeModel(_Model):
    """One that writes code."""

    def generate(self, messages: list[Any], **_: object) -> ChatMessage:
        """Return what the model writes, up to the end of its first piece of code."""
        reply = self._talk.reply(lambda: self._request(messages))
        if _TAGS[0] in reply.message.text and reply.finish_reason != "length":
            self._talk.unusable = 0
        else:
            self._talk.count_unusable(_NO_CODE)
        # Half a piece of code is not run; what follows a piece is what the model imagines it returned.
        text = "(cut off)" if reply.finish_reason == "length" else reply.message.text.partition(_TAGS[1])[0]
        self._states[text.strip()] = reply.message.state_json
        return ChatMessage(role=MessageRole.ASSISTANT, content=text)

    def _request(self, messages: list[Any]) -> ChatRequest:
        """Return smolagents' conversation as ours, earlier observations shortened, the board at its end."""
        talk, rows = self._talk, [(str(getattr(each.role, "value", each.role)), each) for each in messages]
        latest = max((row for row, (role, _) in enumerate(rows) if role == "tool-response"), default=-1)
        sent = [
            self._message(role, message.content, whole=row >= latest or row < 2)
            for row, (role, message) in enumerate(rows)
            # That says once more what the model wrote, in a form that it would copy.
            if role != "tool-call"
        ]
        if board := talk.research.board_text():
            sent.append(Message("user", board))
        if talk.submit_only:
            sent.append(Message("user", f"Call final_answer now, with what you know ({talk.submit_only})."))
        return ChatRequest(tuple(sent), max_output_tokens=talk.max_output_tokens())

    def _message(self, role: str, content: Any, *, whole: bool) -> Message:
        text = content if isinstance(content, str) else "\n".join(part.get("text", "") for part in content or ())
        if role == "assistant":
            # smolagents closes the code.
            state_json = self._states.get(text.partition(_TAGS[1])[0].strip(), "")
            return Message("assistant", cut(text, MAX_OLD_WORDS if whole else _OLD_CHARACTERS), state_json=state_json)
        fence, short = self._talk.research.fence, text if whole else cut(text, _OLD_CHARACTERS)
        unclosed = short.rfind(fence.opening) > short.rfind(fence.closing)
        return Message("system" if role == "system" else "user", f"{short}\n{fence.closing}" if unclosed else short)
