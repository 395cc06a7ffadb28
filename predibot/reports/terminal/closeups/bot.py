"""One bot on a screen and as a document: its curve in numbers, its scores, what it did best and worst."""

from dataclasses import asdict

from rich.console import Console

from predibot.domain.clock import format_instant
from predibot.jobs.histories.bot import AccountHistory, BotHistory, CohortsHistory, ScoredBot
from predibot.reports.terminal.closeups.beliefs import coherence_document, exposure_document
from predibot.reports.terminal.closeups.reliability import LEGEND, reliability_lines
from predibot.reports.terminal.closeups.rows import bot_grids, head_lines
from predibot.reports.terminal.grid import print_grid
from predibot.reports.terminal.terminal import print_line
from predibot.reports.terminal.worst import print_worst, worst_documents
from predibot.reports.views.decide import Document, number
from predibot.reports.views.evaluation_json import evaluation_document
from predibot.scoring.evaluation.running import RunningPoint


def print_bot(console: Console, history: BotHistory) -> None:
    """Print everything that is told of a bot."""
    for line in head_lines(history):
        print_line(console, line)
    for grid in bot_grids(history):
        console.print()
        print_grid(console, grid)
    for scored in history.scored:
        print_reliability(console, scored)
    if history.scored:
        print_worst(console, history.best, best=True)
        print_worst(console, history.worst)


def print_reliability(console: Console, scored: ScoredBot) -> None:
    """Print the reliability diagram of what is settled; nothing where nothing is."""
    bins = scored.card.forecast.calibration
    if bins is None:
        return
    console.print()
    print_line(console, "Calibration: what was said beside what happened", "bold")
    for line in reliability_lines(bins):
        print_line(console, line)
    print_line(console, LEGEND, "dim")


def bot_document(history: BotHistory) -> Document:
    """Return everything as JSON has it, texts whole."""
    return {
        "bot": history.bot,
        "as_of": format_instant(history.as_of),
        "strategies": list(history.strategies),
        "models": list(history.models),
        "first_at": None if history.first_at is None else format_instant(history.first_at),
        "last_at": None if history.last_at is None else format_instant(history.last_at),
        "decisions": dict(history.statuses),
        "cost_known_usd": number(history.cost_known_usd),
        "decisions_of_unknown_cost": history.cost_unknown,
        "unanswered": [asdict(each) for each in history.unanswered],
        "running": [
            {
                "knowledge": each.knowledge,
                **{name: [_point(point) for point in points] for name, points in each.running.items()},
            }
            for each in history.scored
        ],
        "accounts": [_account(each) for each in history.accounts],
        "cohorts": [_cohorts(each) for each in history.cohorts],
        "coherence": coherence_document(history.coherence),
        "exposure": exposure_document(history.exposures, history.titles),
        "days": [{**asdict(each), "day": each.day.isoformat()} for each in history.days],
        "best": worst_documents(history.best),
        "worst": worst_documents(history.worst),
        "evaluation": evaluation_document(history.evaluation),
    }


def _account(account: AccountHistory) -> Document:
    needed = account.needed
    return {
        "recipe": account.recipe,
        "game": account.game,
        "mode": account.mode,
        "subject": account.subject,
        "dates_needed": None if needed is None else asdict(needed),
        "moves": [list(move) for move in account.moves],
        "values": [_point(point) for point in account.values],
    }


def _cohorts(cohorts: CohortsHistory) -> Document:
    return {
        "recipe": cohorts.recipe,
        "game": cohorts.game,
        "mode": cohorts.mode,
        "methodology": cohorts.methodology,
        "knowledge": cohorts.score.knowledge,
        "results": [
            {
                "start": format_instant(each.start),
                "stake_usd": number(each.stake_usd),
                "value_usd": number(each.value_usd),
                "won": each.won,
                "lost": each.lost,
                "cancelled": each.cancelled,
            }
            for each in cohorts.results
        ],
    }


def _point(point: RunningPoint) -> Document:
    return {
        "slot_at": point.slot_at,
        "total": number(point.total),
        "low": number(point.low),
        "high": number(point.high),
        "n": point.n,
        "clusters": point.clusters,
    }
