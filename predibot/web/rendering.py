"""Templates of pages: they show texts from outside as text, make addresses in one way, and stand in one frame."""

import re
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from functools import lru_cache, partial
from typing import Any
from urllib.parse import urlencode, urlsplit

from jinja2 import Environment, PackageLoader, StrictUndefined, pass_context
from jinja2.runtime import Context
from markupsafe import Markup, escape
from sqlalchemy import Connection, select

from predibot.domain.clock import format_instant
from predibot.domain.untrusted_text import one_line
from predibot.ledger.read.accounts.statement import names_of_accounts
from predibot.ledger.read.details.events import count_shown
from predibot.ledger.schema.tables import CohortRow
from predibot.ledger.schema.upsert import table_of
from predibot.ledger.write.slots import read_schedules
from predibot.plugins.venues import venue_or_defaults
from predibot.reports import figures
from predibot.reports.study import studies
from predibot.web.cache import LedgerCache, colours

_MOST_CHARACTERS = 600
_MOST_TEXT_CHARACTERS = 20_000
_MOST_ADDRESS_CHARACTERS = 2_000
_LEDE = re.compile(r'<p class="lede">(.*?)</p>', re.DOTALL)


def query_address(path: str, **asked: object) -> str:
    """Return the address of a page of the app."""
    return f"{path}?{urlencode({name: str(value) for name, value in asked.items()})}" if asked else path


class Templates:
    """The templates of the package.

    Args:
        address: Returns the address of the page at a path, such as `/bot`, with parameters by name, from the current
            page; empty if there is no such page.
        cache: The ledger, for the menu, the banner and the colours of bots.
        live: Whether a server answers: only then pages have forms and downloads.
    """

    def __init__(self, address: Callable[..., str], cache: LedgerCache, *, live: bool = True) -> None:
        """Set up Jinja; a template is read when it is used first."""
        self._environment = Environment(
            loader=PackageLoader("predibot.web"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            auto_reload=False,
        )

        # Its context makes Jinja call it on every page; without one it computes a constant address once for all.
        @pass_context
        def link(_page: Context, path: str, **asked: object) -> str:
            return address(path, **asked)

        # The pages of a site show one state of the ledger.
        keep: Callable[[Any], Any] = (lambda work: work) if live else lru_cache(maxsize=None)
        self._environment.filters.update(
            line=line,
            lines=lines,
            outside=outside,
            at=format_instant,
            link=link,
            lede=lede,
            across=across,
            down=down,
            colour=keep(cache.colour),
        )
        around = keep(self._render_around)
        self._environment.globals.update(
            figures=figures,
            a=anchor,
            instant=instant,
            live=live,
            known_bots=keep(cache.bots),
            menu=keep(partial(menu, cache)),
            banner=keep(partial(banner, cache)),
            # The address of home tells how far up the addresses of a page begin.
            around=lambda template, path, ledger: around(template, path, ledger, address("/")),
        )

    def _render_around(self, template: str, path: str, ledger: str, _home: str) -> Markup:
        return Markup(self._environment.get_template(template).render(path=path, ledger=ledger))

    def render(
        self, template: str, shown: Mapping[str, Any], *, path: str, asked: Mapping[str, str], ledger: str
    ) -> str:
        """Return a page as HTML; the menu marks its `path`, and `ledger` says where the numbers come from.

        `asked` are the parameters of its address, which links to its files keep.
        """
        return self._environment.get_template(f"{template}.html").render(path=path, query=asked, ledger=ledger, **shown)


def line(text: object) -> str:
    """Return a text of others as one harmless line of bounded length."""
    shown = one_line(str(text)[: 4 * _MOST_CHARACTERS])
    return shown if len(shown) <= _MOST_CHARACTERS else f"{shown[:_MOST_CHARACTERS]}…"


def lines(text: object) -> str:
    """Return a text of others as harmless lines of bounded length."""
    whole = str(text)
    left = len(whole) - _MOST_TEXT_CHARACTERS
    shown = "\n".join(one_line(each) for each in whole[:_MOST_TEXT_CHARACTERS].splitlines())
    return f"{shown}… ({left:,} more characters)" if left > 0 else shown


def anchor(address: str, text: object) -> Markup:
    """Return a text as a link; without an address as text."""
    return Markup(f'<a href="{escape(address)}">{escape(text)}</a>') if address else escape(text)


def instant(at: datetime) -> Markup:
    """Return an instant as HTML, to the second."""
    whole = at.replace(microsecond=0)
    return Markup(f'<time datetime="{whole.isoformat()}">{format_instant(whole)}</time>')


def across(x: float) -> str:
    """Return a place on a chart of 960 by 320 as a share of its width."""
    return f"{round(x / 9.6, 2)}%"


def down(y: float) -> str:
    """Return a place on a chart of 960 by 320 as a share of its height."""
    return f"{round(y / 3.2, 2)}%"


def lede(html: Markup) -> str:
    """Return the sentence that a page begins with, as text of bounded length; empty if it has none."""
    found = _LEDE.search(html)
    return line(Markup(found[1]).striptags()) if found else ""


def outside(address: object) -> str:
    """Return an address of others that a page may link to: of HTTP, whole, of harmless characters; else no text.

    Examples:
        >>> outside("https://news.example/a?b=1")
        'https://news.example/a?b=1'
        >>> outside("javascript:alert(1)")
        ''
    """
    text = str(address)
    if len(text) > _MOST_ADDRESS_CHARACTERS or not text.isascii() or not text.isprintable() or " " in text:
        return ""
    try:
        found = urlsplit(text)
    except ValueError:
        return ""
    return text if found.scheme in ("http", "https") and found.hostname and "@" not in found.netloc else ""


_STALE = timedelta(days=8)
"""The data of a weekly schedule that missed no slot is never older."""
_cohorts = table_of(CohortRow)


def menu(cache: LedgerCache) -> dict[str, list[tuple[str, str]]]:
    """Return address and name of each page that a ledger has something for: `main` at the top, `more` at the foot."""
    runs = cache.runs()
    on_events = len(cache.bots("event"))
    with_runs = {run.venue_name for run in runs}
    main = (
        (True, "/", "Leaderboard"),
        (bool(runs), "/decisions", "Decisions"),
        (on_events > 0, "/events", "Events"),
        (on_events > 1, "/compare", "Compare"),
        (bool(cache.read(names_of_accounts)), "/accounts", "Accounts"),
        (cache.read(_has_cohorts), "/cohorts", "Cohorts"),
        *((each.data_set in with_runs, f"/{each.data_set}", each.menu) for each in studies().values() if each.menu),
        (bool(runs) or bool(cache.read(read_schedules)), "/status", "Status"),
        (True, "/methods", "How it is scored"),
    )
    more = (
        (bool(runs), "/today", "Today"),
        (on_events > 0, "/calibration", "Calibration"),
        (bool(cache.read(colours)), "/curves", "Over time"),
        (cache.read(count_shown) > 0, "/news", "News"),
        (on_events > 0, "/graph", "Related events"),
        (bool(runs), "/runs", "Runs"),
    )
    entries = {"main": main, "more": more}
    return {place: [(address, name) for is_there, address, name in of if is_there] for place, of in entries.items()}


def banner(cache: LedgerCache) -> str:
    """Return what a reader must know before any number: that the world is invented or past, or how old the data is."""
    counted = [run for run in cache.runs() if not run.void]
    if not counted:
        return ""
    newest = max(counted, key=lambda run: run.slot_at)
    venue = venue_or_defaults(newest.venue)
    if venue.invented:
        return "A simulated world: events, prices and news are invented."
    if not venue.live:
        return "A replay: the bots decided on the past, as of each day shown."
    age = cache.clock() - newest.as_of
    return f"Not up to date: the newest run is {age.days} days old." if age > _STALE else ""


def _has_cohorts(connection: Connection) -> bool:
    return connection.execute(select(_cohorts.c.id).limit(1)).first() is not None
