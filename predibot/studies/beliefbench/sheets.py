"""Sheets for people: CSV files of pairs to be labelled and of reasons to be voted on, and what people said in them."""

import csv
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from io import TextIOWrapper
from pathlib import Path

from predibot.domain.untrusted_text import spreadsheet_cell
from predibot.errors import UsageError
from predibot.plain_file import MAX_WHOLE_BYTES, open_plain
from predibot.studies.beliefbench.pairs import LABELS, PairItem
from predibot.studies.beliefbench.scores.cases import candidates_of
from predibot.studies.beliefbench.scores.scores import CENTRES
from predibot.studies.beliefbench.scores.tables import PairReadings
from predibot.whole_file import blame_path, whole_file

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
    with blame_path(path, "; name another file"), whole_file(path) as file:
        file.write(b"\xef\xbb\xbf")
        for row in [columns, *rows]:
            file.write((",".join('"' + cell.replace('"', '""') + '"' for cell in row) + "\r\n").encode())


def read_ratings(path: Path, is_known: Callable[[str], bool]) -> dict[str, dict[str, float]]:
    """Return people's ratings by rater and pair, each in [0, 1]; a label is the centre of its range.

    The CSV file has the columns pair, rater and label; `label` is one of `LABELS`, or a number from 0 to 1.
    `is_known` tells of a pair's id whether there is such a pair.

    Raises:
        UsageError: If it cannot be read, or a line is no rating, of no known pair, or there twice.
    """
    ratings: dict[str, dict[str, float]] = {}
    for where, (pair, rater, label) in _rows(path, ("pair", "rater", "label")):
        if not is_known(pair):
            raise UsageError(f"{where}: there is no pair {pair[:60]!r}; take out the line")
        rating = _rating(label)
        if rating is None:
            raise UsageError(
                f"{where}: the label is {label[:20]!r}; it is one of {', '.join(LABELS)}, or a number from 0 to 1"
            )
        _require_rater(where, rater)
        if pair in ratings.setdefault(rater, {}):
            raise UsageError(f"{where}: {rater[:40]!r} labelled {pair[:60]!r} before; keep one of both")
        ratings[rater][pair] = rating
    if not ratings:
        raise UsageError(f"{path} has no label; write one of {', '.join(LABELS)} under 'label', or a number")
    return ratings


def _rating(label: str) -> float | None:
    if label in LABELS:
        return float(CENTRES[LABELS.index(label)])
    try:
        number = float(label)
    except ValueError:
        return None
    return number if 0.0 <= number <= 1.0 else None


def read_votes(path: Path, candidates: Mapping[str, Collection[str]]) -> dict[str, dict[str, set[str]]]:
    """Return the candidates that people chose, by rater and pair; `candidates` are the ids of a pair's reasons.

    The CSV file has the columns pair, candidate, rater and vote; `vote` is 1 for a choice, else 0 or empty.

    Raises:
        UsageError: If it cannot be read, or a line is no vote, on nothing that is known, or there twice.
    """
    chosen: dict[str, dict[str, set[str]]] = {}
    for where, (pair, candidate, rater, vote) in _rows(path, ("pair", "candidate", "rater", "vote")):
        if vote == "0":
            continue
        if vote != "1":
            raise UsageError(f"{where}: the vote is {vote[:20]!r}; it is 1 for a choice, and 0 or empty else")
        if candidate not in candidates.get(pair, ()):
            raise UsageError(f"{where}: pair {pair[:60]!r} has no candidate {candidate[:20]!r}; take out the line")
        _require_rater(where, rater)
        of_pair = chosen.setdefault(rater, {}).setdefault(pair, set())
        if candidate in of_pair:
            raise UsageError(f"{where}: {rater[:40]!r} chose {candidate!r} before; keep one of both")
        of_pair.add(candidate)
    if not chosen:
        raise UsageError(f"{path} has no vote; write 1 under 'vote' beside the reasons that convince most")
    return chosen


def _require_rater(where: str, rater: str) -> None:
    if not rater:
        raise UsageError(f"{where}: nobody is named under 'rater'; name who said it")


def _rows(path: Path, columns: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield the place and the cells of each line that has a mark in the last of its columns."""
    try:
        with TextIOWrapper(open_plain(path, MAX_WHOLE_BYTES), encoding="utf-8-sig", newline="") as file:
            # Strict, as an unclosed quote would swallow all later lines.
            reader = csv.DictReader(file, strict=True)
            missing = [name for name in columns if name not in (reader.fieldnames or ())]
            if missing:
                known = f"{', '.join(columns[:-1])} and {columns[-1]}"
                raise UsageError(f"{path} has no column {missing[0]!r}; its columns are {known}")
            for row in reader:
                cells = [str(row.get(name) or "").strip() for name in columns]
                # Each copy repeats the header.
                if cells[-1] and cells[-2:] != [*columns[-2:]]:
                    yield f"{path}, line {reader.line_num}", cells
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise UsageError(f"{path} cannot be read as CSV: {error}; name another file") from error
