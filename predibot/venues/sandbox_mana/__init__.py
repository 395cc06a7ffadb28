"""The sandbox as a venue in play money: the same world, in Manifold's dialect."""

from dataclasses import replace

from predibot.errors import UsageError
from predibot.venues import manifold, sandbox


def _check(argument: str) -> str:
    from predibot.venues.sandbox.past import sandbox_options

    if sandbox_options(argument).named:
        raise UsageError("in play money each outcome is an answer with its own YES and NO; leave out named=1")
    return argument


VENUE = replace(
    sandbox.VENUE,
    usage="sandbox_mana[:seed=7,...]",
    check=_check,
    payloads=manifold.PAYLOADS,
    currency=manifold.CURRENCY,
    lists_by=manifold.VENUE.lists_by,
)
