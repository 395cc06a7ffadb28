"""Replicates in studies: how alike a bot labels the same text when it is asked again."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from itertools import combinations

import numpy as np

from predibot.domain.replicates import joined_bots, split_replicate
from predibot.rows import grouped
from predibot.scoring.metrics.agreement import cohen_kappa
from predibot.scoring.study_table import Cell, StudyTable

NAME = "replicates"
_COLUMNS = ("bot", "task", "replicates", "pairs", "same label", "kappa", "unread")
_NOTE = (
    "Over pairs of replicates: the share of texts that both labelled alike, and Cohen's kappa in the mean. Pairs in "
    "which an answer could not be read are counted as unread, and in neither."
)


def replicate_tables(
    labels: Mapping[str, Mapping[str, str | None]], task_of: Callable[[str], str]
) -> tuple[StudyTable, ...]:
    """Return the table of how alike a bot's replicates label each task; () without replicates.

    `labels` are by bot and text, None for an unreadable answer.
    """
    joined = joined_bots(labels)
    found = [row for bot in sorted(joined) for row in _rows(bot, labels, task_of)]
    title = "Replicates: how alike a bot labels the same text when it is asked again"
    return (StudyTable.of(NAME, title, _COLUMNS, found, _NOTE),) if found else ()


def _rows(
    bot: str, labels: Mapping[str, Mapping[str, str | None]], task_of: Callable[[str], str]
) -> Iterator[tuple[Cell, ...]]:
    apart = [own for name, own in labels.items() if split_replicate(name)[0] == bot]
    pairs = defaultdict[str, list[list[tuple[str | None, str | None]]]](list)
    for one, other in combinations(apart, 2):
        of_task = grouped((task_of(text), (one[text], other[text])) for text in one.keys() & other.keys())
        for task, both in of_task.items():
            pairs[task].append(both)
    for task, of_pairs in sorted(pairs.items()):
        read = [[(a, b) for a, b in both if a is not None and b is not None] for both in of_pairs]
        known = [both for both in read if both]
        n, asked = sum(map(len, known)), sum(map(len, of_pairs))
        kappas = [kappa for both in known if (kappa := cohen_kappa(*zip(*both, strict=True))) is not None]
        same = sum(a == b for both in known for a, b in both) / n if n else None
        yield bot, task, len(apart), n, same, float(np.mean(kappas)) if kappas else None, asked - n
