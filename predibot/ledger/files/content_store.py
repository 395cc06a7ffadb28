"""Hashed files: each written once, whole, under the hash of what is in it."""

import hashlib
from dataclasses import dataclass
from pathlib import Path

from predibot.errors import LedgerUnusable, UsageError
from predibot.whole_file import whole_file


@dataclass(frozen=True, slots=True)
class HashedFiles:
    """A folder of files of one kind."""

    folder: Path
    suffix: str
    noun: str
    """What one of them is, for messages."""

    def keep(self, data: bytes) -> str:
        """Write a file under the SHA-256 of its content, unless it is there, and return that hash.

        Raises:
            LedgerUnusable: If it cannot be written.
        """
        digest = hashlib.sha256(data).hexdigest()
        path = self.path(digest)
        if path.exists():
            return digest
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            # A decision that names it is stored behind it, and outlives a power cut.
            with whole_file(path, durable=True) as file:
                file.write(data)
        except OSError as error:
            raise LedgerUnusable(
                f"the {self.noun} {path} cannot be written: {error.strerror}. Make room, then go on"
            ) from error
        return digest

    def read(self, digest: str) -> bytes:
        """Return the content of a file.

        Raises:
            UsageError: If there is none, or its content is not what its name says.
        """
        path = self.path(digest)
        try:
            data = path.read_bytes()
        except OSError:
            raise UsageError(f"there is no {self.noun} {path}; it was made in another folder, or removed") from None
        if hashlib.sha256(data).hexdigest() != digest:
            raise UsageError(
                f"the {self.noun} {path} was changed since: its content does not have the hash of its name"
            )
        return data

    def path(self, digest: str) -> Path:
        """Return where a file is, or would be."""
        return self.folder / digest[:2] / f"{digest}{self.suffix}"
