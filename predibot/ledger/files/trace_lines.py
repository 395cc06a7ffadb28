"""Lines of a trace by number, without holding or parsing a long trace whole.

The format has no index. So the first reader goes through the trace once in blocks, checks its hash and notes where
lines end. Later reads begin there. A row is compressed as a whole: its reads begin at the last kept state of the
decompressor before the line.
"""

import hashlib
import json
import re
import zlib
from array import array
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from predibot.errors import UsageError
from predibot.ledger.files.content_store import MAX_BYTES, ContentStore
from predibot.plain_file import open_plain

BLOCK_BYTES = 2**20
_PACKED_BYTES = 2**16

MOST_LINES = 1_000_000
"""The longest recorded trace has some thousands."""
_BEGINNING_BYTES = 80
_MODEL = re.compile(rb'\{"step": \d+, "kind": "model')


@dataclass(frozen=True, slots=True)
class TraceLines:
    """A trace with the right hash, and where its lines end."""

    files: ContentStore
    digest: str
    ends: "array[int]"
    """Offsets behind each line feed, in bytes; what follows the last one is no line."""
    models: "array[int]"
    """The numbers of the lines of models' steps, from 0."""
    state: tuple[int, ...]
    """The file's state, which differs after any change; empty for a row."""

    def __len__(self) -> int:
        """Return the number of lines."""
        return len(self.ends)

    def read(self, numbers: Sequence[int], most_bytes: int) -> Iterator[tuple[int, bytes]]:
        """Yield lines by number, from 0 and increasing: the whole length of each, and its first `most_bytes`."""
        spans = [(self.ends[number - 1] if number else 0, self.ends[number] - 1) for number in numbers]
        blocks, held, at = self.blocks(), b"", 0
        for start, end in spans:
            wanted = min(end, start + most_bytes)
            found = bytearray()
            while at < wanted and (held or (held := next(blocks, b""))):
                found += held[max(0, start - at) : wanted - at]
                taken = min(len(held), wanted - at)
                held, at = held[taken:], at + taken
            yield end - start, bytes(found)

    def find(self, words: str) -> tuple[int, ...]:
        """Return the numbers of the lines that hold a text; case of Latin letters is ignored."""
        # As JSON writes it: a backslash stands before a quote within a text.
        wanted = json.dumps(words, ensure_ascii=False)[1:-1].encode("utf-8", "backslashreplace").lower()
        found, at, before = dict[int, None](), 0, b""
        for block in self.blocks():
            text = before + block.lower()
            place = text.find(wanted)
            while place >= 0:
                line = bisect_right(self.ends, at - len(before) + place)
                if line >= len(self.ends):
                    break
                found[line] = None
                # Further hits in this line add nothing.
                place = text.find(wanted, max(place + 1, self.ends[line] - at + len(before)))
            at += len(block)
            before = text[-(len(wanted) - 1) :] if len(wanted) > 1 else b""
        return tuple(found)

    def blocks(self) -> Iterator[bytes]:
        """Yield the whole trace in parts, as it is stored."""
        return _blocks(self.files, self.digest)


def trace_lines(files: ContentStore, digest: str) -> TraceLines:
    """Return the lines of a trace, which is read once, never held whole; raise `UsageError` as `ContentStore.read`."""
    state = state_of(files, digest)
    hashed, ends, models, at, beginning = hashlib.sha256(), array("q"), array("q"), 0, b""
    for block in _blocks(files, digest):
        hashed.update(block)
        start, place = 0, block.find(b"\n")
        while place >= 0:
            if len(ends) == MOST_LINES:
                raise UsageError(
                    f"the {files.noun} {digest} has more than {MOST_LINES:,} lines; predibot writes none such"
                )
            if _MODEL.match(beginning + block[start : min(place, start + _BEGINNING_BYTES)]):
                models.append(len(ends))
            ends.append(at + place + 1)
            start, beginning = place + 1, b""
            place = block.find(b"\n", start)
        # A line can go on in the next block.
        beginning = (beginning + block[start : start + _BEGINNING_BYTES])[:_BEGINNING_BYTES]
        at += len(block)
    if hashed.hexdigest() != digest:
        raise UsageError(f"the {files.noun} {digest} was changed since: its content does not have the hash of its name")
    return TraceLines(files, digest, ends, models, state)


def state_of(files: ContentStore, digest: str) -> tuple[int, ...]:
    """Return what differs after any change of a trace's file; empty for a row."""
    path = files.path_of(digest)
    try:
        found = None if path is None else path.stat()
    except OSError:
        found = None
    return () if found is None else (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)


def _blocks(files: ContentStore, digest: str) -> Iterator[bytes]:
    """Yield a content in blocks, at most `MAX_BYTES` of it."""
    path, left = files.path_of(digest), MAX_BYTES
    if path is None:
        yield from _unpack(files.read_packed(digest))
        return
    try:
        file = open_plain(path)
    except OSError as error:
        raise UsageError(f"the {files.noun} {digest} cannot be read: {error.strerror}") from error
    with file:
        while left > 0 and (block := file.read(min(BLOCK_BYTES, left))):
            left -= len(block)
            yield block


def _unpack(content: bytes) -> Iterator[bytes]:
    at, unpacking = 0, zlib.decompressobj()
    try:
        # Taken in pieces, as what is left of a whole trace would be copied for each block.
        for offset in range(0, len(content), _PACKED_BYTES):
            packed, most, block = content[offset : offset + _PACKED_BYTES], BLOCK_BYTES, b""
            # A full block may leave unpacked bytes behind after all input was taken.
            while at < MAX_BYTES and (packed or len(block) == most):
                most = min(BLOCK_BYTES, MAX_BYTES - at)
                block = unpacking.decompress(packed, most)
                packed = unpacking.unconsumed_tail
                at += len(block)
                if block:
                    yield block
    except (TypeError, zlib.error):
        # What came so far does not have the hash, which the caller reports.
        return
