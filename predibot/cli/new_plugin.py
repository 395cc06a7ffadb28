"""`predibot new-strategy` and `predibot new-tool`: a plug-in of one's own to start from, with its test."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from predibot._folders import folders_from_environment, plugin_folders
from predibot.cli import options, output
from predibot.cli.options import argument, option
from predibot.cli.place import as_module

if TYPE_CHECKING:
    from predibot.plugins.starter import PluginKind

_Into = Annotated[
    Path | None,
    option("--into", "FOLDER", "where; left out: the folder that the environment names, else one of that name"),
]


def new_strategy(
    name: Annotated[str, argument("NAME", "of the strategy, such as my_strategy")],
    into: _Into = None,
    json: options.Json = False,
) -> None:
    """Write a strategy that can play as it is, and its test beside it."""
    files, where = _write("strategy", name, into)
    ledger = "--ledger sqlite:///runs/out/try.db"
    _show(
        "strategy",
        files,
        where,
        f"`predibot decide --venue sandbox --bots {name} {ledger}` shows it at work in a made-up world",
        json=json,
    )


def new_tool(
    name: Annotated[str, argument("NAME", "of the tool, such as my_tool")],
    into: _Into = None,
    json: options.Json = False,
) -> None:
    """Write a tool that an agent can call as it is, and its test beside it."""
    files, where = _write("tool", name, into)
    after = f'tools = ["web_search", "{name}"] under an agent in a recipe gives it the tool; `predibot bots` lists it'
    _show("tool", files, where, after, json=json)


def _write(kind: "PluginKind", name: str, into: Path | None) -> tuple[list[Path], str]:
    """Write the files, and return them with the line that names their folder to predibot, empty where it is known."""
    from predibot.errors import UsageError
    from predibot.plugins.starter import starter_files
    from predibot.whole_file import blame_path

    folders = "strategies" if kind == "strategy" else "tools"
    folder = into or Path(next(iter(folders_from_environment(folders)), folders))
    files = {folder / file: text for file, text in starter_files(kind, name).items()}
    for file in files:
        # A link that leads nowhere is there too.
        if file.exists() or file.is_symlink():
            raise UsageError(f"{file} is there already and is kept; take another name, or another folder by --into")
    with blame_path(folder, "; name another folder by --into"):
        folder.mkdir(parents=True, exist_ok=True)
        for file, text in files.items():
            with file.open("x", encoding="utf-8") as new:
                new.write(text)
    whole = str(folder.absolute())
    is_known = whole in plugin_folders(folders, ())
    return [*files], "" if is_known else f"PREDIBOT_{folders.upper()}={shlex.quote(whole)}"


def _show(kind: str, files: list[Path], export: str, after: str, *, json: bool) -> None:
    if json:
        output.print_document({"files": [file.as_posix() for file in files], "export": export or None})
        return
    plugin, test = files
    output.print_lines(f"wrote {plugin} and its test.")
    if export:
        output.print_lines(f"  export {export}")
        output.print_lines(
            "That line names its folder: the code of a folder runs only where you name it, as you, by its whole path. "
            f"A {kind} that starts programs also needs `predibot trust`."
        )
    output.print_lines(f"Next: {after}; `{as_module('pytest')} {shlex.quote(str(test))}` tests it.")
