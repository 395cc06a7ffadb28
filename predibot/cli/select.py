"""`predibot select`: which events a run would play, and why not the others."""

from predibot.cli import options, output


def select(
    recipe: options.Recipe = None,
    venue: options.Venue = None,
    as_of: options.AsOf = None,
    events: options.Events = None,
    event: options.EventId = None,
    *,
    limits: options.Limits,
    all_passed_over: options.AllPassedOver = False,
    json: options.Json = False,
    verbose: options.Verbose = False,
) -> None:
    """Read the venue's list and apply the recipe's rules; nothing is stored."""
    from predibot.api.plan import select as select_events
    from predibot.jobs.deciding.open_run import RunRequest
    from predibot.jobs.requested_recipe import asked_recipe
    from predibot.reports.terminal.terminal import print_selection

    caller = output.caller(verbose=verbose)
    asked = asked_recipe(recipe, overrides=limits.with_events(events))
    output.say(f"recipe: {asked.label}")
    request = RunRequest(asked.recipe, asked.digest, event_id=event)
    view = select_events(request, caller, venue=venue, as_of=as_of)
    if json:
        output.print_document(view.document())
    else:
        print_selection(output.report_console(), view, every=all_passed_over)
