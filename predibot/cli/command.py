"""Commands of the program: groups of options, exit codes in the help, and one style of help."""

from collections.abc import Callable, Mapping
from dataclasses import is_dataclass
from functools import wraps
from inspect import Parameter, signature
from itertools import pairwise
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from predibot.cli.ending import DONE, EXIT_CODES, FAILED, NOTHING, PARTLY

_HELP = "show this message and exit"
_CODES = {code: said.partition(";")[0] for code, said in EXIT_CODES.items() if code not in (PARTLY, NOTHING)}
"""Exit codes of commands that make no decisions, with their meanings."""
_MEANT: Mapping[tuple[str | None, str], str] = {
    ("predibot", "backtest"): "replay",
    ("predibot", "dashboard"): "serve",
    ("predibot", "eval"): "evaluate",
    ("predibot", "leaderboard"): "report",
    ("predibot", "run"): "decide",
    ("predibot", "ui"): "serve",
    ("predibot", "version"): "--version",
    ("predibot", "view"): "serve",
    ("predibot", "web"): "serve",
    ("ledger", "verify"): "verify --rows",
    ("schedule", "status"): "status",
}
"""What users and other programs call a command of a group, and its name here."""
_CODES_OF: Mapping[str | None, Mapping[int, str]] = {
    **dict.fromkeys(("decide", "replay", "run", "run-now"), EXIT_CODES),
    "status": {**_CODES, DONE: "all is well", FAILED: "somebody has to look, or an error, told in one line"},
}
"""Those of commands that decide, of whose decisions some may fail, and of the one that monitoring reads."""


class Commands(typer.Typer):
    """A Typer app whose commands may take a group of options: a dataclass parameter, whose fields are options."""

    def command(self, *named: Any, **more: Any) -> Callable[[Any], Any]:
        """Return a decorator that registers a command."""
        register = super().command(*named, **more)
        return lambda function: register(_flatten_groups(function))


def _flatten_groups(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that takes each field of a dataclass parameter as a parameter of its own."""
    asked = signature(function, eval_str=True)
    kinds = {each.name: each.annotation for each in asked.parameters.values()}
    groups = {name: kind for name, kind in kinds.items() if isinstance(kind, type) and is_dataclass(kind)}
    if not groups:
        return function
    fields = {name: signature(group, eval_str=True).parameters for name, group in groups.items()}

    @wraps(function)
    def command(**given: Any) -> Any:
        made = {name: groups[name](**{each: given.pop(each) for each in of}) for name, of in fields.items()}
        return function(**given, **made)

    flat = (
        own for name, each in asked.parameters.items() for own in (fields[name].values() if name in groups else [each])
    )
    single = [each.replace(kind=Parameter.KEYWORD_ONLY) for each in flat]
    command.__signature__ = asked.replace(parameters=single)  # type: ignore[attr-defined]
    return command


class Command(TyperCommand):
    """One command."""

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write what its exit codes mean."""
        _write_codes(formatter, _CODES_OF.get(self.name, _CODES))

    def get_help_option(self, ctx: Any) -> Any:
        """Return the option `--help` in our words."""
        return _reword_help(super().get_help_option(ctx))

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the options; venues are looked up only here, as loading them takes time."""
        for option in self.params:
            if "{venues}" in (getattr(option, "help", None) or ""):
                from predibot.plugins.venues import usages

                option.help = option.help.replace("{venues}", usages())  # type: ignore[attr-defined]
        super().format_options(ctx, formatter)


class ReportCommand(Command):
    """The command whose option `--event` lists the latest events where no event follows it."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Give `--event` an empty value where it has none."""
        pairs = pairwise([*args, "-"])
        given = [f"{each}=" if (each, after[:1]) == ("--event", "-") else each for each, after in pairs]
        return super().parse_args(ctx, given)


class CommandGroup(TyperGroup):
    """A command with commands below it."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command that is named; a name that it does not have is answered with the one it has."""
        if meant := _MEANT.get((self.name, args[0])):
            ctx.fail(f"No such command {args[0]!r}; here it is `predibot {meant}`.")
        return super().resolve_command(ctx, args)

    def get_help_option(self, ctx: Any) -> Any:
        """Return the option `--help` in our words."""
        return _reword_help(super().get_help_option(ctx))

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write what all exit codes mean, in the help of the program itself only."""
        if ctx.parent is None:
            _write_codes(formatter, EXIT_CODES)


def _write_codes(formatter: Any, codes: Mapping[int, str]) -> None:
    with formatter.section("Exit codes"):
        formatter.write_dl([(str(code), said) for code, said in codes.items()])


def _reword_help(option: Any) -> Any:
    if option is not None:
        option.help = _HELP
    return option
