"""Who may ask: hosts a browser may name, the token of an address that others reach, and what a page may load."""

import hmac
import re
from collections.abc import Awaitable, Callable
from urllib.parse import parse_qs

from fastapi import FastAPI, Request, Response
from fastapi.responses import PlainTextResponse, RedirectResponse
from starlette.requests import ClientDisconnect

COOKIE = "predibot"
_LOCAL = ("localhost", "127.0.0.1", "::1")
_OPEN = ("/login", "/static/style.css", "/static/page.js", "/static/icon.svg", "/health")
_MOST_FORM_BYTES = 2_000
_HOST = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(:\d{1,5})?", re.ASCII | re.IGNORECASE)
"""A name or an address, with a port or without: starlette made a path of whatever else stood there before 1.0.1."""
_HEADERS = {
    # Nothing runs but our one file, nothing is loaded from elsewhere, and no other page frames this one.
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


def guard(app: FastAPI, *, host: str, token: str) -> None:
    """Have an app answer the right people only.

    Args:
        app: Whose requests are looked at.
        host: It listens at; a browser may name it, and a name of this machine.
        token: Asked of everybody; empty for none.
    """
    hosts = {host.strip("[]").lower(), *_LOCAL}

    @app.middleware("http")
    async def look(request: Request, answer: Callable[[Request], Awaitable[Response]]) -> Response:
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
        # A page of another site whose name leads here reads nothing.
        if named is None or not ({named, "0.0.0.0", "::"} & hosts):
            return PlainTextResponse(f"This is predibot at {host}; ask for it by that name.\n", 400)
        # What is routed, which `request.url` need not name.
        path = request.scope["path"]
        if request.method not in ("GET", "HEAD") and path != "/login":
            return PlainTextResponse("A ledger is only read here.\n", 405, {"Allow": "GET, HEAD"})
        if not token or path in _OPEN or _has(request, token):
            return None
        if path.startswith("/api/") or path == "/metrics":
            return PlainTextResponse("Send the token as `Authorization: Bearer TOKEN`.\n", 401)
        return RedirectResponse("/login", 303)

    @app.post("/login", include_in_schema=False)
    async def enter(request: Request) -> Response:
        length = request.headers.get("content-length", "")
        if not length.isdecimal() or int(length) > _MOST_FORM_BYTES:
            return PlainTextResponse("This is no token.\n", 413)
        try:
            body = await request.body()
        except ClientDisconnect:
            # Nobody is there to be answered, and nothing went wrong here.
            return PlainTextResponse("This is no token.\n", 400)
        given = parse_qs(body.decode("utf-8", "replace")).get("token", [""])[0]
        if not token or not _same(given, token):
            return RedirectResponse("/login?wrong=1", 303)
        response = RedirectResponse("/", 303)
        response.set_cookie(COOKIE, token, httponly=True, samesite="strict", secure=request.scope["scheme"] == "https")
        return response


def _host_of(request: Request) -> str | None:
    """Return the one name or address that a request asks for; None where it has none, or anything else stands there."""
    named = request.headers.getlist("host")
    found = _HOST.fullmatch(named[0]) if len(named) == 1 else None
    return None if found is None else found[1].strip("[]").lower()


def _has(request: Request, token: str) -> bool:
    kind, _, given = request.headers.get("authorization", "").partition(" ")
    return (kind.lower() == "bearer" and _same(given.strip(), token)) or _same(request.cookies.get(COOKIE, ""), token)


def _same(given: str, token: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "replace"), token.encode())
