"""A command whose own line of help reads like all the others: in lower case, without a full stop."""

from typing import Any

from typer.core import TyperCommand, TyperGroup

_HELP = "show this message and exit"


class Command(TyperCommand):
    """One command."""

    def get_help_option(self, ctx: Any) -> Any:
        """Return the option `--help` in our words."""
        return _in_our_words(super().get_help_option(ctx))


class Group(TyperGroup):
    """A command with commands below it."""

    def get_help_option(self, ctx: Any) -> Any:
        """Return the option `--help` in our words."""
        return _in_our_words(super().get_help_option(ctx))


def _in_our_words(option: Any) -> Any:
    if option is not None:
        option.help = _HELP
    return option
