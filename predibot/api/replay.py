"""Replaying: the decisions of many instants, how good they were, and whether any looked ahead."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from predibot.api.decide import workers_of
from predibot.jobs.caller import Caller
from predibot.jobs.daemon_threads import ExecutorSpec
from predibot.jobs.deciding.worker import Resources
from predibot.jobs.logs.spans import Spans
from predibot.jobs.replay.look_ahead_check import LookAhead, check_look_ahead
from predibot.jobs.replay.replay import ReplayInstant, ReplayPlan, ReplayReport, look_back, other_runs
from predibot.jobs.replay.replay import replay as play_instants
from predibot.ledger.store import Store
from predibot.scoring.evaluation.evaluation import Question


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
