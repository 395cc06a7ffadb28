"""`predibot serve`: a ledger in a browser."""

from typing import Annotated

import typer

from predibot.cli import options, output
from predibot.cli.options import flag

_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_LEAST_TOKEN = 16


def serve(
    ledger: options.Ledger = options.DEFAULT_LEDGER,
    host: Annotated[str, flag("--host", "address to listen at; another than this needs a token")] = ("127.0.0.1"),
    port: Annotated[int, typer.Option("--port", min=0, max=65_535, help="port to listen at; 0 for a free one")] = 8_321,
    token: Annotated[
        str,
        typer.Option(
            "--token", envvar="PREDIBOT_WEB_TOKEN", show_envvar=True, help="asked of everybody, 16 characters or more"
        ),
    ] = "",
) -> None:
    """Show a ledger in a browser: leaderboard, decisions and their reasons; nothing is changed."""
    from predibot.errors import UsageError

    if host not in _LOOPBACK and not token:
        raise UsageError(f"--host {host} lets others read the ledger; give a --token (or PREDIBOT_WEB_TOKEN) for them")
    if token and len(token) < _LEAST_TOKEN:
        raise UsageError(f"the token has {len(token)} characters; give one of {_LEAST_TOKEN} or more")
    if not token.isascii() or not token.isprintable() or token != token.strip():
        raise UsageError("the token fits in no header; give letters, digits and signs of ASCII, without blanks around")
    try:
        from predibot.web.app import create_app
        from predibot.web.server import serve_app
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("fastapi", "jinja2", "starlette", "uvicorn"):
            raise
        raise UsageError("predibot serve needs what is not installed: pip install 'predibot[web]'") from None
    caller = output.caller()
    with caller.reading(ledger) as store:
        app = create_app(store, caller.clock, host=host, token=token)
        serve_app(app, host=host, port=port, say=output.say)
