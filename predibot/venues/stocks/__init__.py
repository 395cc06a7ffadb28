"""Stocks: daily prices in a folder of CSV files as a venue, and the providers that they are recorded from."""

from pathlib import Path

from predibot.contracts import OpenVenue, Past, VenuePlugin, VenueRequest
from predibot.errors import VenueMissing
from predibot.venues.payloads import late_payloads

# Reading prices takes numpy, which only those wait for who play stocks.


def _folder(argument: str) -> Path:
    """Return where prices lie; the same folder is the same venue, however it is written and from wherever."""
    folder = Path(argument).expanduser().resolve()
    if not argument or not folder.is_dir():
        raise VenueMissing(f"there is no folder of stocks {folder}. Look at the path, or name another with --venue")
    return folder


def _open(asked: VenueRequest) -> OpenVenue:
    past = _past(asked)
    return past.open_at(asked.as_of or (past.last_at if asked.purpose == "decide" else asked.clock()))


def _past(asked: VenueRequest) -> Past:
    from predibot.venues.stocks.folder import read_folder
    from predibot.venues.stocks.past import StockPast

    return StockPast(asked.spec, read_folder(_folder(asked.argument)))


VENUE = VenuePlugin(
    _open,
    live=False,
    usage="stocks:FOLDER",
    needs_argument=True,
    check=lambda argument: str(_folder(argument)),
    past=_past,
    payloads=late_payloads("predibot.venues.stocks.past"),
    # Of the providers that folders are recorded from.
    urls=("tiingo_url", "alpha_vantage_url"),
)
