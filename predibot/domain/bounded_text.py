"""Bounded text: what others wrote, as far as a model is shown it."""

import re

MAX_TITLE_CHARACTERS = 500
# Also what turns the direction of text around, and half of a surrogate pair, which is no UTF-8.
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")


def one_line(text: str) -> str:
    """Return a title on one line, without control characters, at most so long as a title is."""
    return bounded(" ".join(_CONTROL.sub(" ", text).split()), MAX_TITLE_CHARACTERS)


def bounded(text: str, characters: int) -> str:
    """Return a text without control characters, and its beginning where it is long."""
    harmless = _CONTROL.sub(" ", text)
    return harmless if len(harmless) <= characters else f"{harmless[:characters]} … (shortened)"
