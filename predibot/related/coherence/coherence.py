"""Coherence: how far a bot's forecasts of one event, and the market's prices, break the rules of probability."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Literal

import numpy as np

from predibot.related.coherence.bounds import Bound, cover_everything, date_bound, level_bound, span_of
from predibot.rows import grouped
from predibot.scoring.arguments import Floats, Ints
from predibot.scoring.inference.bootstrap import Estimate
from predibot.scoring.inference.uncertainty import Comparison, Uncertainty, comparisons, estimates, mean_of
from predibot.scoring.records.coherence import CoherenceScore
from predibot.scoring.records.track_record import DAY_SECONDS, TrackRecord

Rule = Literal["exclusive", "dates", "thresholds"]
RULES: tuple[Rule, ...] = ("exclusive", "dates", "thresholds")


@dataclass(frozen=True, slots=True)
class RuleGroup:
    """Two or more markets of one event under one rule of probability."""

    rule: Rule
    markets: tuple[int, ...]
    """Rows; nested markets in the order in which probabilities must not fall."""
    exhaustive: bool = False
    """Whether exactly one pays YES, rather than at most one."""


@dataclass(frozen=True, slots=True)
class Groups:
    """Groups of markets under a rule, and groups of an uncertain rule."""

    sure: tuple[RuleGroup, ...]
    unsure: tuple[tuple[int, ...], ...]
    """Rows of markets that differ only by a date or number whose direction is unclear."""


def groups_of(questions: Sequence[str], event: Ints, exclusive: Ints, asked_at: Floats) -> Groups:
    """Return the groups of some markets, (n,).

    The venue says which markets exclude each other. They are exhaustive if their questions name ranges that cover all
    numbers. Markets of one event are nested if their questions differ only by a date or a bound.

    Args:
        questions: Untrusted texts.
        exclusive: The group in which at most one pays YES, -1 for none.
        asked_at: When each was first asked about, in seconds since 1970, for the year of a date. Markets with NaN are
            in no group.
    """
    sure, unsure = list[RuleGroup](), list[tuple[int, ...]]()
    asked = np.flatnonzero(~np.isnan(asked_at)).tolist()
    excluding, of_event = defaultdict[int, list[int]](list), defaultdict[int, list[int]](list)
    for row in asked:
        of_event[int(event[row])].append(row)
        if exclusive[row] >= 0:
            excluding[int(exclusive[row])].append(row)
    for rows in excluding.values():
        if len(rows) > 1:
            spans = [span_of(questions[row]) for row in rows]
            known = [span for span in spans if span is not None]
            sure.append(RuleGroup("exclusive", tuple(rows), len(known) == len(rows) and cover_everything(known)))
    for rows in of_event.values():
        if len(rows) > 1:
            days = [datetime.fromtimestamp(asked_at[row], UTC).date() for row in rows]
            by_date = [date_bound(questions[row], day) for row, day in zip(rows, days, strict=True)]
            for rule, bounds in (("dates", by_date), ("thresholds", [level_bound(questions[row]) for row in rows])):
                for group, is_sure in _nested_groups(rows, bounds):
                    if is_sure:
                        sure.append(RuleGroup("dates" if rule == "dates" else "thresholds", group))
                    else:
                        unsure.append(group)
    return Groups(tuple(sure), tuple(unsure))


def _nested_groups(rows: Sequence[int], bounds: Sequence[Bound | None]) -> Iterator[tuple[tuple[int, ...], bool]]:
    """Yield sets of markets that differ only by their bounds, in order, and whether the order is sure."""
    by_form = grouped((bound.form, (row, bound)) for row, bound in zip(rows, bounds, strict=True) if bound is not None)
    for members in by_form.values():
        if len(members) < 2:
            continue
        times = Counter(bound.value for _, bound in members)
        # Equal bounds give no order.
        ordered = [(row, bound) for row, bound in members if bound.direction and times[bound.value] == 1]
        rest = [row for row, bound in members if not (bound.direction and times[bound.value] == 1)]
        if len(ordered) > 1:
            # Bounds of one form are of one type and side.
            ordered.sort(key=lambda each: (each[1].value, each[0]), reverse=ordered[0][1].direction < 0)
            yield tuple(row for row, _ in ordered), True
        else:
            rest = [row for row, _ in members]
        if rest:
            yield tuple(rest), False


ALL = "all"
"""The name of the score over all rules."""
_ROUNDING = 1e-9
_PERIODS = 10


@dataclass(frozen=True, slots=True)
class CoherencePeriod:
    """Consecutive slots."""

    first_slot: float
    """In seconds since 1970."""
    last_slot: float
    score: CoherenceScore


@dataclass(frozen=True, slots=True)
class Coherence:
    """How coherent one bot is."""

    rules: tuple[CoherenceScore, ...] = ()
    """The score over all rules, then each rule's."""
    events: tuple[CoherenceScore, ...] = ()
    """The worst event first."""
    periods: tuple[CoherencePeriod, ...] = ()
    """By time, with equal numbers of slots."""
    groups: int = 0
    """Groups with two or more probabilities in a decision."""
    exhaustive: int = 0
    """How many of these groups have exactly one market that pays YES."""
    unsure_groups: int = 0
    """Sets of markets that differ only by a date or number whose direction is unclear."""
    unsure_markets: int = 0


def coherence_of(
    record: TrackRecord,
    questions: Sequence[str],
    bot: str,
    uncertainty: Uncertainty | None = None,
    known: dict[bytes, Groups] | None = None,
) -> Coherence:
    """Return how far the forecasts of a bot break the rules of probability.

    A rule binds the probabilities that one decision states for a group
    (`groups_of`). The probabilities of exclusive markets must not sum to more
    than one: max(0, sum - 1); those of exhaustive markets must sum to one:
    sum - 1, without its sign. An earlier date must not be more probable than a later one, nor a
    higher threshold than a lower one: the largest such difference counts. The
    breach is what a bet of one share each way against the bot wins, whatever
    happens. The same is computed for the prices that were shown with the
    markets. Outcomes do not matter, so every decision by the record's instant
    counts, also those of models that may know what happened. Probabilities count as stated, before they are normalised.

    Args:
        questions: The text of each market of the record, in its order.
        known: A cache of groups, for several calls with the same questions.
    """
    if bot not in record.bots:
        return Coherence()
    groups = _groups_in(record, questions, {} if known is None else known)
    found = breaches(record, groups, bot)
    counted = Coherence(unsure_groups=len(groups.unsure), unsure_markets=sum(map(len, groups.unsure)))
    if not found.group.size:
        return counted
    rule = np.array([group.rule for group in groups.sure])[found.group]
    kept = {ALL: np.ones(rule.size, dtype=np.bool_)} | {
        str(name): rule == name for name in RULES if (rule == name).any()
    }
    titles = {int(number): record.event_names.get(int(number), str(number)) for number in np.unique(found.event)}
    by_event = [found.score(title, np.flatnonzero(found.event == number)) for number, title in titles.items()]
    slot = record.slots()[found.decision]
    parts = [part for part in np.array_split(np.unique(slot), _PERIODS) if part.size]
    used = np.unique(found.group).tolist()
    return replace(
        counted,
        rules=tuple(
            found.scores_with_intervals({name: np.flatnonzero(own) for name, own in kept.items()}, uncertainty)
        ),
        events=tuple(sorted(by_event, key=lambda each: (-each.bot, -each.n, each.name))),
        periods=tuple(
            CoherencePeriod(float(part[0]), float(part[-1]), found.score("", np.flatnonzero(np.isin(slot, part))))
            for part in parts
        ),
        groups=len(used),
        exhaustive=sum(groups.sure[number].exhaustive for number in used),
    )


def breaches(record: TrackRecord, groups: Groups, bot: str) -> "Breaches":
    """Return the breaches of each decision on each group for which it states two or more probabilities."""
    rows = np.flatnonzero(
        (record.decision_bot == record.bots.index(bot))[record.bet_decision]
        & record.made_mask()[record.bet_decision]
        & ~np.isnan(record.bet_probability)
    )
    rows = rows[np.argsort(record.bet_market[rows], kind="stable")]
    market = record.bet_market[rows]
    found = list[tuple[Ints, Ints, Floats, Floats, Floats]]()
    stated = record.bet_probability
    if record.bet_said is not None:
        stated = np.where(np.isnan(record.bet_said), stated, record.bet_said)
    for number, group in enumerate(groups.sure):
        starts, ends = (np.searchsorted(market, group.markets, side=side) for side in ("left", "right"))
        own = [rows[start:end] for start, end in zip(starts, ends, strict=True)]
        decisions = np.unique(record.bet_decision[np.concatenate(own)])
        forecasts, priced = np.full((2, decisions.size, len(own)), np.nan)
        for column, bets in enumerate(own):
            place = np.searchsorted(decisions, record.bet_decision[bets])
            forecasts[place, column], priced[place, column] = stated[bets], record.bet_price_yes[bets]
        n = (~np.isnan(forecasts)).sum(axis=1)
        kept = n >= 2
        # The most: k probabilities of 1 sum to k - 1 too much; nested ones differ by 1.
        most = n[kept] - 1.0 if group.rule == "exclusive" else np.ones(int(kept.sum()))
        ours, theirs = breach(group, forecasts)[kept], breach(group, priced)[kept]
        found.append((np.full(most.size, number), decisions[kept], ours, theirs, most))
    none = np.zeros(0, dtype=np.int64)
    of_group, decision, ours, theirs, most = (
        np.concatenate(each) for each in zip((none, none, *np.zeros((3, 0))), *found, strict=True)
    )
    return Breaches(of_group, decision, ours, theirs, most, record.decision_event[decision])


def breach(group: RuleGroup, probabilities: Floats) -> Floats:
    """Return how far probabilities break the rule of a group of k markets, (d,), 0 or more.

    Probabilities of YES are (d, k), in the group's order, NaN for one not stated; a sum below one then breaks no rule.

    Examples:
        >>> breach(RuleGroup("exclusive", (0, 1)), np.array([[0.7, 0.5], [0.3, 0.5]])).round(6).tolist()
        [0.2, 0.0]
        >>> breach(RuleGroup("dates", (0, 1, 2)), np.array([[0.5, 0.3, 0.4]])).round(6).tolist()
        [0.2]
    """
    if group.rule == "exclusive":
        over: Floats = np.nansum(probabilities, axis=1) - 1.0
        whole = ~np.isnan(probabilities).any(axis=1) & group.exhaustive
        found = np.where(whole, np.abs(over), over)
    else:
        highest = np.fmax.accumulate(probabilities, axis=1)
        found = np.nanmax(np.where(np.isnan(probabilities), 0.0, highest - probabilities), axis=1, initial=0.0)
    return np.where(found > _ROUNDING, found, 0.0)


@dataclass(frozen=True, slots=True, eq=False)
class Breaches:
    """Breaches by decision and group, (n,) each."""

    group: Ints
    """Index of a sure group."""
    decision: Ints
    bot: Floats
    market: Floats
    """The breach of the prices that the bot was shown."""
    most: Floats
    """The largest possible breach."""
    event: Ints

    def score(self, name: str, rows: Ints) -> CoherenceScore:
        """Return the mean breach over some rows."""
        bot, market = self.bot[rows], self.market[rows]
        return CoherenceScore(
            name=name,
            bot=float(bot.mean()),
            market=float(market.mean()),
            broken=float((bot > 0.0).mean()),
            market_broken=float((market > 0.0).mean()),
            n=rows.size,
            events=np.unique(self.event[rows]).size,
        )

    def scores_with_intervals(
        self, parts: Mapping[str, Ints], uncertainty: Uncertainty | None
    ) -> Iterator[CoherenceScore]:
        """Yield the scores of several sets of rows, with intervals if `uncertainty` is given."""
        none: list[None] = [None] * len(parts)
        means: Sequence[Estimate | None] = none
        compared: Sequence[Comparison | None] = none
        if uncertainty is not None:
            every = [(rows, float(self.most[rows].mean())) for rows in parts.values()]
            ours = [mean_of(self.bot[rows], self.event[rows], (0.0, most)) for rows, most in every]
            means = estimates(ours, uncertainty)
            differences = [
                mean_of(self.bot[rows] - self.market[rows], self.event[rows], (-most, most)) for rows, most in every
            ]
            compared = comparisons(differences, uncertainty)
        for (name, rows), interval, difference in zip(parts.items(), means, compared, strict=True):
            yield replace(self.score(name, rows), interval=interval, difference=difference)


def _groups_in(record: TrackRecord, questions: Sequence[str], known: dict[bytes, Groups]) -> Groups:
    decision, market = record.questions()
    made = record.made_mask()[decision]
    decision, market = decision[made], market[made]
    asked_at = np.full(record.payout_yes.size, np.inf)
    np.minimum.at(asked_at, market, record.decided_at[decision])
    event = np.full(asked_at.size, -1, dtype=np.int64)
    event[market] = record.decision_event[decision]
    none = np.full(asked_at.size, -1, dtype=np.int64)
    exclusive = none if record.market_exclusive is None else record.market_exclusive
    # Only the date of an instant matters.
    key = np.stack([event, exclusive, np.floor(asked_at / DAY_SECONDS)]).tobytes()
    if key not in known:
        known[key] = groups_of(questions, event, exclusive, np.where(np.isinf(asked_at), np.nan, asked_at))
    return known[key]
