"""People: their ratings of pairs, read from a CSV file."""

import csv
from collections.abc import Callable, Iterator
from io import TextIOWrapper
from pathlib import Path

from predibot.errors import UsageError
from predibot.plain_file import MAX_WHOLE_BYTES, open_plain
from predibot.studies.beliefbench.pairs import LABELS
from predibot.studies.beliefbench.scores.scores import CENTRES


def read_ratings(path: Path, is_known: Callable[[str], bool]) -> dict[str, dict[str, float]]:
    """Return people's ratings by rater and pair, each in [0, 1]; a label is the centre of its range.

    Args:
        path: A CSV file with the columns pair, rater and label; `label` is one of `LABELS`, or a number from 0 to 1.
        is_known: Returns whether a pair may be rated.

    Raises:
        UsageError: If it cannot be read, or a line is no rating, of no known pair, or there twice.
    """
    said: dict[str, dict[str, float]] = {}
    for number, row in _rows(path):
        pair, rater, label = (str(row.get(name) or "").strip() for name in ("pair", "rater", "label"))
        # Each copy repeats the header.
        if not label or (rater, label) == ("rater", "label"):
            continue
        if not is_known(pair):
            raise UsageError(f"{path}, line {number}: there is no pair {pair[:60]!r}; take out the line")
        rating = _rating(label)
        if rating is None:
            raise UsageError(
                f"{path}, line {number}: the label is {label[:20]!r}; it is one of {', '.join(LABELS)}, or a number "
                "from 0 to 1"
            )
        if not rater:
            raise UsageError(f"{path}, line {number}: nobody is named under 'rater'; name who said it")
        if pair in said.setdefault(rater, {}):
            raise UsageError(f"{path}, line {number}: {rater[:40]!r} labelled {pair[:60]!r} before; keep one of both")
        said[rater][pair] = rating
    if not said:
        raise UsageError(f"{path} has no label; write one of {', '.join(LABELS)} under 'label', or a number")
    return said


def _rating(label: str) -> float | None:
    if label in LABELS:
        return float(CENTRES[LABELS.index(label)])
    try:
        number = float(label)
    except ValueError:
        return None
    return number if 0.0 <= number <= 1.0 else None


def _rows(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    try:
        with TextIOWrapper(open_plain(path, MAX_WHOLE_BYTES), encoding="utf-8-sig", newline="") as file:
            # Strict, as an unclosed quote would swallow all later lines.
            reader = csv.DictReader(file, strict=True)
            missing = [name for name in ("pair", "rater", "label") if name not in (reader.fieldnames or ())]
            if missing:
                raise UsageError(f"{path} has no column {missing[0]!r}; its columns are pair, rater and label")
            for row in reader:
                yield reader.line_num, row
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise UsageError(f"{path} cannot be read as CSV: {error}; name another file") from error
