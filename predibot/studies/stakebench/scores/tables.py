"""The tables of StakeBench, computed from the labels of any bots."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from statistics import fmean, stdev

import numpy as np
from numpy.typing import NDArray

from predibot.rows import grouped
from predibot.scoring.arguments import Floats, Ints
from predibot.scoring.study_table import Cell, StudyTable
from predibot.studies.replicates import replicate_tables
from predibot.studies.stakebench.scores import significance, tallies
from predibot.studies.stakebench.scores.tallies import Tally
from predibot.studies.stakebench.tasks import Item, stake_sign

ACTIONS = ("flip", "increase", "decrease", "hold")
_SIDES = {"YES": 1, "UP": 1, "NO": -1, "DOWN": -1, "NEUTRAL": 0}
_CODES = {**_SIDES, **{label: number for number, label in enumerate(ACTIONS)}}
_CHANCES = {"G1": 0.5, "G2": 0.5, "G3": 0.25, "G3f": 0.5, "G3d": 0.5}


@dataclass
class Readings:
    """The labels that bots gave to the texts of a run."""

    facts: Mapping[str, Item]
    labels: Mapping[str, Mapping[str, str | None]]
    """By bot and item; None for an unreadable answer, absent without an answer."""
    crowds: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """By split: markets in which the side with the larger stakes won, and all markets."""
    action_hours: tuple[int, ...] = ()

    @property
    def bots(self) -> tuple[str, ...]:
        """Return the bots; the strict reading of a bot is none."""
        return tuple(bot for bot in self.labels if not bot.endswith(" (strict)"))

    @cached_property
    def splits(self) -> tuple[str, ...]:
        """Return all splits, in order."""
        return tuple(sorted({fact.split for fact in self.facts.values()}))

    @cached_property
    def _of_task(self) -> Mapping[str, Sequence[tuple[str, Item]]]:
        return grouped((fact.task, (item, fact)) for item, fact in sorted(self.facts.items()))

    def of(self, bot: str, *tasks: str, splits: Iterable[str] | None = None) -> "Answers":
        """Return a bot's answers to some tasks, on some splits or all."""
        wanted = self.splits if splits is None else {*splits}
        labels = self.labels[bot]
        chosen = [
            (fact, labels[item])
            for task in tasks
            for item, fact in self._of_task.get(task, ())
            if item in labels and fact.split in wanted
        ]
        return Answers(tuple(fact for fact, _ in chosen), tuple(label for _, label in chosen), self.splits)

    def of_all(self, task: str) -> list["Answers"]:
        """Return the answers to a task of each bot that answered."""
        return [own for bot in self.bots if (own := self.of(bot, task)).facts]


@dataclass(frozen=True)
class Answers:
    """Answers of one bot, one row each."""

    facts: tuple[Item, ...]
    labels: tuple[str | None, ...]
    splits: tuple[str, ...]
    """All splits of the run, in order."""

    @cached_property
    def predicted(self) -> Ints:
        """Return the labels as numbers; `REFUSED` for unreadable answers."""
        return np.array([tallies.REFUSED if label is None else _CODES[label] for label in self.labels], dtype=np.int64)

    @cached_property
    def true(self) -> Ints:
        """Return the true labels as numbers."""
        return np.array([_CODES.get(fact.known.label, 0) for fact in self.facts], dtype=np.int64)

    @cached_property
    def split(self) -> Ints:
        """Return the splits as numbers."""
        return np.searchsorted(self.splits, [fact.split for fact in self.facts])

    @cached_property
    def stakes(self) -> Floats:
        """Return the stakes."""
        return np.array([fact.known.stake for fact in self.facts], dtype=np.float64)

    @cached_property
    def sides(self) -> Ints:
        """Return the sides of the writers."""
        return np.array([_SIDES.get(fact.known.side, 0) for fact in self.facts], dtype=np.int64)

    @cached_property
    def resolved(self) -> Ints:
        """Return the resolutions of the markets."""
        return np.array([fact.known.resolved for fact in self.facts], dtype=np.int64)

    @cached_property
    def markets(self) -> NDArray[np.str_]:
        """Return the markets."""
        return np.array([fact.market for fact in self.facts], dtype=np.str_)

    def by_split(self, marks: Tally, minus: Tally | None = None) -> Floats:
        """Return a score by split, less another one if given."""
        values = marks.by_split(self.split, len(self.splits))
        return values if minus is None else values - minus.by_split(self.split, len(self.splits))

    def p_values(self, marks: Tally, task: str) -> list[float]:
        """Return for each split the chance of so many hits by guessing."""
        hits, trials = (
            np.bincount(self.split, each, minlength=len(self.splits)) for each in (marks.earned, marks.counted)
        )
        return [float(each) for each in significance.binomial_p_values(hits, trials, chance=_CHANCES[task])]


def _accuracy(answers: Answers) -> tuple[Tally]:
    return (tallies.accuracy_marks(answers.predicted, answers.true),)


def _lead(answers: Answers) -> tuple[Tally, Tally]:
    """Return the hits, and the hits of the stakes behind the windows, where a tie is a miss."""
    return *_accuracy(answers), tallies.accuracy_marks(
        [stake_sign(fact.known.stakes) for fact in answers.facts], answers.true
    )


_SCORES: Mapping[str, tuple[str, Callable[[Answers], tuple[Tally, ...]]]] = {
    "G1 Acc": ("G1", _accuracy),
    "G1 F1": ("G1", lambda answers: (tallies.f1_marks(answers.predicted, answers.true),)),
    "G2 strict": ("G2", _accuracy),
    "G2 DA": ("G2", lambda answers: (tallies.directed_marks(answers.predicted, answers.true),)),
    "G2 CCA": (
        "G2",
        lambda answers: (tallies.commitment_calibrated_marks(answers.predicted, answers.true, answers.stakes),),
    ),
    "G2 CSD": ("G2", lambda own: tallies.costly_signal_marks(own.predicted, own.true, own.stakes, own.split)),
    "G3 Acc_act": ("G3", _accuracy),
    "G3 Acc_f": ("G3f", _accuracy),
    "G3 Acc_d": ("G3d", _accuracy),
    "G4 PLA": ("G4", _accuracy),
    "G4 lead": ("G4", _lead),
}
"""By score: its task, the tally of the answers, and a tally to subtract."""


@dataclass(frozen=True, slots=True)
class Score:
    """A score of one bot."""

    bot: str
    name: str
    by_split: Floats
    estimate: tallies.MacroEstimate
    marks: Tally
    answers: Answers

    @property
    def mean(self) -> float:
        """Return the mean over splits; NaN where none has a value."""
        return tallies.macro_average(self.by_split)


_Scores = Mapping[tuple[str, str], Score]
"""By bot and score; only of tasks that the bot answered."""


def stakebench_tables(readings: Readings, *, pairs: Sequence[tuple[str, str]] = ()) -> tuple[StudyTable, ...]:
    """Return the paper's tables 3, 4, 6 to 12, 13 where pairs are named, 14, 17 and 20, with intervals and coverage.

    Of each of `pairs`, the second bot's scores are subtracted from the first's.
    """
    scores = {(each.bot, each.name): each for bot in readings.labels for each in _scores_of(readings, bot)}
    found = [
        _main(readings, scores),
        _intervals(scores),
        _actions(readings),
        _reliability(readings, scores),
        _horizons(readings),
        *_audits(readings),
        _platforms(readings, scores),
        *([_differences(scores, pairs)] if pairs else []),
        _odds(readings, scores),
        _difficulty(readings, scores),
        _gaps(readings, scores),
        _coverage(readings),
        *replicate_tables(readings.labels, lambda item: readings.facts[item].task),
    ]
    return tuple(found)


def _scores_of(readings: Readings, bot: str) -> Iterator[Score]:
    for name, (task, earned) in _SCORES.items():
        answers = readings.of(bot, task)
        if answers.facts:
            marks, *others = earned(answers)
            minus = others[0] if others else None
            estimate = tallies.macro_estimate(marks, answers.split, answers.markets, minus=minus)
            yield Score(bot, name, answers.by_split(marks, minus), estimate, marks, answers)


def _mean(scores: _Scores, bot: str, name: str) -> float:
    return scores[bot, name].mean if (bot, name) in scores else math.nan


def _all_of(readings: Readings, scores: _Scores, name: str) -> list[Score]:
    return [scores[bot, name] for bot in readings.bots if (bot, name) in scores]


def _main(readings: Readings, scores: _Scores) -> StudyTable:
    columns = ("bot", "Agg", *_SCORES, "n+", "splits", "answers", "unread")
    rows = []
    for bot, labels in readings.labels.items():
        lead = scores.get((bot, "G4 lead"))
        windows_in = 0 if lead is None else int((~np.isnan(lead.by_split)).sum())
        n_plus = 0 if lead is None else int((lead.by_split > 0.0).sum())
        aggregate = tallies.aggregate_score(
            accuracy=_mean(scores, bot, "G1 Acc"),
            directed_accuracy=_mean(scores, bot, "G2 DA"),
            action_accuracy=_mean(scores, bot, "G3 Acc_act"),
            flip_accuracy=_mean(scores, bot, "G3 Acc_f"),
            lead_share=n_plus / windows_in if windows_in else math.nan,
        )
        means = (_mean(scores, bot, name) for name in _SCORES)
        counts = (n_plus, windows_in) if windows_in else (None, None)
        unread = sum(label is None for label in labels.values())
        rows.append((bot, aggregate, *means, *counts, len(labels), unread))
    return StudyTable.of("3", "Scores, each a mean over splits", columns, rows)


def _intervals(scores: _Scores) -> StudyTable:
    rows = [
        (each.bot, each.name, of.estimate, of.low, of.high, of.splits, of.markets, of.n)
        for each in scores.values()
        if (of := each.estimate).splits
    ]
    columns = ("bot", "score", "value", "low", "high", "splits", "markets", "answers")
    note = "95 % intervals, markets drawn anew within each split; none where a split has a single market."
    return StudyTable.of("intervals", "On how much each score rests", columns, rows, note)


def _actions(readings: Readings) -> StudyTable:
    rows: list[tuple[Cell, ...]] = []
    truth: tuple[float, ...] = ()
    for bot in readings.labels:
        answers = readings.of(bot, "G3")
        if not answers.facts:
            continue
        profile = tallies.recall_profile(answers.predicted, answers.true, classes=len(ACTIONS))
        truth = profile.true
        remark = "finds one or two" if profile.is_degenerate else ""
        rows.append((bot, *profile.recall, profile.entropy, remark))
    if truth:
        rows.append(("ground truth", *truth, None, ""))
    columns = ("bot", *ACTIONS, "entropy", "remark")
    times = f"{tallies.FOUND_AT_TIMES:.1%}"
    note = f"A remark is on bots that find at most two of the actions, each in {times} of its cases or more."
    return StudyTable.of("4", "G3: recall of each action, and how evenly the answers lie", columns, rows, note)


def _reliability(readings: Readings, scores: _Scores) -> StudyTable:
    rows: list[tuple[Cell, ...]] = []
    for name in ("G1 Acc", "G2 DA", "G3 Acc_act", "G3 Acc_f", "G3 Acc_d"):
        task, score = _SCORES[name][0], name.partition(" ")[2]
        found = _all_of(readings, scores, name)
        p_values = [p_value for each in found for p_value in each.answers.p_values(each.marks, task)]
        widths = [each.estimate.width for each in found if each.estimate.width is not None]
        if p_values:
            tests, raw, retained = significance.discoveries(p_values)
            width, share = fmean(widths) if widths else math.nan, retained / raw if raw else math.nan
            rows.append((f"{task} {score}", width, tests, raw, retained, share))
    columns = ("score", "95 % width", "tests", "raw", "BH-FDR", "retained")
    return StudyTable.of("6", "Reliability: one-sided binomial tests of each bot and split", columns, rows)


def _horizons(readings: Readings) -> StudyTable:
    rows: list[tuple[Cell, ...]] = []
    every = readings.of_all("G3")
    answered_hold = fmean(fmean(label == "hold" for label in each.labels) for each in every) if every else math.nan
    for place, hours in enumerate(readings.action_hours if every else ()):
        marks = [
            tallies.accuracy_marks(each.predicted, [_CODES[fact.known.actions[place]] for fact in each.facts])
            for each in every
        ]
        p_values = [p for each, own in zip(every, marks, strict=True) for p in each.p_values(own, "G3")]
        scores = (tallies.macro_average(each.by_split(own)) for each, own in zip(every, marks, strict=True))
        holds = (fmean(fact.known.actions[place] == "hold" for fact in each.facts) for each in every)
        rows.append((f"{hours} h", fmean(holds), answered_hold, fmean(scores), sum(p < 0.05 for p in p_values)))
    columns = ("window", "true hold", "said hold", "G3 Acc_act", "p < .05")
    note = "The answers are those about 48 hours, beside what was done within each window; means over bots."
    return StudyTable.of("7", "Windows of actions", columns, rows, note)


def _audits(readings: Readings) -> Iterator[StudyTable]:
    wrong: list[tuple[Cell, ...]] = []
    outcomes: list[tuple[Cell, ...]] = []
    doses: list[tuple[Cell, ...]] = []
    drifts: list[tuple[Cell, ...]] = []
    for bot in readings.labels:
        by_split = [own for split in readings.splits if (own := readings.of(bot, "G2", splits=[split])).facts]
        found = [significance.wrong_bettors(each.predicted, each.sides, each.resolved) for each in by_split]
        if following := [share for share, p_value in found if not math.isnan(p_value)]:
            many = sum(p_value < 0.05 for _, p_value in found)
            wrong.append((bot, len(following), many, sum(share > 0.5 for share in following), fmean(following)))
        audits = [significance.outcome_audit(each.predicted, each.sides, each.resolved) for each in by_split]
        if audits:
            by_side, by_outcome = (tallies.macro_average(each) for each in zip(*audits, strict=True))
            outcomes.append((bot, len(audits), by_side, by_outcome, by_outcome - by_side))
        for each in by_split:
            dose = significance.dose_response(each.predicted, each.sides, each.stakes)
            if not math.isnan(dose.p_value):
                doses.append((bot, each.facts[0].split, dose.n, dose.signal, dose.p_value, *dose.by_quartile))
        drifts += _drift(readings, bot)
    columns: tuple[str, ...] = ("bot", "splits", "p < .05", "above half", "following")
    yield StudyTable.of("8", "Wrong bettors: how often a side that lost is named as the writer's", columns, wrong)
    columns = ("bot", "splits", "by side", "by outcome", "gap")
    yield StudyTable.of("9", "DA against the writer's side and against the outcome", columns, outcomes)
    columns = ("bot", "split", "n", "CSD", "p", "DA 1", "DA 2", "DA 3", "DA 4")
    yield StudyTable.of("10", "Stakes: DA by quartile, one-sided test of the fourth above the first", columns, doses)
    columns = ("bot", "splits", "drift", "negative", "before", "after", "after by side", "p < .05")
    yield StudyTable.of("11", "The same people before and after their first position", columns, drifts)


def _drift(readings: Readings, bot: str) -> Iterator[tuple[Cell, ...]]:
    found = []
    for split in readings.splits:
        own = readings.of(bot, "G2", "G2before", splits=[split])
        if own.facts:
            users, after = [fact.known.user for fact in own.facts], [fact.task == "G2" for fact in own.facts]
            drift = significance.within_user_drift(own.predicted, own.sides, own.resolved, users, own.markets, after)
            found += [drift] if drift.users else []
    if found:
        names = ("within_user", "before", "after", "after_by_side")
        drifts, *means = (tallies.macro_average([getattr(each, name) for each in found]) for name in names)
        negative, sure = (sum(each.within_user < 0.0 for each in found), sum(each.p_value < 0.05 for each in found))
        yield (bot, len(found), drifts, negative, *means, sure)


def _platforms(readings: Readings, scores: _Scores) -> StudyTable:
    platforms = sorted({fact.platform for fact in readings.facts.values()}, reverse=True)
    rows: list[tuple[Cell, ...]] = []
    if len(platforms) == 2:
        topics = sorted(
            set.intersection(
                *({s.partition("/")[2] for s in readings.splits if s.startswith(f"{each}/")} for each in platforms)
            )
        )
        places = [[readings.splits.index(f"{each}/{topic}") for topic in topics] for each in platforms]
        for name in ("G1 Acc", "G2 DA", "G3 Acc_act", "G3 Acc_f", "G4 lead"):
            found = _all_of(readings, scores, name)
            if found and topics:
                compared = significance.platform_comparison(*([each.by_split[own] for each in found] for own in places))
                rows.append((f"{_SCORES[name][0]} {name.partition(' ')[2]}", *compared))
    what = " less ".join(platforms) if len(platforms) == 2 else "no second platform"
    title = f"Platforms over the topics that both have: {what}"
    return StudyTable.of("12", title, ("score", *significance.PLATFORM_COLUMNS), rows)


def _differences(scores: _Scores, pairs: Sequence[tuple[str, str]]) -> StudyTable:
    names = ("G1 Acc", "G2 DA", "G3 Acc_act", "G3 Acc_f", "G4 PLA")
    rows: list[tuple[Cell, ...]] = [
        (f"{a} less {b}", *(_mean(scores, a, name) - _mean(scores, b, name) for name in names)) for a, b in pairs
    ]
    return StudyTable.of("13", "Pairs of bots", ("pair", *names), rows)


def _odds(readings: Readings, scores: _Scores) -> StudyTable:
    rows: list[tuple[Cell, ...]] = []
    for platform in sorted({fact.platform for fact in readings.facts.values()}):
        places = [place for place, split in enumerate(readings.splits) if split.startswith(f"{platform}/")]
        leads, right = (
            np.concatenate([np.zeros(0), *(each.by_split[places] for each in _all_of(readings, scores, name))])
            for name in ("G4 lead", "G4 PLA")
        )
        known = ~np.isnan(leads)
        if known.any():
            ahead, count = int((leads[known] > 0.0).sum()), int(known.sum())
            rows.append((platform, count, ahead, ahead / count, float(right[known].mean()), float(leads[known].mean())))
    columns = ("platform", "bots x splits", "ahead", "share", "PLA", "lead")
    return StudyTable.of("14", "G4 by platform", columns, rows)


def _difficulty(readings: Readings, scores: _Scores) -> StudyTable:
    rows: list[tuple[Cell, ...]] = []
    for place, split in enumerate(readings.splits):
        values = [float(each.by_split[place]) for each in _all_of(readings, scores, "G2 DA")]
        known = [value for value in values if not math.isnan(value)]
        if known:
            rows.append((split, fmean(known), stdev(known) if len(known) > 1 else None, min(known), max(known)))
    rows.sort(key=lambda row: (row[1] or 0.0, row[0]))
    return StudyTable.of(
        "17", "G2 by split, the hardest first: DA over bots", ("split", "mean", "sd", "min", "max"), rows
    )


def _gaps(readings: Readings, scores: _Scores) -> StudyTable:
    rows: list[tuple[Cell, ...]] = []
    crowds = [won / counted for won, counted in readings.crowds.values() if counted]
    side_reference = fmean(crowds) if crowds else math.nan
    columns = ("O2", "CG(2)", "CG(3)", "O4", "CG(4)", "MCG")
    for bot in readings.labels:
        windows = readings.of(bot, "G4")
        odds_reference = tallies.macro_average(windows.by_split(_lead(windows)[1])) if windows.facts else math.nan
        gaps = tallies.commitment_gap(
            side_reference=side_reference,
            directed_accuracy=_mean(scores, bot, "G2 DA"),
            action_accuracy=_mean(scores, bot, "G3 Acc_act"),
            odds_reference=odds_reference,
            odds_lead=_mean(scores, bot, "G4 PLA"),
        )
        gaps |= {"O2": side_reference, "O4": odds_reference}
        rows.append((bot, *(gaps[column] for column in columns)))
    title = "Commitment gaps, below zero ahead of the reference"
    return StudyTable.of("20", title, ("bot", *columns), rows)


def _coverage(readings: Readings) -> StudyTable:
    facts = [fact for fact in readings.facts.values() if fact.task == "G1"]
    holds = [fact.known.label == "YES" for fact in facts]
    rows: list[tuple[Cell, ...]] = []
    if any(holds) and not all(holds):
        lengths = [float(sum(map(len, fact.texts))) for fact in facts]
        rows.append(("length", *significance.coverage_bias(lengths, holds)))
        for what in ("written", "volume", "days_left"):
            values = [float(getattr(fact.known, what)) for fact in facts]
            rows.append((what.replace("_", " "), *significance.coverage_bias(values, holds)))
    note = (
        "Of the comments asked about in G1, of which as many are of holders as not in each split; "
        "`predibot study stakebench describe FOLDER` compares all comments, topics too."
    )
    return StudyTable.of("coverage", "Holders against others", ("what", *significance.BIAS_COLUMNS), rows, note)
