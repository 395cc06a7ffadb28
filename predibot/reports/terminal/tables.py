"""Tables of text tasks: on a screen, as JSON, and as CSV."""

import csv
import io
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.console import Console

from predibot.domain.untrusted_text import spreadsheet_cell
from predibot.errors import UsageError
from predibot.reports import figures
from predibot.reports.table import LAST, Column, Kind, Table, table_of
from predibot.reports.terminal.grid import print_grid
from predibot.reports.terminal.terminal import print_line
from predibot.reports.terminal.text import plain
from predibot.studies.beliefbench.pairs import LABELS, About
from predibot.studies.stakebench.readings import RunTables
from predibot.studies.stakebench.scores.tables import StudyTable
from predibot.whole_file import whole_file

_MEANINGS = {
    "Agg": "the mean of G1 Acc, G2 DA, G3 Acc_act and Acc_f, each from 0 for guessing to 1, and of n+ over splits",
    "G1 Acc": "who holds a position",
    "G2 DA": "on which side, of the answers that name one",
    "G2 CCA": "the same weighted by the logarithm of the stake",
    "G2 CSD": "DA of the largest quarter of stakes less that of the smallest",
    "G3 Acc_f": "flip or hold",
    "G3 Acc_d": "decrease or hold",
    "G4 PLA": "where the odds go",
    "G4 lead": "G4 PLA less that of the side with most at stake",
    "n+": "in how many splits G4 lead is above zero",
    "following": "how often the side that lost and was held is named",
    "Acc": "answers that are right, of all",
    "F1": "the mean over labels of how well each is found",
    "QWK": "Cohen's kappa weighted by the square of the steps between labels; 0 is chance",
    "Spearman": "the labels' rank correlation with S",
    "MSE": "the mean square of the distance between the middles of both labels",
    "MAE": "the mean of that distance",
    "change": "of MSE after the cutoff: 0.5 for half more",
    "MSE to S": "the same from the label's middle to S itself",
    "MCG": "the mean of the gaps; CG(2) to the side most was staked on, CG(3) to 1, CG(4) to the stakes",
}
_KINDS: Mapping[str, Kind] = {
    **dict.fromkeys(("bot", "judge", "domain", "part", "cutoff"), "key"),
    **dict.fromkeys(("remark", "split"), "text"),
}
_LEAST_ASKED = (
    *("MSE to S", "MAE to S", "remark", "G1 F1", "G2 strict", "G2 CSD", "G2 CCA", "G3 Acc_d", "G3 Acc_act", "unread"),
    *("splits", "G4 PLA"),
)


def print_tables(console: Console, found: RunTables, *, full: bool) -> None:
    """Print each table that has a row, or the first ones alone, and what is in none."""
    print_line(console, f"run {plain(found.run)}")
    for table in found.tables:
        if table.rows and (full or table.name in found.first):
            console.print()
            print_grid(console, table_grid(table))
    for note in found.notes:
        print_line(console, f"note: {plain(note)}")
    if not full:
        print_line(console, found.more)


def print_funnel(console: Console, funnel: Mapping[str, int]) -> None:
    """Print how many there were at each stage of making a data set."""
    width = max(map(len, funnel), default=0)
    for stage, n in funnel.items():
        print_line(console, f"{stage:<{width}}  {n:>12,}")


def print_pairs(console: Console, folder: Path, about: About) -> None:
    """Print what a data set of pairs came to: at each stage, and by domain and label."""
    print_line(console, f"{plain(str(folder))}: as of {about.as_of}")
    print_funnel(console, about.funnel)
    console.print()
    columns = (
        Column("domain", "0", kind="name"),
        *(Column(label, f"1.{label}", figures.count) for label in LABELS),
        Column("all", "1", lambda counts: figures.count(sum(counts.values()))),
    )
    print_grid(console, table_of("Pairs by how related they are", columns, about.pairs.items()))


def tables_document(found: RunTables) -> dict[str, Any]:
    """Return the tables as JSON has them: rows by column, null for what there is none of."""
    tables = [
        {
            "name": table.name,
            "title": table.title,
            "note": table.note,
            "rows": [dict(zip(table.columns, row, strict=True)) for row in table.rows],
        }
        for table in found.tables
    ]
    return {"run": found.run, "tables": tables, "notes": list(found.notes)}


def write_tables(found: RunTables, folder: Path) -> Iterator[Path]:
    """Write a CSV file for each table, and yield its path.

    Raises:
        UsageError: If the folder cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for table in found.tables:
            path = folder / f"table_{table.name}.csv"
            text = io.StringIO(newline="")
            writer = csv.writer(text)
            writer.writerow(table.columns)
            for row in table.rows:
                writer.writerow([spreadsheet_cell(cell) if isinstance(cell, str) else cell for cell in row])
            with whole_file(path) as file:
                file.write(text.getvalue().encode())
            yield path
    except OSError as error:
        raise UsageError(f"{folder} cannot be written: {error.strerror}; name another folder") from error


def table_grid(table: StudyTable) -> Table:
    """Return a table as it is shown."""
    columns = tuple(
        Column(
            name,
            str(place),
            _written,
            _LEAST_ASKED.index(name) + 1 if name in _LEAST_ASKED else LAST,
            _MEANINGS.get(name, ""),
            kind="name" if place == 0 else _KINDS.get(name, "number"),
        )
        for place, name in enumerate(table.columns)
    )
    number = f"Table {table.name}. " if table.name.isdigit() else ""
    found = table_of(f"{number}{table.title}", columns, table.rows, [table.note])
    order = list(_MEANINGS)
    meant = [each for each in columns if each.meaning]
    return replace(found, legend=tuple(sorted(meant, key=lambda each: order.index(each.header))))


def _written(cell: str | float) -> str:
    if isinstance(cell, str):
        return plain(cell)
    if isinstance(cell, int):
        return f"{cell:,}"
    return f"{cell:,.3f}" if abs(cell) < 1_000 else f"{cell:,.0f}"
