"""Seals: what a ledger keeps to save time is believed only where this user made it, and for this very ledger.

A ledger may be somebody else's file, and its author could have written what is kept beside them. So
what is kept is sealed under a secret that lies outside of every ledger, in the folder of the user's own state.
Where there is none and none can be made, nothing is kept, and all is made of the rows.
"""

import hashlib
import hmac
import logging
import os
import secrets
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection

from predibot.environment import state_folder
from predibot.ledger.url import sqlite_file
from predibot.plain_file import open_plain

_log = logging.getLogger(__name__)

_SECRET_BYTES = 32
_DIGEST_BYTES = 32
HEAD_BYTES = 2 * _DIGEST_BYTES
"""The hash of what is sealed, and the seal on that hash; what is sealed follows."""


@dataclass(frozen=True, slots=True)
class Seal:
    """The seal of one user on what is kept in one ledger."""

    key: bytes

    def sealed(self, name: str, content: bytes) -> bytes:
        """Return a content with its seal before it.

        Args:
            name: What it is, of which state of the ledger; under another name it is not believed.
            content: What is kept.
        """
        digest = hashlib.sha256(content).digest()
        return digest + self._mark(name, digest) + content

    def is_own(self, name: str, head: object) -> bool:
        """Return whether what begins so was sealed under this name; whether its content was changed since is not said.

        Args:
            name: As for `sealed`.
            head: Its first `HEAD_BYTES`, or whatever a database holds there.
        """
        if not isinstance(head, bytes) or len(head) != HEAD_BYTES:
            return False
        return hmac.compare_digest(self._mark(name, head[:_DIGEST_BYTES]), head[_DIGEST_BYTES:])

    def opened(self, name: str, blob: object) -> bytes | None:
        """Return the content that was sealed under a name; None for anything else."""
        if not isinstance(blob, bytes) or not self.is_own(name, blob[:HEAD_BYTES]):
            return None
        content = blob[HEAD_BYTES:]
        return content if hashlib.sha256(content).digest() == blob[:_DIGEST_BYTES] else None

    def _mark(self, name: str, digest: bytes) -> bytes:
        return hmac.digest(self.key, name.encode() + b"\0" + digest, "sha256")


def seal_of(connection: Connection) -> Seal | None:
    """Return this user's seal on the ledger of a connection; None where no secret can be kept."""
    try:
        file = secret_file()
        if not file.exists():
            _make(file)
        secret = _read(file)
    except (OSError, RuntimeError, ValueError) as error:
        _log.info("nothing is kept in the ledger for the next evaluation: %s", error)
        return None
    return Seal(hmac.digest(secret, _place(connection), "sha256"))


def _place(connection: Connection) -> bytes:
    """Return where the ledger is: a file that was put in its place, or a copy, is another one."""
    url = connection.engine.url
    file = sqlite_file(url)
    if file is None:
        return f"{url.host}:{url.port}/{url.database}?{sorted(url.query.items())}".encode()
    return os.fsencode(f"{file.resolve()} {file.stat().st_ino}")


def secret_file() -> Path:
    """Return where the secret is.

    Raises:
        RuntimeError: If the user has no home.
    """
    return state_folder() / "predibot" / "ledger.key"


def _make(file: Path) -> None:
    """Write a new secret, whole and for nobody else; of two that are made at once the last one stays."""
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    unfinished = file.with_name(f".unfinished-{secrets.token_hex(16)}")
    try:
        with os.fdopen(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as made:
            made.write(secrets.token_bytes(_SECRET_BYTES))
        unfinished.replace(file)
    finally:
        unfinished.unlink(missing_ok=True)


def _read(file: Path) -> bytes:
    with open_plain(file) as held:
        found = os.fstat(held.fileno())
        if found.st_uid != os.geteuid() or found.st_mode & 0o077:
            raise ValueError(f"{file} is not a file that only you can read. Remove it; another is made")
        secret = held.read(_SECRET_BYTES + 1)
    if len(secret) != _SECRET_BYTES:
        raise ValueError(f"{file} has not {_SECRET_BYTES} bytes. Remove it; another is made")
    return secret
