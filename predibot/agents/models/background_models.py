"""Models that search the web by themselves, and those of them that work in the background for minutes."""

import re

_BACKGROUND = re.compile(r"(openai/)?o\d+(-mini)?-deep-research(-\d{4}-\d{2}-\d{2})?")
_SEARCHING = re.compile(
    r"(?<!tongyi[-_])deep-?(re)?search|(?<![a-z])search(?![a-z])|(^|/)perplexity/|(^|/)sonar\b|(^|/)compound\b|:online$",
    re.IGNORECASE,
)


def works_in_background(name: str) -> bool:
    """Return whether a model is one of OpenAI's for deep research, which answer only the Responses API.

    Examples:
        >>> works_in_background("openai/o3-deep-research"), works_in_background("perplexity/sonar-deep-research")
        (True, False)
    """
    return _BACKGROUND.fullmatch(name) is not None


def searches_by_itself(name: str) -> bool:
    """Return whether the name of a model shows that it searches by itself.

    litellm's table says of most models that they could search, and of few that they do. Tongyi's model is named after a
    task it was trained for; it searches only with the tools it is given.

    Examples:
        >>> searches_by_itself("azure/o3-deep-research"), searches_by_itself("openrouter/perplexity/sonar-pro")
        (True, True)
        >>> searches_by_itself("jina-deepsearch-v1"), searches_by_itself("alibaba/tongyi-deepresearch-30b:online")
        (True, True)
        >>> searches_by_itself("nousresearch/hermes-4"), searches_by_itself("alibaba/tongyi-deepresearch-30b")
        (False, False)
    """
    return _SEARCHING.search(name) is not None
