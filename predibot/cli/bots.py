"""`predibot bots`: the strategies there are, what they take, and tools and search providers; or all of one."""

from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from predibot.cli import options, output
from predibot.cli.ending import environment_secrets
from predibot.cli.options import argument, option

if TYPE_CHECKING:
    from predibot.plugins.strategies import StrategyInfo
    from predibot.plugins.tools import ToolInfo


def bots(
    name: Annotated[str | None, argument("[NAME]", "show this bot, strategy or tool")] = None,
    recipe: Annotated[
        str | None, option("--recipe", "RECIPE", "whose bot; left out: runs/daily.toml, else daily")
    ] = None,
    ledger: options.Ledger = options.DEFAULT_LEDGER,
    json: options.Json = False,
) -> None:
    """List every strategy, tool and search provider, also those that cannot be loaded, or show one bot."""
    if name is not None:
        _show_bot(name, recipe, ledger, json=json)
        return
    if recipe is not None:
        raise typer.BadParameter("--recipe says whose bot is shown; give its NAME too")
    from predibot.contracts import ANY_GAME
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
    games = ("any game" if info.games == ANY_GAME else ", ".join(info.games) for info in found)
    rows = ((info.name, plays, info.problem or info.summary) for info, plays in zip(found, games, strict=True))
    output.print_cells("Strategies", {"name": "key", "plays": "text", "what it does": "text"}, rows)
    output.print_lines("")
    _print_tools(tools)
    for info in found:
        _print_arguments(info)


def _print_tools(tools: "Sequence[ToolInfo]") -> None:
    rows = ((info.name, info.kind, info.problem or info.summary) for info in tools)
    output.print_cells("Tools", {"name": "key", "kind": "key", "what it does": "text"}, rows)


def _print_arguments(info: "StrategyInfo") -> None:
    """Print what a strategy takes, below an empty line; nothing if it takes nothing."""
    if info.arguments:
        from predibot.reports.terminal.terminal import plain

        rows = (
            (each.name, each.type, "must be given" if each.default is None else each.default, each.doc)
            for each in info.arguments
        )
        output.print_lines("")
        title = f"Arguments of {plain(info.name)}"
        output.print_cells(title, {"argument": "key", "takes": "text", "default": "key", "": "text"}, rows)


def _show_bot(name: str, recipe: str | None, ledger: str, *, json: bool) -> None:
    """Print what a bot is, what its decisions cost so far, the latest ones, and how to look further."""
    from predibot.domain.spelling import did_you_mean
    from predibot.errors import PluginError, UsageError
    from predibot.jobs.histories.run import decisions_of_bot
    from predibot.ledger.url import parse_ledger_url, sqlite_file
    from predibot.plugins.strategies import describe_strategy, list_strategies, strategy_names
    from predibot.plugins.tools import tool_infos
    from predibot.recipe.parse import load_recipe
    from predibot.reports.terminal.closeups.contestant import KnownBot, contestant_document, print_contestant

    found = load_recipe(recipe, Path())
    own = [bot for bot in found.bots if name in (bot.name, bot.name.partition("#")[0])]
    file = sqlite_file(parse_ledger_url(ledger))
    of_ledger = None
    if file is None or file.exists():
        with output.caller().reading(ledger) as store:
            of_ledger = decisions_of_bot(store, name)
    decided, latest = of_ledger or (None, ())
    hidden, why = environment_secrets().mask, ""
    is_strategy = name in strategy_names()
    if not own and not latest:
        if not is_strategy:
            tools = tool_infos()
            if tool := [replace(each, problem=hidden(each.problem)) for each in tools if each.name == name]:
                if json:
                    output.print_document({"tools": [asdict(info) for info in tool]})
                else:
                    _print_tools(tool)
                return
            known = (*strategy_names(), *(bot.name for bot in found.bots), *(each.name for each in tools))
            raise UsageError(f"no bot, strategy or tool {name[:60]!r} in {found.source}. {did_you_mean(name, known)}")
        describe_strategy(name)
        try:
            found = found.with_overrides(bots=[name])
            own = list(found.bots)
        except (PluginError, UsageError) as error:
            why = str(error)
    bot = own[0] if own else None
    strategy = name if is_strategy else bot.strategy.name if bot else latest[0].strategy
    infos = (replace(each, problem=hidden(each.problem)) for each in list_strategies() if each.name == strategy)
    info = next(infos, None)
    who = KnownBot(name, bot, found, decided, latest, info)
    if why and info is not None and not json:
        output.print_lines(f"{name}: {info.summary}", hidden(f"`--bots {name}` alone makes no bot: {why}"))
    else:
        output.print_found(who, contestant_document, print_contestant, json=json, hidden=hidden)
    if is_strategy and info is not None and not json:
        _print_arguments(info)
