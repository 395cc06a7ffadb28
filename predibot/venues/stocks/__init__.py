"""Stocks as a venue: daily prices in a folder of CSV files, or live from the providers that it is recorded from."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from predibot.contracts import Assumption, OpenVenue, Past, VenuePlugin, VenueRequest, VenueSettings
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


def _open_live(request: VenueRequest) -> OpenVenue:
    from predibot.venues.stocks.live import open_live

    return open_live(request)


def _check_live(argument: str) -> str:
    from predibot.venues.stocks.live import check_live

    return check_live(argument)


def _assumptions(settings: VenueSettings) -> Iterator[Assumption]:
    from predibot.venues.stocks.assumptions import assumptions

    return assumptions(settings, lambda: datetime.now(UTC))


_USAGE = "stocks:live or stocks:FOLDER"
PAYLOADS = late_payloads("predibot.venues.stocks.past")
LIVE = VenuePlugin(
    _open_live,
    live=True,
    usage=_USAGE,
    check=_check_live,
    payloads=PAYLOADS,
    replayed_from="Replay its folder with --venue stocks:runs/out/stocks",
)
VENUE = VenuePlugin(
    _open,
    live=False,
    usage=_USAGE,
    needs_argument=True,
    check=lambda argument: str(_price_folder(argument)),
    past=_past,
    payloads=PAYLOADS,
    # The providers' addresses, for recording too.
    urls=("tiingo_url", "alpha_vantage_url"),
    assumptions=_assumptions,
    variants={"live": LIVE},
)
