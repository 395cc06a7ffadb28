"""Case studies: pairs for which one model's labels with and without reasons differ, and which of both is nearer."""

from collections.abc import Collection, Iterator, Mapping

import numpy as np

from predibot.domain.untrusted_text import shorten
from predibot.rows import grouped
from predibot.scoring.study_table import Cell, StudyTable
from predibot.studies.beliefbench.pairs import LABELS
from predibot.studies.beliefbench.scores.scores import CENTRES, UNREAD
from predibot.studies.beliefbench.scores.tables import PairReadings

CASES = 5
"""Most pairs of a bot and a number of hops."""
REASONS = 300
"""Most characters of reasons in the table; the page of the pair has all."""
HOPS = {"logical": "1+", "causal": "1+", "confounding": "0", "narrative": "0"}
"""By the kind of a bot's reasons: hops from one event to the other, 0 where both only share a subject."""
_NOT_JUDGED = "not judged"


def case_tables(readings: PairReadings) -> tuple[StudyTable, StudyTable]:
    """Return how labels with reasons compare with those without, by hops, and the pairs on which they differ most.

    BeliefBench, section 8 and appendix C, does not say how it counts hops; here the kind of the reasons decides, as a
    judge labels it.
    """
    compared: list[tuple[Cell, ...]] = []
    cases: list[tuple[Cell, ...]] = []
    for bot, other in _twins(readings):
        one, two, why = readings.answers[bot], readings.answers[other], readings.reasons[bot]
        # Of a label without a word there is nothing to compare.
        known = why.keys() & one.keys() & two.keys()
        both = sorted(pair for pair in known if UNREAD not in (one[pair], two[pair]))
        kinds = next((each for (_, judged), each in readings.judged.items() if judged == bot), {})
        by_hops = grouped((HOPS.get(kinds.get(pair, ""), _NOT_JUDGED), pair) for pair in both)
        for hops, pairs in (("(all)", both), *sorted(by_hops.items())):
            if pairs:
                compared.append((bot, other, hops, *_comparison(readings, pairs, one, two)))
        for hops, pairs in sorted(by_hops.items()):
            differ = sorted((-abs(one[pair] - two[pair]), pair) for pair in pairs if one[pair] != two[pair])
            for _, pair in differ[:CASES]:
                fact = readings.facts[pair]
                values = (LABELS[each] for each in (fact.label, two[pair], one[pair]))
                events = " / ".join(fact.titles)
                cases.append((bot, hops, *values, fact.score, kinds.get(pair), events, shorten(why[pair], REASONS)))
    columns = ("bot", "against", "hops", "pairs", "Acc", "Acc against", "MAE", "MAE against", "nearer", "further")
    note = (
        "hops: 0 where a judge says that reasons are confounding or narrative, 1+ where they are logical or causal. "
        "nearer and further count the pairs whose label with reasons is nearer to the true one, or further."
    )
    wanted = ("bot", "hops", "true", "without", "with", "S", "kind", "events", "reasons")
    title = "Pairs on which labels with and without reasons differ most"
    return (
        StudyTable.of("hops", "Labels with reasons against those of the same model without", columns, compared, note),
        StudyTable.of("cases", title, wanted, cases),
    )


def _twins(readings: PairReadings) -> Iterator[tuple[str, str]]:
    """Yield each bot that gives reasons, and the first of the same model that gives none."""
    for bot, model in readings.models.items():
        if readings.reasons.get(bot):
            others = (name for name, its in readings.models.items() if its == model and not readings.reasons.get(name))
            yield from ((bot, other) for other in [*others][:1])


def _comparison(
    readings: PairReadings, pairs: Collection[str], one: Mapping[str, int], two: Mapping[str, int]
) -> tuple[Cell, ...]:
    true, ours, theirs = (
        np.array([values[pair] for pair in pairs])
        for values in ({pair: readings.facts[pair].label for pair in pairs}, one, two)
    )
    off, off_theirs = (np.abs(CENTRES[each] - CENTRES[true]) for each in (ours, theirs))
    right, right_theirs = (float((each == true).mean()) for each in (ours, theirs))
    closer = np.abs(ours - true) - np.abs(theirs - true)
    errors = float(off.mean()), float(off_theirs.mean())
    return len(pairs), right, right_theirs, *errors, int((closer < 0).sum()), int((closer > 0).sum())
