"""`predibot decide`: every bot of a recipe decides on the run's events."""

from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from predibot.cli import options, output
from predibot.cli.ending import DONE, FAILED, code_of_decisions
from predibot.cli.options import flag, option

if TYPE_CHECKING:
    from predibot.jobs.caller import Caller
    from predibot.jobs.deciding.open_run import RunRequest


def decide(
    recipe: options.Recipe = None,
    venue: options.Venue = None,
    as_of: options.AsOf = None,
    bots: options.Bots = None,
    models: options.Models = None,
    events: options.Events = None,
    event: options.EventId = None,
    *,
    limits: options.SelectionOptions,
    ledger: options.Ledger = options.DEFAULT_LEDGER,
    dry_run: Annotated[bool, flag("--dry-run", "show what would be done, and store nothing")] = False,
    all_passed_over: options.AllPassedOver = False,
    executor: options.Executor = None,
    retry: options.Retry = None,
    rerun_traces: Annotated[
        str | None, option("--rerun-traces", "RUN_KEY", "decide a run again from its traces, and compare")
    ] = None,
    replay_traces: Annotated[
        str | None, typer.Option("--replay-traces", hidden=True, help="the same, by an older name")
    ] = None,
    new_run: Annotated[bool, flag("--new-run", "start another run at the same time")] = False,
    start_cohort: Annotated[
        bool, flag("--start-cohort", "start the cohort of this week, if it has not started")
    ] = False,
    strict: Annotated[
        bool, flag("--strict", "begin nothing where a bot cannot play: no key, no server, no such model")
    ] = False,
    json: options.Json = False,
    log: options.Log,
) -> int:
    """Choose or resume the run of the slot, and make every decision that is missing."""
    from predibot.jobs.deciding.open_run import RunRequest
    from predibot.jobs.workers.executor import parse_executor

    caller = output.caller(log)
    if rerun_traces is not None and replay_traces is not None:
        raise typer.BadParameter("--rerun-traces and its older name --replay-traces are both given; leave one out")
    if (run_key := rerun_traces or replay_traces) is not None:
        return _rerun(run_key, caller, ledger=ledger, as_json=json)
    pool = parse_executor(executor) if executor else None
    request = RunRequest.read(recipe, limits.overrides(events), options.split_names(bots), models or ())
    output.say(f"recipe: {request.recipe.source}")
    if recipe is None and all(bot.model is None for bot in request.recipe.bots):
        from predibot.api.decide import find_model_key

        if found := find_model_key():
            name, provider = found
            output.say(f"{name} is set. To add a bot with a model: `predibot decide --model {provider}/MODEL`")
    request = replace(
        request,
        event_id=event,
        new_run=new_run,
        retry=options.parse_retry(retry),
        start_cohort=start_cohort,
        strict=strict,
    )
    if dry_run:
        _show_plan(request, caller, venue, as_of, every=all_passed_over, as_json=json)
        return DONE
    from predibot.api.decide import decide as decide_run
    from predibot.reports.terminal import decisions
    from predibot.reports.views.decide import DecideView, decide_view

    with decide_run(
        request,
        caller,
        ledger=ledger,
        venue=venue,
        as_of=as_of,
        executor=pool,
        watching=partial(output.watch_bots, request.recipe, verbose=log.verbose),
    ) as report:
        view = decide_view(report)
        code = code_of_decisions(report.statuses, undecided=report.undecided)
        output.print_found(view, DecideView.document, decisions.print_decisions, json=json, exit_code=code)
        return code


def _rerun(run_key: str, caller: "Caller", *, ledger: str, as_json: bool) -> int:
    from predibot.jobs.replay.rerun import rerun
    from predibot.reports.terminal.replay import print_rerun, rerun_document

    with caller.reading(ledger) as store:
        with caller.progress() as listener:
            found = rerun(store, run_key, clock=caller.clock, listener=listener)
        is_other = any(each.equal is False for each in found)
        # Where nothing could be compared, nothing is known to be the same.
        code = FAILED if is_other or (found and not any(each.equal for each in found)) else DONE
        if as_json:
            output.print_document(rerun_document(run_key, found), exit_code=code)
        else:
            print_rerun(output.report_console(), run_key, found)
    return code


def _show_plan(
    request: "RunRequest", caller: "Caller", venue: str | None, as_of: datetime | None, *, every: bool, as_json: bool
) -> None:
    from predibot.api.decide import preview
    from predibot.reports.figures import things
    from predibot.reports.terminal import decisions
    from predibot.reports.terminal.terminal import print_line

    plan = preview(request, caller, venue=venue, as_of=as_of)
    names, view, count = plan.bots, plan.selection, plan.decisions
    if as_json:
        document = {
            "bots": [*names],
            "would_decide": count,
            "dry_run": True,
            "worst_case": decisions.cost_document(plan.cost),
        }
        document["cohort"] = None if plan.cohort is None else plan.cohort._asdict()
        output.print_document(
            {**view.document(), **document, "asks": decisions.request_documents(plan.asked)}, exit_code=DONE
        )
        return
    console = output.report_console()
    texts = decisions.texts_of(view.selected)
    what = things(len(texts), "text") if texts else things(len(view.selected), "event")
    cost = decisions.most_text(plan.cost)
    print_line(
        console, f"would decide: {', '.join(names)} on {what}, {things(count, 'decision')}, {cost}; nothing stored"
    )
    decisions.print_cost(console, plan.cost)
    decisions.print_requests(console, plan.asked)
    if plan.cohort is not None:
        decisions.print_cohort(console, plan.cohort)
    console.print()
    decisions.print_selection(console, view, most=None if every else 0)
