"""Lines of a TOML text: where each key stands, which the parser of the standard library does not tell."""

import re
import tomllib

KeyPath = tuple[str | int, ...]

_BLANK = re.compile(r"(?:[ \t\r\n]+|#[^\n]*)*")
_SPACE = re.compile(r"[ \t]*")
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_STRING = re.compile(
    r'"""(?:\\.|[^\\])*?"""(?:"{0,2})'
    r"|'''.*?'''(?:'{0,2})"
    r'|"(?:\\.|[^"\\\n])*"'
    r"|'[^'\n]*'",
    re.DOTALL,
)
_SCALAR = re.compile(r"[^,\]}#\n]+")


def key_lines(text: str) -> dict[KeyPath, int]:
    """Return the line of every key, table and list element, counted from 1.

    Tables of a list have their index in the path: `("bots", 0, "name")`. A table
    that is only implied by a longer key stands where it is first implied.

    Args:
        text: Valid TOML; see to that with `tomllib` first.

    Examples:
        >>> key_lines("seed = 1\\n[[bots]]\\nstrategy = 'x'")[("bots", 0, "strategy")]
        3
    """
    scan = _Scan(text.replace("\r\n", "\n"))
    scan.document()
    return scan.lines


class _Scan:
    """One pass over a text; it knows what is a string and what is not, and nothing of values."""

    def __init__(self, text: str) -> None:
        self.lines: dict[KeyPath, int] = {}
        self._text = text
        self._at = 0
        self._line, self._counted_to = 1, 0
        self._last_index: dict[KeyPath, int] = {}

    def document(self) -> None:
        """Note every key from here to the end."""
        table: KeyPath = ()
        while self._peek(_BLANK):
            table = self._header() if self._text[self._at] == "[" else self._pair(table)

    def _peek(self, skipped: re.Pattern[str]) -> str:
        """Skip what means nothing and return the next character; empty at the end."""
        self._skip(skipped)
        return self._text[self._at : self._at + 1]

    def _skip(self, pattern: re.Pattern[str]) -> str:
        found = pattern.match(self._text, self._at)
        if found is None:
            return ""
        self._at = found.end()
        return found.group()

    def _note(self, path: KeyPath, since: int) -> None:
        # Keys come in the order of the text, so that each line is counted once.
        self._line += self._text.count("\n", self._counted_to, since)
        self._counted_to = since
        line = self._line
        for length in range(1, len(path) + 1):
            self.lines.setdefault(path[:length], line)

    def _header(self) -> KeyPath:
        """Read `[a.b]` or `[[a.b]]` and return the table that is filled from here on."""
        since = self._at
        is_list = self._text.startswith("[[", self._at)
        self._at += 2 if is_list else 1
        keys = self._key()
        self._at += 2 if is_list else 1
        path: KeyPath = ()
        for key in keys[:-1]:
            path = self._latest((*path, key))
        path = (*path, keys[-1])
        if is_list:
            self._last_index[path] = self._last_index.get(path, -1) + 1
        path = self._latest(path)
        self._note(path, since)
        return path

    def _latest(self, path: KeyPath) -> KeyPath:
        """Return the path with the index of its newest table where it is a list of tables."""
        return (*path, self._last_index[path]) if path in self._last_index else path

    def _key(self) -> tuple[str, ...]:
        """Read a key with its dots, up to what follows it."""
        parts = []
        while True:
            if self._peek(_SPACE) in ('"', "'"):
                parts.append(str(tomllib.loads(f"key = {self._skip(_STRING)}")["key"]))
            else:
                parts.append(self._skip(_BARE_KEY))
            if self._peek(_SPACE) != ".":
                return tuple(parts)
            self._at += 1

    def _pair(self, table: KeyPath) -> KeyPath:
        """Read `key = value` and return the table it stands in."""
        since = self._at
        path = (*table, *self._key())
        self._note(path, since)
        self._at += 1
        self._value(path)
        return table

    def _value(self, path: KeyPath) -> None:
        first = self._peek(_SPACE)
        if first == "[":
            self._list(path)
        elif first == "{":
            self._inline_table(path)
        elif first in ('"', "'"):
            self._skip(_STRING)
        else:
            self._skip(_SCALAR)

    def _list(self, path: KeyPath) -> None:
        self._at += 1
        index = 0
        while (following := self._peek(_BLANK)) != "]":
            if following == ",":
                self._at += 1
                continue
            self._note((*path, index), self._at)
            self._value((*path, index))
            index += 1
        self._at += 1

    def _inline_table(self, path: KeyPath) -> None:
        self._at += 1
        while (following := self._peek(_BLANK)) != "}":
            if following == ",":
                self._at += 1
            else:
                self._pair(path)
        self._at += 1
