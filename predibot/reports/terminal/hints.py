"""Hints: commands in our texts, written so that they run as typed where they are read."""

import re
from collections.abc import Collection
from contextlib import AbstractContextManager
from contextvars import ContextVar
from dataclasses import dataclass

from predibot._context import set_within

_COMMAND = re.compile(r"(?P<before>`|^  )predibot (?P<rest>[^`\n]+)", re.MULTILINE)
_EXTRA = re.compile(r"pip install (['\"])predibot\[(?P<extra>[a-z]+)\]\1")


@dataclass(frozen=True, slots=True)
class CallSite:
    """How commands are typed where they are read."""

    program: str = "predibot"
    ledger: str = ""
    """The option that names the ledger, which a hint of a command with a ledger gets; empty for the usual one."""
    with_ledger: Collection[str] = ()
    """Commands that have this option, such as `report` or `ledger stats`."""
    install: str = "pip install 'predibot[{extra}]'"


USUAL = CallSite()
"""Where `predibot` is on the path, and the ledger the usual one."""
_PLACE: ContextVar[CallSite] = ContextVar("place", default=USUAL)


def in_place(place: CallSite) -> AbstractContextManager[None]:
    """Write the hints of texts inside the block for this place."""
    return set_within(_PLACE, place)


def runnable(text: str) -> str:
    """Return a text whose commands, in backticks or on an indented line, run as typed in the place of the moment.

    Examples:
        >>> with in_place(CallSite(".venv/bin/predibot", "--ledger sqlite:///my.db", {"report"})):
        ...     runnable("Run `predibot report --full`, or `predibot bots`")
        'Run `.venv/bin/predibot report --full --ledger sqlite:///my.db`, or `.venv/bin/predibot bots`'
    """
    place = _PLACE.get()

    def command(found: re.Match[str]) -> str:
        words = found["rest"].split()
        has_ledger = {words[0], " ".join(words[:2])} & {*place.with_ledger}
        is_named = not has_ledger or not place.ledger or "--ledger" in found["rest"] or "--help" in words
        return f"{found['before']}{place.program} {found['rest']}{'' if is_named else f' {place.ledger}'}"

    extras = _EXTRA.sub(lambda found: place.install.replace("{extra}", found["extra"]), text)
    return _COMMAND.sub(command, extras)
