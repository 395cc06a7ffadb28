"""`predibot evaluate`: how good the bots were, against the market, as of an instant."""

from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import typer

from predibot.cli import options, output
from predibot.cli.command import Command

if TYPE_CHECKING:
    from predibot.config import Settings
    from predibot.contracts import ProgressListener
    from predibot.ledger.store import Store
    from predibot.scoring.evaluation.evaluation import Question
    from predibot.scoring.metrics.conventions import Convention


def register(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command(
        "evaluate",
        cls=Command,
        help="rank the bots beside the price, with verdicts and intervals",
    )(evaluate)


def evaluate(
    recipe: Annotated[
        str | None, typer.Argument(metavar="RECIPE", help="only runs of this recipe; left out: all runs")
    ] = None,
    venue: options.LookBackVenue = None,
    as_of: options.AsOf = None,
    bots: options.Bots = None,
    horizons: Annotated[
        str, typer.Option("--horizons", metavar="DAYS", help="days after the decision, comma-separated")
    ] = "1,2,7",
    by: Annotated[
        str, typer.Option("--by", metavar="PART", help="bot, event, category, month, lead_time or confidence")
    ] = "bot",
    delay: Annotated[
        str | None,
        typer.Option("--delay", metavar="DAYS", help="what decisions would have earned so many days late: 1,2,4,8,16"),
    ] = None,
    sizing: Annotated[
        str | None,
        typer.Option("--sizing", metavar="RULES", help="bet the forecasts again: flat, kelly, half_kelly"),
    ] = None,
    convention: options.Convention = "predibot",
    resamples: options.Resamples = 10_000,
    seed: options.Seed = 0,
    no_track: Annotated[bool, typer.Option("--no-track", help="use what is stored, ask the venue nothing")] = False,
    ledger: options.Ledger = None,
    full: options.Full = False,
    table: options.Table = None,
    worst: options.Worst = None,
    every: options.AllRows = False,
    json: options.Json = False,
    csv: options.Csv = False,
    verbose: options.Verbose = False,
) -> None:
    """Track first, then score what was known as of the instant."""
    from predibot.jobs.evaluate import evaluate as evaluate_all
    from predibot.jobs.evaluate import specs_of_ledger
    from predibot.jobs.open_venue import look_back_at, venue_name
    from predibot.jobs.requested_recipe import asked_about
    from predibot.ledger.store import Store
    from predibot.ledger.url import DEFAULT_LEDGER
    from predibot.ledger.write.runs import list_runs

    output.set_up_logs(verbose=verbose)
    output.one_format(json=json, csv=csv, worst=worst)
    settings = None if no_track else _settings()
    bot_names = options.names(bots)
    shown = options.shown(full=full, table=table, every=every)
    asked = _question(horizons, by, delay, sizing, options.convention_of(convention), resamples, seed)
    asked = output.question_for(asked, shown, json=json, csv=csv)
    address = ledger or DEFAULT_LEDGER
    with (
        Store.open_to_read(address) if no_track else Store.open(address, create=False) as store,
        output.progress(verbose=verbose) as listener,
    ):
        output.say(f"ledger: {store.address}")
        specs = specs_of_ledger(store, venue)
        spec = specs[-1]
        name = None
        if recipe is not None or bot_names:
            with store.read() as connection:
                name = asked_about(recipe, bot_names, list_runs(connection))
        if name is not None:
            output.say(f"recipe: {name}")
        at = look_back_at(spec, as_of, options.wall_clock)
        remarks: tuple[str, ...] = ()
        if settings is not None:
            remarks = tuple(
                note for each in specs for note in _track(store, each, at, settings, listener, own_runs=venue is None)
            )
            # Quotes that were taken just now count too.
            at = look_back_at(spec, as_of, options.wall_clock)
        found = evaluate_all(
            store=store, venue_name=venue_name(spec), as_of=at, recipe=name, bots=bot_names, question=asked
        )
        lost = output.worst_of(found, store, venue_name(spec), worst, recipe=name, bots=bot_names)
    with store.rows_blamed():
        output.print_evaluation(replace(found, remarks=remarks), json=json, csv=csv, shown=shown, worst=lost)


def _question(
    horizons: str,
    by: str,
    delay: str | None,
    sizing: str | None,
    convention: "Convention",
    resamples: int,
    seed: int,
) -> "Question":
    from predibot.scoring.evaluation.evaluation import PARTINGS, Question
    from predibot.scoring.inference.uncertainty import Uncertainty
    from predibot.scoring.records.sizing import SIZINGS

    rules = options.names(sizing, "--sizing kelly,half_kelly")
    return Question(
        horizons_days=_days("--horizons", horizons),
        convention=convention,
        uncertainty=Uncertainty(seed=seed, resamples=resamples),
        grouping=None if by == "bot" else options.one_of("--by", by, ("bot", *PARTINGS)),
        delays_days=() if delay is None else _days("--delay", delay),
        sizings=tuple(options.one_of("--sizing", rule, tuple(SIZINGS)) for rule in rules),
    )


def _settings() -> "Settings":
    from predibot.config import load_settings

    return load_settings()


def _track(
    store: "Store", spec: str, at: datetime, settings: "Settings", listener: "ProgressListener", *, own_runs: bool
) -> tuple[str, ...]:
    """Track as of the instant; a venue out of reach is a note, because what is stored can still be scored."""
    from predibot.errors import VenueUnavailable
    from predibot.jobs.open_venue import ArchiveMissing, open_venue
    from predibot.jobs.track import track

    try:
        with open_venue(spec, settings, as_of=at, purpose="look_back", clock=options.wall_clock) as opened:
            return track(store=store, opened=opened, settings=settings, listener=listener, own_runs=own_runs).notes
    except (ArchiveMissing, VenueUnavailable) as error:
        return (f"the venue could not be reached, so this is what was stored before: {error}",)


def _days(option: str, text: str) -> tuple[float, ...]:
    try:
        days = tuple(dict.fromkeys(float(part) for part in text.split(",") if part.strip()))
    except ValueError:
        days = ()
    if not days or any(not 0 < day <= 3650 for day in days):
        raise typer.BadParameter(f"{text!r} is not a list of days; write {option} 1,2,7")
    return days
