"""Artefacts of a ledger, such as pages, found by the hash of their content: files, or rows of the database."""

import hashlib
import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from sqlalchemy import Connection, func, select, update

from predibot.domain.clock import format_instant, parse_instant
from predibot.errors import ArtefactPruned, LedgerUnusable, UsageError
from predibot.ledger.schema.tables import ArtefactRow
from predibot.ledger.schema.upsert import insert_new, table_of
from predibot.ledger.store import Store
from predibot.plain_file import open_plain, unpack
from predibot.whole_file import whole_file

OLDER = Path("runs/out")
"""Artefacts of older versions lie here, in the current folder, not at a ledger's address."""

MAX_BYTES = 128 * 2**20
"""A trace of thousands of steps, and a page as an agent reads it, are far smaller."""
MAX_PAGE_CHARACTERS = 2_000_000
"""More of a page is cut off; the longest recorded one has a tenth of that."""
_DIGEST = re.compile("[0-9a-f]{64}")
PRUNED = b"pruned "
"""The row of a pruned artefact is this prefix and the instant; other rows are compressed content."""
LONGEST_MARK = 64
_MARKED_AT_ONCE = 500

artefacts = table_of(ArtefactRow)


@dataclass(frozen=True, slots=True)
class ContentStore:
    """The artefacts of one kind, each written once, whole, under its SHA-256."""

    store: Store
    kind: str
    """Their folder in `<name>.files/`."""
    suffix: str
    noun: str

    def keep(self, data: bytes) -> str:
        """Write an artefact, unless it is there, and return its hash."""
        # The decision that names it is stored later, and survives a power cut.
        (digest,) = self.keep_all([data], durable=True)
        return digest

    def keep_all(self, contents: Sequence[bytes], *, durable: bool = False) -> tuple[str, ...]:
        """Write those of several artefacts that are not there, and return the hashes of all; rows in one transaction.

        `durable` files are on the disk when this returns.
        """
        found = {hashlib.sha256(data).hexdigest(): data for data in contents}
        if self.store.files is None:
            rows = [{"sha256": digest, "content": zlib.compress(data)} for digest, data in found.items()]
            self.store.run_write(lambda connection: _insert_rows(connection, rows))
        else:
            for digest, data in found.items():
                self._write(self._path(self.store.files, digest), data, durable=durable)
        return tuple(found)

    def _write(self, path: Path, data: bytes, *, durable: bool) -> None:
        if path.exists():
            return
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with whole_file(path, durable=durable) as file:
                file.write(data)
        except OSError as error:
            raise LedgerUnusable(
                f"the {self.noun} {path} cannot be written: {error.strerror}. Make room, then go on"
            ) from error

    def read(self, digest: str) -> bytes:
        """Return an artefact's content; raise `ArtefactPruned` if pruned, `UsageError` if missing or altered."""
        self._check_digest(digest)
        place, data = self._locate(digest)
        if data is None:
            raise UsageError(f"there is no {self.noun} {place}; it was removed, or not copied with the ledger")
        if hashlib.sha256(data).hexdigest() != digest:
            raise UsageError(
                f"the {self.noun} {place} was changed since: its content does not have the hash of its name"
            )
        return data

    def _locate(self, digest: str) -> tuple[str, bytes | None]:
        """Return where an artefact is or would be, and its content."""
        path = None if self.store.files is None else self._path(self.store.files, digest)
        data = None if path is None else _read_file(path)
        place = f"{digest} in {self.store.address}" if path is None else str(path)
        # A backup is a file in which they are rows.
        data = self._read_row(digest) if data is None else data
        if data is not None:
            return place, data
        older = self._path(OLDER, digest)
        data = _read_file(older)
        return (place, None) if data is None else (str(older), data)

    def path_of(self, digest: str) -> Path | None:
        """Return an artefact's file; None where there is none, and it may be a row."""
        self._check_digest(digest)
        own = None if self.store.files is None else self._path(self.store.files, digest)
        if own is not None and own.exists():
            return own
        is_row = select(func.count()).select_from(artefacts).where(artefacts.c.sha256 == digest)
        older = self._path(OLDER, digest)
        # A backup is a file in which they are rows.
        if self.store.run_read(lambda connection: connection.execute(is_row).scalar_one()):
            return None
        return older if older.exists() else None

    def read_packed(self, digest: str) -> bytes:
        """Return the compressed content of an artefact's row; raise `ArtefactPruned` or `UsageError` as `read` does."""
        self._check_digest(digest)
        content = self._content(digest)
        if content is None:
            raise UsageError(f"there is no {self.noun} {digest}; it was removed, or not copied with the ledger")
        return content

    def _check_digest(self, digest: str) -> None:
        # A ledger may be somebody else's, and its digest a path that leads anywhere.
        if _DIGEST.fullmatch(digest) is None:
            raise UsageError(f"{digest[:80]!r} is no SHA-256 of a {self.noun}")

    def _read_row(self, digest: str) -> bytes | None:
        content = self._content(digest)
        if content is None:
            return None
        try:
            return unpack(content, MAX_BYTES)
        except (TypeError, ValueError):
            # Its hash is wrong too, which the caller reports.
            return b""

    def _content(self, digest: str) -> bytes | None:
        query = select(artefacts.c.content).where(artefacts.c.sha256 == digest)
        content: bytes | None = self.store.run_read(lambda connection: connection.execute(query).scalar_one_or_none())
        if content is None:
            return None
        if (pruned_at := _pruned_at(content)) is not None:
            raise ArtefactPruned(
                f"the {self.noun} {digest} was pruned on {format_instant(pruned_at)}; what it was is known by its "
                "hash only, unless a backup of before has it",
                pruned_at=pruned_at,
            )
        return content

    def _path(self, folder: Path, digest: str) -> Path:
        return folder / self.kind / digest[:2] / f"{digest}{self.suffix}"


@dataclass(frozen=True, slots=True)
class Pages:
    """The texts of the pages that agents read."""

    store: Store

    def keep(self, text: str) -> str:
        """Write a page as UTF-8, cut at `MAX_PAGE_CHARACTERS` with a last line that says so, and return its SHA-256."""
        if len(text) > MAX_PAGE_CHARACTERS:
            text = f"{text[:MAX_PAGE_CHARACTERS]}\n… ({len(text):,} characters)"
        # Half a surrogate pair is no UTF-8, and no reason to lose the rest.
        return self.files.keep(text.encode("utf-8", "surrogatepass"))

    def text(self, digest: str) -> str:
        """Return a page's text; raise `UsageError` if there is none, or its content does not have the hash."""
        return self.files.read(digest).decode("utf-8", "surrogatepass")

    @property
    def files(self) -> ContentStore:
        """Return the content store of pages."""
        return ContentStore(self.store, "pages", ".txt", "page")


def mark_pruned(connection: Connection, digests: Sequence[str], *, at: datetime) -> None:
    """Mark artefacts as pruned; rows lose their content with that."""
    mark = {"content": PRUNED + format_instant(at.replace(microsecond=0)).encode()}
    for start in range(0, len(digests), _MARKED_AT_ONCE):
        some = digests[start : start + _MARKED_AT_ONCE]
        insert_new(connection, ArtefactRow, [{"sha256": digest, **mark} for digest in some])
        connection.execute(update(artefacts).where(artefacts.c.sha256.in_(some)).values(**mark))


def _insert_rows(connection: Connection, rows: Sequence[Mapping[str, object]]) -> None:
    if insert_new(connection, ArtefactRow, rows) == len(rows):
        return
    for row in rows:
        # Only a pruned one gets its content back.
        is_mark = func.length(artefacts.c.content) <= LONGEST_MARK
        own = artefacts.c.sha256 == row["sha256"]
        connection.execute(update(artefacts).where(own, is_mark).values(content=row["content"]))


def _pruned_at(content: object) -> datetime | None:
    if not isinstance(content, bytes) or not content.startswith(PRUNED):
        return None
    try:
        return parse_instant(content[len(PRUNED) : LONGEST_MARK].decode())
    except ValueError:
        return None


def _read_file(path: Path) -> bytes | None:
    try:
        with open_plain(path) as file:
            return file.read(MAX_BYTES)
    except OSError:
        return None
