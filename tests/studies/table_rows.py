"""Rows of the tables of a study, by column."""

from typing import Any

from predibot.scoring.study_table import StudyTable


def rows_of(table: StudyTable) -> list[dict[str, Any]]:
    return [dict(zip(table.columns, row, strict=True)) for row in table.rows]
