"""The definitions of standard errors once more: one pair of positions at a time, in plain Python.

Written from the definitions alone. A position is so many shares of YES of a market, bought at
one instant and price and valued at another; fewer than none are shares of NO.
"""

import math
from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import TypeVar

from scipy.stats import t as student

from predibot.domain.decision import STATUSES
from predibot.scoring import TrackRecord
from tests.scoring import by_loops

Subject = tuple[int, float]
"""An event and a slot."""
Made = tuple[float, list["Position"]]
"""What a subject is worth, and the positions that rests on."""
Moments = dict[int, dict[float, list[Made]]]
"""What one bot did, by event and instant."""
NEAR = 6 * 3600.0
_Number = TypeVar("_Number", int, float)


@dataclass(frozen=True)
class Position:
    """Shares of YES, from an instant to another."""

    market: int
    event: int
    shares: float
    start: float
    price: float
    end: float
    later: float
    settled_by_end: bool = False
    gains_from: float | None = None
    """The price at which it neither gains nor loses, where that is not the one it was bought at."""


@dataclass(frozen=True)
class Found:
    mean: float
    n: int
    clusters: int
    cluster_error: float | None
    price_error: float
    low: float | None
    high: float | None
    without_best: float | None
    """The least mean of those without one event."""

    @property
    def error(self) -> float:
        return max(self.cluster_error or 0.0, self.price_error)


def positions_of(record: TrackRecord, decision: int, horizon: float | str) -> Made | None:
    """Return what a decision returned by a horizon and its positions, None where it has no value."""
    value = _value(record, decision, horizon)
    if value is None:
        return None
    start, event = float(record.decided_at[decision]), int(record.decision_event[decision])
    held = []
    for row in by_loops.rows_of(record, decision):
        usd, price, market = (float(record.bet_usd[row]), float(record.bet_price_yes[row]), int(record.bet_market[row]))
        later = _later(record, market, start, horizon)
        if usd == 0.0 or later is not None:
            end = record.as_of if isinstance(horizon, str) else start + horizon * by_loops.DAY
            shares = usd / (price if usd > 0 else 1.0 - price)
            later = 0.0 if later is None else later
            held.append(Position(market, event, shares, start, price, end, later, _settled(record, market, end)))
    return value, held


def returns_of(record: TrackRecord, bot: int, horizon: float | str) -> dict[Subject, list[tuple[float, Made]]]:
    """Return the decisions of a bot that have a value, by event and slot, each with its instant."""
    found: dict[Subject, list[tuple[float, Made]]] = defaultdict(list)
    for decision in range(record.decided_at.size):
        if record.decision_bot[decision] == bot and record.decided_at[decision] <= record.as_of:
            made = positions_of(record, decision, horizon)
            if made is not None:
                subject = (int(record.decision_event[decision]), float(record.slots()[decision]))
                found[subject].append((float(record.decided_at[decision]), made))
    return found


def mean_return(record: TrackRecord, bot: int, horizon: float | str) -> Found | None:
    """Return the mean return of a bot by a horizon, a float of days, `now` or `settled`."""
    of_subject = returns_of(record, bot, horizon)
    made = [(event, one) for (event, _), many in of_subject.items() for _, one in many]
    return _found(record, made, horizon, limits=None, quoted=_quotes(record, bot))


def return_difference(record: TrackRecord, first: int, second: int, horizon: float | str) -> Found | None:
    """Return the mean difference of two bots on the events on which both decided at about the same time."""
    ours, theirs = (moments_of(returns_of(record, bot, horizon)) for bot in (first, second))
    return _found(record, _differences(ours, theirs), horizon, limits=None)


def _differences(ours: Moments, theirs: Moments) -> list[tuple[int, Made]]:
    made = []
    for event in ours.keys() & theirs.keys():
        for at, other_at in matched(list(ours[event]), list(theirs[event])):
            value, held = _averaged(ours[event][at])
            other, sold = _averaged(theirs[event][other_at])
            made.append((event, (value - other, held + [replace(each, shares=-each.shares) for each in sold])))
    return made


def moments_of(of_subject: Mapping[Subject, Sequence[tuple[float, Made]]]) -> Moments:
    """Return what one bot did by event and instant: what it did of a slot within six hours is at one instant."""
    found: Moments = defaultdict(lambda: defaultdict(list))
    for (event, _), many in of_subject.items():
        first_at = min(at for at, _ in many)
        of_part: dict[int, list[tuple[float, Made]]] = defaultdict(list)
        for at, made in many:
            of_part[int((at - first_at) // NEAR)].append((at, made))
        for part in of_part.values():
            found[event][min(at for at, _ in part)] += [made for _, made in part]
    return found


def matched(ours: Sequence[float], theirs: Sequence[float]) -> list[tuple[float, float]]:
    """Return which instants of two bots are compared: each other's nearest, the earliest first of those alike."""
    found: list[tuple[float, float]] = []
    for one, other in sorted(product(ours, theirs), key=sorted):
        apart = abs(one - other)
        nearest = min([abs(one - each) for each in theirs] + [abs(other - each) for each in ours])
        free = all(one != first and other != second for first, second in found)
        if apart == nearest and apart <= NEAR and free:
            found.append((one, other))
    return found


def edge(record: TrackRecord, bot: int) -> Found | None:
    """Return the mean edge of a bot over its event-slots; None for a bot without a forecast that has a price."""
    if not _has_forecast(record, bot):
        return None
    made = [(event, one) for (event, _), one in _edges(record, bot, record.slots().tolist()).items()]
    return _found(record, made, "now", limits=(-1.0, 1.0), quoted=_quotes(record, bot))


def edge_difference(record: TrackRecord, first: int, second: int) -> Found | None:
    """Return the mean difference of the edges of two bots on the events both were asked about at about one time.

    A bot without a forecast has none.
    """
    of_bots = []
    for bot in (first, second):
        if not _has_forecast(record, bot):
            return None
        of_subject: dict[Subject, list[tuple[float, Made]]] = defaultdict(list)
        for (event, decision), made in _edges(record, bot, range(record.decided_at.size)).items():
            of_subject[event, float(record.slots()[decision])].append((float(record.decided_at[decision]), made))
        of_bots.append(moments_of(of_subject))
    return _found(record, _differences(*of_bots), "now", limits=None)


def _has_forecast(record: TrackRecord, bot: int) -> bool:
    own = (record.decision_bot == bot) & record.made_mask()
    return any(
        _later(record, int(record.bet_market[row]), float(record.decided_at[record.bet_decision[row]]), "now")
        is not None
        for row, decision in enumerate(record.bet_decision.tolist())
        if own[decision] and record.bet_probability[row] >= 0.0
    )


def _edges(record: TrackRecord, bot: int, of_decision: Sequence[_Number]) -> dict[tuple[int, _Number], Made]:
    """Return what a bot was asked of an event, by a number of each decision such as its slot."""
    asked: dict[tuple[int, _Number], list[tuple[float, Position]]] = defaultdict(list)
    decisions, markets = record.questions()
    for decision, market in zip(decisions.tolist(), markets.tolist(), strict=True):
        start = float(record.decided_at[decision])
        if record.decision_bot[decision] != bot or start > record.as_of:
            continue
        later = _later(record, market, start, "now")
        if later is None:
            continue
        subject = (int(record.decision_event[decision]), of_decision[decision])
        rows = [row for row in by_loops.rows_of(record, decision) if record.bet_market[row] == market]
        said = float(record.bet_probability[rows[0]]) if rows else math.nan
        price = float(record.bet_price_yes[rows[0]]) if rows else 0.5
        away = 0.0 if math.isnan(said) else 2.0 * (said - price)
        gained = 0.0 if math.isnan(said) else (price - later) ** 2 - (said - later) ** 2
        paid = _settled(record, market, record.as_of)
        middle = price + away / 4.0
        held = Position(market, subject[0], away, start, price, record.as_of, later, paid, middle)
        asked[subject].append((gained, held))
    return {
        subject: (
            sum(gained for gained, _ in many) / len(many),
            [replace(held, shares=held.shares / len(many)) for _, held in many],
        )
        for subject, many in asked.items()
    }


def brier(record: TrackRecord, bot: int) -> Found | None:
    """Return the Brier score of a bot on what paid 0 or 1, its ends on the logit scale."""
    made: list[tuple[int, Made]] = []
    for row, decision in enumerate(record.bet_decision.tolist()):
        market, said = int(record.bet_market[row]), float(record.bet_probability[row])
        at, event = float(record.decided_at[decision]), int(record.decision_event[decision])
        if record.decision_bot[decision] != bot or at > record.as_of or math.isnan(said):
            continue
        paid = float(record.payout_yes[market])
        if _settled(record, market, record.as_of) and paid in (0.0, 1.0):
            held = Position(market, event, 1.0 - 2.0 * said, at, said, record.as_of, paid, settled_by_end=True)
            made.append((event, ((said - paid) ** 2, [held])))
    return brier_ends(_found(record, made, "forecasts", limits=(0.0, 1.0)))


def brier_ends(found: Found | None) -> Found | None:
    """Return a score with its ends on the logit scale, the upper one held between one and two standard errors."""
    if found is None or found.low is None:
        return found
    theta, s = found.mean, found.error
    if s <= 0.0 or not 0.0 < theta < 1.0:
        return replace(found, low=None, high=None)
    t = student.ppf(0.975, found.clusters - 1)
    at, half = math.log(theta / (1.0 - theta)), t * s / (theta * (1.0 - theta))
    low, high = _expit(at - half), _expit(at + half)
    return replace(found, low=low, high=min(1.0, max(min(high, theta + 2.0 * t * s), theta + t * s)))


def _quotes(record: TrackRecord, bot: int) -> list[Position]:
    """Return nothing held at the price of every bet of a bot: of what excludes others these prices count too."""
    found = []
    for row, decision in enumerate(record.bet_decision.tolist()):
        if record.decision_bot[decision] == bot:
            market, event = int(record.bet_market[row]), int(record.decision_event[decision])
            start, price = float(record.decided_at[decision]), float(record.bet_price_yes[row])
            found.append(Position(market, event, 0.0, start, price, record.as_of, 0.0))
    return found


def _found(
    record: TrackRecord,
    made: Sequence[tuple[int, Made]],
    horizon: float | str,
    limits: tuple[float, float] | None,
    *,
    quoted: Sequence[Position] = (),
) -> Found | None:
    if not made:
        return None
    n, gains, counts = len(made), defaultdict(float), defaultdict(int)
    held: list[Position] = []
    for event, (value, positions) in made:
        gains[event] += value
        counts[event] += 1
        held += positions
    mean, k = sum(gains.values()) / n, len(gains)
    price_error = math.sqrt(sum(_event_variances(record, [*held, *quoted], horizon).values())) / n
    rests = [(sum(gains.values()) - gains[one]) / (n - counts[one]) for one in gains if n > counts[one]]
    without = min(rests, default=None)
    if k < 2:
        return Found(mean, n, k, None, price_error, None, None, without)
    spread = sum((gains[event] - mean * counts[event]) ** 2 for event in gains)
    cluster_error = math.sqrt(k / (k - 1) * spread) / n
    half = student.ppf(0.975, k - 1) * max(cluster_error, price_error)
    if horizon != "forecasts":
        half *= math.sqrt(dependence(record, held))
    least, most = limits or _possible(record, held, horizon, n)
    if half == 0.0 and limits is None and least < most:
        # Nothing tells how far it could have come out otherwise.
        return Found(mean, n, k, cluster_error, price_error, None, None, without)
    low, high = max(mean - half, least), min(mean + half, most)
    return Found(mean, n, k, cluster_error, price_error, low, high, without)


def dependence(record: TrackRecord, held: Sequence[Position]) -> float:
    """Return D: the squared sums over events of what each day brought, over the sums of squares."""
    seen: dict[int, list[tuple[float, float]]] = defaultdict(list)
    rows = zip(
        record.observation_market.tolist(),
        record.observation_at.tolist(),
        record.observation_price_yes.tolist(),
        strict=True,
    )
    for market, at, price in rows:
        seen[market].append((at, price))
    gained: dict[int, dict[int, float]] = defaultdict(lambda: defaultdict(float))
    for each in held:
        paid_at = float(record.settled_at[each.market])
        path = sorted((one for one in seen[each.market] if not paid_at <= one[0]), key=lambda one: one[0])
        if paid_at <= each.end:
            path.append((paid_at, float(record.payout_yes[each.market])))
        before = each.price
        # The last of a day stands for it.
        for day, price in {math.ceil(at / by_loops.DAY): p for at, p in path if each.start < at <= each.end}.items():
            gained[day][each.event] += each.shares * (price - before)
            before = price
    moves = [[one if abs(one) > 1e-9 else 0.0 for one in of_day.values()] for of_day in gained.values()]
    below = sum(one**2 for of_day in moves for one in of_day)
    return max(1.0, sum(sum(of_day) ** 2 for of_day in moves) / below) if below else 1.0


def _possible(record: TrackRecord, held: Sequence[Position], horizon: float | str, n: int) -> tuple[float, float]:
    """Return the least and the most the mean could have been: each market is worth 0 or 1 at each end.

    Until it is settled it may be worth one at one end and the other at the next; it pays once. Where all are held to
    one end, at most one of those that exclude each other pays.
    """
    of_end: dict[Hashable, list[Position]] = defaultdict(list)
    for each in held:
        group = _group(record, each.market, horizon)
        alone = (each.market, math.inf if each.settled_by_end else each.end)
        of_end[alone if group < 0 else group].append(each)
    ends = [
        [sum(_gain(one, float(one.market == pays)) for one in many) for pays in {None, *(one.market for one in many)}]
        for many in of_end.values()
    ]
    return sum(map(min, ends)) / n, sum(map(max, ends)) / n


def _gain(held: Position, later: float) -> float:
    return held.shares * (later - (held.price if held.gains_from is None else held.gains_from))


def _event_variances(record: TrackRecord, held: Sequence[Position], horizon: float | str) -> dict[int, float]:
    groups: dict[tuple[int, Hashable], list[Position]] = defaultdict(list)
    for each in held:
        group = _group(record, each.market, horizon)
        groups[each.event, ("one", each.market) if group < 0 else ("group", group)].append(each)
    found: dict[int, float] = defaultdict(float)
    for (event, (kind, _)), many in groups.items():
        if kind == "one":
            found[event] += _market_variance(many)
        else:
            found[event] += _group_variance(record, many, horizon)
    return {event: max(variance, 0.0) for event, variance in found.items()}


def _group(record: TrackRecord, market: int, horizon: float | str) -> int:
    """Return in which group a market excludes the others at the horizon, -1 for none."""
    exclusive = record.market_exclusive
    return -1 if exclusive is None or not isinstance(horizon, str) else int(exclusive[market])


def _market_variance(held: Sequence[Position]) -> float:
    total = 0.0
    for one in held:
        for other in held:
            later = max(one, other, key=lambda each: each.start)
            first_end = min(one, other, key=lambda each: each.end)
            if later.start < first_end.end:
                total += one.shares * other.shares * (_q(later.price) - _q_end(first_end))
    return total


def _group_variance(record: TrackRecord, held: Sequence[Position], horizon: float | str) -> float:
    net, total = dict.fromkeys((each.market for each in held), 0.0), 0.0
    for at in sorted({each.start for each in held}):
        known = [each for each in held if each.start <= at]
        of_forecasts = horizon == "forecasts"
        prices = _scaled({market: _price_then(record, market, known, at, of_forecasts) for market in net})
        before = dict(net)
        for each in held:
            if each.start == at:
                net[each.market] += each.shares
        total += _spread(net, prices) - _spread(before, prices)
    if horizon == "now":
        last = {market: _last_price(record, market, held, record.as_of) for market in net}
        total -= _spread(net, _scaled(last))
    return total


def _price_then(record: TrackRecord, market: int, known: Sequence[Position], at: float, of_forecasts: bool) -> float:
    """Return what a market was priced at then: by who is asked then, by its payout, or by what was last stored."""
    if of_forecasts:
        said = [(each.start, each.price) for each in known if each.market == market]
        return max(said)[1] if said else 0.0
    if _settled(record, market, at):
        return float(record.payout_yes[market])
    now = [each.price for each in known if each.market == market and each.start == at]
    return max(now) if now else _last_price(record, market, known, at)


def _last_price(record: TrackRecord, market: int, known: Sequence[Position], at: float) -> float:
    """Return the payout, or else what was seen or bought at last, by an instant."""
    if _settled(record, market, at):
        return float(record.payout_yes[market])
    seen = [
        (float(when), 0, float(price))
        for of, when, price in zip(
            record.observation_market, record.observation_at, record.observation_price_yes, strict=True
        )
        if of == market and when <= at
    ]
    bought = [(each.start, 1, each.price) for each in known if each.market == market]
    return max([*seen, *bought], default=(0.0, 0, 0.0))[2]


def _scaled(prices: Mapping[int, float]) -> dict[int, float]:
    total = max(1.0, sum(prices.values()))
    return {market: price / total for market, price in prices.items()}


def _spread(net: Mapping[int, float], prices: Mapping[int, float]) -> float:
    """Return the variance of what shares pay of which one at most does."""
    return sum(x**2 * prices[m] for m, x in net.items()) - sum(x * prices[m] for m, x in net.items()) ** 2


def _averaged(many: Sequence[Made]) -> Made:
    share = 1.0 / len(many)
    held = [replace(each, shares=each.shares * share) for _, positions in many for each in positions]
    return sum(value for value, _ in many) * share, held


def _value(record: TrackRecord, decision: int, horizon: float | str) -> float | None:
    if horizon != "now":
        return by_loops.value(record, decision, None if horizon == "settled" else float(horizon))
    start = float(record.decided_at[decision])
    if STATUSES[record.decision_status[decision]] in ("refused", "failed"):
        return None
    total = 0.0
    for row in by_loops.rows_of(record, decision):
        if record.bet_usd[row] != 0.0:
            later = _later(record, int(record.bet_market[row]), start, "now")
            if later is None:
                return None
            total += by_loops.gain(float(record.bet_usd[row]), float(record.bet_price_yes[row]), later)
    return total


def _later(record: TrackRecord, market: int, start: float, horizon: float | str) -> float | None:
    if horizon == "settled":
        return float(record.payout_yes[market]) if _settled(record, market, record.as_of) else None
    at = record.as_of if isinstance(horizon, str) else start + horizon * by_loops.DAY
    return by_loops.price_at(record, market, start, at)


def _settled(record: TrackRecord, market: int, at: float) -> bool:
    return bool(record.settled_at[market] <= at)


def _q(price: float) -> float:
    return price * (1.0 - price)


def _q_end(held: Position) -> float:
    return 0.0 if held.settled_by_end else _q(held.later)


def _expit(x: float) -> float:
    return 1.0 / (1.0 + math.exp(-x)) if x > -700.0 else 0.0
