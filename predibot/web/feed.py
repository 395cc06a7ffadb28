"""The feed of a site as RSS: an item a run, with what its bots forecast."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from email.utils import format_datetime
from xml.sax.saxutils import escape

from predibot.domain.untrusted_text import xml_text
from predibot.ledger.read.rows_for_python import LedgerForecast, LedgerRun
from predibot.reports import figures
from predibot.rows import grouped
from predibot.web.rendering import line

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
