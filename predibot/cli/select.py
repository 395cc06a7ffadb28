"""`predibot select`: which events a run would play, and why not the others."""

from dataclasses import replace

from predibot.cli import options, output


def select(
    recipe: options.Recipe = None,
    venue: options.Venue = None,
    as_of: options.AsOf = None,
    events: options.Events = None,
    event: options.EventId = None,
    *,
    limits: options.SelectionOptions,
    all_passed_over: options.AllPassedOver = False,
    json: options.Json = False,
    verbose: options.Verbose = False,
) -> None:
    """Read the venue's list and apply the recipe's rules; nothing is stored."""
    from predibot.api.decide import select as select_events
    from predibot.jobs.deciding.open_run import RunRequest
    from predibot.reports.terminal.decisions import SHOWN_PASSED_OVER, print_selection
    from predibot.reports.views.decide import SelectionView

    caller = output.caller(verbose=verbose)
    request = RunRequest.read(recipe, limits.overrides(events))
    output.say(f"recipe: {request.recipe.source}")
    view = select_events(replace(request, event_id=event), caller, venue=venue, as_of=as_of)
    most = None if all_passed_over else SHOWN_PASSED_OVER
    output.print_found(view, SelectionView.document, print_selection, json=json, most=most)
