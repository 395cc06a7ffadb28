"""Replicates: bots with the same settings that are asked independently, `x#1`, `x#2` and so on, and shown as `x`. A bot
`x` that pools samples of itself has the replicates of a bot `x.sample`.
"""

import re
from collections import Counter
from collections.abc import Iterable

MOST_REPLICATES = 20
_SAMPLE = ".sample"
_REPLICATE = re.compile(r"([A-Za-z0-9._-]{1,80})#([1-9][0-9]?)")
"""A recipe's names have no `#`, so no bot is taken for a replicate of another."""


def replicate_names(bot: str, count: int) -> tuple[str, ...]:
    """Return the names of a bot's replicates; its own name for one.

    Examples:
        >>> replicate_names("x", 1), replicate_names("x", 2)
        (('x',), ('x#1', 'x#2'))
    """
    return (bot,) if count == 1 else tuple(f"{bot}#{number}" for number in range(1, count + 1))


def sample_names(bot: str, count: int) -> tuple[str, ...]:
    """Return the names of a bot's samples, at least two.

    Examples:
        >>> sample_names("x", 2)
        ('x.sample#1', 'x.sample#2')
    """
    return replicate_names(f"{bot}{_SAMPLE}", count)


def sampled_bot(name: str) -> str:
    """Return the bot that a sample is of; any other bot's own name.

    Examples:
        >>> sampled_bot("x.sample#2"), sampled_bot("x#2"), sampled_bot("x")
        ('x', 'x#2', 'x')
    """
    bot, number = split_replicate(name)
    return bot.removesuffix(_SAMPLE) if number and bot.endswith(_SAMPLE) else name


def split_replicate(name: str) -> tuple[str, int]:
    """Return the bot of a replicate and its number; 0 for a bot that is none.

    Examples:
        >>> split_replicate("x#2"), split_replicate("x")
        (('x', 2), ('x', 0))
    """
    found = _REPLICATE.fullmatch(name)
    return (found[1], int(found[2])) if found else (name, 0)


def joined_bots(names: Iterable[str]) -> frozenset[str]:
    """Return the bots that have several replicates among some distinct names.

    Examples:
        >>> sorted(joined_bots(["x#1", "x#2", "y#1", "z"]))
        ['x']
    """
    counts = Counter(split_replicate(name)[0] for name in names)
    return frozenset(bot for bot, n in counts.items() if n > 1)


def expand_bots(asked: Iterable[str], names: Iterable[str]) -> tuple[str, ...]:
    """Return the requested names once each, in order, with a bot's replicates in place of the bot.

    Examples:
        >>> expand_bots(["x", "z"], ["x#1", "x#2", "y"])
        ('x#1', 'x#2', 'z')
    """
    known = tuple(names)
    found = dict.fromkeys(
        each
        for name in asked
        for each in ([one for one in known if one == name or split_replicate(one)[0] == name] or [name])
    )
    return tuple(found)
