"""The tables of BeliefBench, computed from the labels of any bots, and how far people who rated agree."""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, groupby

import numpy as np
from numpy.typing import ArrayLike

from predibot.related.features import FEATURES
from predibot.related.weights import fit_weights
from predibot.scoring.arguments import Floats
from predibot.scoring.metrics.agreement import linear_correlation
from predibot.scoring.relatedness.relevance import relevance_class
from predibot.scoring.study_table import Cell, StudyTable
from predibot.studies.beliefbench.pairs import LABELS, REASONINGS, PairItem
from predibot.studies.beliefbench.scores.scores import CENTRES, UNREAD, PairScores, Values, pair_scores
from predibot.studies.replicates import replicate_tables


@dataclass(frozen=True, slots=True)
class RaterAgreement:
    """The agreement of k raters; NaN for a missing value."""

    pearson: tuple[tuple[int, int, float, int], ...]
    """Every two raters, their correlation, and the number of things that both rated."""
    icc: float
    """ICC(2,1): absolute agreement of one rater, over things that all rated."""
    icc_of_mean: float
    """ICC(2,k): of the mean of all raters."""
    n: int
    """Things that all rated."""


def rater_agreement(ratings: ArrayLike) -> RaterAgreement:
    """Return the agreement of raters: Shrout and Fleiss (1979), Psychological Bulletin 86(2), 420-428.

    `ratings` are of n things by k raters, (n, k), NaN for a missing one; k is 2 or more.

    Examples:
        >>> found = rater_agreement(
        ...     [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
        ... )
        >>> round(found.icc, 2), round(found.icc_of_mean, 2)
        (0.29, 0.62)
    """
    table = np.asarray(ratings, dtype=np.float64)
    pairs = []
    for one, other in combinations(range(table.shape[1]), 2):
        both = ~np.isnan(table[:, [one, other]]).any(axis=1)
        value = linear_correlation(table[both, one], table[both, other]) if both.any() else math.nan
        pairs.append((one, other, value, int(both.sum())))
    whole = table[~np.isnan(table).any(axis=1)]
    return RaterAgreement(tuple(pairs), *_icc(whole), len(whole))


def _icc(table: Floats) -> tuple[float, float]:
    n, k = table.shape
    if n < 2:
        return math.nan, math.nan
    mean = table.mean()
    of_things = k * ((table.mean(axis=1) - mean) ** 2).sum()
    of_raters = n * ((table.mean(axis=0) - mean) ** 2).sum()
    rest = max(((table - mean) ** 2).sum() - of_things - of_raters, 0.0)
    things, raters, error = of_things / (n - 1), of_raters / (k - 1), rest / ((n - 1) * (k - 1))
    one = things + (k - 1) * error + k * (raters - error) / n
    mean_of_all = things + (raters - error) / n
    return (
        float((things - error) / one) if one else math.nan,
        float((things - error) / mean_of_all) if mean_of_all else math.nan,
    )


def most_say(ratings: ArrayLike) -> float:
    """Return the mean of the ratings in the class that more than half name; the mean of all where none is.

    `ratings` are of one thing by k raters, (k,), each in [0, 1]; NaN for a missing one, but for one at least. As in
    BeliefBench, appendix G.2.

    Examples:
        >>> round(most_say([0.5, 0.58, 0.9]), 2), most_say([0.25, 0.5, 0.75])
        (0.54, 0.5)
    """
    values = np.asarray(ratings)
    values = values[~np.isnan(values)]
    classes = relevance_class(values)
    counts = np.bincount(classes)
    if 2 * counts.max() > values.size:
        values = values[classes == counts.argmax()]
    return float(values.mean())


_SCORES = ("Acc", "F1", "QWK", "low", "high", "Spearman", "MSE", "MAE", "MSE to S", "MAE to S")


@dataclass(frozen=True, slots=True)
class PairFact:
    """The true label, date and features of a pair."""

    domain: str
    label: int
    """From 0 to 4."""
    score: float
    events: tuple[str, str]
    created_on: str
    """The date of the first price of the younger market."""
    features: tuple[float | None, ...] = ()
    """In the order of `FEATURES`; None where one is missing."""
    titles: tuple[str, str] = ("", "")
    markets: tuple[str, str] = ("", "")


@dataclass(frozen=True, slots=True)
class PairReadings:
    """The labels that bots gave to the pairs of a run."""

    facts: Mapping[str, PairFact]
    """By pair."""
    answers: Mapping[str, Mapping[str, int]]
    """By bot and pair: a label from 0 to 4 or `UNREAD`; absent without an answer."""
    remarks: Mapping[str, str] = field(default_factory=dict)
    """By bot, why some pairs have no answer."""
    cutoffs: Mapping[str, str] = field(default_factory=dict)
    """The knowledge cutoff of each bot's model, where it is known."""
    judged: Mapping[tuple[str, str], Mapping[str, str]] = field(default_factory=dict)
    """By judge and bot: the judge's label of the bot's reasons, by pair."""
    models: Mapping[str, str] = field(default_factory=dict)
    """By bot that asked a model, in order of entry."""
    reasons: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """By bot and pair, the reasons for a label; absent without any."""
    run: str = ""
    """The key of the run."""
    items: Mapping[str, PairItem] = field(default_factory=dict)
    """By pair."""
    notes: tuple[str, ...] = ()

    def of(self, bot: str, pairs: Iterable[str]) -> PairScores:
        """Return the scores of a bot's answers on some pairs."""
        labels = self.answers[bot]
        chosen = [(labels[pair], self.facts[pair]) for pair in sorted(pairs) if pair in labels]
        return pair_scores(
            np.array([label for label, _ in chosen], dtype=np.int64),
            [fact.score for _, fact in chosen],
            np.array([fact.label for _, fact in chosen], dtype=np.int64),
            np.array([fact.events for _, fact in chosen], dtype=np.str_).reshape(-1, 2),
        )

    def before_and_after(self, bot: str, cutoff: str, pairs: Collection[str]) -> tuple[PairScores, PairScores]:
        """Return the scores on pairs of markets made by a date, and on those with a younger one."""
        later = {pair for pair in pairs if self.facts[pair].created_on > cutoff}
        return self.of(bot, {*pairs} - later), self.of(bot, later)


PeoplesRatings = Mapping[str, Mapping[str, float]]
"""By rater and pair: how related it is, in [0, 1]; a label is the centre of its range."""


def beliefbench_tables(readings: PairReadings, people: PeoplesRatings | None = None) -> tuple[StudyTable, ...]:
    """Return all tables; an empty one has no rows."""
    labels = {
        bot: {pair: None if label == UNREAD else LABELS[label] for pair, label in own.items()}
        for bot, own in readings.answers.items()
    }
    return (
        _overall(readings),
        _domains(readings),
        _cutoffs(readings),
        _changes(readings),
        _label_shares(readings),
        _pair_counts(readings),
        _reasons(readings),
        *replicate_tables(labels, lambda _: "pairs"),
        *(() if people is None else _people(readings, people)),
    )


def _overall(readings: PairReadings) -> StudyTable:
    rows = []
    for bot in readings.answers:
        found = readings.of(bot, readings.facts)
        rows.append((bot, found.n, found.unread, *_cells(found), readings.remarks.get(bot, "")))
    note = "low and high are the ends of QWK's 95 % interval, events drawn anew; it is rather too wide than too narrow."
    return StudyTable.of(
        "all", "How related two questions are", ("bot", "answers", "unread", *_SCORES, "remark"), rows, note
    )


def _domains(readings: PairReadings) -> StudyTable:
    by_domain = _by_domain(readings.facts)
    rows = [
        (domain, bot, found.n, found.unread, *_cells(found))
        for domain, pairs in by_domain.items()
        for bot in readings.answers
        if (found := readings.of(bot, pairs)).n
    ]
    return StudyTable.of("domains", "By domain", ("domain", "bot", "answers", "unread", *_SCORES), rows)


def _cutoffs(readings: PairReadings) -> StudyTable:
    rows: list[tuple[Cell, ...]] = []
    for bot, cutoff in readings.cutoffs.items():
        old, new = readings.before_and_after(bot, cutoff, readings.facts)
        worse = new.values.mse / old.values.mse - 1.0 if old.values.mse else math.nan
        rows.append((bot, cutoff, "before", old.n, None, *_cells(old)))
        rows.append((bot, cutoff, "after", new.n, worse, *_cells(new)))
    note = (
        "A pair is after the cutoff where either market was created after it; change is that of MSE, 0.5 for half more."
    )
    columns = ("bot", "cutoff", "part", "answers", "change", *_SCORES)
    return StudyTable.of("cutoff", "Before and after the models' knowledge cutoff", columns, rows, note)


def _changes(readings: PairReadings) -> StudyTable:
    """Return each score's change after the cutoff as a part of it before, below zero where it is worse."""
    rows: list[tuple[Cell, ...]] = []
    for domain, pairs in (("(all)", sorted(readings.facts)), *_by_domain(readings.facts).items()):
        for bot, cutoff in readings.cutoffs.items():
            old, new = readings.before_and_after(bot, cutoff, pairs)
            if old.n and new.n:
                changes = (
                    (now - then) / abs(then) * (-1.0 if name.startswith(("mse", "mae")) else 1.0) if then else math.nan
                    for name, then, now in zip(Values._fields, old.values, new.values, strict=True)
                )
                found = dict(zip(Values._fields, changes, strict=True))
                wanted = ("accuracy", "f1", "kappa", "spearman", "mse", "mae", "mse_to_score", "mae_to_score")
                rows.append((domain, bot, cutoff, old.n, new.n, *(found[name] for name in wanted)))
    note = "A part of the score before the cutoff: -0.5 is half as good, or for errors half as much again."
    scores = tuple(name for name in _SCORES if name not in ("low", "high"))
    columns = ("domain", "bot", "cutoff", "before", "after", *scores)
    return StudyTable.of("changes", "Change of each score after the models' knowledge cutoff", columns, rows, note)


def _label_shares(readings: PairReadings) -> StudyTable:
    rows: list[tuple[Cell, ...]] = []
    for bot, said in readings.answers.items():
        counts = np.bincount([label for label in said.values() if label != UNREAD], minlength=len(LABELS))
        total = int(counts.sum())
        rows.append((bot, total, *(int(n) / total if total else None for n in counts)))
    true = np.bincount([fact.label for fact in readings.facts.values()], minlength=len(LABELS))
    rows.append(("(true)", int(true.sum()), *(int(n) / int(true.sum()) for n in true)))
    return StudyTable.of("given", "Shares of the labels that were given", ("bot", "answers", *LABELS), rows)


def _pair_counts(readings: PairReadings) -> StudyTable:
    rows: list[tuple[Cell, ...]] = []
    for domain, pairs in _by_domain(readings.facts).items():
        facts = [readings.facts[pair] for pair in pairs]
        counts = np.bincount([fact.label for fact in facts], minlength=len(LABELS))
        rows.append((domain, *map(int, counts), len(facts), len({event for fact in facts for event in fact.events})))
    return StudyTable.of("pairs", "Pairs that were asked about", ("domain", *LABELS, "all", "events"), rows)


def _reasons(readings: PairReadings) -> StudyTable:
    rows: list[tuple[Cell, ...]] = []
    for (judge, bot), kinds in readings.judged.items():
        facts = {pair: readings.facts[pair] for pair in kinds}
        for domain, pairs in (("(all)", sorted(facts)), *_by_domain(facts).items()):
            if pairs:
                said = [kinds[pair] for pair in pairs]
                rows.append((bot, judge, domain, len(pairs), *(said.count(kind) / len(said) for kind in REASONINGS)))
    columns = ("bot", "judge", "domain", "answers", *REASONINGS)
    return StudyTable.of("reasons", "What reasons rest on, as a judge says", columns, rows)


def _people(readings: PairReadings, people: PeoplesRatings) -> tuple[StudyTable, ...]:
    raters = list(people)
    pairs = sorted({pair for labels in people.values() for pair in labels})
    ratings = np.full((len(pairs), len(raters)), np.nan)
    for column, rater in enumerate(raters):
        for row, pair in enumerate(pairs):
            if pair in people[rater]:
                ratings[row, column] = people[rater][pair]
    among: list[tuple[Cell, ...]] = []
    if len(raters) > 1:
        found = rater_agreement(ratings)
        among = [(f"{raters[a]} and {raters[b]}", n, value, None, None) for a, b, value, n in found.pearson]
        of_all = [value for _, _, value, _ in found.pearson if not math.isnan(value)]
        mean = sum(of_all) / len(of_all) if of_all else math.nan
        among.append(("(all)", found.n, mean, found.icc, found.icc_of_mean))
    means = {pair: float(np.nanmean(row)) for pair, row in zip(pairs, ratings, strict=True)}
    majority = {pair: most_say(row) for pair, row in zip(pairs, ratings, strict=True)}
    against: list[tuple[Cell, ...]] = []
    scores: Sequence[tuple[str, Mapping[str, float]]] = [
        ("S", {pair: readings.facts[pair].score for pair in pairs}),
        *(
            (bot, {pair: float(CENTRES[label]) for pair, label in labels.items() if label != UNREAD})
            for bot, labels in readings.answers.items()
        ),
    ]
    for name, score in scores:
        both = [pair for pair in pairs if pair in score]
        values = (
            linear_correlation([score[pair] for pair in both], [labels[pair] for pair in both]) if both else math.nan
            for labels in (means, majority)
        )
        against.append((name, len(both), *values))
    note = "Pearson is with the mean of people's labels; where no class has a majority, that is its mean too."
    return (
        StudyTable.of("raters", "How far people agree", ("raters", "pairs", "Pearson", "ICC", "ICC of mean"), among),
        StudyTable.of(
            "people", "With people's labels", ("what", "pairs", "Pearson", "with the majority"), against, note
        ),
        _weights(readings, means),
    )


def _weights(readings: PairReadings, means: Mapping[str, float]) -> StudyTable:
    """Return the weights that bring S nearest to people's labels; judge them on other pairs."""
    pairs = [pair for pair in means if any(each is not None for each in readings.facts[pair].features)]
    rows: tuple[tuple[Cell, ...], ...] = ()
    if pairs:
        features = [readings.facts[pair].features for pair in pairs]
        found = fit_weights(np.array(features, dtype=np.float64), [means[pair] for pair in pairs])
        known = (any(each is not None for each in column) for column in zip(*features, strict=True))
        weights = (weight if here else None for weight, here in zip(found.weights.each, known, strict=True))
        rows = ((*weights, found.pairs, found.pearson, found.mean_squared_error),)
    note = "Fitted to these very pairs: collect another data set with --weights, and judge them on that."
    columns = (*FEATURES, "pairs", "Pearson", "MSE of S")
    return StudyTable.of("weights", "Weights by which S comes nearest to people's labels", columns, rows, note)


def _by_domain(facts: Mapping[str, PairFact]) -> dict[str, list[str]]:
    pairs = sorted(facts, key=lambda pair: (facts[pair].domain, pair))
    return {domain: list(group) for domain, group in groupby(pairs, key=lambda pair: facts[pair].domain)}


def _cells(found: PairScores) -> tuple[Cell, ...]:
    values = found.values
    ends = (found.low.kappa, found.high.kappa)
    distances = (values.mse, values.mae, values.mse_to_score, values.mae_to_score)
    return (values.accuracy, values.f1, values.kappa, *ends, values.spearman, *distances)
