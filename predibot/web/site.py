"""A static site: the same pages as files, which need no server and load nothing from elsewhere.

Unchanged pages are not made again.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, time, timedelta
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

from predibot.contracts import Progress, ProgressListener
from predibot.errors import PredibotError, UsageError
from predibot.ledger.cache import code_digest
from predibot.ledger.read.accounts.statement import names_of_accounts
from predibot.ledger.read.details.events import count_shown, list_shown_markets
from predibot.ledger.read.row_filter import RowFilter
from predibot.ledger.read.rows_for_python import LedgerDecision, select_decisions, select_events
from predibot.ledger.store import Store
from predibot.plain_file import plain_bytes
from predibot.reports import figures
from predibot.reports.pictures.card import MOST_BOTS, card_note, draw_card
from predibot.reports.study import studies
from predibot.reports.views.evaluation import csv_of, evaluation_document, evaluation_rows
from predibot.reports.views.leaderboard import leaderboard as rows_of_leaderboard
from predibot.reports.views.methods import chapters
from predibot.scoring.evaluation.evaluation import Question
from predibot.version import __version__
from predibot.web.data_set import CARD, FEED, FILE_NAMES, Feed, data_files
from predibot.web.pages import accounts, bots, decisions, events, leaderboard, records
from predibot.web.pages.page import PAGE, WebPage, message_page
from predibot.web.rendering import Templates, banner, line
from predibot.web.site_cache import SiteCache, rows_by_subject
from predibot.web.site_folder import SiteFolder, SiteSummary, digest_of
from predibot.web.turns import turn_starts

_SCORES_CSV, _SCORES_JSON = "data/scores.csv", "data/scores.json"
_ASSETS = ("style.css", "icon.svg", "page.js", "search.js")
_EVENTS_AT_ONCE = 50
_NOTHING = frozenset[tuple[str, str]]()
_DAYS = timedelta(days=30)
_NO_SLUG = re.compile(r"[^A-Za-z0-9]+")
_SLUG_CHARACTERS = 40


@dataclass(frozen=True, slots=True)
class SiteOptions:
    """What a site holds."""

    since: datetime | None = None
    """First slot of the decisions that have pages; None for the last thirty days of the ledger."""
    recipe: str = ""
    """Only its runs are scored; empty for all."""
    venue: str = ""
    """Venue of those runs; empty for that of the newest."""
    items: bool = False
    """Whether each item of a study has a page, with its id and text: people may have written it."""
    with_traces: bool = False
    """Whether pages show the steps of agents, and texts of pages that these read."""
    address: str = ""
    """Where the site will be found, with a slash at its end; empty if unknown."""
    cards: bool = False
    """Whether home and each bot have a picture, for other sites that show links; it needs matplotlib."""
    licence: str = ""
    """Terms of the data set, in the words of its user; empty if they do not say."""
    key_file: Path | None = None
    """The key for ids of people in the data set, as `data_files` takes it."""


def write_site(
    store: Store, folder: Path, options: SiteOptions, clock: Callable[[], datetime], listener: ProgressListener
) -> SiteSummary:
    """Write the pages of a ledger into a folder, created if missing; unchanged files are left alone.

    If a call is killed, every page is whole, and the next call goes on.

    Raises:
        UsageError: If the folder holds what is no site of predibot, another call writes it, or there is nothing to
            show.
        OSError: If it cannot be written.
    """
    with closing(SiteFolder.open(folder)) as opened:
        return _Site(store, opened, options, clock).write(listener)


class _SitePage(NamedTuple):
    """A page by its path and parameters, and the function that makes it."""

    path: str
    parameters: Mapping[str, str]
    make: Callable[[], WebPage]

    @property
    def key(self) -> tuple[str, frozenset[tuple[str, str]]]:
        """Return what no other page has."""
        return self.path, frozenset(self.parameters.items())


def _number_parts(path: str, total: int, make: Callable[..., WebPage], **asked: str) -> Iterator[_SitePage]:
    """Yield the parts of a list of `total` rows; the first part has no number."""
    for number in range(1, -(-total // PAGE) + 1):
        part = {"page_": str(number)} if number > 1 else {}
        yield _SitePage(path, {**asked, **part}, partial(make, page_=number))


class _Site:
    def __init__(self, store: Store, folder: SiteFolder, options: SiteOptions, clock: Callable[[], datetime]) -> None:
        at = clock()
        self._cache = SiteCache(store, lambda: at, traces=options.with_traces)
        self._folder, self._options = folder, options
        self._scored = leaderboard.PartTexts(options.recipe, options.venue)
        self._today = f"{at:%Y-%m-%d}"
        if not self._cache.runs():
            raise UsageError("no run is stored yet, so there is nothing to show; `predibot decide` makes the first")
        newest = max(run.slot_at for run in self._cache.runs())
        first = options.since or datetime.combine(newest - _DAYS, time(), UTC)
        self._since, self._first_day = first, first.date().isoformat()
        self._templates = Templates(self._address, self._cache, live=False)
        self._file_names: dict[tuple[str, frozenset[tuple[str, str]]], str] = {}
        """By path and parameters of the page."""
        self._current_file = ""
        self._code_digest = _digest_code()

    def write(self, listener: ProgressListener) -> SiteSummary:
        cache, options = self._cache, self._options
        code = [__version__, self._code_digest, self._first_day, asdict(options)]
        # Values as of now hold for a whole day, as long as nothing new is stored.
        key = digest_of(json.dumps([code, cache.version(), self._today], default=str).encode())
        if (unchanged := self._folder.unchanged(key)) is not None:
            return unchanged
        if all(run.void for run in cache.runs()):
            return self._take_down(key)
        # Items have pages of their own, with all bots on one.
        asked = RowFilter(since=self._since, items=False)
        with cache.store.read() as connection, cache.store.blame_rows():
            own = select_decisions(connection, asked)
        with figures.in_currency(cache.currency({"venue": options.venue})):
            general = self._name_pages(own)
        self._folder.begin(
            [*self._file_names.values(), *(f"data/{name}" for name in FILE_NAMES), *map(self._card_name, general)]
        )
        for page in general:
            self._write_page(page)
            listener(Progress("site", len(self._folder.digests), len(self._file_names), page.path))
        on_events = rows_by_subject(each for each in own if each.subject_kind == "event")
        ids, feed = list(on_events), Feed([run for run in cache.runs() if run.slot_at >= self._since])
        for first in range(0, len(ids), _EVENTS_AT_ONCE):
            cache.load_events(ids[first : first + _EVENTS_AT_ONCE], self._since)
            for id in ids[first : first + _EVENTS_AT_ONCE]:
                self._write_event(id, on_events[id], code)
                feed.add(cache.forecasts.get(id, ()))
            listener(Progress("site", len(self._folder.digests), len(self._file_names), "events and decisions"))
        cache.load_events(())
        for each in own:
            if each.subject_kind != "event":
                for page in self._pages_of(each):
                    self._write_page(page)
        self._write_page(_SitePage("/search", {}, lambda: WebPage("search", {})))
        self._folder.write("search-index.js", self._search_index())
        self._write_assets()
        self._folder.write(FEED, feed.rss(options.address, self._file_names["/runs", frozenset()]))
        self._write_data()
        if options.cards:
            self._write_cards(general, code)
        return self._folder.end(key)

    def _take_down(self, key: str) -> SiteSummary:
        """Leave one page that says why there are no others."""
        page = message_page("Nothing to show", "Every run of this ledger is void, so that no number is shown.")
        self._name_page("/", {})
        self._name_assets()
        self._folder.begin(self._file_names.values())
        self._write_page(_SitePage("/", {}, lambda: page))
        self._write_assets()
        return self._folder.end(key)

    def _name_assets(self) -> None:
        for name in _ASSETS:
            self._file_names[f"/static/{name}", frozenset()] = f"static/{name}"

    def _write_assets(self) -> None:
        for name in _ASSETS:
            self._folder.write(f"static/{name}", files("predibot.web").joinpath("static", name).read_bytes())

    def _name_pages(self, own: Sequence[LedgerDecision]) -> list[_SitePage]:
        """Give every page its file, and return those of no event and no decision."""
        cache, options, scores = self._cache, self._options, self._scored
        board = leaderboard.leaderboard_page(cache, scores)
        in_menu = [study for study in studies().values() if study.menu and study.runs(cache.store)]
        general = list[_SitePage]()

        def add(path: str, make: Callable[..., WebPage], **asked: str) -> None:
            general.append(_SitePage(path, asked, make))

        add("/", lambda: board)
        add("/calibration", partial(leaderboard.calibration_page, cache, scores))
        add("/curves", partial(leaderboard.curves_page, cache, **scores.parameters()))
        add("/graph", partial(events.graph_page, cache, options.venue))
        add("/status", partial(records.published_status_page, cache))
        add("/accounts", partial(records.accounts_page, cache))
        add("/cohorts", partial(records.cohorts_page, cache))
        for each_study in in_menu:
            add(f"/{each_study.data_set}", partial(records.study_page, each_study, cache, items=options.items))
        for chapter in ("", *(each.name for each in chapters())):
            add("/methods", partial(records.methods_page, cache, chapter), **({"chapter": chapter} if chapter else {}))
        if len(cache.bots("event")) > 1:
            compared = partial(leaderboard.compare_page, cache, recipe=options.recipe, venue=options.venue)
            add("/compare", compared)
            for one, other in leaderboard.pairs_of_the_first(cache, options.recipe, options.venue):
                add("/compare", partial(compared, one, other), one=one, other=other)
        if board.shown.get("several_venues"):
            add("/side-by-side", partial(leaderboard.side_by_side_page, cache, options.recipe))
        for name in board.shown.get("tables", ()):
            if (table := leaderboard.table_page(cache, name, scores)).shown["grids"]:
                add(f"/tables/{name}", lambda table=table: table)
        for path, parts, make in (
            ("/decisions", len(own), partial(decisions.decisions_page, cache, since=self._first_day, items=False)),
            ("/events", len(cache.read(select_events)), partial(events.events_page, cache)),
            (
                "/news",
                cache.read(count_shown, "", self._since),
                partial(events.news_page, cache, since=self._first_day),
            ),
            ("/runs", len(cache.runs()), partial(records.runs_page, cache)),
        ):
            # An empty list has a page too.
            general += _number_parts(path, max(1, parts), make)
        for each_market in cache.read(list_shown_markets, self._since):
            id = each_market.market_id
            general += _number_parts(
                "/news", each_market.shown, partial(events.news_page, cache, id, self._first_day), market=id
            )
        for name in cache.bots():
            add("/bot", partial(bots.bot_page, cache, name, options.venue, options.items), name=name)
        for name in dict.fromkeys(cache.store.run_read(names_of_accounts)):
            add("/account", partial(accounts.account_page, cache, name), bot=name)
        for week in records.cohorts_page(cache).shown["weeks"]:
            add("/cohort", partial(accounts.cohort_page, cache, week), week=week)
        for each_study in in_menu:
            for key in each_study.runs(cache.store):
                add(
                    f"/{each_study.data_set}",
                    partial(records.study_page, each_study, cache, key, options.items),
                    run=key,
                )
        if options.items:
            general += self._pages_of_items()
        for page in general:
            self._name_page(page.path, page.parameters)
        for each in own:
            for page in self._pages_of(each):
                self._name_page(page.path, page.parameters)
            if each.subject_kind == "event":
                self._name_page("/event", {"id": each.subject_id})
        self._name_page("/search", {})
        self._name_assets()
        for name in ("search-index.js", FEED, _SCORES_CSV, _SCORES_JSON, f"data/{CARD}"):
            self._file_names[f"/{name}", frozenset()] = name
        return general

    def _pages_of_items(self) -> Iterator[_SitePage]:
        """Yield the lists of the items of each run of a study, and then a page for each item."""
        cache = self._cache
        runs = [run for run in cache.runs() if run.slot_at >= self._since]
        shown = [(run.run, ids) for run in runs if not run.void for ids in [records.item_ids(cache, run.run)]]
        for key, ids in shown:
            yield from _number_parts("/items", len(ids), partial(records.items_page, cache, key), run=key)
        for key, ids in shown:
            for id in ids:
                yield _SitePage("/item", {"run": key, "subject": id}, partial(records.item_page, cache, key, id))

    def _name_page(self, path: str, asked: Mapping[str, str]) -> None:
        kind = path.strip("/") or "index"
        if not asked:
            self._file_names[path, frozenset()] = f"{kind}.html"
            return
        # Names of others become letters and digits in a file's name, and the digest keeps them apart.
        said = _NO_SLUG.sub("-", asked.get("subject") or next(iter(asked.values()))).strip("-")[:_SLUG_CHARACTERS]
        whole = digest_of(json.dumps([path, sorted(asked.items())]).encode())[:20]
        self._file_names[path, frozenset(asked.items())] = f"{kind}/{said}-{whole}.html".replace("/-", "/")

    def _address(self, path: str, **asked: object) -> str:
        """Return the relative address of a page from the current one; empty if the site has no such page."""
        up = "../" * self._current_file.count("/")
        if not asked:
            # Most addresses of a page are those of its menu.
            return up + found if (found := self._file_names.get((path, _NOTHING))) else ""
        kept = {name: str(value) for name, value in asked.items()}
        # What every page of the site has in common is in none of their names.
        common = {
            "since": self._first_day,
            "recipe": self._options.recipe,
            "venue": self._options.venue,
            "items": "false",
            "page_": "1",
        }
        found = self._file_names.get((path, frozenset(kept.items() - common.items())))
        return up + found if found else ""

    def _write_page(self, page: _SitePage) -> None:
        self._current_file = self._file_names[page.key]
        with figures.in_currency(self._cache.currency({"venue": self._options.venue, **page.parameters})):
            shown = page.make()
            footer = f"predibot {__version__}, written {self._today}"
            root = self._options.address or "../" * self._current_file.count("/")
            card = self._card_name(page) if self._options.cards and shown.template != "message" else ""
            social = {"url": self._options.address and root + self._current_file, "image": card and root + card}
            text = self._templates.render(
                shown.template, {**shown.shown, "social": social}, path=page.path, asked=page.parameters, ledger=footer
            )
        self._folder.write(self._current_file, text.encode("utf-8", "replace"))

    def _pages_of(self, decision: LedgerDecision) -> "list[_SitePage]":
        """Return the page of a decision; with traces also those of its further steps and its sources."""
        cache = self._cache
        run, bot, subject = decision.run, decision.bot, decision.subject_id
        asked = {"run": run, "bot": bot, "subject": subject}
        make = partial(decisions.decision_page, cache, run, bot, subject)
        found = [_SitePage("/decision", asked, make)]
        if not cache.traces or decision.trace_sha256 is None:
            return found
        try:
            trace = cache.trace_lines(decision.trace_sha256)
            turns, steps = len(turn_starts(trace)), len(trace)
        except PredibotError:
            # Its page says why.
            turns = steps = 0
        parts = {"turn": range(cache.steps_a_page, turns, cache.steps_a_page)}
        parts["step"] = range(1, steps + 1, cache.steps_a_page)
        for name, numbers in parts.items():
            for number in numbers:
                found.append(_SitePage("/decision", {**asked, name: str(number)}, partial(make, **{name: number})))
        for each in cache.details(run, bot, subject).sources:
            of_source = {**asked, "number": str(each.number)}
            found.append(
                _SitePage("/source", of_source, partial(decisions.source_page, cache, run, bot, subject, each.number))
            )
        return found

    def _write_event(self, id: str, own: Sequence[LedgerDecision], code: object) -> None:
        """Write the page of an event and those of its decisions, if anything they show has changed."""
        cache = self._cache
        pages = [_SitePage("/event", {"id": id}, partial(events.event_page, cache, id))]
        pages += [page for each in own for page in self._pages_of(each)]
        names = [self._file_names[page.key] for page in pages]
        made_of = [
            code,
            names,
            cache.decisions[id],
            cache.forecasts.get(id),
            cache.prices(id),
            cache.revisions(id),
            events.events_sharing_labels(cache, id),
            events.related_edges(cache, id, own[0].run),
        ]

        def make() -> None:
            for page in pages:
                self._write_page(page)

        self._folder.write_group(id, made_of, names, make)

    def _card_name(self, page: _SitePage) -> str:
        """Return the file of the card of a page: a bot has its own, all others share that of home."""
        name = self._file_names[page.key] if page.path == "/bot" else "index.html"
        return f"card/{name.rpartition('/')[2].removesuffix('.html')}.png"

    def _write_cards(self, pages: Sequence[_SitePage], code: object) -> None:
        """Draw the cards of home and of each bot, unless they would be the same."""
        scores = self._scored.evaluation(self._cache, Question(wanted=leaderboard.TABLES_ASK))
        rows = [row for ranking in scores.rankings.values() for row in rows_of_leaderboard(ranking)]
        for page in pages:
            if page.path == "/bot":
                title = line(page.parameters["name"])
                own = [row for row in rows if row.bot == page.parameters["name"]][:1]
                note = "; ".join(card_note(row) for row in own)
            elif page.path == "/":
                title, own = "Who forecasts better than the price?", rows[:MOST_BOTS]
                days = len({run.slot_at.date() for run in self._cache.runs() if not run.void})
                bots = len([row for row in rows if not row.baseline])
                said = f"{figures.things(bots, 'bot')} beside the market's price, {figures.things(days, 'day')}"
                note = ": ".join(filter(None, (banner(self._cache).partition(":")[0], said)))
            else:
                continue
            name = self._card_name(page)
            drawn = [(row.bot, row.edge_low, row.edge, row.edge_high, row.verdict.finding, row.curve) for row in own]

            def make(name: str = name, title: str = title, note: str = note, own: Any = own) -> None:
                self._folder.write(name, draw_card(title, note, own))

            self._folder.write_group(name, (code, title, note, drawn), [name], make)

    def _write_data(self) -> None:
        """Write the scores as CSV and JSON, and the data set."""
        options, cache = self._options, self._cache
        scores = self._scored.evaluation(cache, Question(wanted=leaderboard.TABLES_ASK))
        self._folder.write(_SCORES_CSV, csv_of(evaluation_rows(scores)).encode("utf-8", "replace"))
        document = json.dumps(evaluation_document(scores), allow_nan=False, indent=1)
        self._folder.write(_SCORES_JSON, document.encode())
        for each in data_files(cache.store, options.licence, options.key_file):
            self._folder.write(f"data/{each.name}", each.content)

    def _search_index(self) -> bytes:
        """Return the search index as a script: a page that was opened from a folder may fetch nothing."""
        self._current_file = "index.html"
        found = [["bot", line(name), self._address("/bot", name=name)] for name in self._cache.bots()]
        found += [
            ["event", line(each.title), self._address("/event", id=each.event_id)]
            for each in self._cache.read(select_events)
        ]
        # No title can end the script.
        said = json.dumps([row for row in found if row[2]]).replace("<", "\\u003c")
        return f"const PREDIBOT_INDEX = {said};\n".encode()


def _digest_code() -> str:
    """Return the digest of all code that pages depend on, as its files are now."""
    package = Path(__file__).parents[1]
    found = sorted(file for folder in ("reports", "web") for file in (package / folder).rglob("*.*"))
    return digest_of(
        b"".join([code_digest().encode(), *(plain_bytes(file) for file in found if file.suffix != ".pyc")])
    )
