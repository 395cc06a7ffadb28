"""What `decide --dry-run` shows besides the events: what a run can cost, and who is asked where, with which key."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from rich.console import Console

from predibot.jobs.deciding.cost_estimate import NO_MODEL, RunCost
from predibot.recipe.recipe import Recipe
from predibot.reports import figures
from predibot.reports.table import Column, Document, Table, document, table_of
from predibot.reports.terminal.terminal import plain, print_grid

if TYPE_CHECKING:
    from predibot.agents.models.open_model import Destination
    from predibot.jobs.deciding.agent_setup import AgentSetup

UNKNOWN = "unknown"


def print_cost(console: Console, cost: RunCost) -> None:
    """Print the most that each bot with a model and all together can cost; nothing if no bot has one."""
    if not (bots := [bot for bot in cost.bots if bot.basis != NO_MODEL]):
        return
    rows = [(plain(bot.bot), figures.count(bot.decisions), _usd(bot.usd), bot.basis) for bot in bots]
    rows.append(("all", figures.count(sum(bot.decisions for bot in bots)), _usd(cost.usd), cost.basis))
    columns = (Column("bot", kind="key"), Column("decisions"), Column("at most"), Column("by", kind="text"))
    print_grid(console, Table("Worst case", columns, tuple(rows)))
    for bot in cost.bots:
        if bot.advice:
            console.print(f"{plain(bot.bot)}: {plain(bot.advice)}", markup=False, highlight=False)


def most_text(cost: RunCost) -> str:
    """Return the most that all bots together can cost."""
    if cost.usd is not None:
        return f"for at most {figures.cost_usd(cost.usd)}"
    return f"at a cost that is unknown, at most {figures.cost_usd(cost.known_usd)} of it known"


def cost_document(cost: RunCost) -> Document:
    """Return the costs as JSON has them; unknown is null."""
    return document(cost, "usd known_usd basis bots")


def _usd(usd: float | None) -> str:
    return UNKNOWN if usd is None else figures.cost_usd(usd)


class CohortPrompt(NamedTuple):
    """Length of the prompt of a weekly cohort that starts now, without the instructions."""

    markets: int
    tokens: int
    """An estimate, rather too high."""
    most_tokens: int
    """The most for any cohort, with 60 positions."""
    deciding: int | None
    """Most cohorts that decide in a week; None for all with an open market."""


def print_cohort(console: Console, prompt: CohortPrompt) -> None:
    """Print how long the prompt of a cohort is, and how often it is asked."""
    which = "all cohorts with an open market" if prompt.deciding is None else f"the latest {prompt.deciding} cohorts"
    console.print(
        f"prompt: {figures.count(prompt.markets)} markets in about {figures.count(prompt.tokens)} tokens, at most "
        f"{figures.count(prompt.most_tokens)} with positions. Decisions and cost are of one cohort; {which} decide "
        "in a week"
    )


class PlannedRequest(NamedTuple):
    """A model or search provider that a run asks."""

    by: str | None
    """A bot's name; None for the searches of all bots."""
    name: str
    at: "Destination"


def planned_requests(recipe: Recipe, agents: "AgentSetup | None") -> tuple[PlannedRequest, ...]:
    """Return which models and search providers the bots of a recipe ask, without asking them.

    Raises:
        UsageError: If a key that the recipe names is not set, or may not go to that host; or if a model's provider is
            unknown.
    """
    if agents is None:
        return ()
    models = [
        PlannedRequest(bot.name, name, at) for bot in recipe.bots for name, at in agents.model_destinations(bot).items()
    ]
    return (*models, *(PlannedRequest(None, name, at) for name, at in agents.search_destinations().items()))


def print_requests(console: Console, asked: Sequence[PlannedRequest]) -> None:
    """Print which hosts are asked; nothing if none is."""
    if asked:
        print_grid(console, table_of("Who is asked", _ASKED, asked))


def request_documents(asked: Sequence[PlannedRequest]) -> list[Document]:
    """Return them as JSON has them; a key that is not sent is null."""
    names = "name host=at.host key=at.key_name key_is_set=at.key_is_set"
    return [
        {"bot": each.by, "kind": "search" if each.by is None else "model", **document(each, names)} for each in asked
    ]


def _key(at: "Destination") -> str:
    if at.key_name is None:
        return figures.MISSING
    return at.key_name if at.key_is_set else f"{at.key_name}, not set"


_ASKED = (
    Column("bot", "", lambda asked: plain(asked.by or "all, to search"), kind="key"),
    Column("asks", "name", kind="key"),
    Column("at", "at.host", kind="key"),
    Column("with key", "at", _key, kind="text"),
)
