"""Scores from outside: a file with a number for each bot, such as its rating in an arena."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TextIO

from predibot.errors import UsageError
from predibot.jobs.score_files.table import BadRow, Columns, InputTable, InvalidCell, parse_score, parse_text, show_cell
from predibot.jobs.score_files.table_file import open_table_file

_MOST_BYTES, _MOST_ROWS = 2**20, 10_000
_BOT, _SCORE = "bot", "score"


@dataclass(frozen=True, slots=True)
class OutsideScores:
    """A score that is not predibot's, by bot."""

    name: str
    """The header of its column."""
    by_bot: Mapping[str, float]


def read_outside_scores(argument: str, standard_input: TextIO | None) -> OutsideScores:
    """Return the scores of a CSV, JSON or Parquet file, or `-`: a column `bot`, and one with the score.

    Raises:
        UsageError: If it cannot be read, has more than one column of scores and none is `score`, a row without a
            number, or a bot twice.
    """
    with open_table_file(
        argument, None, standard_input, max_bytes=_MOST_BYTES, max_rows=_MOST_ROWS, seconds=60.0, remedy="Shorten it"
    ) as table:
        name = _column_of_scores(table)
        found: dict[str, float] = {}
        for row in table.rows(Columns((_BOT, name))):
            try:
                if isinstance(row, BadRow):
                    raise InvalidCell(row.reason)
                bot, score = parse_text(_BOT, row.cells[0]), parse_score(name, row.cells[1])
                if bot in found:
                    raise InvalidCell(f"bot {show_cell(bot)} is there twice; keep one row a bot")
            except InvalidCell as error:
                raise UsageError(f"{table.label}, {table.place} {row.number}: {error}") from None
            found[bot] = score
        if not found:
            raise UsageError(f"{table.label} has no row. Give each bot one, such as: my_bot,1287")
    return OutsideScores(name, found)


def _column_of_scores(table: InputTable) -> str:
    names = [name for name in table.names if name != _BOT]
    if len(names) == 1:
        return names[0]
    if _SCORE not in names:
        raise UsageError(f"{table.label} has the columns {table.list_names()}; give it `bot` and `score`")
    return _SCORE
