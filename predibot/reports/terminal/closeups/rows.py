"""The figures of a bot and its worst decisions, as lines and tables that a screen, a page and a tear sheet share."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from itertools import groupby

from rich.console import Console

from predibot.jobs.histories.bot import AccountHistory, BotHistory, CohortsHistory, ScoredBot
from predibot.jobs.worst_decisions import WorstDecision
from predibot.ledger.read.event_lists import OpenPosition, total_gain_usd
from predibot.reports import figures
from predibot.reports.table import Column, Document, Kind, Table, document, ends, table_of, under
from predibot.reports.terminal.closeups.beliefs import coherence_grids, exposure_grid
from predibot.reports.terminal.terminal import plain, print_line, sentence, within
from predibot.reports.views.leaderboard import VERDICTS, more_events
from predibot.scoring.evaluation.e_values import BEATS_FROM
from predibot.scoring.evaluation.horizon_series import EDGE, GAIN, GAIN_AT_QUOTE, RunningPoint
from predibot.scoring.evaluation.verdict import Finding
from predibot.scoring.inference.bootstrap import FEW_CLUSTERS, Estimate
from predibot.scoring.inference.overlap import ENOUGH_TO_RANK
from predibot.scoring.inference.power import RequiredEvents, smallest_detectable
from predibot.scoring.records.losses import DayGain

_CURVE_ROWS = 10
_NAME_CELLS = 24
_QUESTION_CELLS = 31
_MESSAGE_CELLS = 100
_REASONS = 10
_MOVES = 5
_POSITIONS = 10
_BAND = "95%: what the sum would vary in, were it looked at on that day alone."


def head_lines(history: BotHistory) -> Iterator[str]:
    """Yield lines about a bot: strategy and model, decisions, cost, and verdicts."""
    who = [f"strategy {plain(', '.join(history.strategies), 60) or figures.MISSING}"]
    if history.models:
        who.append(f"model {plain(', '.join(history.models), 60)}")
    yield f"{plain(history.bot)} as of {figures.instant(history.as_of)}: {', '.join(who)}"
    if history.first_at is None or history.last_at is None:
        yield "No decision yet."
        return
    total = sum(history.statuses.values())
    outcomes = ", ".join(f"{n:,} {status}" for status, n in history.statuses.items())
    yield (
        f"{figures.things(total, 'decision')} from {figures.instant(history.first_at)} to "
        f"{figures.instant(history.last_at)}: {outcomes}"
    )
    cost = f"Cost: {figures.cost_usd(history.cost_known_usd)}"
    if history.cost_unknown:
        cost += f", and what nobody knows of {figures.things(history.cost_unknown, 'decision')}"
    if any(scored.card.cost_known_usd > history.cost_known_usd for scored in history.scored):
        cost += " of its own; boards add what the bots cost that it pools or waits for"
    yield cost
    for scored in history.scored:
        yield from _verdict_lines(scored)
    for account in history.accounts:
        words = events_needed_text(account.needed, "date")
        yield f"Record needed of account {_board_name(account)}: {words}, if its return stays as it is"
    for cohorts in history.cohorts:
        found = cohorts.score.score.returns
        if not found.may_rank:
            name = _board_name(cohorts)
            least = f"at least {ENOUGH_TO_RANK:.0f} that do not overlap; it has as many as {found.effective:.0f}"
            yield f"Record needed of cohorts {name}: {least}"


def bot_grids(history: BotHistory) -> Iterator[Table]:
    """Yield the tables of a bot: scores, running sums, horizons and categories, accounts and cohorts."""
    for scored in history.scored:
        apart = "" if scored.knowledge == "clean" else ", models of unknown cutoff"
        yield _scores(scored, apart)
        if scored.running:
            yield _curve(scored, apart)
        yield _horizons(scored, apart)
        for name, scores in scored.parts.items():
            kind: Kind = "text" if name == "category" else "key"
            group = Column(name if kind == "text" else "group", "group", within(_NAME_CELLS), kind=kind)
            yield table_of(f"Forecasts by {name}{apart}", (group, *_PART), scores)
    yield from coherence_grids(history.coherence)
    if (spread := exposure_grid(history.exposures, history.titles)) is not None:
        yield spread
    if history.days:
        yield _months(history.days)
    for account in history.accounts:
        yield _account(account)
        below = "95%: what the value could have been by the scatter of its own returns up to then."
        yield table_of("Value", _VALUES, thin_out(account.values, _CURVE_ROWS), [below])
        ordered = sorted(account.moves, key=lambda move: move[2])
        moves = [move for move in reversed(ordered[-_MOVES:]) if move[2] > 0.0]
        moves += (move for move in ordered[:_MOVES] if move[2] < 0.0)
        yield table_of("Best and worst spans", _SLOTS, moves, () if moves else ("Its value never changed.",))
        if account.moves:
            yield _months_of_account(account)
    for cohorts in history.cohorts:
        yield _cohorts(cohorts)
    if history.unanswered:
        more = len(history.unanswered) - _REASONS
        below = f"{figures.things(more, 'more reason')}; --json has them all." if more > 0 else ""
        yield table_of("Not answered", _UNANSWERED, history.unanswered[:_REASONS], [below])


def positions_grid(positions: Sequence[OpenPosition]) -> Table:
    """Return the bets on markets that are not settled, joined by market and side."""
    gain, bets = total_gain_usd(positions), sum(each.bets for each in positions)
    by_price = "not priced since" if gain is None else f"{figures.gain_usd(gain)} by the last prices"
    staked = figures.usd(sum(each.staked_usd for each in positions))
    more = len(positions) - _POSITIONS
    below = ["Prices are of the side that was bought, without fees and spread.", *[f"{more} more: --json"] * (more > 0)]
    title = f"Open positions: {figures.things(bets, 'bet')} of {staked} in all, {by_price}"
    return table_of(title, _OPEN, positions[:_POSITIONS], below)


def events_needed_text(needed: RequiredEvents | None, unit: str) -> str:
    """Return how many more events, or other units, a claim would take.

    Examples:
        >>> events_needed_text(RequiredEvents(33, False), "event"), events_needed_text(None, "date")
        ('about 33 more events', 'nobody can say how many more dates')
    """
    if needed is None or needed.more_than:
        return f"nobody can say how many more {unit}s"
    if needed.events == 0:
        return f"no more {unit}s"
    return f"about {figures.about(needed.events)} more {unit}s"


def thin_out(points: Sequence[RunningPoint], most: int) -> list[RunningPoint]:
    """Return at most so many points, evenly spread, the last among them."""
    if len(points) <= most:
        return list(points)
    return [points[(place + 1) * len(points) // most - 1] for place in range(most)]


def _verdict_lines(scored: ScoredBot) -> Iterator[str]:
    found = scored.verdict
    if found is None:
        return
    evidence = "" if found.e_value is None else f", E = {figures.e_value(found.e_value)} (proof takes {BEATS_FROM:.0f})"
    apart = "" if scored.knowledge == "clean" else "Models of unknown cutoff: "
    yield f"{apart}Beside the price: {VERDICTS[found.finding]}, on {figures.things(found.events, 'event')}{evidence}"
    if (more := more_events(found)) != figures.MISSING:
        yield f"Record needed: {more} more events, if the edge stays as it is and each event tells as much"
    elif found.events < FEW_CLUSTERS:
        yield f"Record needed: at least {FEW_CLUSTERS} events; fewer prove nothing"
    elif found.finding in (Finding.BEATS_THE_PRICE, Finding.WORSE_THAN_THE_PRICE):
        yield "Record needed: no more events; it is proven"
    elif found.needed is not None and found.needed.more_than:
        yield "Record needed: nobody can say; the edge is less than one standard error away from 0"
    interval = scored.card.edge.interval
    error = None if interval is None else interval.standard_error
    seen = None if error is None else smallest_detectable(error, found.events)
    if seen is not None:
        edge = figures.thousandths(seen).lstrip("+")
        yield f"{figures.things(found.events, 'event')} would reveal a true edge of {edge} thousandths 80 % of the time"


def _board_name(of: AccountHistory | CohortsHistory) -> str:
    return plain(f"{of.board.game} of {of.board.recipe}, {of.board.mode}", 60)


def _scores(scored: ScoredBot, apart: str) -> Table:
    card, said = scored.card, scored.card.forecast
    by_chance = said.calibration_error_by_chance_high
    chance = figures.MISSING if by_chance is None else f"luck: up to {figures.score(by_chance)}"
    found, signed = said.intervals, figures.signed_score
    edge_ends = _ends(card.edge.interval, figures.thousandths_interval)
    rows = [
        ("edge, thousandths of Brier", figures.thousandths(card.edge.edge), edge_ends, card.edge.n),
        ("Brier score", figures.score(said.brier), _ends(found.get("brier")), said.n),
        ("Brier of the price", figures.score(said.market_brier), _ends(found.get("market_brier")), said.n_market),
        ("skill over the price", signed(said.skill_vs_market), _ends(found.get("skill_vs_market")), said.n_market),
        ("log score", figures.score(said.log_score), _ends(found.get("log_score")), said.n),
        ("called rightly", figures.percent(said.accuracy), _percents(found.get("accuracy")), said.n),
        ("calibration error", figures.score(said.calibration_error), chance, said.n),
    ]
    if said.murphy is not None:
        rows += [
            (f"  {name}", figures.score(getattr(said.murphy, name)), figures.MISSING, said.n)
            for name in ("reliability", "resolution", "uncertainty")
        ]
    rows.append(("answered", figures.percent(card.edge.answered_share), figures.MISSING, card.edge.asked))
    few = f"On fewer than {FEW_CLUSTERS} events nothing is proven, whatever the intervals say."
    cells = tuple((*row[:3], figures.count(row[3])) for row in rows)
    columns = (Column("score", kind="key"), Column("value"), Column("95% interval"), Column("n"))
    return Table(f"Scores{apart}", columns, cells, (few,) if card.edge.clusters < FEW_CLUSTERS else ())


def _curve(scored: ScoredBot, apart: str) -> Table:
    edge = {point.slot_at: point for point in scored.running.get(EDGE, ())}
    name = GAIN_AT_QUOTE if GAIN_AT_QUOTE in scored.running else GAIN
    gains = {point.slot_at: point for point in scored.running.get(name, ())}
    whole = sorted({**edge, **gains}.values(), key=lambda point: point.slot_at)
    rows = [
        {"point": point, "edge": edge.get(point.slot_at), "gain": gains.get(point.slot_at)}
        for point in thin_out(whole, _CURVE_ROWS)
    ]
    where = "quote, with fees" if name == GAIN_AT_QUOTE else "mid"
    below = (
        "Sums over all questions, not means: edge in thousandths of Brier; gain of a dollar a decision, at the "
        f"{where}. {_BAND}"
    )
    return table_of(f"Curve{apart}", _CURVE, rows, [below])


def _horizons(scored: ScoredBot, apart: str) -> Table:
    rows = [{"label": figures.horizon(label), "score": each} for label, each in scored.card.horizons.items()]
    return table_of(f"Mean return of a decision of one dollar{apart}", _RETURNS, rows)


def _months(days: Sequence[DayGain]) -> Table:
    rows = []
    for month, group in groupby(days, key=lambda each: f"{each.day:%Y-%m}"):
        own = list(group)
        bets, unknown = sum(each.bets for each in own), sum(each.unknown for each in own)
        rows.append((month, math.fsum(each.gain_usd for each in own) if bets else None, bets, unknown))
    below = "At the mid, by the payout or the last price, of what was bet in the month; without costs and fees."
    return table_of("Profit by month", _MONTHS, rows, [below])


def _account(account: AccountHistory) -> Table:
    score, equity = account.score, account.score.equity
    found = score.intervals
    rows = [
        ("value", figures.usd(score.last_usd), figures.MISSING),
        ("cash", figures.usd(score.last_cash_usd), figures.MISSING),
        ("return", figures.signed_percent(score.cumulative_return), _percents(found.get("cumulative_return"))),
    ]
    if equity is not None:
        rows += [
            ("Sharpe ratio, annual", figures.ratio(equity.sharpe), _ends(found.get("sharpe"))),
            ("deepest fall", figures.percent(equity.max_drawdown), _percents(found.get("max_drawdown"))),
        ]
    rows += [
        ("turnover a decision", figures.percent(score.behaviour.turnover), figures.MISSING),
        ("in cash", figures.percent(score.behaviour.cash_share), figures.MISSING),
    ]
    below = [sentence(plain(score.why_missing))] if score.why_missing else []
    if (apart := score.replicates) is not None:
        said = [
            f"{name} {write(found.low)} to {write(found.high)}"
            for name, found, write in (
                ("return", apart.cumulative_return, figures.signed_percent),
                ("Sharpe ratio", apart.sharpe, figures.ratio),
                ("deepest fall", apart.max_drawdown, figures.percent),
            )
            if found is not None
        ]
        below.append(f"The mean account of {apart.count} replicates: {', '.join(said)}.")
    columns = (Column("figure", kind="key"), Column("value"), Column("95% interval"))
    title = f"Account: {_board_name(account)}, {figures.things(score.dates, 'return')}"
    return Table(title, columns, tuple(rows), tuple(below))


def _months_of_account(account: AccountHistory) -> Table:
    rows = []
    for month, group in groupby(account.moves, key=lambda move: f"{datetime.fromtimestamp(move[1], UTC):%Y-%m}"):
        gains = [gain for *_, gain in group]
        rows.append((month, math.prod(1.0 + gain for gain in gains) - 1.0, len(gains)))
    below = "Of the decisions whose span ended in the month, one after the other."
    return table_of("Return by month", _RETURN_BY_MONTH, rows, [below])


def _cohorts(cohorts: CohortsHistory) -> Table:
    found = cohorts.score.score.returns
    unknown = ", models of unknown cutoff" if cohorts.score.knowledge == "unknown" else ""
    title = f"Cohorts: {_board_name(cohorts)}{unknown}"
    mean = f"Mean return {figures.signed_percent(found.mean)}, 95% {figures.percent_interval(found.low, found.high)}"
    below = [f"{mean}, of {figures.things(found.cohorts, 'cohort')} worth {found.effective:.0f} that do not overlap."]
    apart = cohorts.score.replicates
    if apart is not None and (spread := apart.mean_return) is not None:
        ends_of = f"{figures.signed_percent(spread.low)} to {figures.signed_percent(spread.high)}"
        below.append(f"The mean account of {apart.count} replicates, whose mean returns are {ends_of}.")
    if not found.may_rank:
        below.append(f"On fewer than {ENOUGH_TO_RANK:.0f} of those nothing is proven.")
    if len(cohorts.results) > _CURVE_ROWS:
        below.append(f"The newest {_CURVE_ROWS} of {len(cohorts.results):,}; --json has them all.")
    return table_of(title, _COHORTS, cohorts.results[-_CURVE_ROWS:], below)


def _ends(found: Estimate | None, write: Callable[[float | None, float | None], str] = figures.interval) -> str:
    return figures.MISSING if found is None else write(found.low, found.high)


def _percents(found: Estimate | None) -> str:
    return _ends(found, figures.percent_interval)


def _usd_ends(point: RunningPoint) -> str:
    return figures.MISSING if point.low is None else f"{figures.usd(point.low)} to {figures.usd(point.high)}"


def slot_words(at: datetime) -> str:
    """Return the instant of a slot; only the day if it is midnight."""
    return f"{at:%Y-%m-%d}" if (at.hour, at.minute) == (0, 0) else figures.instant(at)


def _day(seconds: float) -> str:
    return slot_words(datetime.fromtimestamp(seconds, UTC))


_SLOT = Column("decided", "slot_at", _day, kind="key")
_OF_POINT = ends(partial(figures.interval, decimals=2))
_CURVE = (
    replace(_SLOT, of="point.slot_at"),
    Column("events", "point.clusters", figures.count),
    Column("sum of edge", "edge.total", figures.thousandths),
    Column("95% of it", "edge", ends(figures.thousandths_interval)),
    Column("sum of gain", "gain.total", figures.gain_usd),
    Column("95% of that", "gain", _OF_POINT),
)
_VALUES = (
    _SLOT,
    Column("value", "total", figures.usd),
    Column("95%", "", _usd_ends),
)
_RETURNS = (
    Column("horizon", "label", kind="key"),
    Column("at quote", "score.quote_mean_return", figures.signed_percent),
    Column("95% of it", "score.intervals.quote_mean_return", ends(figures.percent_interval)),
    Column("at mid", "score.mean_return", figures.signed_percent),
    Column("95% of that", "score.intervals.mean_return", ends(figures.percent_interval)),
    Column("favourite", "score.market_mean_return", figures.signed_percent).means(
        "a dollar on the side the price favours, of the same decisions, at the mid"
    ),
    Column("n", "score.n", figures.count),
)
_PART = (
    Column("Brier", "score.brier", figures.score),
    Column("95% interval", "score.intervals.brier", ends(figures.interval)),
    Column("price's", "score.market_brier", figures.score),
    Column("skill", "score.skill_vs_market", figures.signed_score),
    Column("n", "score.n", figures.count),
    Column("events", "score.clusters", figures.count),
)
_MONTH = Column("month", "0", kind="key")
_MONTHS = (
    _MONTH,
    Column("gain", "1", figures.gain_usd),
    Column("bets", "2", figures.count),
    Column("not known", "3", figures.count),
)
_RETURN_BY_MONTH = (_MONTH, Column("return", "1", figures.signed_percent), Column("decisions", "2", figures.count))
_SLOTS = (
    Column("decided", "0", _day, kind="key"),
    Column("until", "1", _day, kind="key"),
    Column("gain", "2", figures.signed_percent),
)
_COHORTS = (
    Column("cohort", "start", lambda start: f"{start:%Y-%m-%d}", kind="key"),
    Column("value", "value_usd", figures.usd),
    Column("return", "", lambda each: figures.signed_percent(each.profit_usd / each.stake_usd)),
    Column("won", "won", figures.count),
    Column("lost", "lost", figures.count),
    Column("cancelled", "cancelled", figures.count),
)
_OPEN = (
    Column("market", "question", within(_QUESTION_CELLS), kind="text"),
    Column("side", "side", kind="key"),
    Column("bets", "bets", figures.count),
    Column("staked", "staked_usd", figures.usd),
    Column("price then", "price_then", figures.probability),
    Column("now", "price_now", figures.probability),
    Column("so far", "gain_usd", figures.gain_usd),
)
_UNANSWERED = (
    Column("status", "status", kind="key"),
    Column("n", "n", figures.count),
    Column("reason", "message", within(_MESSAGE_CELLS, figures.MISSING), kind="text"),
)


_WORST_QUESTION_CELLS = 160
_RATIONALE_CELLS = 400


def print_worst(console: Console, worst: Sequence[WorstDecision], *, best: bool = False) -> None:
    """Print the worst, or best, decisions: question, price, forecast, bet, outcome and rationale of each."""
    console.print()
    if not worst:
        print_line(console, f"No bet {'gained' if best else 'lost'} money.")
        return
    done = "brought" if best else "cost"
    print_line(console, f"The decisions that {done} most, at the mid, by the payout or the last price", "bold")
    for place, each in enumerate(worst, start=1):
        print_line(
            console, f"{place}. {plain(each.loss.bot)} {figures.gain_usd(each.loss.gain_usd)}: {question_of(each)}"
        )
        print_line(console, f"   {circumstances(each)}")
        print_line(console, f"   why: {plain(each.reason.rationale, _RATIONALE_CELLS) or figures.MISSING}", "dim")


def circumstances(each: WorstDecision) -> str:
    """Return instant, price, forecast, bet and outcome of a decision."""
    loss = each.loss
    side = "YES" if loss.bet_usd > 0.0 else "NO"
    price = figures.probability(loss.later_price_yes)
    paid = {1.0: "YES", 0.0: "NO"}.get(loss.later_price_yes, f"paid {price}")
    outcome = paid if loss.paid else f"open at {price}"
    return (
        f"{figures.instant(each.decided_at)} price {figures.probability(loss.price_yes)}, "
        f"forecast {figures.probability(loss.probability)}, {figures.usd(abs(loss.bet_usd))} on {side}, "
        f"outcome {outcome}"
    )


def worst_documents(worst: Sequence[WorstDecision]) -> list[Document]:
    """Return them as JSON has them, texts whole."""
    loss = under("loss", "gain_usd bet_usd price_yes probability later_price_yes paid")
    reason = under("reason", "run event_id title question")
    return [document(each, f"bot=loss.bot {reason} decided_at {loss} rationale=reason.rationale") for each in worst]


def question_of(each: WorstDecision) -> str:
    """Return the question, or the title of the event where a market has none."""
    return plain(each.reason.question, _WORST_QUESTION_CELLS) or plain(each.reason.title, _WORST_QUESTION_CELLS)
