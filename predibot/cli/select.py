"""`predibot select`: which events a run would play, and why not the others."""

from predibot.cli import options, output


def select(
    recipe: options.Recipe = None,
    venue: options.Venue = None,
    as_of: options.AsOf = None,
    events: options.Events = None,
    event: options.EventId = None,
    min_volume_24h: options.MinVolume = None,
    min_hours_left: options.MinHoursLeft = None,
    max_markets: options.MaxMarkets = None,
    all_passed_over: options.AllPassedOver = False,
    json: options.Json = False,
    verbose: options.Verbose = False,
) -> None:
    """Read the venue's list and apply the recipe's rules; nothing is stored."""
    from predibot.jobs.deciding.open_run import RunRequest
    from predibot.jobs.requested_recipe import asked_recipe
    from predibot.reports.commands.plan import select_as_asked
    from predibot.reports.terminal.terminal import print_selection

    caller = output.caller(verbose=verbose)
    overrides = options.overrides(events, min_volume_24h, min_hours_left, max_markets)
    asked = asked_recipe(recipe, overrides=overrides)
    output.say(f"recipe: {asked.label}")
    request = RunRequest(asked.recipe, asked.digest, event_id=event)
    view = select_as_asked(request, caller, venue=venue, as_of=as_of)
    if json:
        output.print_document(view.document())
    else:
        print_selection(output.report_console(), view, every=all_passed_over)
