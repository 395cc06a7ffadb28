"""Sheets for people: CSV files of pairs to be labelled, and of candidate reasons to be voted on."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from predibot.domain.untrusted_text import spreadsheet_cell
from predibot.errors import UsageError
from predibot.studies.beliefbench.pairs import PairItem
from predibot.studies.beliefbench.scores.tables import PairReadings
from predibot.studies.beliefbench.scores.votes import candidates_of
from predibot.whole_file import whole_file

_TEXTS = ("title_1", "description_1", "title_2", "description_2")
PER_LABEL = 10
"""Pairs of each true label, the first by id."""


def write_sheet(run: PairReadings, path: Path) -> int:
    """Write a CSV sheet of pairs for people to label, and return its number of pairs.

    It shows neither labels nor scores. Each rater fills in a copy; `read_ratings` reads the copies one below the other.
    Raises `UsageError` if the file cannot be written.
    """
    pairs = [*_first_of_each_label(run.items[name] for name in sorted(run.items))]
    rows = [(item.id, *_texts_of(item), "", "") for item in pairs]
    _write_csv(path, ("pair", *_TEXTS, "rater", "label"), rows)
    return len(pairs)


def write_reasons_sheet(run: PairReadings, path: Path) -> int:
    """Write a CSV sheet of candidate reasons for people to vote on, and return its number of pairs.

    It shows neither writers nor labels nor scores. Each rater fills in a copy; `read_votes` reads the copies one below
    the other. Raises `UsageError` if no pair has two different reasons, or the file cannot be written.
    """
    candidates = candidates_of(run)
    pairs = [*_first_of_each_label(run.items[name] for name in candidates)]
    if not pairs:
        raise UsageError(
            "no pair has different reasons by two bots; let two bots of the recipe have chain_of_thought = true"
        )
    rows = [
        (item.id, id_, *_texts_of(item), spreadsheet_cell(candidate.text), "", "")
        for item in pairs
        for id_, candidate in candidates[item.id].items()
    ]
    _write_csv(path, ("pair", "candidate", *_TEXTS, "reasons", "rater", "vote"), rows)
    return len(pairs)


def _first_of_each_label(items: Iterable[PairItem]) -> Iterator[PairItem]:
    taken: Counter[str] = Counter()
    for item in items:
        label = item.truth.label if item.truth else ""
        taken[label] += 1
        if taken[label] <= PER_LABEL:
            yield item


def _texts_of(item: PairItem) -> Iterator[str]:
    return (spreadsheet_cell(text) for texts in item.texts for text in texts)


def _write_csv(path: Path, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    try:
        with whole_file(path) as file:
            file.write(b"\xef\xbb\xbf")
            for row in [columns, *rows]:
                file.write((",".join('"' + cell.replace('"', '""') + '"' for cell in row) + "\r\n").encode())
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}; name another file") from error
