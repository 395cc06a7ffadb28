"""What a run can cost at the most, as `decide --dry-run` shows it."""

from typing import Any

from rich.console import Console

from predibot.jobs.deciding.cost_estimate import NO_MODEL, RunCost
from predibot.reports import figures
from predibot.reports.terminal.grid import Column, Grid, print_grid
from predibot.reports.terminal.text import plain

UNKNOWN = "unknown"


def print_cost(console: Console, cost: RunCost) -> None:
    """Print the most each bot and all together can cost; nothing where no bot has a model."""
    if all(bot.basis == NO_MODEL for bot in cost.bots):
        return
    rows = [(plain(bot.bot), figures.count(bot.decisions), _usd(bot.usd), bot.basis) for bot in cost.bots]
    decisions = sum(bot.decisions for bot in cost.bots)
    known = f"{UNKNOWN}, at most {figures.cost_usd(cost.known_usd)} of it known"
    rows.append(("all", figures.count(decisions), _usd(cost.usd) if cost.usd is not None else known, cost.basis))
    columns = (Column("bot", "key"), Column("decisions"), Column("at most"), Column("by", "text"))
    print_grid(console, Grid("Worst case", columns, tuple(rows)))


def cost_document(cost: RunCost) -> dict[str, Any]:
    """Return the same for programs; unknown is null."""
    bots = [{"bot": bot.bot, "decisions": bot.decisions, "usd": bot.usd, "basis": bot.basis} for bot in cost.bots]
    return {"usd": cost.usd, "known_usd": cost.known_usd, "basis": cost.basis, "bots": bots}


def _usd(usd: float | None) -> str:
    return UNKNOWN if usd is None else figures.cost_usd(usd)
