"""Deciding now."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from datetime import datetime

from predibot.contracts import OpenVenue, ProgressListener
from predibot.environment import api_keys_present
from predibot.jobs.caller import Caller
from predibot.jobs.daemon_threads import ExecutorSpec
from predibot.jobs.decide import DecideReport, Processes
from predibot.jobs.decide import decide as decide_run
from predibot.jobs.deciding.activity import Watch
from predibot.jobs.deciding.open_run import RunRequest
from predibot.jobs.deciding.worker import Resources
from predibot.jobs.logs.spans import Spans
from predibot.ledger.store import Store
from predibot.ledger.write.paces import SharedPaces
from predibot.net.api_keys import key_names
from predibot.recipe.recipe import Recipe

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
