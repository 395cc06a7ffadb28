"""`predibot bots`: the strategies there are, what they take, and the tools and search providers they may use."""

from dataclasses import asdict, replace
from typing import TYPE_CHECKING

import typer

from predibot.cli import options, output
from predibot.cli.command import Command
from predibot.cli.ending import secrets_here

if TYPE_CHECKING:
    from collections.abc import Sequence

    from predibot.plugins.arguments import ArgumentInfo
    from predibot.plugins.strategies import StrategyInfo
    from predibot.plugins.tools import ToolInfo


def register(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command("bots", cls=Command, help="list the strategies, their arguments, and tools")(bots)


def bots(json: options.Json = False) -> None:
    """List every strategy, tool and search provider of its own file, also those that cannot be loaded."""
    from predibot.plugins.strategies import strategies
    from predibot.plugins.tools import tool_infos

    hidden = secrets_here().hidden
    # A plug-in may quote a key where it does not load.
    found = [replace(info, problem=hidden(info.problem)) for info in strategies()]
    tools = [replace(info, problem=hidden(info.problem)) for info in tool_infos()]
    if json:
        output.print_document(
            {"strategies": [asdict(info) for info in found], "tools": [asdict(info) for info in tools]}
        )
    else:
        _print(found)
        _print_tools(tools)


def _print(found: "Sequence[StrategyInfo]") -> None:
    from predibot.reports.terminal.grid import Column, Grid, print_grid
    from predibot.reports.terminal.text import plain

    console = output.report_console()
    rows = tuple((plain(info.name), plain(info.problem or info.summary)) for info in found)
    print_grid(console, Grid("Strategies", (Column("name", "key"), Column("what it does", "text")), rows))
    columns = (Column("argument", "key"), Column("takes", "text"), Column("default", "key"), Column("", "text"))
    for info in found:
        if info.arguments:
            console.print()
            print_grid(console, Grid(f"Arguments of {plain(info.name)}", columns, tuple(map(_cells, info.arguments))))


def _cells(argument: "ArgumentInfo") -> tuple[str, ...]:
    from predibot.reports.terminal.text import plain

    default = "must be given" if argument.default is None else argument.default
    return plain(argument.name), plain(argument.type), plain(default), plain(argument.doc)


def _print_tools(found: "Sequence[ToolInfo]") -> None:
    from predibot.reports.terminal.grid import Column, Grid, print_grid
    from predibot.reports.terminal.text import plain

    console = output.report_console()
    rows = tuple((plain(info.name), info.kind, plain(info.problem or info.summary)) for info in found)
    columns = (Column("name", "key"), Column("kind", "key"), Column("what it does", "text"))
    console.print()
    print_grid(console, Grid("Tools", columns, rows))
