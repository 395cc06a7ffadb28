"""Errors of a database: what it said in one line, and what to do about it."""

import sqlite3

from sqlalchemy.exc import DBAPIError, OperationalError

_MAKE_ROOM = "Make room and run the same command again; nothing half-written was kept"


def is_away(error: DBAPIError) -> bool:
    """Return whether a server went away, is not up yet or undid this to let another go on: it may be done again."""
    if error.connection_invalidated:
        return True
    if not isinstance(error, OperationalError) or isinstance(error.orig, sqlite3.Error):
        return False
    # Who could not even connect has no state. The others: shutting down, crashed, starting up, full of connections,
    # and of two transactions that wait for each other the one that was undone.
    state = _state(error)
    return state is None or state in ("57P01", "57P02", "57P03", "53300", "40P01") or state.startswith("08")


def needs_files_beside(error: BaseException | None) -> bool:
    """Return whether SQLite cannot make, or write to, the files through which it reads.

    A reader that would change rows is refused with the plain code of a read-only database.
    """
    said = getattr(error, "orig", error)
    code = getattr(said, "sqlite_errorcode", sqlite3.SQLITE_OK)
    return code & 0xFF in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN) and code != sqlite3.SQLITE_READONLY


def explain_error(error: Exception) -> str:
    """Return what the database said, its first line, and what to do where we know."""
    said = first_line(error)
    if _state(error) == "53100":
        # In whichever language the server says it.
        return f"{said}. {_MAKE_ROOM}"
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
    remedy = next((text for word, text in remedies.items() if word in said), "")
    return f"{said}. {remedy}".rstrip(". ") if remedy else said


def first_line(error: Exception) -> str:
    """Return the first line of what a database said, or the name of the error."""
    original = error.orig if isinstance(error, DBAPIError) else error
    return (str(original).strip() or type(original).__name__).splitlines()[0]


def _state(error: Exception) -> str | None:
    """Return the five characters by which PostgreSQL names what failed; None of SQLite, and where none was given."""
    return getattr(error.orig, "sqlstate", None) if isinstance(error, DBAPIError) else None
