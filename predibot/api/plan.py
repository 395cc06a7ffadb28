"""Plans: what a run would play, do and cost."""

from dataclasses import dataclass
from datetime import datetime

from predibot.domain.account import Account
from predibot.domain.account_past import AccountPast
from predibot.domain.decision import Subject
from predibot.games.cohorts import COHORT, cohort_name
from predibot.jobs.caller import Caller
from predibot.jobs.deciding.cost_estimate import RunCost, run_cost
from predibot.jobs.deciding.open_run import RunRequest, choose_for
from predibot.jobs.deciding.worker import agent_setup
from predibot.reports.terminal.decisions import CohortPrompt, PlannedRequest, planned_requests
from predibot.reports.views.decide import SelectionView, selection_view


@dataclass(frozen=True, slots=True)
class Preview:
    """A run before it is made."""

    selection: SelectionView
    bots: tuple[str, ...]
    decisions: int
    cost: RunCost
    asked: tuple[PlannedRequest, ...]
    cohort: CohortPrompt | None = None
    """The prompt for a weekly cohort that starts now; decisions and cost are those of one cohort."""


def select(request: RunRequest, caller: Caller, *, venue: str | None, as_of: datetime | None) -> SelectionView:
    """Return which events a run would play, and why not the others; nothing is stored."""
    with (
        request.open_venue(caller.settings(), caller.clock, venue=venue, as_of=as_of) as opened,
        caller.progress() as listener,
    ):
        return selection_view(choose_for(request, opened, listener), opened)


def preview(request: RunRequest, caller: Caller, *, venue: str | None, as_of: datetime | None) -> Preview:
    """Return what `decide` would do, without asking a model or storing anything."""
    recipe, settings = request.recipe, caller.settings()
    with request.open_venue(settings, caller.clock, venue=venue, as_of=as_of) as opened:
        agents = agent_setup(recipe, opened, settings, caller.clock)
        with caller.progress() as listener:
            choice = choose_for(request, opened, listener)
        if opened.may_recover:
            choice.check_readable(live=opened.venue.live)
        selected = choice.selection.selected
        game, cohort = recipe.make_game(), None
        if game.cohorts is not None and game.most_view_tokens is not None:
            account, past = Account(cash_usd=game.stake_usd), AccountPast(at=opened.now)
            subject = Subject(COHORT, cohort_name(opened.now))
            view = game.view(subject, selected, venue=opened.venue.name, account=account, past=past)
            markets = sum(len(market.outcomes) >= 2 for event in selected for market in event.markets)
            # One cohort starts a week, so as many decide in a week as one has weeks.
            deciding = game.cohorts.latest or game.cohorts.weeks
            cohort = CohortPrompt(markets, game.view_tokens(view), game.most_view_tokens, deciding)
        return Preview(
            selection_view(choice, opened),
            tuple(bot.name for bot in recipe.bots),
            len(recipe.bots) * (len(game.subjects(selected)) if game.cohorts is None else 1),
            run_cost(recipe, selected, agents),
            planned_requests(recipe, agents),
            cohort,
        )
