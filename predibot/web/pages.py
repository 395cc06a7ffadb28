"""The pages: the tables of the terminal as HTML, and what each bot thought about each event, step by step."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any
from urllib.parse import urlencode

from fastapi import FastAPI, Request, Response
from fastapi.exception_handlers import request_validation_exception_handler
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse
from fastapi.staticfiles import StaticFiles
from jinja2 import Environment, PackageLoader, StrictUndefined

from predibot.domain.clock import format_instant
from predibot.domain.untrusted_text import one_line
from predibot.errors import PredibotError, UsageError
from predibot.jobs.accounts.cohorts import cohorts_of, every_cohort
from predibot.jobs.accounts.statement import account_statements
from predibot.jobs.read_traces import read_trace
from predibot.jobs.status import status_of
from predibot.ledger.read.account_statement import names_of_accounts
from predibot.ledger.read.rows_for_python import LedgerDecision
from predibot.reports import figures
from predibot.reports.accounts.statement import statement_grids
from predibot.reports.cohorts.statement import cohort_statement_grids, list_grid
from predibot.reports.terminal.boards.accounts import board_grid
from predibot.reports.terminal.boards.cohorts import cohort_grid
from predibot.reports.terminal.evaluation_grids import ACCOUNTS, COHORTS, TABLES, table_grids
from predibot.reports.terminal.grid import Grid
from predibot.reports.terminal.trace import trace_document
from predibot.reports.views.accounts import conclusions as conclusions_on_accounts
from predibot.reports.views.cohorts import cohort_conclusions
from predibot.reports.views.evaluation_json import all_notes
from predibot.reports.views.leaderboard import LeaderboardRow, conclusions, leaderboard, verdict_said
from predibot.reports.views.schedule import status_document
from predibot.scoring.evaluation.evaluation import Evaluation, Question
from predibot.web.curve import Curve, curve_of, history_of, reliability_of
from predibot.web.shelf import Shelf

PAGE = 50
"""Rows of a list, and characters are cut at `_MOST_CHARACTERS` in a cell."""
_MOST_CHARACTERS = 600
_STEPS = 20
_MOST_TEXT_CHARACTERS = 20_000
_MENU = (
    ("/", "Leaderboard"),
    ("/calibration", "Calibration"),
    ("/decisions", "Decisions"),
    ("/events", "Events"),
    ("/runs", "Runs"),
    ("/accounts", "Accounts"),
    ("/cohorts", "Cohorts"),
    ("/status", "Status"),
)


@dataclass(frozen=True, slots=True)
class Line:
    """A bot of the leaderboard, as it is shown."""

    row: LeaderboardRow
    verdict: str
    edge: str
    curve: Curve | None


def add_pages(app: FastAPI, shelf: Shelf) -> None:
    """Give an app its pages."""
    environment = Environment(
        loader=PackageLoader("predibot.web"), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    environment.filters.update(line=_line, lines=_lines_of, at=format_instant, link=_link)
    environment.globals.update(figures=figures, menu=_MENU)
    app.mount("/static", StaticFiles(packages=[("predibot.web", "static")]), name="static")

    def page(template: str, request: Request, *, code: int = 200, **shown: Any) -> Response:
        always = {"path": request.url.path, "ledger": shelf.store.address}
        return HTMLResponse(environment.get_template(f"{template}.html").render(**always, **shown), code)

    def grids(request: Request, title: str, found: Sequence[Grid], said: Sequence[str] = (), **more: Any) -> Response:
        return page("grids", request, title=title, grids=[grid for grid in found if grid.rows], said=said, **more)

    def refused(request: Request, code: int, said: str) -> Response:
        if request.url.path.startswith("/api/"):
            return JSONResponse({"detail": one_line(said)}, code)
        return page("message", request, code=code, said=said)

    @app.exception_handler(PredibotError)
    async def told(request: Request, error: Exception) -> Response:
        return refused(request, 404 if isinstance(error, UsageError) else 503, str(error))

    @app.exception_handler(RequestValidationError)
    async def misread(request: Request, error: Exception) -> Response:
        if request.url.path.startswith("/api/") and isinstance(error, RequestValidationError):
            return await request_validation_exception_handler(request, error)
        return refused(request, 422, "The address of this page asks for something that cannot be.")

    @app.exception_handler(404)
    async def unknown(request: Request, _error: Exception) -> Response:
        return refused(request, 404, "There is no such page.")

    @app.get("/login", include_in_schema=False)
    def login(request: Request, wrong: int = 0) -> Response:
        return page("login", request, wrong=bool(wrong))

    @app.get("/", include_in_schema=False)
    def board(request: Request, recipe: str = "", venue: str = "") -> Response:
        runs = shelf.runs()
        if not runs:
            return page("message", request, said="No run is stored yet. `predibot decide` makes the first.")
        found = shelf.evaluation(recipe, Question(wanted=("evidence", "curves")), venue)
        boards = [
            *((board_grid(each), list(conclusions_on_accounts(each))) for each in found.accounts),
            *((cohort_grid(each), list(cohort_conclusions(each))) for each in found.cohorts),
        ]
        return page(
            "leaderboard",
            request,
            recipe=recipe,
            recipes=sorted({run.recipe for run in runs}),
            venue=venue or shelf.venues(recipe)[0],
            venues=shelf.venues(),
            as_of=found.as_of,
            rankings=[
                (name, _lines(ranking), conclusions(leaderboard(ranking)))
                for name, ranking in found.rankings.items()
                if leaderboard(ranking)
            ],
            boards=boards,
            notes=all_notes(found),
            tables=(*TABLES, ACCOUNTS, COHORTS),
        )

    @app.get("/tables/{name}", include_in_schema=False)
    def table(request: Request, name: str, recipe: str = "", venue: str = "") -> Response:
        if name not in (*TABLES, ACCOUNTS, COHORTS):
            raise UsageError(f"no table {name[:40]!r}; there are: {', '.join((*TABLES, ACCOUNTS, COHORTS))}")
        found = shelf.evaluation(
            recipe, Question(wanted=("evidence", "curves", "intervals", "adjusted", "pairs")), venue
        )
        return grids(request, f"Table of {name}", list(table_grids(found, name)))

    @app.get("/calibration", include_in_schema=False)
    def calibration(request: Request, recipe: str = "", venue: str = "") -> Response:
        found = shelf.evaluation(recipe, Question(wanted=("evidence", "curves", "intervals")), venue)
        cards = [card for ranking in found.rankings.values() for card in ranking.cards]
        return page(
            "calibration",
            request,
            diagrams=[
                reliability_of(card.bot, card.forecast.calibration)
                for card in cards
                if card.forecast.n and card.forecast.calibration is not None
            ],
            grids=[grid for grid in table_grids(found, "calibration") if grid.rows],
        )

    @app.get("/decisions", include_in_schema=False)
    def decisions(
        request: Request,
        recipe: str = "",
        bot: str = "",
        run: str = "",
        status: str = "",
        event: str = "",
        page_: int = 1,
    ) -> Response:
        asked = {"recipe": recipe, "bot": bot, "run": run, "status": status}
        found = [
            each
            for each in shelf.decisions()
            if all(not value or getattr(each, name) == value for name, value in asked.items())
        ]
        return page("decisions", request, **_paged(request, found, page_), asked=asked, known=_known(shelf.decisions()))

    @app.get("/decision", include_in_schema=False)
    def decision(request: Request, run: str, bot: str, subject: str, step: int = 0) -> Response:
        found = _decision(shelf, run, bot, subject)
        document: Mapping[str, Any] = {"steps": []}
        missing = ""
        if found.trace_sha256 is not None:
            try:
                document = trace_document(read_trace(shelf.store, found.trace_sha256))
            except PredibotError as error:
                # What is in the ledger is shown all the same.
                missing = str(error)
        forecasts = [each for each in shelf.forecasts(run) if (each.bot, each.subject_id) == (bot, subject)]
        step = max(0, step)
        return page(
            "decision",
            request,
            decision=found,
            forecasts=forecasts,
            first=step,
            steps=[_step(each) for each in document["steps"][step : step + _STEPS]],
            all_steps=len(document["steps"]),
            missing=missing,
            earlier=_link("/decision", run=run, bot=bot, subject=subject, step=max(0, step - _STEPS)),
            later=_link("/decision", run=run, bot=bot, subject=subject, step=step + _STEPS),
        )

    @app.get("/events", include_in_schema=False)
    def events(request: Request, q: str = "", page_: int = 1) -> Response:
        words = q.casefold().split()
        about = (each for each in shelf.decisions() if each.subject_kind == "event")
        rows = [
            (subject, own)
            for subject, own in _by_event(about).items()
            if all(word in (own[0].title or "").casefold() for word in words)
        ]
        return page("events", request, **_paged(request, rows, page_), q=q)

    @app.get("/event", include_in_schema=False)
    def event(request: Request, id: str) -> Response:
        own = [each for each in shelf.decisions() if each.subject_id == id]
        if not own:
            raise UsageError(f"nobody decided on event {id[:60]!r}")
        said = [each for run in dict.fromkeys(each.run for each in own) for each in shelf.forecasts(run)]
        said = sorted((each for each in said if each.subject_id == id), key=lambda each: (each.market_id, each.slot_at))
        markets = [list(rows) for _, rows in groupby(said, lambda each: each.market_id)]
        prices = shelf.prices(id)
        histories = [
            history_of(
                prices.get(rows[0].market_id, ()),
                [(each.decided_at, each.probability, f"{_line(each.bot)}: {each.probability:.2f}") for each in rows],
            )
            for rows in markets
        ]
        return page(
            "event", request, title=own[0].title, decisions=own, markets=list(zip(markets, histories, strict=True))
        )

    @app.get("/bot", include_in_schema=False)
    def bot(request: Request, name: str, venue: str = "") -> Response:
        own = [each for each in shelf.decisions() if each.bot == name]
        if not own:
            raise UsageError(f"no bot {name[:60]!r} has decided")
        found = shelf.evaluation("", Question(wanted=("evidence", "curves")), venue)
        lines = [line for ranking in found.rankings.values() for line in _lines(ranking) if line.row.bot == name]
        reasons = [each for each in own if each.status != "recorded"][:PAGE]
        return page("bot", request, name=name, lines=lines, decisions=own, reasons=reasons, latest=own[:PAGE])

    @app.get("/runs", include_in_schema=False)
    def runs(request: Request, page_: int = 1) -> Response:
        return page("runs", request, **_paged(request, shelf.runs(), page_))

    @app.get("/accounts", include_in_schema=False)
    def accounts(request: Request) -> Response:
        names = shelf.store.run_read(names_of_accounts)
        return page("accounts", request, names=list(dict.fromkeys(names)))

    @app.get("/account", include_in_schema=False)
    def account(request: Request, bot: str, cohort: str = "") -> Response:
        found = account_statements(shelf.store, bot, recipe=None, cohort=cohort or None)
        return grids(request, f"Accounts of {_line(bot)}", [grid for each in found for grid in statement_grids(each)])

    @app.get("/cohorts", include_in_schema=False)
    def cohorts(request: Request) -> Response:
        try:
            found = every_cohort(shelf.store, clock=shelf.clock)
        except UsageError:
            # The menu leads here, whatever was played.
            found = ()
        links = [(each.cohort.name, _link("/cohort", week=each.cohort.name)) for each in found]
        return grids(request, "Weekly cohorts", [list_grid(found)], links=list(dict.fromkeys(links)))

    @app.get("/cohort", include_in_schema=False)
    def cohort(request: Request, week: str) -> Response:
        found = cohorts_of(shelf.store, week, clock=shelf.clock)
        return grids(
            request, f"Cohort {_line(week)}", [grid for each in found for grid in cohort_statement_grids(each)]
        )

    @app.get("/status", include_in_schema=False)
    def status(request: Request) -> Response:
        return page("status", request, document=status_document(status_of(shelf.store, shelf.clock)))


def _lines(ranking: Evaluation) -> list[Line]:
    return [
        Line(
            row,
            verdict_said(row),
            figures.thousandths_interval(row.edge_low, row.edge_high),
            curve_of(row.curve, f"edge of {_line(row.bot)} as it added up"),
        )
        for row in leaderboard(ranking)
    ]


def _decision(shelf: Shelf, run: str, bot: str, subject: str) -> LedgerDecision:
    for each in shelf.decisions():
        if (each.run, each.bot, each.subject_id) == (run, bot, subject):
            return each
    raise UsageError(f"no decision of {bot[:60]!r} on {subject[:60]!r} in run {run[:80]!r}")


def _by_event(decisions: Iterator[LedgerDecision]) -> dict[str, list[LedgerDecision]]:
    found = dict[str, list[LedgerDecision]]()
    for each in decisions:
        found.setdefault(each.subject_id, []).append(each)
    return found


def _known(decisions: Sequence[LedgerDecision]) -> Mapping[str, list[str]]:
    """Return what a list can be narrowed to; not to names that cannot be shown as they are."""
    found = {name: {str(getattr(each, name)) for each in decisions} for name in ("recipe", "bot", "run", "status")}
    return {name: sorted(value for value in values if value == _line(value)) for name, values in found.items()}


def _paged(request: Request, rows: Sequence[Any], number: int) -> dict[str, Any]:
    """Return the rows of a page, and the addresses of its neighbours."""
    pages = max(1, -(-len(rows) // PAGE))
    number = min(max(1, number), pages)
    asked = {name: value for name, value in request.query_params.items() if name != "page_"}
    links = [
        _link(request.url.path, **asked, page_=each) if 1 <= each <= pages else "" for each in (number - 1, number + 1)
    ]
    shown = rows[(number - 1) * PAGE : number * PAGE]
    return {"rows": shown, "total": len(rows), "page": number, "pages": pages, "before": links[0], "after": links[1]}


def _step(step: Mapping[str, Any]) -> tuple[str, list[tuple[str, str]]]:
    """Return what a step of a trace was, and its fields as text."""
    return str(step.get("kind", "step")), [
        (name, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=1))
        for name, value in step.items()
    ]


def _line(text: object) -> str:
    """Return a text of others on one line that can only be read, at most so long."""
    line = one_line(str(text)[: 4 * _MOST_CHARACTERS])
    return line if len(line) <= _MOST_CHARACTERS else f"{line[:_MOST_CHARACTERS]}…"


def _lines_of(text: object) -> str:
    """Return a text of others, each line of it as one that can only be read, at most so long."""
    whole = str(text)
    left = len(whole) - _MOST_TEXT_CHARACTERS
    lines = "\n".join(one_line(line) for line in whole[:_MOST_TEXT_CHARACTERS].splitlines())
    return f"{lines}… ({left:,} more characters)" if left > 0 else lines


def _link(path: str, **asked: object) -> str:
    return f"{path}?{urlencode({name: str(value) for name, value in asked.items()})}" if asked else path
