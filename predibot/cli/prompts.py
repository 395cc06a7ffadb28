"""`predibot prompts`: the prompts that bots are asked with, to be copied, and the fields that they may have."""

from typing import Annotated

import typer

from predibot.cli import options, output
from predibot.cli.options import argument


def prompts(
    name: Annotated[str | None, argument("[NAME]", "print this one, to begin your own from")] = None,
    json: options.Json = False,
) -> None:
    """List the packaged prompts and the fields of prompts, or print one prompt as it is."""
    from predibot.recipe.prompts import FIELDS, fields_by_game, list_prompts, packaged_text

    if name is not None:
        text = packaged_text(name)
        if json:
            output.print_document({"name": name, "text": text})
        else:
            typer.echo(text, nl=False)
        return
    found, games = list_prompts(), fields_by_game()
    if json:
        rows = [{"name": name, "purpose": purpose, "fields": fields} for name, purpose, fields in found]
        output.print_document({"prompts": rows, "fields": dict(FIELDS), "games": games})
        return
    named = ((name, purpose, ", ".join(fields)) for name, purpose, fields in found)
    output.print_cells("Prompts", {"name": "key", "is for": "text", "fields": "text"}, named)
    output.print_lines("")
    output.print_cells("Fields", {"field": "key", "is filled with": "text"}, FIELDS.items())
    output.print_lines("")
    by_game = ((game, ", ".join(fields)) for game, fields in games.items())
    output.print_cells("Fields of prompts by game", {"game": "key", "fields": "text"}, by_game)
