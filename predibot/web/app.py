"""The web app of a ledger, read-only: its JSON API under `/api/v1`, and its pages."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import asdict
from datetime import datetime
from functools import partial, wraps
from inspect import signature
from typing import Annotated, Any

from fastapi import APIRouter, Depends, FastAPI, Query, Request, Response
from fastapi.encoders import jsonable_encoder
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse, PlainTextResponse, StreamingResponse
from fastapi.staticfiles import StaticFiles
from pydantic import BaseModel, ConfigDict, create_model

from predibot.domain.untrusted_text import one_line
from predibot.errors import PredibotError, UsageError
from predibot.jobs.read_traces import read_trace
from predibot.jobs.status import status_of
from predibot.ledger.read.row_filter import RowFilter
from predibot.ledger.read.rows_for_python import (
    LedgerDecision,
    LedgerForecast,
    LedgerRun,
    count_decisions,
    newest_decisions,
    select_forecasts,
)
from predibot.ledger.store import Store
from predibot.reports import figures
from predibot.reports.study import studies
from predibot.reports.table import json_value
from predibot.reports.terminal.trace import trace_document
from predibot.reports.views.columns import row_document
from predibot.reports.views.evaluation import csv_lines, evaluation_document
from predibot.reports.views.leaderboard import leaderboard as leaderboard_rows
from predibot.reports.views.schedule import METRICS_TYPE, status_document, status_metrics
from predibot.scoring.evaluation.evaluation import Question
from predibot.version import __version__
from predibot.web.cache import LedgerCache
from predibot.web.pages import accounts, bots, decisions, events, leaderboard, records
from predibot.web.pages.leaderboard import PartTexts
from predibot.web.pages.page import WebPage, message_page
from predibot.web.rendering import Templates, query_address
from predibot.web.server import guard

_MOST_ROWS = 500
_Text = Annotated[str, Query(max_length=500)]
_Limit = Annotated[int, Query(ge=1, le=_MOST_ROWS)]
_Cursor = Annotated[int, Query(ge=0, le=10**9, description="`next_cursor` of the page before")]


_ONWARD = (("/", "Leaderboard", "All bots, and who knows more than the market."),)


class ErrorDetail(BaseModel):
    """Why there is no answer."""

    detail: str


def _list_model(noun: str, row: type) -> type[BaseModel]:
    fields: dict[str, Any] = {f"{noun.lower()}s": (list[row], ...), "total": (int, ...)}  # type: ignore[valid-type]
    fields["next_cursor"] = (int | None, ...)
    return create_model(f"{noun}List", __doc__="A part of a list, and the cursor of the next.", **fields)


class Rankings(BaseModel):
    """The leaderboard, by what is known of the models' cutoffs."""

    as_of: datetime | None
    rankings: dict[str, list[dict[str, Any]]]


class Document(BaseModel):
    """What a command prints with `--json`."""

    model_config = ConfigDict(extra="allow")


_RESPONSES: dict[int | str, dict[str, Any]] = {
    304: {"description": "What is known already, by its `ETag`"},
    400: {"description": "This machine is asked by a name that is not its own", "content": {"text/plain": {}}},
    401: {"description": "The token is missing, or another one", "content": {"text/plain": {}}},
    404: {"model": ErrorDetail, "description": "There is no such thing"},
    503: {"model": ErrorDetail, "description": "The ledger cannot be read now"},
}


def _respond(cache: LedgerCache, request: Request, document: Callable[[], Any]) -> Response:
    # Taken before anything is read, so that a change meanwhile gets another tag next time.
    tag = f'"{cache.version()}"'
    headers = {"ETag": tag, "Cache-Control": "no-cache"}
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    return JSONResponse(json_value(jsonable_encoder(document())), headers=headers)


def _slice(name: str, rows: Sequence[Any], cursor: int, limit: int) -> dict[str, object]:
    following = cursor + limit
    return {
        name: [asdict(each) for each in rows[cursor:following]],
        "total": len(rows),
        "next_cursor": following if following < len(rows) else None,
    }


def api_routes(cache: LedgerCache) -> APIRouter:
    """Return the routes of `/api/v1` over a ledger."""
    router = APIRouter(prefix="/api/v1", responses=_RESPONSES)
    _add_row_routes(router, cache)
    _add_score_routes(router, cache)
    return router


def _add_row_routes(router: APIRouter, cache: LedgerCache) -> None:
    """Add the routes of what is stored: runs, decisions, forecasts."""
    respond = partial(_respond, cache)

    @router.get("/runs", responses={200: {"model": _list_model("Run", LedgerRun)}})
    def runs(request: Request, cursor: _Cursor = 0, limit: _Limit = 100) -> Response:
        """Return runs, void ones too, newest slot first."""
        return respond(request, lambda: _slice("runs", cache.runs(), cursor, limit))

    @router.get("/decisions", responses={200: {"model": _list_model("Decision", LedgerDecision)}})
    def decisions(
        request: Request,
        recipe: _Text = "",
        bot: _Text = "",
        run: _Text = "",
        status: _Text = "",
        subject: _Text = "",
        venue: _Text = "",
        void: bool = False,
        cursor: Annotated[int | None, Query(ge=1, le=2**62, description="`next_cursor` of the page before")] = None,
        limit: _Limit = 100,
    ) -> Response:
        """Return decisions, the last stored first; also those that were refused, failed or abstained."""
        asked = RowFilter(
            run=run or None,
            recipe=recipe or None,
            bots=(bot,) if bot else (),
            status=status or None,
            subject=subject or None,
            venue=venue or None,
            void=void,
        )

        def document() -> Any:
            rows, following = cache.read(newest_decisions, asked, limit=limit, before=cursor)
            total = sum(cache.read(count_decisions, asked).values())
            return {"decisions": [asdict(each) for each in rows], "total": total, "next_cursor": following}

        return respond(request, document)

    @router.get("/forecasts", responses={200: {"model": _list_model("Forecast", LedgerForecast)}})
    def forecasts(request: Request, run: _Text, cursor: _Cursor = 0, limit: _Limit = 100) -> Response:
        """Return the forecasts and bets of a run, by bot, event and market."""
        return respond(
            request, lambda: _slice("forecasts", cache.read(select_forecasts, RowFilter(run=run)), cursor, limit)
        )


def _read_part(
    recipe: _Text = "",
    venue: _Text = "",
    since: _Text = "",
    until: _Text = "",
    category: _Text = "",
    mode: _Text = "",
    bots: _Text = "",
) -> PartTexts:
    return PartTexts(recipe, venue, since, until, category, mode, bots)


def _add_score_routes(router: APIRouter, cache: LedgerCache) -> None:
    """Add the routes of what follows from the rows: scores, traces, and how schedules stand."""
    respond = partial(_respond, cache)

    @router.get("/leaderboard", responses={200: {"model": Rankings}})
    def board(request: Request, part: Annotated[PartTexts, Depends(_read_part)]) -> Response:
        """Return the leaderboard of the part that is asked for, its rows as `predibot report --json` has them.

        Those of models without a known cutoff are apart.
        """

        def document() -> Any:
            found = part.evaluation(cache, Question(wanted=("evidence", "curves")))
            return {
                "as_of": found.as_of,
                "rankings": {
                    name: [{**row_document(row), "knowledge": name} for row in leaderboard_rows(ranking)]
                    for name, ranking in found.rankings.items()
                },
            }

        return respond(request, document)

    @router.get("/evaluation", responses={200: {"model": Document}})
    def evaluation(request: Request, part: Annotated[PartTexts, Depends(_read_part)]) -> Response:
        """Return every score of the part that is asked for, as `predibot evaluate --json` has them."""
        return respond(request, lambda: evaluation_document(part.evaluation(cache, Question())))

    @router.get("/trace", responses={200: {"model": Document}})
    def trace(request: Request, sha256: Annotated[str, Query(pattern="^[0-9a-f]{64}$")]) -> Response:
        """Return a trace step by step, as `predibot trace --json` has it."""
        return respond(request, lambda: trace_document(read_trace(cache.store, sha256)))

    @router.get("/status", responses={200: {"model": Document}})
    def status() -> Response:
        """Return how schedules stand, as `predibot status --json` has it."""
        # It depends on the time, so it has no tag.
        return JSONResponse(json_value(jsonable_encoder(status_document(status_of(cache.store, cache.clock)))))


PAGES: dict[str, Callable[..., WebPage]] = {
    "/": leaderboard.leaderboard_page,
    "/today": records.today_page,
    "/tables/{name}": leaderboard.table_page,
    "/calibration": leaderboard.calibration_page,
    "/decisions": decisions.decisions_page,
    "/decision": decisions.decision_page,
    "/source": decisions.source_page,
    "/events": events.events_page,
    "/event": events.event_page,
    "/news": events.news_page,
    "/graph": events.graph_page,
    "/bot": bots.bot_page,
    "/curves": leaderboard.curves_page,
    "/compare": leaderboard.compare_page,
    "/side-by-side": leaderboard.side_by_side_page,
    "/runs": records.runs_page,
    "/accounts": records.accounts_page,
    "/account": accounts.account_page,
    "/cohorts": records.cohorts_page,
    "/cohort": accounts.cohort_page,
    "/items": records.items_page,
    "/item": records.item_page,
    "/methods": records.methods_page,
    "/status": records.status_page,
}
"""Each page by its path; parameters of its function after the first are those of the address."""


def all_pages() -> dict[str, Callable[..., WebPage]]:
    """Return `PAGES` and one page for each study; no study takes the address of one of `PAGES`."""
    return {f"/{each.data_set}": partial(records.study_page, each) for each in studies().values()} | PAGES


def _html(
    templates: Templates, cache: LedgerCache, request: Request, template: str, code: int = 200, /, **shown: Any
) -> Response:
    asked, ledger = dict(request.query_params), cache.store.address
    with figures.in_currency(cache.currency(asked)):
        text = templates.render(template, shown, path=request.scope["path"], asked=asked, ledger=ledger)
    return HTMLResponse(text, code)


def _with_currency(of: Callable[..., WebPage]) -> Callable[..., WebPage]:
    @wraps(of)
    def page(cache: LedgerCache, **asked: Any) -> WebPage:
        part = asked.get("part")
        with figures.in_currency(cache.currency(asked if part is None else part.parameters())):
            return of(cache, **asked)

    found = signature(of)
    # Pages do not know FastAPI: here it learns to read `part` from several parameters of an address.
    parameters = [
        each.replace(annotation=Annotated[PartTexts, Depends()], default=each.empty) if each.name == "part" else each
        for each in found.parameters.values()
    ]
    page.__signature__ = found.replace(parameters=parameters)  # type: ignore[attr-defined]
    return page


def _add_pages(app: FastAPI, cache: LedgerCache, html: Callable[..., Response]) -> None:
    """Add each page with its table as CSV, and the traces that pages lead to."""

    def endpoint(of: Callable[..., WebPage]) -> Callable[..., Response]:
        def answer(request: Request, page: Annotated[WebPage, Depends(partial(of, cache))]) -> Response:
            return html(request, page.template, csv_tables=list(page.downloads), **page.shown)

        return answer

    def download(of: Callable[..., WebPage]) -> Callable[..., Response]:
        def answer(page: Annotated[WebPage, Depends(partial(of, cache))], table: str = "") -> Response:
            names = list(page.downloads)
            if not names or (table and table not in names):
                raise UsageError(
                    f"there is no table {table[:40]!r} on this page; there are: {', '.join(names) or 'none'}"
                )
            name = table or names[-1]
            headers = {"Content-Disposition": f'attachment; filename="predibot-{name}.csv"'}
            return StreamingResponse(csv_lines(page.downloads[name]()), media_type="text/csv", headers=headers)

        return answer

    for path, of in ((path, _with_currency(of)) for path, of in all_pages().items()):
        # Before the pages, as `/tables/{name}` would match it too.
        app.add_api_route(f"{path if path != '/' else '/leaderboard'}.csv", download(of), include_in_schema=False)
        app.add_api_route(path, endpoint(of), include_in_schema=False)

    @app.get("/trace.jsonl", include_in_schema=False)
    def raw_trace(run: str, bot: str, subject: str) -> Response:
        found, _ = decisions.decision_of(cache, run, bot, subject)
        if found.trace_sha256 is None:
            raise UsageError("this decision has no trace")
        name = f"trace-{found.trace_sha256[:12]}.jsonl"
        headers = {"Content-Disposition": f'attachment; filename="{name}"'}
        trace = cache.trace_lines(found.trace_sha256)
        return StreamingResponse(trace.blocks(), media_type="application/x-ndjson", headers=headers)


def _add_errors(app: FastAPI, html: Callable[..., Response]) -> None:
    """Show errors as pages, and those of the API as JSON."""

    def error_response(request: Request, code: int, said: str) -> Response:
        if request.scope["path"].startswith("/api/"):
            return JSONResponse({"detail": one_line(said)}, code)
        page = message_page("Not found" if code == 404 else "Nothing to show", said, _ONWARD)
        return html(request, page.template, code, **page.shown)

    # No handler is a coroutine: a page may wait for the ledger, and all others would wait for the loop.
    @app.exception_handler(PredibotError)
    def predibot_error(request: Request, error: Exception) -> Response:
        return error_response(request, 404 if isinstance(error, UsageError) else 503, str(error))

    @app.exception_handler(RequestValidationError)
    def invalid_request(request: Request, error: Exception) -> Response:
        if request.scope["path"].startswith("/api/") and isinstance(error, RequestValidationError):
            return JSONResponse({"detail": jsonable_encoder(error.errors())}, 422)
        return error_response(request, 422, "The address of this page asks for something that cannot be.")

    @app.exception_handler(404)
    def not_found(request: Request, _error: Exception) -> Response:
        return error_response(request, 404, "There is no such page.")


def create_app(store: Store, clock: Callable[[], datetime], *, host: str = "127.0.0.1", token: str = "") -> FastAPI:
    """Return the app of a ledger, which it only reads.

    Args:
        host: Address that the app listens at.
        token: What every request must carry; empty for none.
    """
    app = FastAPI(
        title="predibot", version=__version__, docs_url=None, redoc_url=None, openapi_url="/api/v1/openapi.json"
    )
    cache = LedgerCache(store, clock)
    html = partial(_html, Templates(query_address, cache), cache)
    app.include_router(api_routes(cache))
    app.mount("/static", StaticFiles(packages=[("predibot.web", "static")]), name="static")
    _add_pages(app, cache, html)
    _add_errors(app, html)

    @app.get("/login", include_in_schema=False)
    def login(request: Request, wrong: int = 0) -> Response:
        return html(request, "login", wrong=bool(wrong))

    @app.get("/health", include_in_schema=False)
    async def health() -> PlainTextResponse:
        # In a thread of its own: evaluations may take all threads of pages, and all connections of the store.
        await asyncio.to_thread(store.check)
        return PlainTextResponse("ok\n")

    @app.get("/metrics", include_in_schema=False)
    def metrics() -> Response:
        return Response(status_metrics(status_of(store, clock)), media_type=METRICS_TYPE)

    guard(app, host=host, token=token)
    return app
