"""Rationales: which of position, price history and news a bot says it decided by, told by rules; and agreement."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from types import MappingProxyType

Factor = str
FACTORS: tuple[Factor, ...] = ("position", "price_history", "news")
"""What a rationale may refer to, as LiveTradeBench distinguishes it (arXiv 2511.03628, section 5.4)."""

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
    """Return which factors a rationale refers to, by rules on its English words; several, one, or none.

    What is only named to say that there is none ("no news") is no reference.

    Examples:
        >>> sorted(factors_named("News of a deal, and the price has risen over the past week."))
        ['news', 'price_history']
        >>> factors_named("There is no news.")
        frozenset()
    """
    return frozenset(
        factor for factor, rule in _RULES.items() if any(_is_said(rationale, at) for at in rule.finditer(rationale))
    )


def shares_of_factors(named: Sequence[Collection[Factor]]) -> Mapping[Factor, float]:
    """Return the share of rationales that refer to each factor; they may add up to more than one.

    Raises:
        ValueError: If there is no rationale.

    Examples:
        >>> shares_of_factors([{"news"}, {"news", "position"}])["news"]
        1.0
    """
    if not named:
        raise ValueError("there is no rationale to take shares of; give at least one")
    return {factor: sum(factor in each for each in named) / len(named) for factor in FACTORS}


def cohen_kappa(one: Iterable[object], other: Iterable[object]) -> float | None:
    """Return how far two readings of the same things agree beyond chance.

    (seen - expected) / (1 - expected), expected being the agreement of readers
    who give each class as often as these, and know nothing. One is full
    agreement, zero is what chance gives, negative is less.

    Args:
        one: The class that one reader gave each thing.
        other: Those of another, of the same things.

    Returns:
        At most 1; None where both gave everything the same one class.

    Raises:
        ValueError: If there is none, or the lengths differ.

    Source:
        Cohen (1960), Educational and Psychological Measurement 20(1), 37-46.

    Examples:
        >>> round(cohen_kappa([1, 1, 0, 0], [1, 0, 0, 0]), 6)
        0.5
    """
    first, second = list(one), list(other)
    if not first or len(first) != len(second):
        raise ValueError(f"agreement is of two readings of the same things; there are {len(first)} and {len(second)}")
    n = len(first)
    seen = sum(a == b for a, b in zip(first, second, strict=True))
    expected = sum(first.count(each) * second.count(each) for each in set(first))
    # In whole numbers, so that full agreement on one class is told from nearly full.
    return None if expected == n * n else (n * seen - expected) / (n * n - expected)


def _is_said(text: str, found: re.Match[str]) -> bool:
    return _NOT.search(text[max(0, found.start() - 40) : found.start()]) is None
