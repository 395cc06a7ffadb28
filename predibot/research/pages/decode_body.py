"""The body of a page: decompressed within bounds, and decoded to text."""

import codecs
import re
import zlib
from collections.abc import Iterable

import webencodings

from predibot.research.pages.errors import PageUnreadable

_UNPACKED = {"": None, "identity": None, "gzip": 31, "x-gzip": 31, "deflate": 15}
"""Window bits by content encoding: zlib's numbers for gzip's and zlib's headers."""
_BARE_DEFLATE = -15
_MOST_MEMBERS = 1_000
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
    (b"<\x00", "utf-16-le"),
    (b"\x00<", "utf-16-be"),
)
_JAPANESE = re.compile(rb"\x1b\$[@B]")
"""ISO-2022-JP's mark that the following ASCII is Japanese; no other text has it."""
_PYTHON_NAMES = {"gbk": "gb18030", "iso-2022-jp": "iso2022_jp_ext"}
"""Python's codecs that are nearer to the web's than those of the same name."""
_IN_XML = re.compile(rb"\s*<\?xml[^>]{0,100}?\sencoding\s*=\s*[\"']\s*([\w.:-]{1,40})", re.IGNORECASE)
_IN_HTML = re.compile(
    rb"<!--.*?(?:-->|\Z)|<(script|style|title|textarea)\b.*?(?:</\1|\Z)|<meta\b[^>]{1,2000}>", re.IGNORECASE | re.DOTALL
)
_CHARSET = re.compile(rb"(?<![\w-])charset\s*=\s*[\"']?\s*([\w.:-]{1,40})", re.IGNORECASE)
_DESCRIBES = re.compile(rb"(?<![\w-])(?:name|property|itemprop)\s*=", re.IGNORECASE)
_DETECTED = [
    "cp1252", "cp1251", "cp1250", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257", "koi8_r", "gb18030", "big5",
    "cp932", "euc_jp", "cp949", "iso8859_2", "iso8859_5", "iso8859_7", "tis_620",
]  # fmt: skip
_CENTRAL = ("ąćęłńóśźż", "áčďéěíňóřšťúůýž", "áäčďéíĺľňóôŕšťúýž", "áéíóöőúüű", "ăâîşţ", "čćđšž")
_LATIN = {
    "cp1252": (
        "äöüß", "àâçéèêëîïôùûœ", "áéíñóúü", "àáâãçéêíóôõú", "àèéìòù", "åäöé", "æøåé", "áðéíóúýþæö", "èéëïóöü",
    ),
    "cp1250": _CENTRAL,
    "iso8859_2": _CENTRAL,
    "cp1254": ("âçğıîöşü",),
    "cp1257": ("ąčęėįšųūž", "āčēģīķļņšūž", "äõöüšž"),
}  # fmt: skip
"""Similar codecs, with the letters beside A to Z of their languages."""
_MANY_SIGNS = 6
"""So many characters in UTF-8 are no accident."""
_ALIKE = 0.05
"""If the disorder of two codecs differs by less, the one with the likelier language wins."""
_PRINTED = "„“”‘’‚–—…«»€£§°·\u00a0¿¡©®"
"""Characters that are no letters, much the same in these codecs."""
_ASCII = dict.fromkeys(range(128))
_SAMPLE_BYTES = 20_000


def decompress(pieces: Iterable[bytes], encoding: str, *, max_bytes: int) -> bytes:
    """Return a whole body, decompressed by its Content-Encoding (empty for none).

    No piece is ever decompressed beyond `max_bytes`, so a small bomb costs little memory. Raises `PageUnreadable` if
    the body is larger, breaks off, or is compressed otherwise.
    """
    known = encoding.strip().lower()
    if known not in _UNPACKED:
        raise PageUnreadable(f"the page is packed as {known[:40]!r}, which was not asked for; take another source")
    bits, body = _UNPACKED[known], bytearray()
    too_large = PageUnreadable(f"the page is larger than {max_bytes:,} bytes; take another source")
    for piece in pieces:
        body += piece
        if len(body) > max_bytes:
            raise too_large
    if bits is None:
        return bytes(body)
    # Some servers send `deflate` without the header that belongs to it.
    if bits == 15 and body and body[0] & 0x0F != 8:
        bits = _BARE_DEFLATE
    found, left = bytearray(), bytes(body)
    for _ in range(_MOST_MEMBERS):
        engine = zlib.decompressobj(bits)
        try:
            found += engine.decompress(left, max_bytes + 1 - len(found))
        except zlib.error as error:
            raise PageUnreadable("the page is not packed as it says; take another source") from error
        if len(found) > max_bytes:
            raise too_large
        if not engine.eof:
            break
        left = engine.unused_data
        # Anything but a further gzip member is padding.
        if bits != 31 or not left.startswith(b"\x1f"):
            return bytes(found)
    raise PageUnreadable("the packed page breaks off before its end; try again or take another source")


def decode_text(body: bytes, charset: str | None) -> tuple[str, str]:
    """Return a body as text, and its codec.

    The bytes' own marks come first, then the header, then the page's own statement, by the web's table of labels:
    `gb2312` is GBK, `iso-8859-1` Windows-1252. If nothing is stated, or the statement fits badly, the codec is UTF-8 or
    detected. An invalid byte becomes one character.

    Source:
        WHATWG, Encoding Standard, "Names and labels", by webencodings; HTML Standard, "Determining the character
        encoding", without its limit of 1,024 bytes. Differs where UTF-8 is labelled as another codec.
    """
    marked = next((name for mark, name in _MARKS if body.startswith(mark)), None)
    stated = [
        marked,
        "iso2022_jp_ext" if _JAPANESE.search(body) else None,
        _codec_of_label(charset, body),
        _codec_of_label(_stated_label(body), body),
    ]
    for name in (*filter(None, stated), "utf-8"):
        text = _decode(body, name)
        broken = text.count("\ufffd")
        # Text of another codec is mostly invalid as UTF-8.
        if 3 * broken <= len(text) - len(text.encode("ascii", "ignore")):
            return text.removeprefix("\ufeff"), name
    name = _detect_codec(body)
    return _decode(body, name), name


def _decode(body: bytes, name: str) -> str:
    if name == "utf-8":
        return body.decode(errors="replace")
    codecs.register_error("predibot.web", _as_the_web_does)
    return body.decode(name, "predibot.web")


def _as_the_web_does(error: UnicodeError) -> tuple[str, int]:
    """Return the text for bytes that a codec of Python does not know, and where decoding continues. An unknown pair is
    one character: after half of it, all further pairs would be read wrongly.
    """
    if not isinstance(error, UnicodeDecodeError):
        raise error
    first, second = error.object[error.start], error.object[error.start + 1 : error.start + 2]
    if error.encoding == "charmap" and first < 0xA0:
        return chr(first), error.start + 1
    if error.encoding == "gb18030" and first == 0x80:
        return "€", error.start + 1
    is_pair = (0xA1 if error.encoding == "euc_jp" else 0x81) <= first <= 0xFE and second > b"\x7f"
    if not is_pair or error.encoding == "charmap":
        return "\ufffd", error.start + 1
    return _by_shift_jis(first, second[0]) if error.encoding == "euc_jp" else "\ufffd", error.start + 2


def _by_shift_jis(first: int, second: int) -> str:
    """Return the meaning of a EUC-JP pair that NEC and IBM added, such as ① and 髙; Python has them in CP932."""
    row, cell = first - 0xA1, second - 0xA1
    pair = (row // 2 + (0x81 if row < 62 else 0xC1), cell + (0x9F if row % 2 else 0x40 if cell < 63 else 0x41))
    return bytes(pair).decode("cp932", "replace")[0] if cell >= 0 else "\ufffd"


def _codec_of_label(label: str | None, body: bytes) -> str | None:
    """Return the codec of a label, or None if the web does not know it."""
    encoding = webencodings.lookup(label) if label and label.isascii() else None
    if encoding is None or encoding.name in ("replacement", "x-user-defined"):
        return None
    if _is_utf_8(body, 1 if encoding.name == "windows-1252" else _MANY_SIGNS):
        return "utf-8"
    return _PYTHON_NAMES.get(encoding.name) or encoding.codec_info.name


def _is_utf_8(body: bytes, signs: int) -> bool:
    """Return whether a body is valid UTF-8 with at least so many characters beyond ASCII."""
    try:
        text = body.decode()
    except UnicodeDecodeError:
        return False
    return len(text) - len(text.encode("ascii", "ignore")) >= signs


def _stated_label(body: bytes) -> str | None:
    """Return the label in a page's first meta tag with one, else in its XML declaration."""
    for found in _IN_HTML.finditer(body):
        tag = found.group()
        if tag[:5].lower() == b"<meta" and not _DESCRIBES.search(tag) and (label := _CHARSET.search(tag)):
            name = label.group(1).decode()
            # The label itself was read as ASCII, so it cannot be UTF-16.
            return "utf-8" if name.lower().startswith("utf-16") else name
    declared = _IN_XML.match(body)
    return declared.group(1).decode() if declared else None


def _detect_codec(body: bytes) -> str:
    # Costs 50 ms to import, and few pages need it.
    from charset_normalizer import from_bytes

    pieces = b" ".join(piece for piece in re.split(rb"[<>]", body) if not piece.isascii())
    matches = list(from_bytes(pieces[:_SAMPLE_BYTES], cp_isolation=_DETECTED))
    likely = [match for match in matches if match.chaos <= matches[0].chaos + _ALIKE]
    best = max(likely, key=lambda match: round(match.coherence, 1)).encoding if likely else "cp1252"
    return max(_LATIN, key=lambda codec: _share_of_letters(pieces[:_SAMPLE_BYTES], codec)) if best in _LATIN else best


def _share_of_letters(body: bytes, codec: str) -> float:
    """Return the share of characters beyond ASCII that belong to one of a codec's languages."""
    signs = body.decode(codec, "replace").lower().translate(_ASCII)
    return max(sum(map((alphabet + _PRINTED).__contains__, signs)) for alphabet in _LATIN[codec]) / max(1, len(signs))
