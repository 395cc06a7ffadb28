"""The paper's tables for any bots: from what each said of which text to columns of numbers."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from statistics import fmean, stdev

import numpy as np
from numpy.typing import NDArray

from predibot.scoring.arguments import Floats, Ints
from predibot.scoring.commitment.audits import dose_response, outcome_audit, within_user_drift, wrong_bettors
from predibot.scoring.commitment.comparisons import coverage_bias, independence_p_value, platform_comparison
from predibot.scoring.commitment.gaps import aggregate_score, commitment_gap
from predibot.scoring.commitment.ratios import REFUSED, Marks, macro_average, macro_estimate
from predibot.scoring.commitment.scores import (
    accuracy_marks,
    commitment_calibrated_marks,
    costly_signal_marks,
    directed_marks,
    f1_marks,
    recall_profile,
)
from predibot.scoring.commitment.significance import binomial_p_values, discoveries

ACTIONS = ("flip", "increase", "decrease", "hold")
_SIDES = {"YES": 1, "UP": 1, "NO": -1, "DOWN": -1, "NEUTRAL": 0}
_CODES = {**_SIDES, **{label: number for number, label in enumerate(ACTIONS)}}
_CHANCES = {"G1": 0.5, "G2": 0.5, "G3": 0.25, "G3f": 0.5, "G3d": 0.5}
Cell = str | float | int | None


@dataclass(frozen=True, slots=True)
class Fact:
    """What is known of a text that was asked about."""

    task: str
    split: str
    """The platform and the topic, with a slash between."""
    market: str
    label: str
    """The true one; empty of what was written before anything was held."""
    side: str = ""
    """Of the writer's position; empty without one."""
    stake: float = 0.0
    user: str = ""
    resolved: int = 0
    baseline: int = 0
    """Of a window: where its stakes point, +1, -1, or 0 for a tie."""
    actions: tuple[str, ...] = ()
    """Of a comment in G3: what followed within each of the readings' `action_hours`."""
    length: int = 0
    """Of the text, in characters."""
    written: int = 0
    volume: float = 0.0
    days_left: float = 0.0

    @property
    def platform(self) -> str:
        """Return where it was written."""
        return self.split.partition("/")[0]


@dataclass(frozen=True, slots=True)
class Table:
    """A table: its number in the paper, what it shows, its columns and rows; None is a value that there is none of."""

    name: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""


@dataclass
class Readings:
    """What bots said of texts: by bot and item the label, or None for an answer that could not be read."""

    facts: Mapping[str, Fact]
    """By item."""
    said: Mapping[str, Mapping[str, str | None]]
    """By bot, then by item; what a bot was not asked, or failed at, is absent."""
    crowds: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """By split: in how many markets the side on which most was staked won, and of how many."""
    action_hours: tuple[int, ...] = ()
    """The windows whose actions are compared."""

    @cached_property
    def splits(self) -> tuple[str, ...]:
        """Return all splits, in order."""
        return tuple(sorted({fact.split for fact in self.facts.values()}))

    @cached_property
    def _of_task(self) -> Mapping[str, Sequence[tuple[str, Fact]]]:
        """Return the items of each task with what is known of them, in the order of their names."""
        found: dict[str, list[tuple[str, Fact]]] = {}
        for item, fact in sorted(self.facts.items()):
            found.setdefault(fact.task, []).append((item, fact))
        return found

    def of(self, bot: str, *tasks: str, splits: Iterable[str] | None = None) -> "Part":
        """Return what a bot said of some tasks, on some splits or on all."""
        wanted = None if splits is None else set(splits)
        said = self.said[bot]
        chosen = [
            (fact, said[item])
            for task in tasks
            for item, fact in self._of_task.get(task, ())
            if item in said and (wanted is None or fact.split in wanted)
        ]
        return Part(tuple(fact for fact, _ in chosen), tuple(label for _, label in chosen), readings_numbers(self))


@dataclass(frozen=True)
class Part:
    """Answers of one bot."""

    facts: tuple[Fact, ...]
    labels: tuple[str | None, ...]
    numbers: Mapping[str, int]
    """Of the splits."""

    @cached_property
    def predicted(self) -> Ints:
        """Return the labels as numbers, what could not be read as `REFUSED`."""
        return np.array([REFUSED if label is None else _CODES[label] for label in self.labels], dtype=np.int64)

    @cached_property
    def true(self) -> Ints:
        """Return the true labels as numbers."""
        return np.array([_CODES.get(fact.label, 0) for fact in self.facts], dtype=np.int64)

    @cached_property
    def split(self) -> Ints:
        """Return the splits as numbers."""
        return np.array([self.numbers[fact.split] for fact in self.facts], dtype=np.int64)

    @cached_property
    def stakes(self) -> Floats:
        """Return what was staked."""
        return np.array([fact.stake for fact in self.facts], dtype=np.float64)

    @cached_property
    def sides(self) -> Ints:
        """Return what the writers held."""
        return np.array([_SIDES.get(fact.side, 0) for fact in self.facts], dtype=np.int64)

    @cached_property
    def resolved(self) -> Ints:
        """Return what the markets paid."""
        return np.array([fact.resolved for fact in self.facts], dtype=np.int64)

    @cached_property
    def markets(self) -> NDArray[np.str_]:
        """Return the markets."""
        return np.array([fact.market for fact in self.facts], dtype=np.str_)

    def macro(self, marks: Marks) -> float:
        """Return the mean of a score over splits."""
        return macro_average(self.by_split(marks)) if self.facts else math.nan

    def by_split(self, marks: Marks) -> Floats:
        """Return a score by split."""
        return marks.by_split(self.split, len(self.numbers))

    @cached_property
    def accuracy(self) -> Marks:
        """Return what is right of all."""
        return accuracy_marks(self.predicted, self.true)

    @cached_property
    def directed(self) -> Marks:
        """Return what is right of the answers that name a side."""
        return directed_marks(self.predicted, self.true)

    @cached_property
    def baseline(self) -> Marks:
        """Return what the stakes behind the windows get right, a tie being a miss."""
        return accuracy_marks([fact.baseline for fact in self.facts], self.true)

    @cached_property
    def lead(self) -> Floats:
        """Return by split how much better than the stakes the windows were read."""
        return self.by_split(self.accuracy) - self.by_split(self.baseline)


@dataclass(frozen=True, slots=True)
class Scores:
    """The scores of one bot, macro averages; NaN where it has none."""

    bot: str
    accuracy: float
    f1: float
    strict: float
    directed: float
    cca: float
    csd: float
    action: float
    flips: float
    decreases: float
    lead: float
    ahead: float
    n_plus: int
    windows_in: int
    """Splits with windows."""
    o2: float
    o4: float
    aggregate: float


def scores_of(readings: Readings, bot: str) -> Scores:
    """Return the scores of a bot."""
    g1, g2, g3, g4 = (readings.of(bot, task) for task in ("G1", "G2", "G3", "G4"))
    flips, decreases = readings.of(bot, "G3f"), readings.of(bot, "G3d")
    ahead = g4.lead[~np.isnan(g4.lead)] if g4.facts else np.array([])
    csd = math.nan
    if g2.facts:
        high, low = costly_signal_marks(g2.predicted, g2.true, g2.stakes, g2.split)
        csd = macro_average(g2.by_split(high) - g2.by_split(low))
    crowds = [won / counted for won, counted in readings.crowds.values() if counted]
    found = {
        "accuracy": g1.macro(g1.accuracy),
        "directed_accuracy": g2.macro(g2.directed),
        "action_accuracy": g3.macro(g3.accuracy),
        "flip_accuracy": flips.macro(flips.accuracy),
    }
    n_plus = int((ahead > 0.0).sum())
    return Scores(
        bot=bot,
        accuracy=found["accuracy"],
        f1=g1.macro(f1_marks(g1.predicted, g1.true)),
        strict=g2.macro(g2.accuracy),
        directed=found["directed_accuracy"],
        cca=g2.macro(commitment_calibrated_marks(g2.predicted, g2.true, g2.stakes)),
        csd=csd,
        action=found["action_accuracy"],
        flips=found["flip_accuracy"],
        decreases=decreases.macro(decreases.accuracy),
        lead=g4.macro(g4.accuracy),
        ahead=float(ahead.mean()) if ahead.size else math.nan,
        n_plus=n_plus,
        windows_in=ahead.size,
        o2=fmean(crowds) if crowds else math.nan,
        o4=g4.macro(g4.baseline),
        aggregate=aggregate_score(**found, lead_share=n_plus / ahead.size if ahead.size else math.nan),
    )


def stakebench_tables(readings: Readings, *, pairs: Sequence[tuple[str, str]] = ()) -> tuple[Table, ...]:
    """Return the paper's tables 3, 4, 6 to 12, 13 where pairs are named, 14, 17 and 20, with intervals and coverage.

    Args:
        readings: Of the bots of one run.
        pairs: Bots whose scores are taken from one another, the second from the first.
    """
    bots = list(readings.said)
    scores = [scores_of(readings, bot) for bot in bots]
    found = [
        _main(readings, scores),
        _intervals(readings, bots),
        _actions(readings, bots),
        _reliability(readings, bots),
        _horizons(readings, bots),
        *_audits(readings, bots),
        _platforms(readings, bots),
        *([_paired(scores, pairs)] if pairs else []),
        _odds(readings, bots),
        _difficulty(readings, bots),
        _gaps(scores),
        _coverage(readings),
    ]
    return tuple(found)


def _main(readings: Readings, scores: Sequence[Scores]) -> Table:
    columns = (
        *("bot", "Agg", "G1 Acc", "G1 F1", "G2 strict", "G2 DA", "G2 CCA", "G2 CSD"),
        *("G3 Acc_act", "G3 Acc_f", "G3 Acc_d", "G4 PLA", "G4 lead", "n+", "splits", "answers", "unread"),
    )
    rows = []
    for each in scores:
        said = readings.said[each.bot]
        numbers = (each.accuracy, each.f1, each.strict, each.directed, each.cca, each.csd, each.action, each.flips)
        more = (each.decreases, each.lead, each.ahead)
        unread = sum(label is None for label in said.values())
        n_plus = (each.n_plus, each.windows_in) if each.windows_in else (None, None)
        rows.append((each.bot, each.aggregate, *numbers, *more, *n_plus, len(said), unread))
    return _table("3", "Scores, each a mean over splits", columns, rows)


def _intervals(readings: Readings, bots: Sequence[str]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for bot in bots:
        for name, (task, marks, minus) in _SCORES.items():
            part = readings.of(bot, task)
            if not part.facts:
                continue
            found = macro_estimate(
                marks(part), part.split, part.markets, minus=None if minus is None else minus(part), seed=0
            )
            if found.splits:
                value = (found.estimate, found.low, found.high)
                rows.append((bot, name, *value, found.splits, found.markets, found.n))
    columns = ("bot", "score", "value", "low", "high", "splits", "markets", "answers")
    note = "95 % intervals, markets drawn anew within each split; none where a split has a single market."
    return Table("intervals", "On how much each score rests", columns, _known(rows), note)


def _quartiles(part: Part) -> tuple[Marks, Marks]:
    return costly_signal_marks(part.predicted, part.true, part.stakes, part.split)


_SCORES: Mapping[str, tuple[str, Callable[[Part], Marks], Callable[[Part], Marks] | None]] = {
    "G1 Acc": ("G1", lambda part: part.accuracy, None),
    "G1 F1": ("G1", lambda part: f1_marks(part.predicted, part.true), None),
    "G2 strict": ("G2", lambda part: part.accuracy, None),
    "G2 DA": ("G2", lambda part: part.directed, None),
    "G2 CCA": ("G2", lambda part: commitment_calibrated_marks(part.predicted, part.true, part.stakes), None),
    "G2 CSD": ("G2", lambda part: _quartiles(part)[0], lambda part: _quartiles(part)[1]),
    "G3 Acc_act": ("G3", lambda part: part.accuracy, None),
    "G3 Acc_f": ("G3f", lambda part: part.accuracy, None),
    "G3 Acc_d": ("G3d", lambda part: part.accuracy, None),
    "G4 PLA": ("G4", lambda part: part.accuracy, None),
    "G4 lead": ("G4", lambda part: part.accuracy, lambda part: part.baseline),
}
"""By score: of which task, what its answers earn, and what is taken off."""


def _actions(readings: Readings, bots: Sequence[str]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    truth: tuple[float, ...] = ()
    for bot in bots:
        part = readings.of(bot, "G3")
        if not part.facts:
            continue
        profile = recall_profile(part.predicted, part.true, classes=len(ACTIONS))
        truth = profile.true
        said = "one or two labels" if profile.is_degenerate else ""
        rows.append((bot, *profile.recall, profile.entropy, said))
    if truth:
        rows.append(("ground truth", *truth, None, ""))
    columns = ("bot", *ACTIONS, "entropy", "remark")
    return _table("4", "G3: recall of each action, and how evenly the answers lie", columns, rows)


def _reliability(readings: Readings, bots: Sequence[str]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for task, score in (("G1", "Acc"), ("G2", "DA"), ("G3", "Acc_act"), ("G3f", "Acc_f"), ("G3d", "Acc_d")):
        p_values: list[float] = []
        widths = []
        for bot in bots:
            part = readings.of(bot, task)
            if not part.facts:
                continue
            marks = part.directed if task == "G2" else part.accuracy
            estimate = macro_estimate(marks, part.split, part.markets)
            widths += [estimate.width] if estimate.width is not None else []
            hits, trials = (
                np.bincount(part.split, each, minlength=len(part.numbers)) for each in (marks.earned, marks.counted)
            )
            p_values += binomial_p_values(hits, trials, chance=_CHANCES[task]).tolist()
        if p_values:
            kept = discoveries(p_values)
            share = kept.retained / kept.raw if kept.raw else math.nan
            width = fmean(widths) if widths else math.nan
            rows.append((f"{task} {score}", width, kept.tests, kept.raw, kept.retained, share))
    columns = ("score", "95 % width", "tests", "raw", "BH-FDR", "retained")
    return _table("6", "Reliability: one-sided binomial tests of each bot and split", columns, rows)


def _horizons(readings: Readings, bots: Sequence[str]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    parts = [part for bot in bots if (part := readings.of(bot, "G3")).facts]
    for place, hours in enumerate(readings.action_hours):
        scores: list[float] = []
        p_values: list[float] = []
        holds: list[float] = []
        for part in parts:
            marks = accuracy_marks(part.predicted, [_CODES[fact.actions[place]] for fact in part.facts])
            scores.append(part.macro(marks))
            hits, trials = (
                np.bincount(part.split, each, minlength=len(part.numbers)) for each in (marks.earned, marks.counted)
            )
            p_values += binomial_p_values(hits, trials, chance=_CHANCES["G3"]).tolist()
            holds.append(fmean(fact.actions[place] == "hold" for fact in part.facts))
        if scores:
            said = fmean(fmean(label == "hold" for label in part.labels) for part in parts)
            rows.append((f"{hours} h", fmean(holds), said, fmean(scores), sum(p < 0.05 for p in p_values)))
    columns = ("window", "true hold", "said hold", "G3 Acc_act", "p < .05")
    note = "The answers are those about 48 hours, beside what was done within each window; means over bots."
    return Table("7", "Windows of actions", columns, _known(rows), note)


def _audits(readings: Readings, bots: Sequence[str]) -> Iterable[Table]:
    wrong: list[tuple[Cell, ...]] = []
    outcomes: list[tuple[Cell, ...]] = []
    doses: list[tuple[Cell, ...]] = []
    drifts: list[tuple[Cell, ...]] = []
    for bot in bots:
        parts = [readings.of(bot, "G2", splits=[split]) for split in readings.splits]
        parts = [part for part in parts if part.facts]
        found = [wrong_bettors(part.predicted, part.sides, part.resolved) for part in parts]
        tested = [each for each in found if not math.isnan(each.p_value)]
        if tested:
            following = [each.following for each in tested]
            many = sum(each.p_value < 0.05 for each in tested)
            wrong.append((bot, len(tested), many, sum(share > 0.5 for share in following), fmean(following)))
        audits = [outcome_audit(part.predicted, part.sides, part.resolved) for part in parts]
        by_side, by_outcome = (
            macro_average([getattr(each, name) for each in audits]) if audits else math.nan
            for name in ("by_side", "by_resolution")
        )
        if parts:
            outcomes.append((bot, len(parts), by_side, by_outcome, by_outcome - by_side))
        for part in parts:
            dose = dose_response(part.predicted, part.sides, part.stakes)
            if not math.isnan(dose.p_value):
                csd = dose.by_quartile[3] - dose.by_quartile[0]
                doses.append((bot, part.facts[0].split, dose.n, csd, dose.p_value, *dose.by_quartile))
        if drift := _drift(readings, bot):
            drifts.append(drift)
    columns: tuple[str, ...] = ("bot", "splits", "p < .05", "above half", "following")
    yield _table("8", "Wrong bettors: how often a side that lost is named as the writer's", columns, wrong)
    columns = ("bot", "splits", "by side", "by outcome", "gap")
    yield _table("9", "DA against the writer's side and against the outcome", columns, outcomes)
    columns = ("bot", "split", "n", "CSD", "p", "DA 1", "DA 2", "DA 3", "DA 4")
    yield _table("10", "Stakes: DA by quartile, one-sided test of the fourth above the first", columns, doses)
    columns = ("bot", "splits", "drift", "negative", "before", "after", "after by side", "p < .05")
    yield _table("11", "The same people before and after their first position", columns, drifts)


def _drift(readings: Readings, bot: str) -> tuple[Cell, ...] | None:
    found = []
    for split in readings.splits:
        part = readings.of(bot, "G2", "G2before", splits=[split])
        if not part.facts:
            continue
        users, after = [fact.user for fact in part.facts], [fact.task == "G2" for fact in part.facts]
        drift = within_user_drift(part.predicted, part.sides, part.resolved, users, part.markets, after)
        if drift.users:
            found.append(drift)
    if not found:
        return None
    means = [
        macro_average([getattr(each, name) for each in found])
        for name in ("within_user", "before", "after", "after_by_side")
    ]
    negative, sure = (sum(each.within_user < 0.0 for each in found), sum(each.p_value < 0.05 for each in found))
    return (bot, len(found), means[0], negative, *means[1:], sure)


def _platforms(readings: Readings, bots: Sequence[str]) -> Table:
    platforms = sorted({fact.platform for fact in readings.facts.values()}, reverse=True)
    rows: list[tuple[Cell, ...]] = []
    columns = ("score", "difference", "t", "p", "rank correlation", "rank p", "topics", "bots")
    if len(platforms) == 2:
        topics = sorted(
            set.intersection(
                *({s.partition("/")[2] for s in readings.splits if s.startswith(f"{each}/")} for each in platforms)
            )
        )
        for name, of_part in _BY_SPLIT.items():
            task = name.partition(" ")[0]
            parts = [part for bot in bots if (part := readings.of(bot, task)).facts]
            if not parts or not topics:
                continue
            values = [of_part(part) for part in parts]
            one, other = (
                [
                    [value[part.numbers[f"{platform}/{topic}"]] for topic in topics]
                    for part, value in zip(parts, values, strict=True)
                ]
                for platform in platforms
            )
            cmp = platform_comparison(one, other)
            rows.append(
                (name, cmp.difference, cmp.t, cmp.p_value, cmp.rank_correlation, cmp.rank_p_value, cmp.topics, cmp.bots)
            )
    what = " less ".join(platforms) if len(platforms) == 2 else "no second platform"
    return _table("12", f"Platforms over the topics that both have: {what}", columns, rows)


_BY_SPLIT: Mapping[str, Callable[[Part], Floats]] = {
    "G1 Acc": lambda part: part.by_split(part.accuracy),
    "G2 DA": lambda part: part.by_split(part.directed),
    "G3 Acc_act": lambda part: part.by_split(part.accuracy),
    "G3f Acc_f": lambda part: part.by_split(part.accuracy),
    "G4 lead": lambda part: part.lead,
}


def _paired(scores: Sequence[Scores], pairs: Sequence[tuple[str, str]]) -> Table:
    by_bot = {each.bot: each for each in scores}
    names = ("accuracy", "directed", "action", "flips", "lead")
    rows = [
        (f"{a} less {b}", *(getattr(by_bot[a], name) - getattr(by_bot[b], name) for name in names)) for a, b in pairs
    ]
    return _table("13", "Pairs of bots", ("pair", "G1 Acc", "G2 DA", "G3 Acc_act", "G3 Acc_f", "G4 PLA"), rows)


def _odds(readings: Readings, bots: Sequence[str]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    parts = [part for bot in bots if (part := readings.of(bot, "G4")).facts]
    for platform in sorted({fact.platform for fact in readings.facts.values()}):
        places = [number for split, number in sorted(readings_numbers(readings).items()) if _is_of(split, platform)]
        leads = np.concatenate([part.lead[places] for part in parts]) if parts else np.array([])
        right = np.concatenate([part.by_split(part.accuracy)[places] for part in parts]) if parts else np.array([])
        known = ~np.isnan(leads)
        if known.any():
            ahead = int((leads[known] > 0.0).sum())
            count = int(known.sum())
            rows.append((platform, count, ahead, ahead / count, float(right[known].mean()), float(leads[known].mean())))
    columns = ("platform", "bots x splits", "ahead", "share", "PLA", "lead")
    return _table("14", "G4 by platform", columns, rows)


def readings_numbers(readings: Readings) -> Mapping[str, int]:
    """Return the number of each split."""
    return {split: number for number, split in enumerate(readings.splits)}


def _is_of(split: str, platform: str) -> bool:
    return split.startswith(f"{platform}/")


def _difficulty(readings: Readings, bots: Sequence[str]) -> Table:
    values = [part.by_split(part.directed) for bot in bots if (part := readings.of(bot, "G2")).facts]
    rows: list[tuple[Cell, ...]] = []
    for split, number in readings_numbers(readings).items():
        known = [float(each[number]) for each in values if not math.isnan(each[number])]
        if known:
            rows.append((split, fmean(known), stdev(known) if len(known) > 1 else None, min(known), max(known)))
    rows.sort(key=lambda row: (row[1] or 0.0, row[0]))
    return _table("17", "G2 by split, the hardest first: DA over bots", ("split", "mean", "sd", "min", "max"), rows)


def _gaps(scores: Sequence[Scores]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for each in scores:
        gap = commitment_gap(
            side_reference=each.o2,
            directed_accuracy=each.directed,
            action_accuracy=each.action,
            odds_reference=each.o4,
            odds_lead=each.lead,
        )
        rows.append((each.bot, each.o2, gap.side, gap.action, each.o4, gap.odds, gap.mean))
    columns = ("bot", "O2", "CG(2)", "CG(3)", "O4", "CG(4)", "MCG")
    return _table("20", "Commitment gaps, below zero ahead of the reference", columns, rows)


def _coverage(readings: Readings) -> Table:
    facts = [fact for fact in readings.facts.values() if fact.task == "G1"]
    holds = [fact.label == "YES" for fact in facts]
    rows: list[tuple[Cell, ...]] = []
    if any(holds) and not all(holds):
        for what in ("length", "written", "volume", "days_left"):
            bias = coverage_bias([float(getattr(fact, what)) for fact in facts], holds)
            rows.append((what.replace("_", " "), bias.holders, bias.others, bias.cohen_d, bias.p_value))
        number = readings_numbers(readings)
        p_value = independence_p_value(holds, [number[fact.split] for fact in facts])
        rows.append(("topic", None, None, None, p_value))
    note = "Of the comments asked about in G1, of which as many are of holders as not in each split."
    columns = ("what", "holders", "others", "Cohen's d", "p")
    return Table("coverage", "Holders against others", columns, _known(rows), note)


def _table(name: str, title: str, columns: tuple[str, ...], rows: Sequence[tuple[Cell, ...]]) -> Table:
    return Table(name, title, columns, _known(rows))


def _known(rows: Sequence[tuple[Cell, ...]]) -> tuple[tuple[Cell, ...], ...]:
    """Return rows with None for what has no value: it is missing, and not zero."""
    return tuple(tuple(None if isinstance(cell, float) and math.isnan(cell) else cell for cell in row) for row in rows)
