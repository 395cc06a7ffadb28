"""The body of a page: unpacked within bounds, and decoded to text."""

import codecs
import re
import zlib
from collections.abc import Iterable, Iterator

from predibot.research.pages.errors import PageUnreadable

PIECE_BYTES = 64 * 1024
_UNPACKED = {"": None, "identity": None, "gzip": 31, "x-gzip": 31, "deflate": 15}
"""Window bits by content encoding: what zlib takes for gzip's and zlib's headers."""
_BARE_DEFLATE = -15
_BYTE_ORDER_MARKS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
# Python has codecs under names that are no character sets, and one of them is quadratic.
_CHARSET = re.compile(
    r"utf-?(8|16|16le|16be)|us-ascii|ascii|latin-?1|iso-?8859-?\d{1,2}|(windows|cp)-?\d{3,4}|koi8-?[ru]"
    r"|gb2312|gbk|gb18030|big5(-?hkscs)?|shift-?jis|sjis|euc-?(jp|kr)|iso-?2022-?jp|mac-?(roman|cyrillic)|tis-?620"
)
_STATED_IN_HTML = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([\w-]{2,20})", re.IGNORECASE)
_STATED_WITHIN_BYTES = 4096


def unpacked(pieces: Iterable[bytes], encoding: str, *, max_bytes: int) -> bytes:
    """Return a whole body, unpacked.

    Args:
        pieces: As they came in.
        encoding: The Content-Encoding header; empty where there is none.
        max_bytes: Of the result. A piece is never unpacked beyond it, so that a
            small bomb costs a small amount of memory.

    Raises:
        PageUnreadable: If it is larger, breaks off, or is packed otherwise.
    """
    known = encoding.strip().lower()
    if known not in _UNPACKED:
        raise PageUnreadable(f"the page is packed as {known[:40]!r}, which was not asked for; take another source")
    bits = _UNPACKED[known]
    parts: list[bytes] = []
    total = 0
    for part in pieces if bits is None else _inflated(pieces, bits):
        total += len(part)
        if total > max_bytes:
            raise PageUnreadable(f"the page is larger than {max_bytes:,} bytes; take another source")
        parts.append(part)
    return b"".join(parts)


def decoded(body: bytes, charset: str | None) -> tuple[str, str]:
    """Return a body as text, and the character set it turned out to be in.

    What the bytes themselves say goes first, then the header, then the page's
    own statement, then UTF-8, then Windows-1252, in which everything is text.
    """
    marked = next((name for mark, name in _BYTE_ORDER_MARKS if body.startswith(mark)), None)
    in_html = _STATED_IN_HTML.search(body, 0, _STATED_WITHIN_BYTES)
    stated = in_html.group(1).decode("ascii", "replace") if in_html else None
    for name in (marked, _known(charset), _known(stated), "utf-8"):
        if name is None:
            continue
        try:
            return body.decode(name), name
        except (UnicodeError, LookupError):
            continue
    if known := _known(charset) or _known(stated):
        return body.decode(known, "replace"), known
    return body.decode("cp1252", "replace"), "cp1252"


def _known(charset: str | None) -> str | None:
    """Return a stated character set if it is one we decode."""
    name = (charset or "").strip().strip("\"'").lower().replace("_", "-")
    if not _CHARSET.fullmatch(name):
        return None
    # What calls itself Latin-1 on the web is Windows-1252.
    name = "cp1252" if name in ("latin1", "latin-1", "iso-8859-1", "iso8859-1", "ascii", "us-ascii") else name
    try:
        return codecs.lookup(name).name
    except LookupError:
        return None


def _inflated(pieces: Iterable[bytes], bits: int) -> Iterator[bytes]:
    """Yield a packed body unpacked, at most `PIECE_BYTES` at a time."""
    engine = None
    for piece in pieces:
        left = piece
        while left:
            if engine is None:
                # Some servers send `deflate` without the header that belongs to it.
                engine = zlib.decompressobj(_BARE_DEFLATE if bits == 15 and left[0] & 0x0F != 8 else bits)
            elif engine.eof:
                if bits != 31 or not left.startswith(b"\x1f"):
                    break  # padding after the end
                engine = zlib.decompressobj(31)
            yield from (part for part in _drained(engine, left) if part)
            left = engine.unused_data if engine.eof else b""
    if engine is None or not engine.eof:
        raise PageUnreadable("the packed page breaks off before its end; try again or take another source")


def _drained(engine: "zlib._Decompress", packed: bytes) -> Iterator[bytes]:
    """Yield all that comes of some packed bytes."""
    left = packed
    while left and not engine.eof:
        try:
            yield engine.decompress(left, PIECE_BYTES)
        except zlib.error as error:
            raise PageUnreadable("the page is not packed as it says; take another source") from error
        left = engine.unconsumed_tail
