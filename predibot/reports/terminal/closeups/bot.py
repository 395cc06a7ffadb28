"""All there is about one bot, for a screen and for JSON: figures, calibration, best and worst decisions."""

from collections.abc import Iterator

from rich.console import Console

from predibot.jobs.histories.bot import BotHistory, ScoredBot
from predibot.reports import figures
from predibot.reports.table import Document, document, json_value
from predibot.reports.terminal.closeups.beliefs import coherence_document, exposure_document
from predibot.reports.terminal.closeups.rows import bot_grids, head_lines, positions_grid, print_worst, worst_documents
from predibot.reports.terminal.terminal import print_grids, print_line, print_lines
from predibot.reports.views.evaluation import evaluation_document
from predibot.scoring.metrics.calibration import CalibrationBins

_OF_POSITION = "event_id question side bets staked_usd shares price_then price_now gain_usd"
_CELLS = 41
"""Width of the axis from 0 to 100%: a cell for each 2.5%."""
_SAID, _HAPPENED, _BOTH = "◇", "●", "◆"
LEGEND = (
    f"{_HAPPENED} how often it happened, ─ its 95% interval (Wilson's, over as many events as the forecasts are "
    f"worth), {_SAID} the mean forecast, {_BOTH} both in one place."
)
_BOARD = "recipe=board.recipe game=board.game mode=board.mode"


def reliability_lines(bins: CalibrationBins) -> Iterator[str]:
    """Yield a reliability diagram, at most 80 wide: its axis, then a line for each bin that is not empty.

    Examples:
        >>> from predibot.scoring import calibration_bins
        >>> for line in reliability_lines(calibration_bins([0.1, 0.1, 0.1, 0.1], [0, 0, 0, 1])):
        ...     print(line.rstrip())
                    0%        25%       50%       75%      100%   mean   n
        0.1 to 0.2  |  ──◇─────●──────────────────            |   0.10   4
    """
    yield f"{'':12}{_axis()}  {'mean':>5} {'n':>3}"
    for row in range(bins.count.size):
        if bins.count[row]:
            said, n = float(bins.mean_probability[row]), int(bins.count[row])
            ends = float(bins.outcome_low[row]), float(bins.outcome_high[row])
            line = _line(said, float(bins.mean_outcome[row]), ends)
            yield (
                f"{bins.lower[row]:.1f} to {bins.upper[row]:.1f}  |{line}|  {figures.probability(said):>5} "
                f"{figures.count(n):>3}"
            )


def _axis() -> str:
    cells = [" "] * (_CELLS + 2)
    for share in (0, 25, 50, 75, 100):
        word = f"{share}%"
        start = min(max(1 + _place(share / 100.0) - len(word) // 2, 0), len(cells) - len(word))
        cells[start : start + len(word)] = word
    return "".join(cells)


def _line(said: float, happened: float, ends: tuple[float, float]) -> str:
    cells = [" "] * _CELLS
    low, high = (_place(end) for end in ends)
    cells[low : high + 1] = "─" * (high - low + 1)
    cells[_place(said)] = _SAID
    cells[_place(happened)] = _BOTH if _place(said) == _place(happened) else _HAPPENED
    return "".join(cells)


def _place(share: float) -> int:
    return min(max(round(share * (_CELLS - 1)), 0), _CELLS - 1)


def print_bot(console: Console, history: BotHistory) -> None:
    """Print everything about a bot."""
    print_lines(console, head_lines(history))
    print_grids(console, [positions_grid(history.positions)] if history.positions else [])
    print_grids(console, bot_grids(history))
    for scored in history.scored:
        print_reliability(console, scored)
    if history.scored:
        print_worst(console, history.best, best=True)
        print_worst(console, history.worst)


def print_reliability(console: Console, scored: ScoredBot) -> None:
    """Print the reliability diagram of a bot; nothing without settled forecasts."""
    bins = scored.card.forecast.calibration
    if bins is None:
        return
    console.print()
    print_line(console, "Calibration: forecasts beside what happened", "bold")
    print_lines(console, reliability_lines(bins))
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
            document(each, f"{_BOARD} subject=board.subject dates_needed=needed moves values")
            for each in history.accounts
        ],
        "cohorts": [
            {
                **document(each, f"{_BOARD} methodology=board.methodology knowledge=score.knowledge"),
                "results": [document(one, "start stake_usd value_usd won lost cancelled") for one in each.results],
            }
            for each in history.cohorts
        ],
        "coherence": coherence_document(history.coherence),
        "exposure": exposure_document(history.exposures, history.titles),
        "open_positions": [document(each, _OF_POSITION) for each in history.positions],
        "days": json_value(history.days),
        "best": worst_documents(history.best),
        "worst": worst_documents(history.worst),
        "evaluation": evaluation_document(history.evaluation),
    }
