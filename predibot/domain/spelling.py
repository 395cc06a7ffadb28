"""Wording for messages: the nearest valid word to a misspelt one, shortened lists, counts."""

import difflib
from collections.abc import Iterable, Sequence


def nearest(word: str, valid: Iterable[str], *, likeness: float = 0.6) -> str | None:
    """Return the valid word most like a wrong one, None where none has `likeness`, in [0, 1]."""
    by_folded = {candidate.casefold(): candidate for candidate in sorted(valid)}
    found = difflib.get_close_matches(word.casefold(), by_folded, n=1, cutoff=likeness)
    return by_folded[found[0]] if found else None


def did_you_mean(word: str, valid: Iterable[str]) -> str:
    """Return a sentence that helps with a wrong word: the nearest valid one, or all of them.

    Examples:
        >>> did_you_mean("stratgy", ["name", "strategy"])
        "Did you mean 'strategy'?"
    """
    words = sorted(set(valid))
    found = nearest(word, words)
    if found is not None:
        return f"Did you mean {found!r}?"
    return f"Valid are: {first_of(words, 50)}" if words else "There is none"


def first_of(words: Sequence[str], most: int) -> str:
    """Return the first words of a list, and how many more there are."""
    more = f" and {len(words) - most:,} more" if len(words) > most else ""
    return f"{', '.join(words[:most])}{more}"


def count_noun(n: int, noun: str) -> str:
    """Return a count with its noun.

    Examples:
        >>> count_noun(1, "bet"), count_noun(1_200, "bet")
        ('1 bet', '1,200 bets')
    """
    return f"{n:,} {noun}{'' if n == 1 else 's'}"
