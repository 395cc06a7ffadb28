"""Requests to the sandbox's hosts, and their replies before they become bytes on a wire."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

Query: TypeAlias = Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True)
class HttpReply:
    """A status, a body, its type, and extra headers."""

    status: int
    body: bytes
    content_type: str = "application/json; charset=utf-8"
    headers: tuple[tuple[str, str], ...] = ()


def json_bytes(value: object) -> bytes:
    """Return a value as compact JSON."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def json_reply(value: object, *, status: int = 200) -> HttpReply:
    """Return a reply with a value as JSON."""
    return HttpReply(status, json_bytes(value))


def error_reply(status: int, message: str, *, kind: str | None = None) -> HttpReply:
    """Return a refusal; Gamma adds a type to the message, the CLOB does not."""
    return json_reply({"error": message} if kind is None else {"type": kind, "error": message}, status=status)


class RequestDenial(Exception):
    """A host refuses a request; carries the reply."""

    def __init__(self, reply: HttpReply) -> None:
        """Keep the reply."""
        super().__init__(reply.status)
        self.reply = reply


def whole_number(query: Query, name: str, default: int, refusal: HttpReply) -> int:
    """Return a parameter as a whole number, by default `default`; raise `RequestDenial` if it is no whole number."""
    try:
        return int(query[name][-1]) if name in query else default
    except ValueError:
        raise RequestDenial(refusal) from None
