"""The transcript: what was said so far, and the shorter form of it that is sent.

It is ours and not smolagents', which sends calls and their results as plain text
and leaves out those that failed.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from predibot.domain.chat import Message, ToolCall

MAX_OLD_WORDS = 12_000
"""Characters kept of what the model said in all earlier turns, the latest first: its own words are its memory."""
MAX_OLD_ARGUMENTS = 600
SHORTENED = "… (shortened)"


@dataclass(slots=True)
class Transcript:
    """One conversation; a turn is what the model said and what its calls returned."""

    messages: list[Message] = field(default_factory=list)
    gists: dict[str, str] = field(default_factory=dict)
    """What stands for a call's result once its turn is over, by the call's id."""

    def tell(self, text: str) -> None:
        """Add what we say."""
        self.messages.append(Message("user", text))

    def said(self, text: str, calls: Sequence[ToolCall] = (), state_json: str = "") -> None:
        """Add what the model said; a message without anything in it is refused by most providers."""
        text = text or ("" if calls else "(no text)")
        self.messages.append(Message("assistant", text, tuple(calls), state_json=state_json))

    def returned(self, call_id: str, text: str, *, gist: str) -> None:
        """Add what a call returned, and what stands for it once its turn is over."""
        self.messages.append(Message("tool", text, tool_call_id=call_id))
        self.gists[call_id] = gist

    def sent(self, board: str = "", *, whole: bool = True) -> tuple[Message, ...]:
        """Return the conversation as it is sent: earlier turns shortened, the board at its end.

        A page is sent whole once, to be read; so the characters sent grow about
        linearly with the turns, and not with their square.

        Args:
            board: What was found so far; empty for none.
            whole: Whether the latest turn is sent whole; else it is shortened too.
        """
        turns = [row for row, message in enumerate(self.messages) if message.role == "assistant"]
        # What comes before the first turn is the task.
        first = turns[0] if turns else len(self.messages)
        latest = turns[-1] if turns and whole else len(self.messages)
        earlier = self._shortened(self.messages[first:latest])
        messages = (*self.messages[:first], *earlier, *self.messages[latest:])
        return (*messages, Message("user", board)) if board else messages

    def _shortened(self, messages: Sequence[Message]) -> list[Message]:
        """Return earlier turns with gists of what came back, and the model's words as far as there is room."""
        room = MAX_OLD_WORDS
        shortened = []
        for message in reversed(messages):
            text, calls = message.text, tuple(map(_shortened_call, message.tool_calls))
            if message.role == "tool":
                text = self.gists[message.tool_call_id or ""]
            elif message.role == "assistant":
                text = cut(text, room)
                room = max(0, room - len(text))
            shortened.append(replace(message, text=text, tool_calls=calls))
        return shortened[::-1]


def _shortened_call(call: ToolCall) -> ToolCall:
    """Return a call with its arguments, or without them where they are long: half of them would be no JSON."""
    return call if len(call.arguments_json) <= MAX_OLD_ARGUMENTS else replace(call, arguments_json="{}")


def cut(text: str, characters: int) -> str:
    """Return a text of at most so many characters, and a mark where something was left out."""
    return text if len(text) <= characters + len(SHORTENED) else f"{text[:characters]}{SHORTENED}"
