"""The web app of a ledger: its pages, its API, and the guard that checks every request."""

import asyncio
import hmac
import re
from collections.abc import Awaitable, Callable
from datetime import datetime
from functools import partial, wraps
from inspect import signature
from typing import Annotated, Any
from urllib.parse import parse_qs

from fastapi import Depends, FastAPI, Request, Response
from fastapi.encoders import jsonable_encoder
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse, PlainTextResponse, RedirectResponse, StreamingResponse
from fastapi.staticfiles import StaticFiles
from starlette.requests import ClientDisconnect

from predibot.domain.untrusted_text import one_line
from predibot.errors import PredibotError, UsageError
from predibot.jobs.status import status_of
from predibot.ledger.store import Store
from predibot.reports import figures
from predibot.reports.study import studies
from predibot.reports.views.evaluation_csv import csv_lines
from predibot.reports.views.schedule import METRICS_TYPE, status_metrics
from predibot.version import __version__
from predibot.web.api import api
from predibot.web.cache import LedgerCache
from predibot.web.pages import (
    accounts,
    bots,
    compare,
    decisions,
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

PAGES: dict[str, Callable[..., WebPage]] = {
    "/": leaderboard.leaderboard_page,
    "/today": today.today_page,
    "/tables/{name}": leaderboard.table_page,
    "/calibration": leaderboard.calibration_page,
    "/decisions": decisions.decisions_page,
    "/decision": decisions.decision_page,
    "/source": decisions.source_page,
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
    "/methods": methods.methods_page,
    "/status": records.status_page,
}
"""Each page by its path; parameters of its function after the first are those of the address."""


def all_pages() -> dict[str, Callable[..., WebPage]]:
    """Return `PAGES` and one page for each study."""
    return PAGES | {f"/{each.data_set}": partial(records.study_page, each) for each in studies().values()}


def create_app(store: Store, clock: Callable[[], datetime], *, host: str = "127.0.0.1", token: str = "") -> FastAPI:
    """Return the app of a ledger, which it only reads.

    Args:
        store: Open to be read.
        clock: Returns the instant it is.
        host: Address that the app listens at.
        token: What every request must carry; empty for none.
    """
    app = FastAPI(
        title="predibot", version=__version__, docs_url=None, redoc_url=None, openapi_url="/api/v1/openapi.json"
    )
    cache = LedgerCache(store, clock)
    templates = Templates(query_address)
    app.include_router(api(cache))
    app.mount("/static", StaticFiles(packages=[("predibot.web", "static")]), name="static")

    def html(request: Request, template: str, code: int = 200, **shown: Any) -> Response:
        asked, ledger = dict(request.query_params), cache.store.address
        with figures.in_currency(cache.currency(asked)):
            text = templates.filled(template, shown, path=request.scope["path"], asked=asked, ledger=ledger)
        return HTMLResponse(text, code)

    def with_currency(of: Callable[..., WebPage]) -> Callable[..., WebPage]:
        @wraps(of)
        def page(cache: LedgerCache, **asked: Any) -> WebPage:
            part = asked.get("part")
            with figures.in_currency(cache.currency(asked if part is None else part.given())):
                return of(cache, **asked)

        found = signature(of)
        # Pages do not know FastAPI: here it learns to read `part` from several parameters of an address.
        parameters = [
            each.replace(annotation=Annotated[PartTexts, Depends()], default=each.empty)
            if each.name == "part"
            else each
            for each in found.parameters.values()
        ]
        page.__signature__ = found.replace(parameters=parameters)  # type: ignore[attr-defined]
        return page

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

    for path, of in ((path, with_currency(of)) for path, of in all_pages().items()):
        # Before the pages, as `/tables/{name}` would match it too.
        app.add_api_route(f"{path if path != '/' else '/leaderboard'}.csv", download(of), include_in_schema=False)
        app.add_api_route(path, endpoint(of), include_in_schema=False)

    @app.get("/trace.jsonl", include_in_schema=False)
    def raw_trace(run: str, bot: str, subject: str) -> Response:
        found = decisions.decision_of(cache, run, bot, subject)
        if found.trace_sha256 is None:
            raise UsageError("this decision has no trace")
        name = f"trace-{found.trace_sha256[:12]}.jsonl"
        headers = {"Content-Disposition": f'attachment; filename="{name}"'}
        trace = cache.trace_lines(found.trace_sha256)
        return StreamingResponse(trace.blocks(), media_type="application/x-ndjson", headers=headers)

    def error_response(request: Request, code: int, said: str) -> Response:
        if request.scope["path"].startswith("/api/"):
            return JSONResponse({"detail": one_line(said)}, code)
        return html(request, "message", code, said=said)

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


COOKIE = "predibot"
_LOCAL = ("localhost", "127.0.0.1", "::1")
_OPEN = ("/login", "/static/style.css", "/static/page.js", "/static/icon.svg", "/health")
_MOST_FORM_BYTES = 2_000
_HOST = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(:\d{1,5})?", re.ASCII | re.IGNORECASE)
"""A name or an address, with or without a port; starlette before 1.0.1 took anything else for a part of the path."""
_HEADERS = {
    # Only our own scripts run, nothing is loaded from elsewhere, and no other page may frame this one.
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


def guard(app: FastAPI, *, host: str, token: str) -> None:
    """Make an app answer only requests that name this machine and carry the token.

    Args:
        app: Gets the check, and the page that takes the token.
        host: Address that the app listens at; requests may name it, or a local name.
        token: What every request must carry; empty for none.
    """
    hosts = {host.strip("[]").lower(), *_LOCAL}

    @app.middleware("http")
    async def check_request(request: Request, answer: Callable[[Request], Awaitable[Response]]) -> Response:
        response = _refusal(request)
        if response is None:
            response = await answer(request)
        if request.scope["path"].startswith("/static/"):
            response.headers["Cache-Control"] = "no-cache"
        for name, value in _HEADERS.items():
            response.headers.setdefault(name, value)
        return response

    def _refusal(request: Request) -> Response | None:
        named = _host_of(request)
        # A page of another site, whose name was made to lead to this machine, reads nothing.
        if named is None or not ({named, "0.0.0.0", "::"} & hosts):
            return PlainTextResponse(f"This is predibot at {host}; ask for it by that name.\n", 400)
        # The path that is routed; `request.url` may name another.
        path = request.scope["path"]
        if request.method not in ("GET", "HEAD") and path != "/login":
            return PlainTextResponse("A ledger is only read here.\n", 405, {"Allow": "GET, HEAD"})
        if not token or path in _OPEN or _has(request, token):
            return None
        if path.startswith("/api/") or path == "/metrics":
            return PlainTextResponse("Send the token as `Authorization: Bearer TOKEN`.\n", 401)
        return RedirectResponse("/login", 303)

    @app.post("/login", include_in_schema=False)
    async def take_token(request: Request) -> Response:
        length = request.headers.get("content-length", "")
        if not length.isdecimal() or int(length) > _MOST_FORM_BYTES:
            return PlainTextResponse("This is no token.\n", 413)
        try:
            body = await request.body()
        except ClientDisconnect:
            # Nobody is there to read the answer, and nothing went wrong here.
            return PlainTextResponse("This is no token.\n", 400)
        given = parse_qs(body.decode("utf-8", "replace")).get("token", [""])[0]
        if not token or not _same(given, token):
            return RedirectResponse("/login?wrong=1", 303)
        response = RedirectResponse("/", 303)
        response.set_cookie(COOKIE, token, httponly=True, samesite="strict", secure=request.scope["scheme"] == "https")
        return response


def _host_of(request: Request) -> str | None:
    """Return the host that a request names; None unless it names exactly one."""
    named = request.headers.getlist("host")
    found = _HOST.fullmatch(named[0]) if len(named) == 1 else None
    return None if found is None else found[1].strip("[]").lower()


def _has(request: Request, token: str) -> bool:
    kind, _, given = request.headers.get("authorization", "").partition(" ")
    return (kind.lower() == "bearer" and _same(given.strip(), token)) or _same(request.cookies.get(COOKIE, ""), token)


def _same(given: str, token: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "replace"), token.encode())
