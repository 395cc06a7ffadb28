"""The turns of a model in smolagents' memory, and the shorter form in which they are sent. smolagents itself would send
calls and results as plain text, and leave out those that failed.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from predibot.agents.loop.evidence import ToolAnswer
from predibot.domain.chat import Message

MAX_OLD_WORDS = 12_000
"""Characters kept of the model's own words in earlier turns, the latest first: they are its memory."""
MAX_OLD_ARGUMENTS = 600
SHORTENED = "… (shortened)"


@dataclass(slots=True)
class ModelTurn:
    """A reply of the model and the results of its calls."""

    said: Message
    complaint: str = ""
    """Why its calls were refused; `said` is then without calls."""
    results: list[ToolAnswer] = field(default_factory=list)

    def messages(self, room: int | None = None) -> tuple[Message, ...]:
        """Return the turn as messages. With `room` the model's words are cut to so many characters and results to their
        gists; None sends everything.
        """
        # Most providers refuse an empty message.
        message = self.said if self.said.text or self.said.tool_calls else replace(self.said, text="(no text)")
        if room is not None:
            # Long arguments are left out: cut ones would not be JSON.
            calls = (
                call if len(call.arguments_json) <= MAX_OLD_ARGUMENTS else replace(call, arguments_json="{}")
                for call in message.tool_calls
            )
            message = replace(message, text=cut(message.text, room), tool_calls=tuple(calls))
        if self.complaint:
            return message, Message("user", self.complaint)
        texts = [each.text if room is None else each.gist for each in self.results]
        answers = zip(message.tool_calls, texts, strict=True)
        return message, *(Message("tool", text, tool_call_id=call.id) for call, text in answers)


def messages_of(prompt: str, turns: Sequence[ModelTurn], board: str = "", *, whole: bool = True) -> tuple[Message, ...]:
    """Return a conversation as messages: earlier turns shortened, the board at its end; without `whole` the latest turn
    too. A page is sent whole only once, so the characters sent grow about linearly with the turns, not quadratically.
    """
    latest = turns[-1].messages() if turns and whole else ()
    earlier: list[Message] = []
    room = MAX_OLD_WORDS
    for turn in reversed(turns[:-1] if whole else turns):
        sent = turn.messages(room)
        room = max(0, room - len(sent[0].text))
        earlier[:0] = sent
    ends = (Message("user", board),) if board else ()
    return (Message("user", prompt), *earlier, *latest, *ends)


def cut(text: str, characters: int) -> str:
    """Return at most so many characters of a text, with a mark if it was cut."""
    return text if len(text) <= characters + len(SHORTENED) else f"{text[:characters]}{SHORTENED}"
