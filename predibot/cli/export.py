"""`predibot export`: the ledger's rows for other programs."""

from pathlib import Path
from typing import Annotated

import typer

from predibot.cli import options, output
from predibot.cli.options import argument, flag, option


def export(
    folder: Annotated[Path | None, argument("FOLDER", "one file a table there; left out: JSON lines on stdout")] = None,
    file_format: Annotated[
        str | None, option("--format", "FORMAT", "of the files: csv (if left out), jsonl or parquet")
    ] = None,
    table: Annotated[list[str] | None, option("--table", "TABLE", "only this table; may be repeated")] = None,
    canonical: Annotated[
        bool, flag("--canonical", "rows by natural key, without what may differ between two equal ledgers")
    ] = False,
    ledger: options.Ledger = options.DEFAULT_LEDGER,
    json: options.Json = False,
) -> None:
    """Write the ledger's rows; two ledgers that hold the same have equal canonical exports, byte for byte."""
    from predibot.domain.spelling import did_you_mean
    from predibot.jobs.export import FORMATS, export_files, export_lines, tables_of

    known = tables_of(canonical=canonical)
    for name in table or ():
        if name not in known:
            raise typer.BadParameter(f"no table {name!r}. {did_you_mean(name, known)}")
    kind = next((each for each in FORMATS if each == (file_format or "csv")), None)
    if kind is None:
        raise typer.BadParameter(f"no format {file_format!r}. {did_you_mean(str(file_format), FORMATS)}")
    if folder is None and file_format not in (None, "jsonl"):
        raise typer.BadParameter(f"--format {file_format} is for files; name a FOLDER for them")
    chosen = tuple(name for name in known if not table or name in table)
    with output.caller().reading(ledger) as store:
        if folder is None:
            # The lines are JSON already; one document of them is a list.
            typer.echo("[" if json else "", nl=False)
            for number, line in enumerate(export_lines(store, chosen, canonical=canonical)):
                typer.echo(f", {line}" if number and json else line, nl=not json)
            typer.echo("]" if json else "", nl=json)
            return
        written = export_files(store, folder, chosen, kind, canonical=canonical)
    if json:
        output.print_document({"files": {str(path): rows for path, rows in written.items()}})
        return
    for path, rows in written.items():
        output.report_console().print(f"{path}: {rows} rows", soft_wrap=True, markup=False)
