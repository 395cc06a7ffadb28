"""Deciding: now, at the instants of a replay, and as a plan of what a run would play, do and cost."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from datetime import datetime

from predibot.contracts import OpenVenue, ProgressListener
from predibot.domain.account import Account
from predibot.domain.account_past import AccountPast
from predibot.domain.decision import Subject
from predibot.environment import api_keys_present
from predibot.games.cohorts import COHORT, cohort_name
from predibot.jobs.caller import Caller
from predibot.jobs.decide import DecideReport, Processes
from predibot.jobs.decide import decide as decide_run
from predibot.jobs.deciding.activity import Watch
from predibot.jobs.deciding.cost_estimate import RunCost, run_cost
from predibot.jobs.deciding.open_run import RunRequest, choose_for
from predibot.jobs.deciding.worker import Resources, agent_setup
from predibot.jobs.logs.spans import Spans
from predibot.jobs.replay.look_ahead_check import LookAhead, check_look_ahead
from predibot.jobs.replay.replay import ReplayInstant, ReplayPlan, ReplayReport, look_back, other_runs
from predibot.jobs.replay.replay import replay as play_instants
from predibot.jobs.workers.executor import ExecutorSpec
from predibot.ledger.store import Store
from predibot.ledger.write.paces import SharedPaces
from predibot.net.api_keys import key_names
from predibot.recipe.recipe import Recipe
from predibot.reports.terminal.decisions import CohortPrompt, PlannedRequest, planned_requests
from predibot.reports.views.decide import SelectionView, selection_view
from predibot.scoring.evaluation.evaluation import Question

_MODEL_PROVIDERS = (
    "anthropic", "cohere", "deepseek", "fireworks_ai", "gemini", "groq",
    "mistral", "openai", "openrouter", "perplexity", "together_ai", "xai",
)  # fmt: skip
"""Providers whose keys are for models only."""


def find_model_key() -> tuple[str, str] | None:
    """Return the name of a key in the environment that is for models only, and its provider as litellm names it."""
    present = api_keys_present()
    keys = ((name, provider) for provider in _MODEL_PROVIDERS for name in key_names(provider))
    return next((key for key in keys if key[0] in present), None)


def keys_of_models(recipe: Recipe) -> Iterator[tuple[str, tuple[str, ...], bool]]:
    """Yield each bot with a model that needs a key, the variables that may hold it, and whether one is set."""
    present = api_keys_present()
    for bot in recipe.bots:
        names: tuple[str, ...]
        if bot.terms.credential is not None:
            names = (bot.terms.credential,)
        elif bot.model is None or bot.terms.base_url is not None or bot.model.startswith("sandbox/"):
            continue
        else:
            names = key_names(bot.model.partition("/")[0])
        yield bot.name, names, any(name in present for name in names)


@contextmanager
def decide(
    request: RunRequest,
    caller: Caller,
    *,
    ledger: str,
    venue: str | None = None,
    as_of: datetime | None = None,
    executor: ExecutorSpec | None = None,
    watching: Callable[[], AbstractContextManager[tuple[ProgressListener, Watch]]],
) -> Iterator[DecideReport]:
    """Choose or resume the run of the slot, make every missing decision, and yield the report.

    While the caller shows it, a malformed row of the ledger is reported as that row's fault. `venue` None is the
    recipe's, `as_of` None is now, `executor` None as for `decide_with`. `watching` opens a listener for progress and
    one for what each bot does.
    """
    settings = caller.settings()
    paces = SharedPaces()
    with (
        request.open_venue(settings, caller.clock, venue=venue, as_of=as_of, paces=paces) as opened,
        Store.open(ledger) as store,
    ):
        paces.store = store
        caller.say(f"ledger: {store.address}")
        with watching() as (listener, watch):
            resources = Resources(store, settings, caller.clock, listener, watch)
            report = decide_with(executor, request, opened, resources, ledger=ledger)
        with store.blame_rows():
            yield report


def decide_with(
    executor: ExecutorSpec | None, request: RunRequest, opened: OpenVenue, resources: Resources, *, ledger: str
) -> DecideReport:
    """Decide with an executor, by default with threads, and send spans of the run to a collector if the settings name
    one.
    """
    resources, processes = workers_of(executor, resources, ledger=ledger)
    began_at = resources.clock()
    with Spans(resources.store, resources.settings.otlp_endpoint) as spans:
        report = decide_run(request, opened, resources, processes)
        spans.send(report.run.key, began_at)
    return report


def workers_of(
    executor: ExecutorSpec | None, resources: Resources, *, ledger: str
) -> tuple[Resources, Processes | None]:
    """Return the resources with an executor's number of threads, or the processes that it names."""
    if executor is None or executor.kind != "threads":
        return resources, None if executor is None else Processes(executor, ledger)
    settings = resources.settings.model_copy(update={"workers": executor.count})
    return replace(resources, settings=settings), None


@contextmanager
def replay(
    plan: ReplayPlan,
    caller: Caller,
    *,
    ledger: str,
    executor: ExecutorSpec | None = None,
    told: Callable[[ReplayInstant], None],
    question: Question | None = None,
    sample: int | None = None,
) -> Iterator[tuple[ReplayReport, LookAhead | None]]:
    """Decide at every instant of a plan, track and evaluate; decide a sample again without the future; yield both
    results.

    `executor` is as for `decide`, `told` is called after each instant, `question` is what to evaluate, and `sample` how
    many decisions are made again; None for none.
    """
    settings, clock = caller.settings(), caller.clock
    past, recipe = plan.past, plan.request.recipe.name
    with (
        Store.open(ledger) as store,
        Spans(store, settings.otlp_endpoint) as spans,
        caller.following(store) as listener,
    ):
        began_at = clock()

        def tell(instant: ReplayInstant) -> None:
            spans.send(instant.run_key, began_at)
            told(instant)

        resources, processes = workers_of(executor, Resources(store, settings, clock, listener), ledger=ledger)
        played = play_instants(plan, resources, tell, processes)
        evaluation = look_back(past, plan.evaluated_at, resources, recipe=recipe, question=question)
        done = ReplayReport(plan, played, evaluation, other_runs(store, recipe, past, played))
        found = None if sample is None else check_look_ahead(plan.request, played, past, resources, sample=sample)
    with store.blame_rows():
        yield done, found


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
