"""`predibot record`: write an archive from a live venue."""

from pathlib import Path
from typing import Annotated

from predibot.cli import options, output
from predibot.cli.options import argument, option


def record(
    folder: Annotated[Path, argument("FOLDER", "the archive; made where it does not exist")],
    venue: Annotated[str | None, options.venue("that of a recipe that names none")] = None,
    as_of: options.AsOf = None,
    events: Annotated[int, option("--events", "N", "how many, most traded first; 0 for all", min=0)] = 100,
    days: Annotated[float, option("--days", "DAYS", "of price history, for markets that are new", min=0.0)] = 30.0,
    stocks: Annotated[
        str | None,
        option(
            "--stocks",
            "PROVIDER",
            "daily prices of stocks instead, from tiingo or alpha_vantage with a key, or from yfinance",
        ),
    ] = None,
    tickers: Annotated[str | None, option("--tickers", "A,B", "which stocks; left out: those of the folder")] = None,
    json: options.Json = False,
    *,
    log: options.Log,
) -> None:
    """Add a snapshot, later prices and resolutions to an archive, or daily prices to a folder of stocks."""
    from predibot.errors import UsageError
    from predibot.reports.figures import things
    from predibot.reports.table import document

    caller = output.caller(log)
    if stocks is None:
        from predibot.api.record import record as record_venue

        if tickers is not None:
            raise UsageError("--tickers goes with --stocks; add --stocks tiingo, or leave it out")
        report = record_venue(folder, caller, venue=venue, as_of=as_of, events=events, days=days)
        names = "events markets new_points=points new_resolutions=resolutions notes"
        shown, notes = {"snapshot": str(report.snapshot), **document(report, names)}, report.notes
        text = (
            f"{report.snapshot}: {things(report.events, 'event')}; {things(report.markets, 'market')} in the archive, "
            f"{things(report.points, 'new price')}, {things(report.resolutions, 'new resolution')}"
        )
    else:
        from predibot.api.record import record_stocks

        if venue is not None:
            raise UsageError("--stocks and --venue are two things to record; leave one out")
        chosen = [name.strip() for name in (tickers or "").split(",") if name.strip()]
        of_stocks = record_stocks(folder, caller, provider=stocks, tickers=chosen, as_of=as_of, days=days)
        names = "tickers new_rows=rows new_actions=actions notes"
        shown, notes = {"folder": str(folder), "provider": stocks, **document(of_stocks, names)}, of_stocks.notes
        text = (
            f"{folder}: {things(len(of_stocks.tickers), 'stock')}; "
            f"{things(of_stocks.rows, 'new daily price')}, {things(of_stocks.actions, 'new action')}"
        )
    output.print_either(shown, text, *(f"note: {each}" for each in notes), json=json)
