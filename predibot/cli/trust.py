"""`predibot trust`: let a folder do what only its user may allow."""

from pathlib import Path
from typing import Annotated

import typer

from predibot.cli import options, output
from predibot.cli.options import argument, flag


def trust(
    folder: Annotated[Path, argument("FOLDER", "which", file_okay=False, exists=True)] = Path(),
    show: Annotated[bool, flag("--show", "say what there is to trust, and change nothing")] = False,
    remove: Annotated[bool, flag("--remove", "trust it no more")] = False,
    json: options.Json = False,
) -> None:
    """Trust the settings and recipes of a folder as they are now; after any change the folder is not trusted."""
    from predibot.reports.terminal.terminal import plain
    from predibot.trust import Folder

    if show and remove:
        raise typer.BadParameter("--show changes nothing, and --remove does; give one of them")
    found = Folder.read(folder)
    if remove:
        found.distrust()
    elif found.powers and not show:
        found.trust()
    needed, trusted = {name: list(powers) for name, powers in found.powers.items()}, found.is_trusted
    if json:
        document = {"folder": str(found.path), "needs": needed, "trusted": trusted, "digest": found.digest}
        output.print_document(document)
        return
    console = output.report_console()
    for name, powers in needed.items():
        console.print(plain(f"{name}: {', '.join(powers)}"), markup=False, soft_wrap=True)
    if not needed:
        text = f"nothing in {found.path} needs your word"
    elif trusted:
        text = f"{found.path} is trusted as it is now; elsewhere set PREDIBOT_TRUST={found.digest}"
    else:
        text = f"{found.path} is not trusted; its digest is {found.digest}"
    console.print(plain(text), markup=False, soft_wrap=True)
