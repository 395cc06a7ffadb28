"""`predibot init`: write a recipe to start from."""

from pathlib import Path
from typing import Annotated

import typer

from predibot.cli import options, output


def init(
    path: Annotated[Path, typer.Argument(metavar="FILE", help="where")] = Path("runs/daily.toml"),
    force: Annotated[bool, typer.Option("--force", help="replace a file that is there")] = False,
    json: options.Json = False,
) -> None:
    """Write a commented recipe, which `predibot decide` uses from then on."""
    from predibot.errors import UsageError
    from predibot.recipe.text import starter_text

    if path.suffix != ".toml":
        raise UsageError(f"{path} is not the name of a recipe; it ends in .toml, like runs/daily.toml")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w" if force else "x", encoding="utf-8") as file:
            file.write(starter_text())
    except FileExistsError:
        raise UsageError(f"{path} is there already and is kept; name another file, or add --force") from None
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}; name another file") from error
    if json:
        output.print_document({"recipe": str(path)})
    else:
        output.print_lines(f"wrote {path}. Next: `predibot select {path}`")
