"""The app of a ledger: its pages, its API, and who may ask."""

from collections.abc import Callable
from datetime import datetime

from fastapi import FastAPI
from fastapi.responses import PlainTextResponse

from predibot.ledger.store import Store
from predibot.version import __version__
from predibot.web.api import api
from predibot.web.guard import guard
from predibot.web.pages import add_pages
from predibot.web.shelf import Shelf


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
    app.include_router(api(shelf))
    add_pages(app, shelf)
    guard(app, host=host, token=token)

    @app.get("/health", include_in_schema=False)
    def health() -> PlainTextResponse:
        shelf.version()
        return PlainTextResponse("ok\n")

    return app
