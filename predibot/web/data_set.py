"""What programs read of a site: the data set of its ledger, and its feed as RSS, an item a run.

The data set is tables of numbers and names as Parquet, and a card that says what they hold. What is in it is listed in
the card, `data_set.md`, column by column, so that nothing gets in unseen: no text of pages, news or comments, no
rationale, no address of a folder. Ids of comments are hashed with a key of the user, as they lead to people.
"""

import hashlib
import re
import secrets
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from email.utils import format_datetime
from functools import cache, partial
from io import BytesIO
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

from predibot.domain.untrusted_text import one_line, xml_text
from predibot.jobs.export import write_parquet
from predibot.ledger.read.export import export_batches, export_columns
from predibot.ledger.read.rows_for_python import LedgerForecast, LedgerRun
from predibot.ledger.store import Store
from predibot.plain_file import plain_bytes, plain_text
from predibot.reports import figures
from predibot.rows import grouped
from predibot.version import __version__
from predibot.web.rendering import line
from predibot.whole_file import lock_folder, whole_file

CARD = "README.md"
_OF_PEOPLE = ("comment", "window")
"""Kinds of subjects whose ids lead to people."""
_KEY_BYTES = 32

_HEAD, *_SECTIONS = re.split(r"^(?=## )", plain_text(Path(__file__).with_name("data_set.md")), flags=re.M)
_TABLES = {each.partition("[")[2].partition(".")[0]: each for each in _SECTIONS}
"""By name of the file: its section of the card, which says what a row is and lists its columns."""
FILE_NAMES = (*(f"{name}.parquet" for name in _TABLES), CARD)
_EXPORTED = {"prices": "observations"}
"""Tables that have another name in an export."""


@dataclass(frozen=True, slots=True)
class DataFile:
    """A file of the data set."""

    name: str
    content: bytes
    rows: int


def data_files(store: Store, licence: str, key_file: Path | None) -> Iterator[DataFile]:
    """Yield a Parquet file for each table with rows, then the card.

    Args:
        licence: On which terms the user gives it away, in their own words; empty if they do not say.
        key_file: The key that ids of comments are hashed with, which is made where it is missing; without a file
            each call has a key of its own.
    """
    found = []
    key = cache(partial(_read_key, key_file))
    for name, section in _TABLES.items():
        named = re.findall(r"^\| `(\w+)` \|", section, re.M)
        table = _EXPORTED.get(name, name)
        columns = export_columns(table)
        hashed = [place for place, column in enumerate(named) if column in ("subject_id", "item_id")]
        kind = named.index("subject_kind") if hashed else None
        with store.read() as connection, store.blame_rows():
            batches = export_batches(connection, table, tuple(named))
            if kind is not None:
                batches = (_hash_ids(each, kind, hashed, key) for each in batches)
            file = BytesIO()
            count = write_parquet(file, {column: columns[column] for column in named}, batches)
        if count:
            found.append(DataFile(f"{name}.parquet", file.getvalue(), count))
    yield from found
    yield DataFile(CARD, _card(found, licence).encode(), 0)


def _hash_ids(
    batch: list[Sequence[Any]], kind_place: int, places: Sequence[int], key: Callable[[], bytes]
) -> list[Sequence[Any]]:
    """Return columns with the ids of people in those at some places hashed."""
    if {*batch[kind_place]}.isdisjoint(_OF_PEOPLE):
        return batch
    hashed = {
        place: [
            hashlib.blake2b(str(id).encode(), key=key(), digest_size=16).hexdigest() if kind in _OF_PEOPLE else id
            for id, kind in zip(batch[place], batch[kind_place], strict=True)
        ]
        for place in places
    }
    return [hashed.get(place, column) for place, column in enumerate(batch)]


def _read_key(file: Path | None) -> bytes:
    """Return the key in a file, which is made where it is missing or no key."""
    key = secrets.token_bytes(_KEY_BYTES)
    if file is None:
        return key
    file.parent.mkdir(parents=True, exist_ok=True)
    # Two calls at once that make it get one and the same.
    with lock_folder(file.parent):
        with suppress(OSError):
            found = plain_bytes(file)
            if len(found) == _KEY_BYTES:
                return found
        with whole_file(file) as stream:
            Path(stream.name).chmod(0o600)
            stream.write(key)
    return key


def _card(found: Collection[DataFile], licence: str) -> str:
    names = {each.name.partition(".")[0]: each for each in found}
    head = _HEAD.format(
        configs="\n".join(f"- config_name: {name}\n  data_files: {each.name}" for name, each in names.items()),
        licence=one_line(licence)[:500] or "not stated; ask who publishes it",
        version=__version__,
    )
    sections = (
        _TABLES[name].format(counts=f"{each.rows:,} rows, {len(each.content):,} bytes.") for name, each in names.items()
    )
    return "".join([head, *sections]).rstrip("\n") + "\n"


FEED = "feed.xml"
_MOST_ITEMS = 50
_MOST_LINES = 20
_MOST_BOTS = 12
_NOWHERE = "about:blank"
"""A channel of RSS has a link; this one leads nowhere, as nobody has said where the site will be found."""


@dataclass
class Feed:
    """The newest runs, and a line for each of their markets."""

    runs: Sequence[LedgerRun]
    """Newest first."""
    _lines: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    _markets: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        """Keep the newest runs that count."""
        self.runs = [run for run in self.runs if not run.void][:_MOST_ITEMS]
        self._keys = {run.run for run in self.runs}

    def add(self, forecasts: Iterable[LedgerForecast]) -> None:
        """Add what the bots forecast on an event."""
        found = grouped(((each.run, each.market_id), each) for each in forecasts if each.run in self._keys)
        for (run, _), rows in found.items():
            self._markets[run] += 1
            if len(self._lines[run]) < _MOST_LINES:
                said = [f"{line(each.bot)} {figures.probability(each.probability)}" for each in rows[:_MOST_BOTS]]
                more = [f"{len(rows) - _MOST_BOTS} more"] if len(rows) > _MOST_BOTS else []
                price = f"price {figures.probability(rows[0].price_yes)}"
                self._lines[run].append(f"{line(rows[0].question)} ({price}): {', '.join([*said, *more])}")

    def rss(self, address: str, page: str) -> bytes:
        """Return the feed; items link to `page` below the site's address, which ends with a slash; empty if unknown."""
        link = f"<link>{_xml(address + page)}</link>" if address else ""
        own = f'<atom:link href="{_xml(address + FEED)}" rel="self" type="application/rss+xml"/>' if address else ""
        return (
            '<?xml version="1.0" encoding="UTF-8"?>\n'
            '<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom"><channel><title>predibot</title>'
            f"<link>{_xml(address or _NOWHERE)}</link>{own}"
            "<description>What bots forecast, a run an item</description>\n"
            + "\n".join(self._item(run, link) for run in self.runs)
            + "\n</channel></rss>\n"
        ).encode()

    def _item(self, run: LedgerRun, link: str) -> str:
        lines = self._lines[run.run]
        left = self._markets[run.run] - len(lines)
        more = [f"and {figures.things(left, 'more market')}"] if left else []
        # Readers of RSS take a description for HTML.
        described = "".join(f"<p>{escape(each)}</p>" for each in (*lines, *more))
        counts = f"{figures.things(run.bots, 'bot')} on {figures.things(run.events, 'event')}"
        return (
            f"<item><title>{_xml(line(f'{run.recipe}, {figures.instant(run.slot_at)}: {counts}'))}</title>{link}"
            f'<guid isPermaLink="false">{_xml(line(run.run))}</guid><pubDate>{format_datetime(run.slot_at)}</pubDate>'
            f"<description>{_xml(described)}</description></item>"
        )


def _xml(text: str) -> str:
    return escape(xml_text(text), {'"': "&quot;", "'": "&apos;"})
