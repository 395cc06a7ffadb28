"""Stocks: daily prices in a folder of CSV files as a venue, and the providers that they are recorded from."""

from datetime import datetime
from pathlib import Path

from predibot.contracts import OpenVenue, Past, PayloadReader, VenuePlugin, VenueRequest
from predibot.domain.event import Event, Skip
from predibot.errors import VenueMissing

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


def _event(payload: object, read_at: datetime) -> tuple[Event | None, tuple[Skip, ...]]:
    from predibot.venues.stocks.reader import read_payload

    return read_payload(payload, read_at)


def _id(payload: object) -> str:
    return str(payload.get("ticker", "")) if isinstance(payload, dict) else ""


VENUE = VenuePlugin(
    _open,
    live=False,
    usage="stocks:FOLDER",
    needs_argument=True,
    check=lambda argument: str(_folder(argument)),
    past=_past,
    payloads=PayloadReader(_event, _id),
    # Of the providers that folders are recorded from.
    urls=("tiingo_url", "alpha_vantage_url"),
)
