"""The chain of tasks over bots: scores against each other, families and sizes of models; and texts that split bots."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from heapq import nsmallest
from itertools import combinations
from statistics import fmean

from predibot.domain.untrusted_text import title_line
from predibot.rows import grouped
from predibot.scoring.study_table import Cell, StudyTable
from predibot.studies.stakebench.scores.significance import rank_test
from predibot.studies.stakebench.scores.tables import Readings

LINKS = ("G1 Acc", "G2 DA", "G3 Acc_act", "G3 Acc_f", "G4 PLA")
"""The scores that are compared, in the order of the tasks."""
_FAMILY, _SIZE = re.compile(r"[a-z]{2,}|[^-:]+"), re.compile(r"(?<![a-z0-9.])(\d+(?:\.\d+)?)b(?![a-z0-9])")
CASES = 3
"""Texts of each task."""
_SHOWN = 100


@dataclass(frozen=True, slots=True)
class Family:
    """The family of a bot's model, and its size where it is known."""

    name: str
    billions: float | None


def family_of(model: str) -> Family:
    """Return the family and the size in the name of a model.

    Examples:
        >>> family_of("openai/Qwen3-30B-A3B")
        Family(name='qwen', billions=30.0)
        >>> family_of("ollama/llama3.2:3b").billions, family_of("openai/o3-mini").name
        (3.0, 'o3')
    """
    name = model.rpartition("/")[2].casefold()
    family, size = _FAMILY.match(name), _SIZE.search(name)
    return Family(family[0] if family else name, float(size[1]) if size else None)


def scores_by_bot(main: StudyTable) -> dict[str, dict[str, float]]:
    """Return the scores of the main table by bot and score, NaN for a missing one; strict readings are no bots."""
    rows = (dict(zip(main.columns, row, strict=True)) for row in main.rows)
    return {
        str(row["bot"]): {name: math.nan if row[name] is None else float(row[name] or 0.0) for name in ("Agg", *LINKS)}
        for row in rows
        if not str(row["bot"]).endswith(" (strict)")
    }


def chain_tables(main: StudyTable, families: Mapping[str, Family], *, note: str = "") -> tuple[StudyTable, ...]:
    """Return the numbers of the paper's Figure 2; those of families and sizes only for bots that are in `families`.

    `main` is the paper's Table 3, and `note` the source of the families, which are by bot.
    """
    bots = scores_by_bot(main)
    chain = [
        (f"{one} and {other}", *rank_test(_column(bots, one), _column(bots, other)))
        for one, other in combinations(LINKS, 2)
    ]
    known = {bot: scores for bot, scores in bots.items() if bot in families}
    groups = grouped((families[bot].name, bot) for bot in known)
    means: list[tuple[Cell, ...]] = [
        (name, *(_mean([known[bot][score] for bot in own]) for score in ("Agg", *LINKS)), len(own))
        for name, own in groups.items()
    ]
    sizes = [math.nan if (size := families[bot].billions) is None else size for bot in known]
    scale = [(name, *rank_test(sizes, _column(known, name))) for name in ("Agg", *LINKS) if known]
    of_ranks = ("rank correlation", "p", "bots")
    ranked = "Spearman's rank correlation over bots."
    return (
        StudyTable.of("chain", "Figure 2a. Scores of one task and of another", ("scores", *of_ranks), chain, ranked),
        StudyTable.of("families", "Figure 2b. Means of families", ("family", "Agg", *LINKS, "bots"), means, note),
        StudyTable.of("scale", "Figure 2c. Parameters and scores", ("score", *of_ranks), scale, ranked),
    )


def _column(bots: Mapping[str, Mapping[str, float]], name: str) -> list[float]:
    return [scores[name] for scores in bots.values()]


def _mean(values: list[float]) -> float:
    known = [value for value in values if not math.isnan(value)]
    return fmean(known) if known else math.nan


def split_texts(readings: Readings) -> Iterator[tuple[str, Counter[str]]]:
    """Yield the texts of each task on which the bots' answers are split most evenly, and how many gave each answer."""
    of_task = defaultdict[str, list[tuple[float, str, Counter[str]]]](list)
    for item, fact in readings.facts.items():
        counts = Counter(
            readings.labels[bot][item] or "unread" for bot in readings.bots if item in readings.labels[bot]
        )
        if fact.known.label and len(counts) > 1:
            n = counts.total()
            evenness = -math.fsum(each / n * math.log(each / n) for each in counts.values())
            of_task[fact.task].append((-evenness, item, counts))
    for _, found in sorted(of_task.items()):
        yield from ((item, counts) for _, item, counts in nsmallest(CASES, found, key=lambda each: each[:2]))


def answer_counts(counts: Counter[str]) -> str:
    """Return how many bots gave each answer, the commonest first.

    Examples:
        >>> answer_counts(Counter({"NO": 7, "YES": 8}))
        'YES 8, NO 7'
    """
    return ", ".join(f"{label} {n}" for label, n in sorted(counts.items(), key=lambda each: (-each[1], each[0])))


def case_table(readings: Readings, cases: Mapping[str, Counter[str]]) -> StudyTable:
    """Return the case studies, with question and beginning of each text."""
    rows: list[tuple[Cell, ...]] = []
    for item, counts in cases.items():
        fact = readings.facts[item]
        begins = (title_line(text)[:_SHOWN] for text in (fact.question, fact.texts[0]))
        label = fact.known.label
        rows.append((item, *begins, label, answer_counts(counts), counts[label] / counts.total()))
    columns = ("text", "question", "begins", "truth", "labels", "right")
    return StudyTable.of("5", "Texts on which the bots split most", columns, rows)
