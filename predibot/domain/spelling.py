"""Misspelt words: the nearest valid one, for messages; pure."""

import difflib
from collections.abc import Iterable, Sequence


def nearest(word: str, valid: Iterable[str], *, likeness: float = 0.6) -> str | None:
    """Return the valid word that looks most like a wrong one, or None where none does.

    Args:
        word: The wrong one.
        valid: Those there are.
        likeness: How much alike they must be at least, in [0, 1].

    Examples:
        >>> nearest("stratgy", ["name", "strategy"])
        'strategy'
    """
    by_folded = {candidate.casefold(): candidate for candidate in sorted(valid)}
    found = difflib.get_close_matches(word.casefold(), by_folded, n=1, cutoff=likeness)
    return by_folded[found[0]] if found else None


def did_you_mean(word: str, valid: Iterable[str]) -> str:
    """Return a sentence that helps with a wrong word: the nearest valid one, or all of them.

    Examples:
        >>> did_you_mean("stratgy", ["name", "strategy"])
        "Did you mean 'strategy'?"
        >>> did_you_mean("x", ["name", "strategy"])
        'Valid are: name, strategy'
    """
    words = sorted(valid)
    found = nearest(word, words)
    if found is not None:
        return f"Did you mean {found!r}?"
    return f"Valid are: {first_of(words, 50)}" if words else "There is none"


def first_of(words: Sequence[str], most: int) -> str:
    """Return a list of words of which only the first are named.

    Examples:
        >>> first_of(["ann", "ben", "cy"], 2)
        'ann, ben and 1 more'
    """
    more = f" and {len(words) - most:,} more" if len(words) > most else ""
    return f"{', '.join(words[:most])}{more}"


def counted(n: int, noun: str) -> str:
    """Return how many there are of something, in words.

    Examples:
        >>> counted(1, "bet"), counted(1_200, "bet")
        ('1 bet', '1,200 bets')
    """
    return f"{n:,} {noun}{'' if n == 1 else 's'}"
