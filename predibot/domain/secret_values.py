"""Secret values: API keys, and how they are removed from texts in whatever form a library wrote them."""

import re
import string
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

MASK = "***"
SHORTEST_SECRET = 8
"""Shorter values are placeholders such as `none`, no secrets."""
_HEAD_CHARACTERS = 16
"""A text that begins with so many characters of a secret loses all that matches, because texts are cut short. It is
longer than the fixed beginnings of providers' keys, so no page can guess it.
"""
_BYTE_FORMS = ("{:02x}", "{:02X}", "%{:02x}", "%{:02X}", "&#{};", "&#x{:x};", "&#x{:X};")
"""A byte in hexadecimal, in addresses that encode every character, and in HTML."""
_UNRESERVED = frozenset(f"{string.ascii_letters}{string.digits}-._~")
"""Characters that addresses, JSON and string literals never write another way."""
_URLSAFE = str.maketrans("+/", "-_")


class SecretValues:
    """Values that no text may contain: plain, percent-encoded, escaped as in JSON, Python or HTML, in hex or base64."""

    def __init__(self, values: Iterable[str] = (), *, shortest: int = SHORTEST_SECRET) -> None:
        """Know these values, without white space around them; those shorter than `shortest` characters are ignored."""
        known = {value.strip() for value in values}
        secrets = [value for value in known if len(value) >= max(1, shortest)]
        forms = [(head, rest, _longest_plain_part(head)) for value in secrets for head, rest in _forms_of(value)]
        # A form in codes has no long plain part; the whole of its head is looked for.
        self._forms = forms + [(head, rest, head) for value in secrets for head, rest in _coded_forms_of(value)]

    def mask(self, text: str) -> str:
        """Return a text without them and their beginnings, in time proportional to its length."""
        # A cheap test first: most texts contain no part of a secret.
        spans = sorted(span for head, rest, part in self._forms if part in text for span in _spans_of(head, rest, text))
        if not spans:
            return text
        pieces, place = [], 0
        for begin, end in spans:
            # Keys begin alike: one may seem to begin where another stands whole.
            if begin >= place:
                pieces += [text[place:begin], MASK]
            place = max(place, end)
        return "".join((*pieces, text[place:]))

    def mask_json(self, value: Any) -> Any:
        """Return decoded JSON without them, also in names of fields."""
        if isinstance(value, str):
            return self.mask(value)
        if isinstance(value, Mapping):
            return {self.mask(str(name)): self.mask_json(each) for name, each in value.items()}
        return [self.mask_json(each) for each in value] if isinstance(value, list | tuple) else value


def _spans_of(head: str, rest: str, text: str) -> Iterator[tuple[int, int]]:
    """Yield where a text contains the head of a form, with as much of its rest as matches."""
    for found in re.finditer("".join(map(_pattern_of, head)), text):
        end = found.end()
        for character in rest:
            more = re.compile(_pattern_of(character)).match(text, end)
            if more is None:
                break
            end = more.end()
        yield found.start(), end


def _forms_of(value: str) -> Iterator[tuple[str, str]]:
    """Yield the forms of a value that do not depend on its surroundings, each as head and rest."""
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
    """Yield the forms of a value whose bytes are each written in a code, each as head and rest."""
    if len(value) < SHORTEST_SECRET:
        return
    for form in _BYTE_FORMS:
        coded = [form.format(byte) for byte in value.encode("utf-8", "surrogateescape")]
        yield "".join(coded[:_HEAD_CHARACTERS]), "".join(coded[_HEAD_CHARACTERS:])


def _longest_plain_part(form: str) -> str:
    spaced = "".join(character if character in _UNRESERVED else " " for character in form)
    return max(spaced.split(), key=len, default="")


def _pattern_of(character: str) -> str:
    """Return a pattern for a character as addresses, JSON and Python write it, also escaped repeatedly."""
    if character in _UNRESERVED:
        return re.escape(character)
    percent = "".join(f"%(?:25){{0,3}}{byte:02x}" for byte in character.encode("utf-8", "surrogateescape"))
    escaped = rf"\\{{1,8}}(?:u{ord(character):04x}|x{ord(character):02x})"
    plus = r"|\+" if character == " " else ""
    return rf"(?:\\{{0,8}}{re.escape(character)}|(?i:{percent}|{escaped}){plus})"
