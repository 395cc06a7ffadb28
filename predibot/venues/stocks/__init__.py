"""Stocks as a venue: daily prices in a folder of CSV files, and the providers to record them from."""

from pathlib import Path

from predibot.contracts import OpenVenue, Past, VenuePlugin, VenueRequest
from predibot.errors import VenueMissing
from predibot.venues.payloads import late_payloads

# Importing numpy takes time, so the readers are imported late.


def _price_folder(argument: str) -> Path:
    folder = Path(argument).expanduser().resolve()
    if not argument or not folder.is_dir():
        raise VenueMissing(f"there is no folder of stocks {folder}. Look at the path, or name another with --venue")
    return folder


def _open(request: VenueRequest) -> OpenVenue:
    past = _past(request)
    return past.open_at(request.as_of or (past.last_at if request.purpose == "decide" else request.clock()))


def _past(request: VenueRequest) -> Past:
    from predibot.venues.stocks.folder import read_folder
    from predibot.venues.stocks.past import StockPast

    return StockPast(request.spec, read_folder(_price_folder(request.argument)))


VENUE = VenuePlugin(
    _open,
    live=False,
    usage="stocks:FOLDER",
    needs_argument=True,
    check=lambda argument: str(_price_folder(argument)),
    past=_past,
    payloads=late_payloads("predibot.venues.stocks.past"),
    # The providers' addresses, for recording.
    urls=("tiingo_url", "alpha_vantage_url"),
)
