"""One bot on a screen and as a document: its curve in numbers, its scores, what it did best and worst."""

from rich.console import Console

from predibot.jobs.histories.bot import BotHistory, ScoredBot
from predibot.reports.document import Document, document, json_value
from predibot.reports.terminal.closeups.beliefs import coherence_document, exposure_document
from predibot.reports.terminal.closeups.reliability import LEGEND, reliability_lines
from predibot.reports.terminal.closeups.rows import bot_grids, head_lines
from predibot.reports.terminal.grid import print_grid
from predibot.reports.terminal.terminal import print_line
from predibot.reports.terminal.worst import print_worst, worst_documents
from predibot.reports.views.evaluation_json import evaluation_document


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
        **document(history, "bot as_of strategies models first_at last_at decisions=statuses cost_known_usd"),
        **document(history, "decisions_of_unknown_cost=cost_unknown unanswered"),
        "running": [
            {"knowledge": each.knowledge, **{name: json_value(points) for name, points in each.running.items()}}
            for each in history.scored
        ],
        "accounts": [
            document(each, "recipe game mode subject dates_needed=needed moves values") for each in history.accounts
        ],
        "cohorts": [
            {
                **document(each, "recipe game mode methodology knowledge=score.knowledge"),
                "results": [document(one, "start stake_usd value_usd won lost cancelled") for one in each.results],
            }
            for each in history.cohorts
        ],
        "coherence": coherence_document(history.coherence),
        "exposure": exposure_document(history.exposures, history.titles),
        "days": json_value(history.days),
        "best": worst_documents(history.best),
        "worst": worst_documents(history.worst),
        "evaluation": evaluation_document(history.evaluation),
    }
