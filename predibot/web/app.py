"""The app of a ledger: its pages, its API, and who may ask."""

import asyncio
from collections.abc import Callable
from datetime import datetime
from functools import partial, wraps
from inspect import signature
from typing import Annotated, Any

from fastapi import Depends, FastAPI, Request, Response
from fastapi.encoders import jsonable_encoder
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse, PlainTextResponse, StreamingResponse
from fastapi.staticfiles import StaticFiles

from predibot.domain.untrusted_text import one_line
from predibot.errors import PredibotError, UsageError
from predibot.jobs.status import status_of
from predibot.ledger.store import Store
from predibot.reports import figures
from predibot.reports.views.evaluation_csv import csv_lines
from predibot.reports.views.schedule import METRICS_TYPE, status_metrics
from predibot.version import __version__
from predibot.web.api import api
from predibot.web.guard import guard
from predibot.web.pages import (
    accounts,
    bots,
    compare,
    decisions,
    details,
    events,
    graph,
    leaderboard,
    methods,
    records,
    today,
)
from predibot.web.pages.leaderboard import PartTexts
from predibot.web.pages.page import WebPage
from predibot.web.rendering import Templates, query_address
from predibot.web.shelf import Shelf

PAGES: dict[str, Callable[..., WebPage]] = {
    "/": leaderboard.leaderboard_page,
    "/today": today.today_page,
    "/tables/{name}": leaderboard.table_page,
    "/calibration": leaderboard.calibration_page,
    "/decisions": decisions.decisions_page,
    "/decision": decisions.decision_page,
    "/source": details.source_page,
    "/events": events.events_page,
    "/event": events.event_page,
    "/graph": graph.graph_page,
    "/bot": bots.bot_page,
    "/curves": leaderboard.curves_page,
    "/compare": compare.compare_page,
    "/runs": records.runs_page,
    "/accounts": records.accounts_page,
    "/account": accounts.account_page,
    "/cohorts": records.cohorts_page,
    "/cohort": accounts.cohort_page,
    "/comments": records.comments_page,
    "/methods": methods.methods_page,
    "/status": records.status_page,
}
"""Where each page is; its function's parameters after the first are those of its address."""


def create_app(store: Store, clock: Callable[[], datetime], *, host: str = "127.0.0.1", token: str = "") -> FastAPI:
    """Return the app of a ledger, which it only reads.

    Args:
        store: Open to be read.
        clock: The instant it is.
        host: It listens at.
        token: Asked of everybody; empty for none.
    """
    app = FastAPI(
        title="predibot", version=__version__, docs_url=None, redoc_url=None, openapi_url="/api/v1/openapi.json"
    )
    shelf = Shelf(store, clock)
    templates = Templates(query_address)
    app.include_router(api(shelf))
    app.mount("/static", StaticFiles(packages=[("predibot.web", "static")]), name="static")

    def html(request: Request, template: str, code: int = 200, **shown: Any) -> Response:
        asked, ledger = dict(request.query_params), shelf.store.address
        with figures.in_currency(shelf.currency(asked)):
            text = templates.filled(template, shown, path=request.scope["path"], asked=asked, ledger=ledger)
        return HTMLResponse(text, code)

    def in_its_currency(of: Callable[..., WebPage]) -> Callable[..., WebPage]:
        @wraps(of)
        def page(shelf: Shelf, **asked: Any) -> WebPage:
            part = asked.get("part")
            with figures.in_currency(shelf.currency(asked if part is None else part.given())):
                return of(shelf, **asked)

        found = signature(of)
        # A page needs no server, so it does not say by itself that its part is read from several words of an address.
        parameters = [
            each.replace(annotation=Annotated[PartTexts, Depends()], default=each.empty)
            if each.name == "part"
            else each
            for each in found.parameters.values()
        ]
        page.__signature__ = found.replace(parameters=parameters)  # type: ignore[attr-defined]
        return page

    def endpoint(of: Callable[..., WebPage]) -> Callable[..., Response]:
        def answer(request: Request, page: Annotated[WebPage, Depends(partial(of, shelf))]) -> Response:
            return html(request, page.template, csv_tables=list(page.downloads), **page.shown)

        return answer

    def download(of: Callable[..., WebPage]) -> Callable[..., Response]:
        def answer(page: Annotated[WebPage, Depends(partial(of, shelf))], table: str = "") -> Response:
            names = list(page.downloads)
            if not names or (table and table not in names):
                raise UsageError(
                    f"there is no table {table[:40]!r} on this page; there are: {', '.join(names) or 'none'}"
                )
            name = table or names[-1]
            headers = {"Content-Disposition": f'attachment; filename="predibot-{name}.csv"'}
            return StreamingResponse(csv_lines(page.downloads[name]()), media_type="text/csv", headers=headers)

        return answer

    for path, of in ((path, in_its_currency(of)) for path, of in PAGES.items()):
        # First, since a table may have any name.
        app.add_api_route(f"{path if path != '/' else '/leaderboard'}.csv", download(of), include_in_schema=False)
        app.add_api_route(path, endpoint(of), include_in_schema=False)

    @app.get("/trace.jsonl", include_in_schema=False)
    def raw_trace(run: str, bot: str, subject: str) -> Response:
        """Send a trace as it is stored, a part at a time."""
        found = decisions.decision_of(shelf, run, bot, subject)
        if found.trace_sha256 is None:
            raise UsageError("this decision has no trace")
        name = f"trace-{found.trace_sha256[:12]}.jsonl"
        headers = {"Content-Disposition": f'attachment; filename="{name}"'}
        trace = shelf.trace_lines(found.trace_sha256)
        return StreamingResponse(trace.blocks(), media_type="application/x-ndjson", headers=headers)

    def refused(request: Request, code: int, said: str) -> Response:
        if request.scope["path"].startswith("/api/"):
            return JSONResponse({"detail": one_line(said)}, code)
        return html(request, "message", code, said=said)

    # None of these is a coroutine: a page of the ledger may wait for others, and all would wait for the loop.
    @app.exception_handler(PredibotError)
    def told(request: Request, error: Exception) -> Response:
        return refused(request, 404 if isinstance(error, UsageError) else 503, str(error))

    @app.exception_handler(RequestValidationError)
    def misread(request: Request, error: Exception) -> Response:
        if request.scope["path"].startswith("/api/") and isinstance(error, RequestValidationError):
            return JSONResponse({"detail": jsonable_encoder(error.errors())}, 422)
        return refused(request, 422, "The address of this page asks for something that cannot be.")

    @app.exception_handler(404)
    def unknown(request: Request, _error: Exception) -> Response:
        return refused(request, 404, "There is no such page.")

    @app.get("/login", include_in_schema=False)
    def login(request: Request, wrong: int = 0) -> Response:
        return html(request, "login", wrong=bool(wrong))

    @app.get("/health", include_in_schema=False)
    async def health() -> PlainTextResponse:
        # In a thread that no page waits for, as evaluations may take all of theirs, and all connections of the store.
        await asyncio.to_thread(store.check)
        return PlainTextResponse("ok\n")

    @app.get("/metrics", include_in_schema=False)
    def metrics() -> Response:
        """Return what the service says of itself too, to who has the token."""
        return Response(status_metrics(status_of(store, clock)), media_type=METRICS_TYPE)

    guard(app, host=host, token=token)
    return app
