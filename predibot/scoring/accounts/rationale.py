"""Rationales: which of position, price history and news a bot says it decided by, told by rules."""

import re
import reprlib
from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType

from predibot.scoring.arguments import instance_of

Factor = str
FACTORS: tuple[Factor, ...] = ("position", "price_history", "news")
"""What a rationale may refer to, as in LiveTradeBench (arXiv 2511.03628, section 5.4)."""

_RULES: Mapping[Factor, re.Pattern[str]] = MappingProxyType(
    {
        "position": re.compile(
            r"\b(?:(?:current|existing|my|our|previous|prior|open)\s+(?:position|holding|allocation|portfolio|exposure"
            r"|share|cash|weight)s?|(?:already|currently)\s+(?:hold|own|invested|allocated)\w*"
            r"|(?:we|i)\s+(?:still\s+)?(?:hold|own)\b|positions?\s+(?:held|size|is|are)|unreali[sz]ed|rebalanc\w+"
            r"|cash\s+(?:reserve|balance|buffer|position)s?|entry\s+price|average\s+cost|account\s+value)",
            re.IGNORECASE,
        ),
        "price_history": re.compile(
            r"\b(?:price\s+(?:history|trend|movement|momentum|action|change|series|path)s?|momentum|(?:up|down)trend\w*"
            r"|trend(?:s|ed|ing)?\b|volatil\w+|mean[- ]revert\w*|moving\s+average|recent\s+(?:price|high|low|move|rise"
            r"|drop|gain|decline)s?|(?:price|odds|market|shares?|it)\s+(?:has\s+|have\s+)?(?:risen|rose|fell|fallen"
            r"|dropped|climbed|jumped|rallied|declined|drifted|moved)|past\s+(?:\w+\s+)?(?:days?|weeks?)"
            r"|last\s+(?:\w+\s+)?(?:days?|weeks?)|historical\s+prices?)",
            re.IGNORECASE,
        ),
        "news": re.compile(
            r"\b(?:news|headlines?|articles?|reports?\s+(?:that|of|say|suggest|indicate)\w*|reported(?:ly)?"
            r"|announce\w*|according\s+to|press\s+release|coverage|statement\s+(?:by|from)|journalists?|media)\b",
            re.IGNORECASE,
        ),
    }
)
_NOT = re.compile(
    r"\b(?:no|without(?:\s+any)?|lack\s+of|absence\s+of|ignor\w+(?:\s+\w+)?)\s+(?:\w+\s+)?$", re.IGNORECASE
)


def factors_named(rationale: str) -> frozenset[Factor]:
    """Return the factors that a rationale refers to, by rules on its English words; several, one, or none.

    A factor that is named only to deny it ("no news") does not count.

    Raises:
        ValueError: If it is no text.

    Examples:
        >>> sorted(factors_named("News of a deal, and the price has risen over the past week."))
        ['news', 'price_history']
        >>> factors_named("There is no news.")
        frozenset()
    """
    instance_of("rationale", rationale, str)
    return frozenset(
        factor for factor, rule in _RULES.items() if any(_is_affirmed(rationale, at) for at in rule.finditer(rationale))
    )


def shares_of_factors(named: Sequence[Collection[Factor]]) -> Mapping[Factor, float]:
    """Return the share of rationales that refer to each factor; they may add up to more than one.

    Raises:
        ValueError: If there is no rationale, or one names what is no factor.

    Examples:
        >>> shares_of_factors([{"news"}, {"news", "position"}])["news"]
        1.0
    """
    if not isinstance(named, list | tuple) or not named:
        raise ValueError(f"named is {reprlib.repr(named)}; give the factors of at least one rationale")
    for row, each in enumerate(named):
        if not isinstance(each, set | frozenset | list | tuple) or any(factor not in FACTORS for factor in each):
            raise ValueError(f"named[{row}] is {reprlib.repr(each)}; give some of {', '.join(FACTORS)}")
    return {factor: sum(factor in each for each in named) / len(named) for factor in FACTORS}


def _is_affirmed(text: str, found: re.Match[str]) -> bool:
    return _NOT.search(text[max(0, found.start() - 40) : found.start()]) is None
