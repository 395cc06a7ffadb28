"""The web server: it listens at an address, bounds what each connection may take, and guards the app.

uvicorn limits only the time between two requests (`timeout_keep_alive`), and every byte that comes starts that time
anew. It counts connections (`limit_concurrency`) only when a request is complete. See `data_received` and
`handle_events` of its `H11Protocol`.
"""

import asyncio
import hmac
import re
import socket
from collections.abc import Awaitable, Callable
from urllib.parse import parse_qs

import h11
import uvicorn
from fastapi import FastAPI, Request, Response
from fastapi.responses import PlainTextResponse, RedirectResponse
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from predibot.errors import UsageError, describe_error

REQUEST_SECONDS = 15.0
"""How long a request may take, from the connection or its first byte until its last."""
MOST_CONNECTIONS = 200
ANSWER_SECONDS = 60.0
"""How long a client may take to read a part of an answer."""
_FULL = b"HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"


class _BoundedConnection(H11Protocol):
    """A connection that is closed if it takes too long, or if there are too many."""

    _request_ends: asyncio.TimerHandle | None = None
    _answer_ends: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        # So that `pause_writing` is called as soon as any byte waits.
        transport.set_write_buffer_limits(high=0)
        if len(self.connections) > MOST_CONNECTIONS:
            self.connections.discard(self)
            transport.write(_FULL)
            transport.close()
        else:
            self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        for timer in (self._request_ends, self._answer_ends):
            if timer is not None:
                timer.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if not self.transport.is_closing():
            super().data_received(data)
            self._watch()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._watch()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._answer_ends = self.loop.call_later(ANSWER_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        if self._answer_ends is not None:
            self._answer_ends.cancel()
        super().resume_writing()

    def _watch(self) -> None:
        """Start the timer of an unfinished request, or stop it when the request is complete."""
        is_whole = self.conn.their_state not in (h11.IDLE, h11.SEND_BODY)
        if is_whole and self._request_ends is not None:
            self._request_ends.cancel()
            self._request_ends = None
        elif not is_whole and self._request_ends is None:
            self._request_ends = self.loop.call_later(REQUEST_SECONDS, self.transport.close)


def serve_app(app: FastAPI, *, host: str, port: int, say: Callable[[str], None]) -> None:
    """Serve an app until Ctrl-C or SIGTERM; raise `UsageError` if nobody may listen there."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, port))
            # The address is said below: whoever reads it may ask at once.
            listener.listen()
        except OSError as error:
            raise UsageError(
                f"cannot listen at {host} port {port}: {describe_error(error)}. Name another --port"
            ) from error
        shown = f"[{host}]" if ":" in host else host
        say(f"http://{shown}:{listener.getsockname()[1]}/  (Ctrl-C ends it)")
        uvicorn.Server(server_config(app)).run([listener])


def server_config(app: FastAPI) -> uvicorn.Config:
    """Return the settings of uvicorn: bounded connections, no websocket."""
    return uvicorn.Config(
        app,
        http=_BoundedConnection,
        ws="none",
        lifespan="off",
        log_level="warning",
        access_log=False,
        server_header=False,
    )


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
    """Make an app answer only requests that name this machine and carry the token; without it a page leads to a form.

    Args:
        host: Address that the app listens at; requests may name it, or a local name.
        token: What every request must carry; empty for none.
    """
    hosts = {host.strip("[]").lower(), *_LOCAL}
    app.add_middleware(_HeadAsGet)

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


class _HeadAsGet:
    """What is behind the guard: it answers HEAD as GET, which FastAPI does not; uvicorn leaves the body out."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        await self._app({**scope, "method": "GET"} if scope.get("method") == "HEAD" else scope, receive, send)


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
