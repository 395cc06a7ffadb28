"""A command whose own lines of help read like all the others: in lower case, without a full stop."""

from collections.abc import Mapping
from typing import Any, ClassVar

from typer.core import TyperCommand, TyperGroup

from predibot.cli.ending import DONE, EXIT_CODES, FAILED, NOTHING, PARTLY

_HELP = "show this message and exit"


class Command(TyperCommand):
    """One command."""

    own_codes: ClassVar[Mapping[int, str]] = {}
    """What exit codes mean besides, of this command."""

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write what its exit codes mean: as far as they are about decisions, of commands that decide."""
        short = {code: said.partition(";")[0] for code, said in EXIT_CODES.items() if code not in (PARTLY, NOTHING)}
        _write_codes(formatter, {**short, **self.own_codes})

    def get_help_option(self, ctx: Any) -> Any:
        """Return the option `--help` in our words."""
        return _in_our_words(super().get_help_option(ctx))

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write what its options are; which venues there are is looked up for who asks, and for nobody else."""
        for option in self.params:
            if "{venues}" in (getattr(option, "help", None) or ""):
                from predibot.plugins.venues import usages

                option.help = option.help.replace("{venues}", usages())  # type: ignore[attr-defined]
        super().format_options(ctx, formatter)


class StatusCommand(Command):
    """The command whose exit code is its result, as monitoring reads it."""

    own_codes: ClassVar = {DONE: "all is well", FAILED: "somebody has to look, or an error, told in one line"}


class DecidingCommand(Command):
    """One command that makes decisions, of which some may fail."""

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write what all exit codes mean."""
        _write_codes(formatter, EXIT_CODES)


class Group(TyperGroup):
    """A command with commands below it."""

    def get_help_option(self, ctx: Any) -> Any:
        """Return the option `--help` in our words."""
        return _in_our_words(super().get_help_option(ctx))

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write what all exit codes mean, of the program itself."""
        if ctx.parent is None:
            _write_codes(formatter, EXIT_CODES)


def _write_codes(formatter: Any, codes: Mapping[int, str]) -> None:
    with formatter.section("Exit codes"):
        formatter.write_dl([(str(code), said) for code, said in codes.items()])


def _in_our_words(option: Any) -> Any:
    if option is not None:
        option.help = _HELP
    return option
