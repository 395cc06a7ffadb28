"""Complaints as a model is told them: what they quote, of its answer or of the venue, is untrusted text."""

from predibot.agents.prompts.untrusted_text import Fence
from predibot.errors import AnswerError
from predibot.games.answers import AnswerComplaint


def told(error: AnswerError, fence: Fence) -> str:
    """Return a complaint as a model is told it, in which every word that it quotes is inside the fence.

    A model, or code, may make its answer of what a page said, names of fields included, and a venue may call a market
    an order. What has no letter in it, such as most ids, or a number that was written as text, stays as it is.
    """
    if not isinstance(error, AnswerComplaint):
        return fence.cleared(str(error))
    return "".join(
        fence.inline(part, len(part)) if row % 2 and any(map(str.isalpha, part)) else fence.cleared(part)
        for row, part in enumerate(error.parts)
    )
