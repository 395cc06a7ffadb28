"""`predibot prompts`: the prompts that bots are asked with, to be copied, and the fields that they may have."""

from typing import Annotated

import typer

from predibot.cli import options, output


def prompts(
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="print this one, to begin your own from")] = None,
    json: options.Json = False,
) -> None:
    """List the packaged prompts and the fields of prompts, or print one prompt as it is."""
    from predibot.recipe.prompts import list_prompts, packaged_text

    if name is not None:
        text = packaged_text(name)
        if json:
            output.print_document({"name": name, "text": text})
        else:
            typer.echo(text, nl=False)
        return
    found = list_prompts()
    if json:
        rows = [{"name": name, "purpose": purpose, "fields": fields} for name, purpose, fields in found.prompts]
        output.print_document({"prompts": rows, "fields": dict(found.fields), "games": dict(found.games)})
        return
    from predibot.reports.table import Column, Table
    from predibot.reports.terminal.grid import print_grid
    from predibot.reports.terminal.text import plain

    console = output.report_console()
    tables: tuple[tuple[str, tuple[str, ...], list[tuple[str, ...]]], ...] = (
        ("Prompts", ("name", "is for", "fields"), [(*each[:2], ", ".join(each[2])) for each in found.prompts]),
        ("Fields", ("field", "is filled with"), [*found.fields.items()]),
        (
            "Fields of prompts by game",
            ("game", "fields"),
            [(game, ", ".join(fields)) for game, fields in found.games.items()],
        ),
    )
    for number, (title, names, cells) in enumerate(tables):
        if number:
            console.print()
        columns = tuple(Column(each, kind="text" if place else "key") for place, each in enumerate(names))
        print_grid(console, Table(title, columns, tuple(tuple(map(plain, row)) for row in cells)))
