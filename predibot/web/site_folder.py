"""The folder of a site: its files, and a manifest of them and of what they were made from.

What is unchanged is not made or written again. A file that is not in the manifest is never touched, and no link is
followed. While a call writes, a journal beside the manifest has a line for each file just before it is written: after
a call that was killed, a file is the site's own if its content is that of its line.
"""

import fcntl
import hashlib
import json
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self, TextIO

from predibot.errors import UsageError
from predibot.plain_file import plain_bytes, plain_text
from predibot.whole_file import is_unfinished, remove_unfinished_files, whole_file

MANIFEST = "predibot-site.json"
_JOURNAL = "predibot-site.journal"
_OWN_NAME = re.compile(r"(?:[a-z]+/)?[A-Za-z0-9][A-Za-z0-9_.-]*")


@dataclass(frozen=True, slots=True)
class SiteSummary:
    """How many files a site has, and how many of them were written."""

    files: int
    written: int
    """Files that are new, or have changed."""
    removed: int
    bytes: int
    """Size of all files."""


@dataclass
class SiteFolder:
    """The files of a site, as they were, and as they are written now."""

    path: Path
    before: Mapping[str, Any]
    """The manifest of the call before."""
    digests: dict[str, str] = field(default_factory=dict)
    """By name of the file."""
    sizes: dict[str, int] = field(default_factory=dict)
    """In bytes, by name of the file."""
    source_digests: dict[str, str] = field(default_factory=dict)
    """Digests of what groups of files, such as the pages of an event, are made from."""
    own: frozenset[str] = frozenset()
    """Names of files that calls before have written."""
    journal: TextIO | None = None
    written: int = 0
    descriptor: int | None = None
    """Descriptor of the folder while it is locked; None if the folder is still missing."""

    @classmethod
    def open(cls, path: Path) -> Self:
        """Return the folder with its manifest, locked until closed.

        Raises `UsageError` if it is foreign, damaged or locked.
        """
        folder = cls(path, {})
        try:
            if path.is_dir():
                folder.lock()
            folder.before = _read_manifest(path)
        except BaseException:
            folder.close()
            raise
        return folder

    def lock(self) -> None:
        """Lock the folder; raise `UsageError` if another call writes it."""
        self.descriptor = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            fcntl.flock(self.descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UsageError(f"another call is writing {self.path}; wait until it has ended") from None
        except OSError:
            # Some network disks have no locks.
            return

    def close(self) -> None:
        """Let other calls write the folder."""
        if self.journal is not None:
            self.journal.close()
            self.journal = None
        if self.descriptor is not None:
            os.close(self.descriptor)
            self.descriptor = None

    def unchanged(self, key: str) -> SiteSummary | None:
        """Return a summary without anything written, if all files are there and were made by this key."""
        names = self.before["files"]
        whole = self.before["key"] == key and all(self._is_there(name) for name in names)
        if not whole:
            return None
        (self.path / _JOURNAL).unlink(missing_ok=True)
        return self._summary([self.before["sizes"][name] for name in names])

    def begin(self, names: Iterable[str]) -> None:
        """Prepare to write files of these names.

        Raises:
            UsageError: If a link or a file of others has one of these names, or another call has just made the folder
                and writes it; nothing is written then.
        """
        if self.descriptor is None:
            self.path.mkdir(parents=True, exist_ok=True)
            self.lock()
            # Another call may have made it since.
            self.before = _read_manifest(self.path)
        killed = self._find_leftovers()
        own = self.own = frozenset({*self.before["files"], *killed})
        every = sorted({*own, *names})
        for name in every:
            self._refuse_links(name)
            self._refuse_others(name, is_own=name in own)
        for each in {(self.path / name).parent for name in every} | {self.path}:
            remove_unfinished_files(each)
        # What an event's pages were made from is known for those of whole calls only.
        events = {} if killed else self.before["events"]
        sizes = {**self.before["sizes"], **{name: (self.path / name).stat().st_size for name in killed}}
        files = {**self.before["files"], **killed}
        self.before = {"key": "", "files": files, "sizes": sizes, "events": events}
        self._write_manifest(self.before)
        (self.path / _JOURNAL).unlink(missing_ok=True)
        # A line at a time reaches the disk's cache, and outlives this process.
        self.journal = (self.path / _JOURNAL).open("x", encoding="utf-8", buffering=1)

    def end(self, key: str) -> SiteSummary:
        """Remove the files that are no longer part of the site, and store that it is whole."""
        gone = [name for name in sorted(self.own) if name not in self.digests]
        for name in gone:
            self._refuse_links(name)
            (self.path / name).unlink(missing_ok=True)
        self._write_manifest({"key": key, "files": self.digests, "sizes": self.sizes, "events": self.source_digests})
        (self.path / _JOURNAL).unlink(missing_ok=True)
        return self._summary([*self.sizes.values()], len(gone))

    def write(self, name: str, content: bytes) -> None:
        """Write a file, unless it is there with this content."""
        digest = self.digests[name] = digest_of(content)
        self.sizes[name] = len(content)
        if self.before["files"].get(name) == digest and self._is_there(name):
            return
        self._refuse_links(name)
        path = self.path / name
        path.parent.mkdir(exist_ok=True)
        if self.journal is not None:
            self.journal.write(f"{digest} {name}\n")
        with whole_file(path) as file:
            file.write(content)
        self.written += 1

    def write_group(self, group: str, made_of: object, names: Iterable[str], make: Callable[[], None]) -> None:
        """Make and write a group of files, unless they are there and were made of the same."""
        digest = self.source_digests[group] = digest_of(repr(made_of).encode())
        before, names = self.before["files"], tuple(names)
        if self.before["events"].get(group) == digest and all(
            name in before and self._is_there(name) for name in names
        ):
            self.digests.update({name: before[name] for name in names})
            self.sizes.update({name: self.before["sizes"][name] for name in names})
        else:
            make()

    def _find_leftovers(self) -> dict[str, str]:
        """Return the digests of the files that are there as a call before wrote them, but are in no manifest."""
        self._refuse_links(_JOURNAL)
        try:
            lines = plain_text(self.path / _JOURNAL).splitlines()
        except FileNotFoundError:
            return {}
        except (OSError, UnicodeDecodeError):
            raise UsageError(f"{self.path / _JOURNAL} cannot be read; remove it, or name another folder") from None
        found = {}
        for digest, _, name in (line.partition(" ") for line in lines):
            if _OWN_NAME.fullmatch(name) and self._link_at(name) is None and (self.path / name).is_file():
                if digest_of(plain_bytes(self.path / name)) == digest:
                    found[name] = digest
                else:
                    found.pop(name, None)
        return found

    def _refuse_links(self, name: str) -> None:
        if (link := self._link_at(name)) is not None:
            raise _link_error(link)

    def _link_at(self, name: str) -> Path | None:
        # The folder itself may be a link: its user named it.
        within = filter(None, (name.rpartition("/")[0], name))
        return next((self.path / each for each in within if os.path.islink(f"{self.path}/{each}")), None)  # noqa: PTH114

    def _refuse_others(self, name: str, *, is_own: bool) -> None:
        path = self.path / name
        if path.parent.exists() and not path.parent.is_dir():
            path = path.parent
        elif not path.is_dir() and (is_own or not os.path.lexists(path)):
            return
        raise UsageError(f"{path} is no file of this site; move it away, or name another folder")

    def _is_there(self, name: str) -> bool:
        """Return whether a file of the call before is there, with the size it was written with."""
        path = self.path / name
        is_file = self._link_at(name) is None and path.is_file()
        return is_file and path.stat().st_size == self.before["sizes"].get(name)

    def _summary(self, sizes: Sequence[int], removed: int = 0) -> SiteSummary:
        return SiteSummary(len(sizes), self.written, removed, sum(sizes))

    def _write_manifest(self, document: Mapping[str, Any]) -> None:
        with whole_file(self.path / MANIFEST) as file:
            file.write(json.dumps(document, indent=0, sort_keys=True).encode())


def digest_of(content: bytes) -> str:
    """Return the SHA-256 of a content."""
    return hashlib.sha256(content).hexdigest()


def _link_error(link: Path) -> UsageError:
    return UsageError(f"{link} is a link, which may lead out of the site; remove it, or name another folder")


def _read_manifest(folder: Path) -> dict[str, Any]:
    """Return the manifest in a folder, empty for a new or empty one; raise `UsageError` for any other content."""
    if (folder / MANIFEST).is_symlink():
        raise _link_error(folder / MANIFEST)
    nothing: dict[str, Any] = {"key": "", "files": {}, "sizes": {}, "events": {}}
    try:
        text = plain_text(folder / MANIFEST)
    except FileNotFoundError:
        # A call may have been killed while it wrote the first manifest.
        if folder.exists() and (not folder.is_dir() or not all(is_unfinished(each) for each in folder.iterdir())):
            raise UsageError(
                f"{folder} holds something else than a site of predibot; name a new folder, or an empty one"
            ) from None
        return nothing
    except (OSError, UnicodeDecodeError):
        raise UsageError(f"{folder / MANIFEST} cannot be read; name another folder") from None
    try:
        # Older versions stored no sizes; their files are written again.
        found = {"sizes": {}, **json.loads(text)}
        whole = all(isinstance(found[name], type(empty)) for name, empty in nothing.items())
        if not whole or not all(_OWN_NAME.fullmatch(name) for name in found["files"]):
            raise ValueError
    except (ValueError, KeyError, TypeError, RecursionError):
        raise UsageError(f"{folder / MANIFEST} is no manifest of a site; name another folder") from None
    return {name: found[name] for name in nothing}
