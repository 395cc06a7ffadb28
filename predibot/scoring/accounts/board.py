"""The board of accounts: the bots of a recipe and a game side by side, ranked so that luck gives no rank."""

import reprlib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from predibot.domain.price import money_sign
from predibot.rows import grouped
from predibot.scoring.accounts.cohorts import AccountConsistency
from predibot.scoring.accounts.implied import MOST_DEPENDENCE, MOST_IN_ONE_EVENT, days_of, distance, implied_risk
from predibot.scoring.accounts.record import AccountRecord, AccountsRecord
from predibot.scoring.accounts.score import AccountScore, CurveColumn, account_score, is_curve, returns_of
from predibot.scoring.arguments import instance_of, instances_of
from predibot.scoring.inference.blocks import draw_curves, growth_difference
from predibot.scoring.inference.bootstrap import FEW_CLUSTERS, Estimate
from predibot.scoring.inference.uncertainty import Uncertainty
from predibot.scoring.metrics.agreement import rank_correlation
from predibot.scoring.metrics.conventions import Convention, convention_for_stocks
from predibot.scoring.standing import ALIKE_PLACES, INDEX_FUND, STANDINGS, Standing, left_out_notes, places


@dataclass(frozen=True, slots=True)
class AccountPair:
    """A bot's account beside a baseline's, over the dates that both have."""

    bot: str
    baseline: str
    difference: Estimate
    """By what share it came to more: (1 + return) / (1 + the baseline's) - 1, over the same dates."""
    beta: float | None = None
    """Beside an index fund: the mean move of the bot's return per move of the fund's; None if that never moves."""
    correlation: float | None = None
    few_decide: tuple[str, ...] = ()
    """Those of the two bots whose account depends on few outcomes."""

    @property
    def few_dates(self) -> bool:
        """Return whether there are too few dates to call one better."""
        return self.difference.clusters < FEW_CLUSTERS

    @property
    def better(self) -> str | None:
        """Return the better one's name if the interval lies on one side of zero and dates are not few, else None.

        Never a bot whose account depends on few outcomes, and none beside a baseline that does.
        """
        ends = self.difference.interval
        if ends is None or self.few_dates or self.bot in self.few_decide:
            return None
        ahead = self.bot if ends[0] > 0.0 else self.baseline if ends[1] < 0.0 else None
        return None if ahead in self.few_decide else ahead


@dataclass(frozen=True, slots=True)
class DelayBand:
    """The cost of a delay over bots: the mean, and the middle half of them."""

    delay_slots: int
    mean: float
    low: float
    high: float
    bots: int


REPEATS_BELOW = 0.01
"""An account closer to a baseline's weights than this mean L1 distance only repeats it."""
_ROUNDING = 1e-24


@dataclass(frozen=True, slots=True)
class AccountBoard:
    """The accounts of a recipe and a game, of one mode, in groups."""

    recipe: str
    game: str
    mode: str
    subject: str
    scores: tuple[AccountScore, ...]
    """In the order of the board: those better than every baseline, by the least margin; those that cannot be told, and
    those worse than cash, by the size of their growth; those on too few dates; baselines; last, those ranked apart."""
    pairs: tuple[AccountPair, ...] = ()
    delay_bands: tuple[DelayBand, ...] = ()
    """Over bots that are no baselines, unless there are only baselines."""
    notes: tuple[str, ...] = ()
    consistency: tuple[AccountConsistency, ...] = ()
    """How alike bots divided their money when asked the same again; empty where it is not asked for."""

    @property
    def standings(self) -> Mapping[str, Standing]:
        """Return the group of each bot."""
        least = self.least
        return {each.bot: _standing(each, least.get(each.bot)) for each in self.scores}

    @property
    def least(self) -> Mapping[str, float]:
        """Return the smallest lower end of each bot's differences to the baselines, where all have one."""
        baselines = sum(each.baseline for each in self.scores)
        lows = grouped(
            (pair.bot, pair.difference.low)
            for pair in self.pairs
            if pair.difference.low is not None and not pair.few_dates
        )
        return {bot: min(found) for bot, found in lows.items() if len(found) == baselines}

    @property
    def ranks(self) -> Mapping[str, int]:
        """Return the rank of each bot that did better than every baseline, by its least margin, equals alike.

        Bots whose models have no known cutoff are ranked apart, from 1 again.
        """
        standings, least = self.standings, self.least
        ends = {each.bot: (each.knowledge, least[each.bot]) for each in self.scores if standings[each.bot] == "better"}
        return places(ends)


def _standing(score: AccountScore, least: float | None) -> Standing:
    """Return the group of a bot; `least` is the smallest lower end of its differences to the baselines."""
    found = score.intervals.get("cumulative_return")
    if score.baseline:
        return "baseline"
    if score.days < FEW_CLUSTERS:
        return "too few"
    if found is None or found.high is None or score.implied.few_decide:
        return "not proven"
    if least is not None and least > 0.0:
        return "better"
    return "worse" if found.high < 0.0 else "not proven"


def account_board(
    record: AccountsRecord, convention: Convention, uncertainty: Uncertainty, *, currency: str = "USD"
) -> AccountBoard:
    """Return the scores of the accounts of a record, with comparisons over common dates.

    Args:
        record: The accounts, each with one value or more.
        convention: How figures of growth and risk are made.
        currency: The currency of the record's amounts.

    Raises:
        ValueError: If one of them is something else.
    """
    instances_of(record=(record, AccountsRecord), convention=(convention, Convention))
    instance_of("uncertainty", uncertainty, Uncertainty)
    excluded = [each for each in record.accounts if each.knowledge in ("ahead", "contaminated")]
    record = replace(record, accounts=tuple(each for each in record.accounts if each not in excluded))
    if record.sectors is not None:
        convention = convention_for_stocks(convention)
    drawn = _draw_curves(record, uncertainty)
    scores = [account_score(record, each, convention, drawn.get(each.bot)) for each in record.accounts]
    by_return = sorted(
        scores, key=lambda each: (-np.inf if (made := each.cumulative_return) is None else made, each.bot)
    )
    scores = [replace(each, repeats=_find_repeated(each, scores, record)) for each in reversed(by_return)]
    board = AccountBoard(
        recipe=record.recipe,
        game=record.game,
        mode=record.mode,
        subject=record.subject,
        scores=tuple(scores),
        pairs=tuple(_pairs(scores, record, uncertainty, drawn)),
        delay_bands=_bands(scores),
        notes=(*_notes(scores, record, money_sign(currency)), *left_out_notes([each.bot for each in excluded])),
    )
    return replace(board, scores=tuple(sorted(scores, key=lambda each: _place(each, board))))


def _draw_curves(record: AccountsRecord, uncertainty: Uncertainty) -> Mapping[str, CurveColumn]:
    """Return the resamples of each account that has returns; accounts of the same slots share them."""
    alike = grouped(
        (tuple(each.slot.tolist()), each) for each in record.accounts if each.slot.size > 2 and is_curve(each.value_usd)
    )
    found = {}
    for group in alike.values():
        curves = draw_curves(np.stack([returns_of(each.value_usd) for each in group], axis=1), uncertainty)
        found.update({each.bot: CurveColumn(curves, number) for number, each in enumerate(group)})
    return found


def _place(score: AccountScore, board: AccountBoard) -> tuple[bool, int, float, str]:
    """Return a sort key: ranked apart last, then the group, the distance within it, the name."""
    group = board.standings[score.bot]
    within = {"better": board.least.get(score.bot, 0.0), "baseline": score.cumulative_return or 0.0}
    far = within.get(group, score.told)
    return score.knowledge != "clean", STANDINGS.index(group), -round(far, ALIKE_PLACES), score.bot


def _find_repeated(score: AccountScore, scores: Sequence[AccountScore], record: AccountsRecord) -> str:
    """Return the baseline whose weights an account nearly always had, or an empty text."""
    by_bot = {each.bot: each for each in record.accounts}
    apart = {
        other.bot: found
        for other in scores
        if other.baseline and not score.baseline
        if (found := distance(record, by_bot[score.bot], by_bot[other.bot])) is not None and found < REPEATS_BELOW
    }
    return min(apart, key=lambda bot: (apart[bot], bot), default="")


def _pairs(
    ranked: Sequence[AccountScore], record: AccountsRecord, uncertainty: Uncertainty, drawn: Mapping[str, CurveColumn]
) -> list[AccountPair]:
    by_bot = {each.bot: each for each in record.accounts}
    # Of two baselines, the index is the one compared with, else the lower ranked one.
    placed = sorted(
        (each for each in ranked if each.baseline), key=lambda each: by_bot[each.bot].strategy == INDEX_FUND
    )
    baselines = [each.bot for each in placed]
    found = []
    for score in ranked:
        for other in baselines:
            if other == score.bot:
                continue
            difference = _difference(record, by_bot[score.bot], by_bot[other], uncertainty, drawn)
            if difference is not None and not (score.baseline and baselines.index(score.bot) > baselines.index(other)):
                moves = (
                    _beta_and_correlation(by_bot[score.bot], by_bot[other])
                    if by_bot[other].strategy == INDEX_FUND
                    else (None, None)
                )
                few = tuple(each.bot for each in ranked if each.bot in (score.bot, other) and each.implied.few_decide)
                found.append(AccountPair(score.bot, other, difference, *moves, few))
    return found


def _beta_and_correlation(one: AccountRecord, index: AccountRecord) -> tuple[float | None, float | None]:
    """Return beta and correlation of returns over common slots; None where one does not move."""
    both = np.intersect1d(one.slot, index.slot)
    own, other = (returns_of(each.value_usd[np.isin(each.slot, both)]) for each in (one, index))
    if own.size < 2:
        return None, None
    own, other = own - own.mean(), other - other.mean()
    square, own_square = float(other @ other), float(own @ own)
    # If all returns are alike, only rounding is left.
    if square <= _ROUNDING * other.size:
        return None, None
    correlation = float(own @ other) / np.sqrt(square * own_square) if own_square > _ROUNDING * own.size else None
    return float(own @ other) / square, None if correlation is None else float(correlation)


def _difference(
    record: AccountsRecord,
    one: AccountRecord,
    other: AccountRecord,
    uncertainty: Uncertainty,
    drawn: Mapping[str, CurveColumn],
) -> Estimate | None:
    """Return the difference of two accounts' growth over common slots; None on too few."""
    if one.bot not in drawn or other.bot not in drawn:
        return None
    first, second = drawn[one.bot], drawn[other.bot]
    both = np.intersect1d(one.slot, other.slot)
    if both.size < 3:
        return None
    curves, places = first.curves, (first.number, second.number)
    if curves is not second.curves:
        values = [each.value_usd[np.isin(each.slot, both)] for each in (one, other)]
        curves, places = draw_curves(np.stack([returns_of(each) for each in values], axis=1), uncertainty), (0, 1)
    found = growth_difference(curves, *places, implied_risk(record, one, other).deviation)
    return replace(found, clusters=np.unique(days_of(record, both[1:])).size)


def _bands(scores: Sequence[AccountScore]) -> tuple[DelayBand, ...]:
    bots = [each for each in scores if not each.baseline] or list(scores)
    by_delay: defaultdict[int, list[float]] = defaultdict(list)
    for each in bots:
        for delay, found in each.delays.items():
            by_delay[delay].append(found.difference)
    bands = []
    for delay, differences in sorted(by_delay.items()):
        low, high = np.quantile(differences, [0.25, 0.75]).tolist()
        bands.append(DelayBand(delay, sum(differences) / len(differences), low, high, len(differences)))
    return tuple(bands)


def _notes(scores: Sequence[AccountScore], record: AccountsRecord, sign: str) -> list[str]:
    lines = []
    dates = max((each.days for each in scores), default=0)
    if dates < FEW_CLUSTERS:
        lines.append(f"returns over {dates} dates: below {FEW_CLUSTERS} an interval is a hint, and nobody has a rank")
    if not any(each.delays for each in scores):
        lines.append("no delays: they need 18 runs from the first that was filled on")
    for each in (one for account in record.accounts for one in account.replicates or (account,)):
        if each.owing_usd > 0.0:
            lines.append(
                f"{each.bot} owes {sign}{each.owing_usd:,.2f}: a payout was reversed; it can only sell until that is "
                "repaid"
            )
    return [*lines, *_on_few(scores), *_on_missing(scores)]


def _on_few(scores: Sequence[AccountScore]) -> Iterator[str]:
    """Yield notes on bots without a conclusion because few outcomes decide, and on unknown deviations."""
    for each in scores:
        if each.baseline or not each.implied.few_decide:
            continue
        share, moved = each.implied.most_in_one_event, each.implied.dependence
        reasons = [f"had up to {share:.0%} of its value in one event"] if share > MOST_IN_ONE_EVENT else []
        reasons += [f"held events that moved like one (D = {moved:.1f})"] if moved > MOST_DEPENDENCE else []
        yield f"{each.bot} {' and '.join(reasons)}: few outcomes decide, so nothing is concluded and it has no rank"
    if unknown := [each.bot for each in scores if each.sharpe_unknown]:
        names = ", ".join(unknown)
        yield f"no interval of Sharpe ratios: the prices imply swings that have not happened; of {names}"


def _on_missing(scores: Sequence[AccountScore]) -> Iterator[str]:
    """Yield each reason for missing figures once, with its accounts."""
    by_reason = grouped((each.why_missing, each.bot) for each in scores if each.why_missing)
    for why, bots in by_reason.items():
        yield f"{'all accounts' if len(bots) == len(scores) else ', '.join(bots)}: {why}"


@dataclass(frozen=True, slots=True)
class RankAgreement:
    """How far two games, or two recipes of one game, rank the same bots alike."""

    one: str
    other: str
    correlation: float | None
    """Spearman's, in [-1, 1]; None for fewer than three bots."""
    bots: int


def rank_agreements(orders: Mapping[str, Sequence[str]]) -> tuple[RankAgreement, ...]:
    """Return the correlation of bots' ranks for every two orders, over their common bots.

    Args:
        orders: The names of bots, best first, by the name of the order.

    Raises:
        ValueError: If they are anything else, or one names a bot twice.

    Examples:
        >>> rank_agreements({"a": ["x", "y", "z"], "b": ["z", "y", "x", "w"]})[0].correlation
        -1.0
    """
    instance_of("orders", orders, Mapping)
    for by, bots in orders.items():
        is_named = isinstance(bots, list | tuple) and all(isinstance(bot, str) for bot in bots)
        if not is_named or len(set(bots)) < len(bots):
            raise ValueError(f"orders[{by!r}] is {reprlib.repr(bots)}; give the names of bots, each once")
    found = []
    for (one, first), (other, second) in combinations(orders.items(), 2):
        both = [bot for bot in first if bot in second]
        ranks = [second.index(bot) for bot in both]
        agreed = round(rank_correlation(list(range(len(both))), ranks), 12) if len(both) > 2 else None
        found.append(RankAgreement(one, other, agreed, len(both)))
    return tuple(found)
