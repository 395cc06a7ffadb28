"""Models that work in the background: asked once, they search and write for minutes, and are looked at until done."""

import re

_NAMES = re.compile(r"(openai/)?o\d+(-mini)?-deep-research(-\d{4}-\d{2}-\d{2})?")


def works_in_background(name: str) -> bool:
    """Return whether a model is one of OpenAI's for deep research, which answer the Responses API only.

    Examples:
        >>> works_in_background("openai/o3-deep-research"), works_in_background("perplexity/sonar-deep-research")
        (True, False)
    """
    return _NAMES.fullmatch(name) is not None
