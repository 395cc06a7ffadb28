"""`predibot replay`: the decisions that a recipe would have made at past instants."""

import time
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Annotated

from predibot.cli import options, output
from predibot.cli.ending import FAILED, code_of_decisions
from predibot.cli.options import flag, option
from predibot.domain.clock import format_instant, parse_length

if TYPE_CHECKING:
    from predibot.jobs.replay.look_ahead_check import LookAhead
    from predibot.jobs.replay.replay import ReplayInstant
    from predibot.reports.terminal.replay import ReplayView
    from predibot.scoring.evaluation.evaluation import Evaluation


def replay(
    recipe: options.Recipe = None,
    first: Annotated[
        datetime | None,
        option("--from", "INSTANT", "the first; left out: the archive's first snapshot", parser=options.instant),
    ] = None,
    last: Annotated[
        datetime | None, option("--to", "INSTANT", "none is later; left out: the last snapshot", parser=options.instant)
    ] = None,
    every: Annotated[
        timedelta | None,
        option(
            "--every",
            "LENGTH",
            "between two instants: 12h, 1d or 7d; left out: the recipe's",
            parser=options.parser_for(parse_length),
        ),
    ] = None,
    venue: options.Venue = None,
    as_of: Annotated[
        datetime | None, options.as_of("evaluate as of this; left out: the end of what the venue knows")
    ] = None,
    bots: options.Bots = None,
    models: options.Models = None,
    events: options.Events = None,
    *,
    limits: options.SelectionOptions,
    check_lookahead: Annotated[
        bool, flag("--check-lookahead", "make a sample of the decisions again without the future, and compare")
    ] = False,
    sample: Annotated[int, option("--sample", "N", "how many decisions --check-lookahead makes again", min=1)] = 20,
    executor: options.Executor = None,
    retry: options.Retry = None,
    ledger: options.Ledger = options.DEFAULT_LEDGER,
    json: options.Json = False,
    log: options.Log,
) -> int:
    """Decide at every instant as `decide --as-of` would, then track and evaluate as `evaluate` does."""
    from predibot.api.decide import replay as replay_plan
    from predibot.jobs.deciding.open_run import RunRequest
    from predibot.jobs.replay.replay import plan_replay
    from predibot.jobs.workers.executor import parse_executor
    from predibot.reports.terminal.evaluation_screen import ScreenOptions
    from predibot.reports.terminal.replay import replay_view
    from predibot.scoring.evaluation.evaluation import Question

    caller = output.caller(log)
    pool = parse_executor(executor) if executor else None
    request = RunRequest.read(recipe, limits.overrides(events), options.split_names(bots), models or ())
    output.say(f"recipe: {request.recipe.source}")
    plan = plan_replay(
        replace(request, retry=options.parse_retry(retry)),
        venue=venue,
        first=first,
        last=last,
        every=every,
        as_of=as_of,
        settings=caller.settings(),
        clock=caller.clock,
    )

    with replay_plan(
        plan,
        caller,
        ledger=ledger,
        executor=pool,
        told=_progress_reporter(len(plan.instants)),
        question=output.question_for(Question(), ScreenOptions(), options.Output(json=json)),
        sample=sample if check_lookahead else None,
    ) as (done, found):
        view = replay_view(done)
        differs = found is not None and bool(found.differences)
        undecided = sum(each.undecided for each in done.played)
        code = FAILED if differs else code_of_decisions(view.statuses, undecided=undecided)
        _show(view, done.evaluation, found, code=code if json else None)
    return code


def _progress_reporter(of: int) -> "Callable[[ReplayInstant], None]":
    """Return a callback that reports the progress after each instant, and the time left at this pace."""
    from itertools import count

    from predibot.reports.terminal.replay import progress_line

    began, numbers = time.monotonic(), count(1)

    def tell(played: "ReplayInstant") -> None:
        number = next(numbers)
        left = (time.monotonic() - began) / number * (of - number)
        output.say(progress_line(played, number=number, of=of, seconds_left=left))

    return tell


def _show(view: "ReplayView", evaluation: "Evaluation", found: "LookAhead | None", *, code: int | None) -> None:
    """Print the result of a replay: for a person, or as a document if there is an exit code."""
    from predibot.plugins.venues import venue_or_defaults
    from predibot.reports.terminal.evaluation_screen import ScreenOptions
    from predibot.reports.terminal.replay import look_ahead_document, print_look_ahead, print_replay
    from predibot.reports.terminal.terminal import plain, print_line
    from predibot.reports.views.evaluation import evaluation_document

    if code is not None:
        checked = {} if found is None else {"look_ahead": look_ahead_document(found)}
        document = {**evaluation_document(evaluation), "replay": view.document(), **checked}
        output.print_document(document, exit_code=code)
        return
    simulated = venue_or_defaults(view.venue.partition(":")[0]).invented
    output.print_evaluation(evaluation, options.Output(), ScreenOptions(simulated=simulated, next_steps=()))
    console = output.report_console()
    print_replay(console, view)
    if evaluation.as_of is not None:
        # Without --as-of `report` looks from now, when the last prices of a recording are too old to count.
        command = f"`predibot report {plain(view.recipe)} --as-of {format_instant(evaluation.as_of)}`"
        print_line(console, f"{command} shows these scores again, from this ledger")
    if found is not None:
        print_look_ahead(output.report_console(), found)
