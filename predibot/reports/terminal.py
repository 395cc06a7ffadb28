"""The terminal: how views look on a screen, in a pipe, and where there is little room."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TextIO

from rich.console import Console
from rich.text import Text

from predibot.domain.clock import format_instant
from predibot.reports import figures
from predibot.reports.grid import Column, Grid, print_grid
from predibot.reports.text import plain
from predibot.reports.views import (
    OUTCOMES,
    ChosenView,
    DecideView,
    DecisionView,
    EvaluationView,
    PassedOverView,
    RunRow,
    SelectionView,
)
from predibot.scoring.scorecard import Scorecard

PIPE_WIDTH = 100
_SHOWN_NOTES = 12
_TITLE_CELLS = 80
_MESSAGE_CELLS = 200
_BOT = Column("bot", "text")


def console_for(stream: TextIO, *, columns: int | None = None) -> Console:
    """Return a console that shows texts as they are: no markup, no highlighting, no emoji codes.

    Args:
        stream: Where to print. Where it is no terminal, lines are 100 wide and
            plain, whatever terminal the program was started from.
        columns: Another width.
    """
    if columns is None and not stream.isatty():
        columns = PIPE_WIDTH
    return Console(file=stream, width=columns, markup=False, highlight=False, emoji=False)


def print_evaluation(console: Console, view: EvaluationView) -> None:
    """Print scorecards: decisions, forecasts, returns beside the market's, and the notes."""
    _print_line(console, f"as of {format_instant(view.as_of)}")
    if not view.cards:
        _print_line(console, "no decisions recorded")
    for grid in (_decisions_grid, _forecasts_grid, _returns_grid):
        if view.cards:
            console.print()
            print_grid(console, grid(view.cards))
    _print_notes(console, view.notes)


def print_decisions(console: Console, view: DecideView) -> None:
    """Print what became of each bot's decisions, one line a bot, and the notes."""
    bots: dict[str, list[DecisionView]] = {}
    for decision in view.decisions:
        bots.setdefault(decision.bot, []).append(decision)
    for bot, decisions in bots.items():
        _print_line(console, f"{plain(bot)}: {', '.join(_outcomes(decisions)) or 'nothing to decide'}")
    if not bots:
        _print_line(console, "nothing decided")
    if view.cost_usd is None:
        _print_line(console, f"cost: {figures.cost_usd(view.cost_known_usd)} known, the rest unknown")
    elif view.cost_usd > 0.0:
        _print_line(console, f"cost: {figures.cost_usd(view.cost_usd)}")
    _print_notes(console, view.notes)


def print_selection(console: Console, view: SelectionView) -> None:
    """Print the events that are played, each one passed over with the rule and the reason, and the notes."""
    _print_line(console, f"as of {format_instant(view.as_of)}, {plain(view.venue)}")
    console.print()
    if view.selected:
        print_grid(console, _chosen_grid(view.selected))
    else:
        _print_line(console, "no event selected")
    if view.passed_over:
        console.print()
        print_grid(console, _passed_over_grid(view.passed_over))
    _print_notes(console, view.notes)


def print_runs(console: Console, rows: Sequence[RunRow]) -> None:
    """Print one row a run, oldest or newest first as they come."""
    if not rows:
        _print_line(console, "no runs recorded")
        return
    cells = tuple(
        (
            plain(row.run.key),
            format_instant(row.run.as_of),
            plain(row.run.venue),
            figures.count(row.bots),
            figures.count(row.events),
            figures.count(row.statuses.get("recorded", 0)),
            ", ".join(_remarks_on(row)),
        )
        for row in rows
    )
    columns = (
        Column("run", "key"),
        Column("as of", "key"),
        Column("venue", "text"),
        *(Column(header) for header in ("bots", "events", "recorded")),
        Column("", "text"),
    )
    # Nothing to remark on is no column.
    width = len(columns) if any(row[-1] for row in cells) else len(columns) - 1
    shown = tuple(row[:width] for row in cells)
    print_grid(console, Grid(f"Runs: {len(rows)}", columns[:width], shown))


def _remarks_on(row: RunRow) -> Iterator[str]:
    """Yield what a run has besides recorded decisions, and why it counts no more."""
    for status in ("refused", "failed", "abstained"):
        if count := row.statuses.get(status, 0):
            yield f"{figures.count(count)} {status}"
    if row.void_reason is not None:
        yield f"void: {plain(row.void_reason, _TITLE_CELLS)}"


def _decisions_grid(cards: Sequence[Scorecard]) -> Grid:
    counted = ["decisions", "refused", "failed", "abstained"]
    # Where no model can have known an end, there is nothing to tell apart.
    if any(card.clean < card.decisions for card in cards):
        counted += ["clean", "contaminated", "unknown"]
    rows = tuple(
        (plain(card.bot), *(figures.count(getattr(card, each)) for each in counted), figures.cost_usd(card.cost_usd))
        for card in cards
    )
    headers = (*counted, "cost")
    return Grid("Decisions", (_BOT, *(Column(header) for header in headers)), rows)


def _forecasts_grid(cards: Sequence[Scorecard]) -> Grid:
    rows = tuple(
        (
            plain(card.bot),
            *(figures.count(n) for n in (card.forecasts, card.settled, card.void)),
            figures.score(card.brier),
            figures.score(card.log_score),
            figures.ratio(card.skill_vs_market),
            figures.score(card.brier_open),
            figures.count(card.n_brier_open),
        )
        for card in cards
    )
    headers = ("forecasts", "settled", "void", "Brier", "log", "skill", "open", "n open")
    return Grid(
        "Forecasts: Brier, log score, skill against the market where settled; squared distance to the price where open",
        (_BOT, *(Column(header) for header in headers)),
        rows,
    )


def _returns_grid(cards: Sequence[Scorecard]) -> Grid:
    rows = tuple(
        (
            plain(card.bot),
            label if score.days is None else f"{label} day{'' if label == '1' else 's'}",
            figures.signed_percent(score.mean_return),
            figures.signed_percent(score.market_mean_return),
            figures.count(score.n),
            figures.percent(score.coverage),
            figures.ratio(score.sharpe),
        )
        for card in cards
        for label, score in card.horizons.items()
    )
    headers = ("return", "market", "n", "coverage", "Sharpe")
    return Grid(
        "Returns: mean a decision, beside market_price on the same decisions",
        (_BOT, Column("horizon", "key"), *(Column(header) for header in headers)),
        rows,
    )


def _chosen_grid(events: Sequence[ChosenView]) -> Grid:
    rows = tuple(
        (
            plain(event.event_id),
            plain(event.title, _TITLE_CELLS),
            figures.count(event.markets),
            figures.volume_usd(event.volume_1wk_usd),
        )
        for event in events
    )
    markets = sum(event.markets for event in events)
    columns = (Column("event", "key"), Column("title", "text"), Column("markets"), Column("1-week volume"))
    return Grid(f"Selected: {_things(len(events), 'event')}, {_things(markets, 'market')}", columns, rows)


def _passed_over_grid(events: Sequence[PassedOverView]) -> Grid:
    rows = tuple(
        (
            plain(event.event_id),
            plain(event.title, _TITLE_CELLS),
            plain(event.rule),
            plain(event.reason, _MESSAGE_CELLS),
        )
        for event in events
    )
    columns = (Column("event", "key"), *(Column(header, "text") for header in ("title", "rule", "reason")))
    return Grid(f"Passed over: {_things(len(events), 'event')}", columns, rows)


def _outcomes(decisions: Sequence[DecisionView]) -> Iterator[str]:
    """Yield what became of one bot's decisions: `3 bets recorded on 1 event`, `1 answer refused (why)`."""
    of: dict[str, list[DecisionView]] = {status: [] for status in OUTCOMES}
    for decision in decisions:
        of[decision.status].append(decision)
    if recorded := of["recorded"]:
        bets = sum(len(decision.bets) for decision in recorded)
        yield f"{_things(bets, 'bet')} recorded on {_things(len(recorded), 'event')}"
    if refused := of["refused"]:
        yield f"{_things(len(refused), 'answer')} refused ({_messages(refused)})"
    if failed := of["failed"]:
        yield f"{_things(len(failed), 'decision')} failed ({_messages(failed)})"
    if abstained := of["abstained"]:
        yield f"{len(abstained):,} abstained"
    if skipped := of["skipped"]:
        yield f"{len(skipped):,} decided before"


def _messages(decisions: Sequence[DecisionView]) -> str:
    """Return why, each reason once, the most frequent first."""
    seen = Counter(plain(decision.message, _MESSAGE_CELLS) or "no reason given" for decision in decisions)
    return "; ".join(text if n == 1 or len(seen) == 1 else f"{text}, {n} times" for text, n in seen.most_common())


def _things(n: int, noun: str) -> str:
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def _print_notes(console: Console, notes: Sequence[str]) -> None:
    if notes:
        console.print()
    for note in notes[:_SHOWN_NOTES]:
        _print_line(console, f"note: {plain(note)}")
    if len(notes) > _SHOWN_NOTES:
        _print_line(console, f"note: {len(notes) - _SHOWN_NOTES} more; --json has them all")


def _print_line(console: Console, line: str) -> None:
    """Print a line whole: a terminal wraps it by words, a pipe gets it in one piece."""
    console.print(Text(line, overflow="fold"), soft_wrap=not console.is_terminal)
