"""What a run would play, and what it would do and cost, in one call."""

from dataclasses import dataclass
from datetime import datetime

from predibot.jobs.commands.caller import Caller
from predibot.jobs.commands.decide import choose_as_asked
from predibot.jobs.deciding.cost_estimate import RunCost, run_cost
from predibot.jobs.deciding.open_run import RunRequest
from predibot.jobs.deciding.worker_setup import agent_setup
from predibot.jobs.open_venue import open_venue
from predibot.reports.terminal.dry_run import Asked, all_asked
from predibot.reports.views.decide import SelectionView
from predibot.reports.views.from_jobs import selection_view


@dataclass(frozen=True, slots=True)
class Preview:
    """What a run would do."""

    selection: SelectionView
    bots: tuple[str, ...]
    decisions: int
    cost: RunCost
    """The most it can cost."""
    asked: tuple[Asked, ...]
    """Whom its bots ask."""


def select_as_asked(request: RunRequest, caller: Caller, *, venue: str | None, as_of: datetime | None) -> SelectionView:
    """Return which events a run would play, and why not the others; nothing is stored."""
    spec = venue or request.recipe.venue
    with open_venue(spec, caller.settings(), as_of=as_of, purpose="decide", clock=caller.clock) as opened:
        return selection_view(choose_as_asked(request, opened, caller), opened)


def preview(request: RunRequest, caller: Caller, *, venue: str | None, as_of: datetime | None) -> Preview:
    """Return what `decide` would do, asking no model and storing nothing.

    Raises:
        PredibotError: As `decide` would before it asks anybody.
    """
    recipe, settings = request.recipe, caller.settings()
    spec = venue or recipe.venue
    with open_venue(spec, settings, as_of=as_of, purpose="decide", clock=caller.clock) as opened:
        agents = agent_setup(recipe, opened=opened, settings=settings, clock=caller.clock, store=None)
        choice = choose_as_asked(request, opened, caller)
        if opened.may_recover:
            choice.check_readable(live=opened.venue.live)
        selected = choice.selection.selected
        return Preview(
            selection_view(choice, opened),
            tuple(bot.name for bot in recipe.bots),
            len(recipe.bots) * len(recipe.make_game().subjects(selected)),
            run_cost(recipe, selected, agents),
            all_asked(recipe, agents),
        )
