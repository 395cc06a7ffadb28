"""A folder of daily prices as a past: read once for all instants, and cut off at one of them."""

import csv
import tempfile
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from predibot.contracts import Loopback, OpenVenue
from predibot.domain.clock import format_instant
from predibot.errors import UsageError
from predibot.plain_file import open_plain, plain_bytes
from predibot.sandbox.stocks.folder import SIMULATED_FILE
from predibot.venues.stocks.folder import SECTORS_FILE, StockFolder, closed_at, read_folder
from predibot.venues.stocks.reader import NAME, StockVenue
from predibot.venues.stocks.recording import ACTIONS_FILE, MAX_TABLE_BYTES

if TYPE_CHECKING:
    from predibot.sandbox.world.world import World

DECIDED_AFTER = timedelta(minutes=5)
"""Behind the close, where nobody names an instant."""


@dataclass(frozen=True, slots=True)
class StockPast:
    """A folder of stocks: it answers each instant as of then."""

    spec: str
    prices: StockFolder
    venue_name: ClassVar = NAME
    _worlds: "list[World]" = field(default_factory=list, repr=False, compare=False)
    """The simulated one that the prices are of, once somebody asked for it."""

    @property
    def scripted_models(self) -> str:
        """Return how the names of models begin that are scripts of a simulated world; none has other prices."""
        return "" if self.prices.seed is None else "sandbox/"

    @property
    def folder(self) -> Path:
        """Return where the prices lie."""
        return self.prices.path

    @property
    def first_at(self) -> datetime:
        """Return five minutes after the first close."""
        return self.prices.instant(0) + DECIDED_AFTER

    @property
    def last_at(self) -> datetime:
        """Return five minutes after the last close."""
        return self.prices.instant(-1) + DECIDED_AFTER

    def known_until(self) -> datetime:
        """Return the instant of the last close."""
        return self.last_at

    def check(self, instant: datetime) -> None:
        """Refuse an instant before the first close."""
        if instant < self.prices.instant(0):
            raise UsageError(
                f"{self.folder} has no close at or before {format_instant(instant)}; "
                f"its first is of {format_instant(self.prices.instant(0))}"
            )

    def is_session(self, instant: datetime) -> bool:
        """Return whether the UTC date of an instant is a trading day."""
        day = np.datetime64(instant.astimezone(UTC).date(), "D")
        return bool(np.isin(day, self.prices.days))

    def open_at(self, instant: datetime) -> OpenVenue:
        """Return the stocks as of an instant."""
        if self.prices.seed is not None and not self._worlds:
            self._worlds.append(_world(self.prices.seed, None))
        closing = ExitStack()
        loopback = _news_and_forecasters(self._worlds[0], instant, closing) if self._worlds else None
        return OpenVenue(self.spec, StockVenue(self.prices), instant, closing, loopback)

    def cut_at(self, instant: datetime) -> OpenVenue:
        """Return a copy of the folder in a temporary one, without anything later."""
        with ExitStack() as closing:
            folder = Path(closing.enter_context(tempfile.TemporaryDirectory(prefix="predibot-cut-"))).resolve()
            write_cut(self.folder, folder, instant)
            seed = self.prices.seed
            loopback = None if seed is None else _news_and_forecasters(_world(seed, instant), instant, closing)
            venue = StockVenue(read_folder(folder))
            return OpenVenue(f"{NAME}:{folder}", venue, instant, closing.pop_all(), loopback)


def _world(seed: int, altered_after: datetime | None) -> "World":
    """Return the world of simulated stocks, which goes on in another way after an instant where one is named."""
    from predibot.sandbox.world.world import World

    return World.from_seed(seed, events=1, altered_after=altered_after)


def _news_and_forecasters(world: "World", instant: datetime, closing: ExitStack) -> Loopback:
    """Return where the news of simulated stocks are found, and their scripted forecasters, as of an instant."""
    from predibot.sandbox.server.server import SandboxServer

    server = closing.enter_context(SandboxServer(world, now=instant))
    return Loopback(server.search_url, server.chat_url, server.address)


def write_cut(folder: Path, into: Path, instant: datetime) -> None:
    """Write a folder without the rows of dates whose close is not known by an instant, and without adjusted closes.

    Those contain later splits and dividends; a sentence that rests on them is not repeated either.

    Raises:
        UsageError: If it cannot be written.
    """
    try:
        for path in sorted((*folder.glob("*.csv"), *folder.glob(SIMULATED_FILE))):
            if path.name in (SECTORS_FILE, SIMULATED_FILE):
                (into / path.name).write_bytes(plain_bytes(path, MAX_TABLE_BYTES))
                continue
            with (
                TextIOWrapper(open_plain(path, MAX_TABLE_BYTES), encoding="utf-8-sig", newline="") as file,
                (into / path.name).open("w", newline="") as copy,
            ):
                head = [name.strip() for name in next(csv.reader([file.readline()]), [])]
                rows = csv.DictReader(file, head)
                kept = [name for name in rows.fieldnames or () if name != "adjusted_close"]
                table = csv.DictWriter(copy, kept, extrasaction="ignore", lineterminator="\n")
                table.writeheader()
                table.writerows(row for row in rows if _is_known((row.get("date") or "").strip(), instant))
        if not (into / ACTIONS_FILE).exists():
            (into / ACTIONS_FILE).write_text("date,ticker,action,value\n")
    except (OSError, csv.Error) as error:
        raise UsageError(f"{into} cannot be written: {error}; make room there, or set TMPDIR") from error


def _is_known(text: str, instant: datetime) -> bool:
    try:
        return closed_at(date.fromisoformat(text)) <= instant
    except ValueError:
        return False
