"""Funnels: how many markets, comments or pairs were left at each stage of making a data set."""

from collections.abc import Iterator, Mapping


def funnel_lines(funnel: Mapping[str, int]) -> Iterator[str]:
    """Yield a line for each stage."""
    width = max(map(len, funnel), default=0)
    for stage, n in funnel.items():
        yield f"{stage:<{width}}  {n:>12,}"
