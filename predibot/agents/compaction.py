"""Compaction: old observations are shortened, so that what is sent grows about linearly with the steps."""

from collections.abc import Sequence
from dataclasses import replace

from predibot.domain.chat import Message

WHOLE_OBSERVATIONS = 2
"""So many of the latest answers of tools are sent whole."""
KEPT_CHARACTERS = 200


def compacted(messages: Sequence[Message], *, observations: Sequence[bool], board: str) -> tuple[Message, ...]:
    """Return a conversation with its old observations shortened and the board at its end.

    Args:
        messages: Oldest first.
        observations: Which of them are answers of tools, (n,).
        board: What was found so far; empty for none.
    """
    rows = [row for row, is_observation in enumerate(observations) if is_observation]
    old = set(rows[:-WHOLE_OBSERVATIONS])
    sent = [
        replace(message, text=_shortened(message.text)) if row in old else message
        for row, message in enumerate(messages)
    ]
    return (*sent, Message("user", board)) if board else tuple(sent)


def _shortened(text: str) -> str:
    if len(text) <= KEPT_CHARACTERS:
        return text
    return f"{text[:KEPT_CHARACTERS]} … (shortened; the board below keeps what was found)"
