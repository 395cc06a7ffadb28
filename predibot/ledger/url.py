"""The address of a ledger: which URLs are taken, and how one is shown without its password."""

import heapq
import shlex
from os import PathLike, fspath
from pathlib import Path
from urllib.parse import unquote

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from predibot.environment import DEFAULT_LEDGER
from predibot.errors import LedgerUnusable, UsageError

TAKEN = "A ledger is named by a sqlite or postgresql URL"
_NAMED_LEDGERS = 3
_SECRET_WORDS = ("password", "passwd", "pwd", "secret", "token", "key")


def parse_ledger_url(text: str) -> URL:
    """Return the URL of a ledger with our driver; raise `UsageError` unless it is of a SQLite file or of PostgreSQL."""
    if not text.isprintable():
        # Also a path that is no UTF-8, which no database takes.
        raise UsageError(f"the ledger's address has characters that cannot be read: {ascii(text)[:100]}. {TAKEN}")
    try:
        url = make_url(text)
        backend = url.get_backend_name()
    except (ArgumentError, ValueError):
        if "://" in text or "@" in text or "=" in text:
            # Not shown, because it may hold a password.
            raise UsageError(f"that ledger URL cannot be read. {TAKEN}") from None
        example = f"for a file write sqlite:///{text[:100]}"
        raise UsageError(f"{text[:100]!r} is not a URL; {example}. {TAKEN}") from None
    if "@" in (url.host or ""):
        # An @ in the password puts its rest into the host, which would be shown.
        raise UsageError(f"that ledger URL cannot be read; write an @ in its password as %40. {TAKEN}")
    if backend == "sqlite":
        return _check_sqlite_url(url, text)
    if backend in ("postgresql", "postgres"):
        return url.set(drivername="postgresql+psycopg")
    raise UsageError(f"no ledger can be kept in {mask_url(url)!r}. {TAKEN}")


def prepare_url(address: str, *, create: bool) -> URL:
    """Return the URL of a ledger whose file is there; with `create` its folder is made.

    Raises:
        UsageError: If no ledger can have this address.
        LedgerUnusable: If there is no such file.
    """
    url = parse_ledger_url(address)
    file = sqlite_file(url)
    if file is None:
        return url
    try:
        if file.is_dir():
            raise UsageError(f"the ledger {file} is a folder; name a file in it")
        is_there = file.exists()
        if is_there and not file.is_file():
            raise UsageError(f"the ledger {file} is a device or a pipe, which holds no ledger; name a file")
        if create and not is_there:
            file.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise LedgerUnusable(
            f"the ledger {file} cannot be reached: {error.strerror}. Look at the path and its permissions"
        ) from error
    if not (create or is_there):
        beside = heapq.nsmallest(_NAMED_LEDGERS, file.parent.glob("*.db"))
        options = [f"--ledger {shlex.quote(f'sqlite:///{each}')}" for each in beside]
        named = f": {' or '.join(options)}" if beside else ""
        raise LedgerUnusable(
            f"there is no ledger at {file}. Run `predibot decide` first, or name the ledger that is meant{named}"
        )
    return url


def mask_url(url: URL) -> str:
    """Return a URL as text, with `***` for passwords, also in its query."""
    query = {
        name: "***" if any(word in name.lower() for word in _SECRET_WORDS) else value
        for name, value in url.query.items()
    }
    if url.get_backend_name() == "sqlite" and not (url.host or url.query):
        return sqlite_address(url.database or "")
    shown = url.set(query=query).render_as_string(hide_password=True)
    return shown.replace("postgresql+psycopg://", "postgresql://").replace("%2A%2A%2A", "***")


def without_password(text: str) -> tuple[str, str]:
    """Return an address to give another process, and the password taken out of it.

    A file has its whole path, because the other process may stand in another folder.
    """
    url = parse_ledger_url(text)
    file = sqlite_file(url)
    if file is not None:
        return sqlite_address(file.absolute()), ""
    query = {name: value for name, value in url.query.items() if "password" not in name.lower()}
    return str(url.set(password=None, query=query).render_as_string()), str(
        url.password or url.query.get("password", "")
    )


def sqlite_address(file: str | PathLike[str]) -> str:
    """Return the URL of a ledger's file; only `%` and `?` are encoded.

    Examples:
        >>> sqlite_address("runs/100% #1?.db")
        'sqlite:///runs/100%25 #1%3F.db'
    """
    return f"sqlite:///{fspath(file).replace('%', '%25').replace('?', '%3F')}"


def sqlite_file(url: URL) -> Path | None:
    """Return the file of a SQLite ledger, or None for a server."""
    return Path(str(url.database)) if url.get_backend_name() == "sqlite" else None


def _check_sqlite_url(url: URL, text: str) -> URL:
    if not url.database or url.database == ":memory:":
        raise UsageError(f"a ledger in memory would be lost; name a file, as in {DEFAULT_LEDGER}. {TAKEN}")
    if url.database.startswith("file:") or url.host or "?" in text:
        raise UsageError(
            f"a SQLite ledger is a file without options, as in {DEFAULT_LEDGER}; no host, no `file:`, and %3F for "
            f"a `?` in its name. {TAKEN}"
        )
    # SQLAlchemy 2.0 takes a name as it is written, 2.1 decodes it.
    return url.set(drivername="sqlite", database=unquote(text.partition(":///")[2]))
