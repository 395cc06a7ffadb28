"""Text in the data of a page's scripts: what a site hands to its JavaScript instead of writing it into the page."""

import json
import re
from collections.abc import Iterator

_DATA = re.compile(
    r"<script\b[^>]*(?:application/json|__NEXT_DATA__)[^>]*>|"
    r"\b_{2,3}(?:next|nuxt|initial|preloaded|apollo|redux|data|state|app|server|page|react|remix)\w*|"
    r"\bFusion\.globalContent\b|\bytInitial\w+",
    re.IGNORECASE,
)
_SCRIPT_ENDS = re.compile(r"</script", re.IGNORECASE)
_STRING = re.compile(r'(?:\b(\w{1,40})"?\s*:\s*)?"([^"\\]*+(?:\\.[^"\\]*+)*+)(?:"|\\?\Z)', re.DOTALL)
_CODE = re.compile(r"^\s*(?:https?:|[{\[]|\w+:[\[{\"]|function\b)|[{;]\s*\n|\bvar |=>|\}\s*$")
_WORD = re.compile(r"(?<!\S)[^\w\s]?[^\W\d_A-Z][^\W\d_]*(?:[’'][^\W\d_]+)?[^\w\s]{0,3}(?!\S)")
"""As sentences have them; lists of fonts, classes and addresses have few."""
_MIN_CHARACTERS = 40
_MIN_WORDS = 4
_MAX_DEPTH = 3


def script_text(html: str) -> str:
    """Return the longest text in the data of a page's scripts, with its HTML; empty if there is none.

    Args:
        html: Decoded.

    Returns:
        All strings that have the name of the longest one, an article's
        paragraphs for instance, one a line.
    """
    found: dict[str, list[str]] = {}
    longest = ("", "")
    for written in _scripts(html):
        for name, text in _texts(written, _MAX_DEPTH):
            found.setdefault(name, []).append(text)
            longest = max(longest, (name, text), key=lambda each: len(each[1]))
    return "\n".join(dict.fromkeys(found.get(longest[0], [])))


def _scripts(html: str) -> Iterator[str]:
    """Yield the scripts that hold data."""
    at = 0
    while (begins := _DATA.search(html, at)) is not None:
        ends = _SCRIPT_ENDS.search(html, begins.end())
        at = len(html) if ends is None else ends.end()
        yield html[begins.start() if begins.group()[0] != "<" else begins.end() : at]


def _texts(written: str, depth: int) -> Iterator[tuple[str, str]]:
    """Yield the sentences among the strings of data, with their names; data may be a string of data."""
    for name, quoted in _STRING.findall(written):
        if len(quoted) < _MIN_CHARACTERS:
            continue
        try:
            text = str(json.loads(f'"{quoted}"', strict=False))
        except ValueError:
            continue
        if depth and '"' in text and _CODE.search(text):
            yield from _texts(text, depth - 1)
        elif not _CODE.search(text) and (
            len(_WORD.findall(text)) >= _MIN_WORDS or not text[:_MIN_CHARACTERS].isascii()
        ):
            yield name, text
