"""`predibot evaluate`: how good the bots were, against the market, as of an instant."""

from typing import Annotated

import typer

from predibot.cli import options, output
from predibot.cli.options import flag, option


def evaluate(
    *,
    part: options.PartOptions,
    horizons: Annotated[str, option("--horizons", "DAYS", "days after the decision, comma-separated")] = "1,2,7",
    by: Annotated[str, option("--by", "PART", "bot, event, category, month, lead_time or confidence")] = "bot",
    delay: Annotated[
        str | None, option("--delay", "DAYS", "what decisions would have earned so many days late: 1,2,4,8,16")
    ] = None,
    sizing: Annotated[
        str | None, option("--sizing", "RULES", "bet the forecasts again: flat, kelly, half_kelly")
    ] = None,
    convention: options.Convention = "predibot",
    resamples: options.Resamples = 10_000,
    seed: options.Seed = 0,
    archived: options.Archived = False,
    clusters: options.Clusters = "event",
    no_track: Annotated[bool, flag("--no-track", "use what is stored, ask the venue nothing")] = False,
    ledger: options.Ledger = options.DEFAULT_LEDGER,
    tables: options.Tables,
    how: options.Output,
    log: options.Log,
) -> None:
    """Track first, then score what was known as of the instant."""
    from predibot.api.evaluate import evaluate as evaluate_part
    from predibot.domain.sizing import SIZINGS
    from predibot.scoring.evaluation.evaluation import PARTINGS, Question
    from predibot.scoring.inference.uncertainty import Uncertainty

    caller = output.caller(log)
    how.check(tables.worst, clusters)
    shown = tables.screen_options(every=how.every)
    rules = options.split_names(sizing, "--sizing kelly,half_kelly")
    asked = Question(
        horizons_days=_parse_days("--horizons", horizons),
        convention=options.parse_convention(convention),
        uncertainty=Uncertainty(seed=seed, resamples=resamples),
        grouping=None if by == "bot" else options.one_of("--by", by, ("bot", *PARTINGS)),
        delays_days=() if delay is None else _parse_days("--delay", delay),
        sizings=tuple(options.one_of("--sizing", rule, tuple(SIZINGS)) for rule in rules),
        archived=archived,
        clusters=options.parse_clusters(clusters),
    )
    question = output.question_for(asked, shown, how)
    scores = output.read_outside(tables)
    with evaluate_part(
        part.read(), question, caller, ledger=ledger, others=tables.beside or (), track=not no_track, worst=tables.worst
    ) as found:
        output.print_reports(found, how, shown, scores)


def _parse_days(option: str, text: str) -> tuple[float, ...]:
    try:
        days = tuple(dict.fromkeys(float(part) for part in text.split(",") if part.strip()))
    except ValueError:
        days = ()
    if not days or any(not 0 < day <= 3650 for day in days):
        raise typer.BadParameter(f"{text!r} is not a list of days; write {option} 1,2,7")
    return days
