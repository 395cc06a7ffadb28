"""Complaints as a model is told them: what they quote of its answer is untrusted text."""

from collections.abc import Iterable

from predibot.agents.prompts.untrusted_text import Fence
from predibot.errors import AnswerError
from predibot.games.answers import AnswerComplaint, seen


def told(error: AnswerError, own_ids: Iterable[str], fence: Fence) -> str:
    """Return a complaint as a model is told it, in which every word of the answer that it quotes is inside the fence.

    A model, or code, may make its answer of what a page said, names of fields included. What has no letter in it, such
    as a number that was written as text, stays as it is.

    Args:
        error: About the answer.
        own_ids: That the game gave it, which are no page's words.
        fence: Of the decision.
    """
    if not isinstance(error, AnswerComplaint):
        return fence.cleared(str(error))
    own = set(map(seen, own_ids))
    return "".join(
        fence.inline(part, len(part))
        if row % 2 and part not in own and any(map(str.isalpha, part))
        else fence.cleared(part)
        for row, part in enumerate(error.parts)
    )
