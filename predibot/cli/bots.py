"""`predibot bots`: the strategies there are, what they take, and the tools and search providers they may use."""

from dataclasses import asdict, replace

from predibot.cli import options, output
from predibot.cli.ending import environment_secrets


def bots(json: options.Json = False) -> None:
    """List every strategy, tool and search provider, also those that cannot be loaded."""
    from predibot.plugins.strategies import list_strategies
    from predibot.plugins.tools import tool_infos

    hidden = environment_secrets().mask
    # The error of a plug-in that does not load may quote a key.
    found = [replace(info, problem=hidden(info.problem)) for info in list_strategies()]
    tools = [replace(info, problem=hidden(info.problem)) for info in tool_infos()]
    if json:
        output.print_document(
            {"strategies": [asdict(info) for info in found], "tools": [asdict(info) for info in tools]}
        )
        return
    from predibot.reports.table import Column, Table
    from predibot.reports.terminal.grid import print_grid
    from predibot.reports.terminal.text import plain

    console = output.report_console()
    rows = [(plain(info.name), plain(_games_text(info.games)), plain(info.problem or info.summary)) for info in found]
    about = (Column("name", kind="key"), Column("plays", kind="text"), Column("what it does", kind="text"))
    print_grid(console, Table("Strategies", about, tuple(rows)))
    columns = (
        Column("argument", kind="key"),
        Column("takes", kind="text"),
        Column("default", kind="key"),
        Column("", kind="text"),
    )
    for info in found:
        cells = []
        for each in info.arguments:
            default = "must be given" if each.default is None else each.default
            cells.append((plain(each.name), plain(each.type), plain(default), plain(each.doc)))
        if cells:
            console.print()
            print_grid(console, Table(f"Arguments of {plain(info.name)}", columns, tuple(cells)))
    console.print()
    kinds = tuple((plain(info.name), info.kind, plain(info.problem or info.summary)) for info in tools)
    columns_of_tools = (Column("name", kind="key"), Column("kind", kind="key"), Column("what it does", kind="text"))
    print_grid(console, Table("Tools", columns_of_tools, kinds))


def _games_text(games: tuple[str, ...]) -> str:
    from predibot.contracts import ANY_GAME

    return "any game" if games == ANY_GAME else ", ".join(games)
