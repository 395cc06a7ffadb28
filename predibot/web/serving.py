"""Serving an app until somebody ends it."""

import socket
from collections.abc import Callable
from datetime import datetime

import uvicorn
from fastapi import FastAPI

from predibot.errors import UsageError, words_of
from predibot.ledger.store import Store
from predibot.web.app import create_app
from predibot.web.connections import BoundedConnection


def serving(
    store: Store, clock: Callable[[], datetime], *, host: str, port: int, token: str, say: Callable[[str], None]
) -> None:
    """Serve the pages of a ledger until Ctrl-C or SIGTERM.

    Raises:
        UsageError: If nobody may listen there.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, port))
            # Who reads the address may ask at once.
            listener.listen()
        except OSError as error:
            raise UsageError(f"cannot listen at {host} port {port}: {words_of(error)}. Name another --port") from error
        shown = f"[{host}]" if ":" in host else host
        say(f"http://{shown}:{listener.getsockname()[1]}/  (Ctrl-C ends it)")
        app = create_app(store, clock, host=host, token=token)
        uvicorn.Server(server_config(app)).run([listener])


def server_config(app: FastAPI) -> uvicorn.Config:
    """Return how an app is served: over bounded connections, and over no websocket."""
    return uvicorn.Config(
        app,
        http=BoundedConnection,
        ws="none",
        lifespan="off",
        log_level="warning",
        access_log=False,
        server_header=False,
    )
