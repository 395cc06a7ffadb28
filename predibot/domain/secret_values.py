"""Secret values: API keys, and how they are taken out of a text in whatever form a library wrote them there."""

import re
import string
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

MASK = "***"
SHORTEST_SECRET = 8
"""In characters; what is shorter is a placeholder such as `none`, and no secret."""
_HEAD_CHARACTERS = 16
"""Of a secret; what begins with so many of its characters is taken out as far as it goes, as texts are cut short.

It is more than the names of providers that their keys begin with, so that no page can know it.
"""
_BYTE_FORMS = ("{:02x}", "{:02X}", "%{:02x}", "%{:02X}", "&#{};", "&#x{:x};", "&#x{:X};")
"""How a byte is written in hexadecimal, in addresses that encode every character, and in HTML."""
_UNRESERVED = frozenset(f"{string.ascii_letters}{string.digits}-._~")
"""What no address, JSON text or string literal writes in another way."""
_URLSAFE = str.maketrans("+/", "-_")


class SecretValues:
    """Values that may stand in no text: plain, percent-encoded, escaped as in JSON, Python or HTML, hex or base64."""

    def __init__(self, values: Iterable[str] = (), *, shortest: int = SHORTEST_SECRET) -> None:
        """Know these values.

        Args:
            values: The secrets; white space around one is no part of it.
            shortest: In characters; shorter ones are left alone.
        """
        known = {value.strip() for value in values}
        secrets = [value for value in known if len(value) >= max(1, shortest)]
        forms = [(head, rest, _longest_plain_part(head)) for value in secrets for head, rest in _forms_of(value)]
        # What is written in codes has no long plain part, and is looked for as it is.
        self._forms = forms + [(head, rest, head) for value in secrets for head, rest in _coded_forms_of(value)]

    def hidden(self, text: str) -> str:
        """Return a text without them and without their beginnings, in time that grows with its length only.

        Examples:
            >>> SecretValues(["sk+0123456/89"]).hidden("GET /?key=sk%2B0123456%2f89 or sk+0123456/89")
            'GET /?key=*** or ***'
        """
        # Most texts hold no part of any, and that is quickly seen.
        spans = sorted(span for head, rest, part in self._forms if part in text for span in _spans_of(head, rest, text))
        if not spans:
            return text
        pieces, place = [], 0
        for begin, end in spans:
            # Keys begin alike, so that one may seem to begin where another is written whole.
            if begin >= place:
                pieces += [text[place:begin], MASK]
            place = max(place, end)
        return "".join((*pieces, text[place:]))

    def hidden_in(self, value: Any) -> Any:
        """Return decoded JSON without them, names of fields included."""
        if isinstance(value, str):
            return self.hidden(value)
        if isinstance(value, Mapping):
            return {self.hidden(str(name)): self.hidden_in(each) for name, each in value.items()}
        if isinstance(value, list | tuple):
            return [self.hidden_in(each) for each in value]
        return value


def _spans_of(head: str, rest: str, text: str) -> Iterator[tuple[int, int]]:
    """Yield where a text holds the beginning of a form, and its rest as far as it goes."""
    for found in re.finditer("".join(map(_written, head)), text):
        end = found.end()
        for character in rest:
            more = re.compile(_written(character)).match(text, end)
            if more is None:
                break
            end = more.end()
        yield found.start(), end


def _forms_of(value: str) -> Iterator[tuple[str, str]]:
    """Yield a value, and what of its other forms depends on nothing beside it: each head and rest."""
    yield value[:_HEAD_CHARACTERS], value[_HEAD_CHARACTERS:]
    if len(value) < SHORTEST_SECRET:
        return
    raw = value.encode("utf-8", "surrogateescape")
    for shift in range(3):
        coded = b64encode(bytes(shift) + raw).decode()
        inner = coded[-(-8 * shift // 6) : 8 * (shift + len(raw)) // 6]
        for form in dict.fromkeys((inner, inner.translate(_URLSAFE))):
            yield form[: 4 * _HEAD_CHARACTERS // 3], form[4 * _HEAD_CHARACTERS // 3 :]


def _coded_forms_of(value: str) -> Iterator[tuple[str, str]]:
    """Yield a value with each of its bytes written in some code: each head and rest."""
    if len(value) < SHORTEST_SECRET:
        return
    for form in _BYTE_FORMS:
        coded = [form.format(byte) for byte in value.encode("utf-8", "surrogateescape")]
        yield "".join(coded[:_HEAD_CHARACTERS]), "".join(coded[_HEAD_CHARACTERS:])


def _longest_plain_part(form: str) -> str:
    """Return the longest part that is written the same everywhere."""
    spaced = "".join(character if character in _UNRESERVED else " " for character in form)
    return max(spaced.split(), key=len, default="")


def _written(character: str) -> str:
    """Return a pattern for the ways in which a character is written in addresses, JSON and Python, also repeatedly."""
    if character in _UNRESERVED:
        return re.escape(character)
    percent = "".join(f"%(?:25){{0,3}}{byte:02x}" for byte in character.encode("utf-8", "surrogateescape"))
    escaped = rf"\\{{1,8}}(?:u{ord(character):04x}|x{ord(character):02x})"
    plus = r"|\+" if character == " " else ""
    return rf"(?:\\{{0,8}}{re.escape(character)}|(?i:{percent}|{escaped}){plus})"
