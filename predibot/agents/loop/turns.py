"""The turns of a model, as smolagents' memory keeps them, and the shorter form in which they are sent.

smolagents itself would send calls and their results as plain text, and leave out those that failed.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from predibot.agents.loop.evidence import ToolAnswer
from predibot.domain.chat import Message

MAX_OLD_WORDS = 12_000
"""Characters kept of what the model said in all earlier turns, the latest first: its own words are its memory."""
MAX_OLD_ARGUMENTS = 600
SHORTENED = "… (shortened)"


@dataclass(slots=True)
class ModelTurn:
    """What a model said once, and what came of it."""

    said: Message
    complaint: str = ""
    """Why none of its calls was made; then `said` has none."""
    results: list[ToolAnswer] = field(default_factory=list)
    """What each of its calls returned, in their order."""

    def messages(self, room: int | None = None) -> tuple[Message, ...]:
        """Return the turn as it is sent.

        Args:
            room: How many characters of the model's words are sent, with the gists of what its calls returned; None
                is all of it.
        """
        # A message without anything in it is refused by most providers.
        said = self.said if self.said.text or self.said.tool_calls else replace(self.said, text="(no text)")
        if room is not None:
            # Long arguments are left out: half of them would be no JSON.
            calls = (
                call if len(call.arguments_json) <= MAX_OLD_ARGUMENTS else replace(call, arguments_json="{}")
                for call in said.tool_calls
            )
            said = replace(said, text=cut(said.text, room), tool_calls=tuple(calls))
        if self.complaint:
            return said, Message("user", self.complaint)
        texts = [each.text if room is None else each.gist for each in self.results]
        told = zip(said.tool_calls, texts, strict=True)
        return said, *(Message("tool", text, tool_call_id=call.id) for call, text in told)


def messages_of(prompt: str, turns: Sequence[ModelTurn], board: str = "", *, whole: bool = True) -> tuple[Message, ...]:
    """Return a conversation as it is sent: earlier turns shortened, the board at its end.

    A page is sent whole once, to be read; so the characters sent grow about linearly with the turns, and not with their
    square.

    Args:
        board: What was found so far; empty for none.
        whole: Whether the latest turn is sent whole; else it is shortened too.
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
    """Return a text of at most so many characters, and a mark where something was left out."""
    return text if len(text) <= characters + len(SHORTENED) else f"{text[:characters]}{SHORTENED}"
