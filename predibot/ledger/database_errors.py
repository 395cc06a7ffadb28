"""Database errors: the first line of what the database said, and what a user can do."""

import sqlite3

from sqlalchemy.exc import DBAPIError, OperationalError

_MAKE_ROOM = "Make room and run the same command again; nothing half-written was kept"


def is_away(error: DBAPIError) -> bool:
    """Return whether work may be repeated: the server went away, is not up yet, or undid a deadlock."""
    if error.connection_invalidated:
        return True
    if not isinstance(error, OperationalError) or isinstance(error.orig, sqlite3.Error):
        return False
    # An error without a state is a failed connection. The others: shutting down, crashed, starting up, full of
    # connections, and the transaction that was undone to end a deadlock.
    state = _state(error)
    return state is None or state in ("57P01", "57P02", "57P03", "53300", "40P01") or state.startswith("08")


def needs_files_beside(error: BaseException | None) -> bool:
    """Return whether SQLite cannot make, or write to, the files through which it reads.

    A refused change has the plain code of a read-only database instead.
    """
    original = getattr(error, "orig", error)
    code = getattr(original, "sqlite_errorcode", sqlite3.SQLITE_OK)
    return code & 0xFF in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN) and code != sqlite3.SQLITE_READONLY


def explain_error(error: Exception) -> str:
    """Return the first line of what the database said, and the remedy where we know one."""
    message = first_line(error)
    if _state(error) == "53100":
        # A full disk, in whichever language the server says it.
        return f"{message}. {_MAKE_ROOM}"
    remedies = {
        "locked": "Another program holds it; try again when that has ended",
        "full": _MAKE_ROOM,
        "readonly": "Make the file and its folder writable, or name another ledger",
        "not a database": "Name another ledger",
        "malformed": "Put a copy in its place, or name another ledger",
        "I/O error": "Look at the disk and its room, and run the same command again",
        "unable to open": "Look at the path and its permissions",
        "connection": "Is the server up, and the URL right?",
    }
    remedy = next((text for word, text in remedies.items() if word in message), "")
    return f"{message}. {remedy}".rstrip(". ") if remedy else message


def first_line(error: Exception) -> str:
    """Return the first line of what a database said, or the name of the error."""
    original = error.orig if isinstance(error, DBAPIError) else error
    return (str(original).strip() or type(original).__name__).splitlines()[0]


def _state(error: Exception) -> str | None:
    """Return PostgreSQL's five-character code of an error; None for SQLite, and where there is none."""
    return getattr(error.orig, "sqlstate", None) if isinstance(error, DBAPIError) else None
