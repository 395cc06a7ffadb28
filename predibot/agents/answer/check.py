"""From the result of a talk with a model to the value that a strategy returns."""

import re
from dataclasses import replace

from predibot.agents.answer.result import LoopResult
from predibot.domain.decision import Abstention, Decision
from predibot.errors import NoAnswer

MAX_SOURCES = 50
MAX_SOURCE_CHARACTERS = 500
_WEB = re.compile("https?://", re.IGNORECASE)


def decided(result: LoopResult) -> Decision | Abstention:
    """Return the decision with its notes and sources, or an abstention with its reason; raise `NoAnswer` without
    either.
    """
    if result.decision is None:
        if result.kind == "answer":
            raise NoAnswer(result.reason)
        return Abstention(result.reason, result.kind)
    given = (" ".join(url[: 2 * MAX_SOURCE_CHARACTERS].split()) for url in result.sources[:MAX_SOURCES])
    # A page may have made the model name anything; only web addresses count as sources.
    sources = tuple(f"source: {url[:MAX_SOURCE_CHARACTERS]}" for url in given if _WEB.match(url))
    return replace(result.decision, notes=(*result.decision.notes, *result.notes, *sources))
