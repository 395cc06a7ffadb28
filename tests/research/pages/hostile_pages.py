"""Pages made to keep a parser busy, to eat its memory, or to crash it."""

import base64
import threading
import time
import zlib
from collections.abc import Callable
from typing import NamedTuple

from predibot.research.pages.errors import Deadline, PageUnreadable
from predibot.research.pages.parser_messages import PageSource
from predibot.research.pages.parser_pool import ParserPool
from tests.research.pages.pdf_files import pdf_file


class Hostile(NamedTuple):
    """What a hostile server sends."""

    content_type: str
    body: bytes
    charset: str | None = None


def html(text: str) -> Hostile:
    return Hostile("text/html", text.encode()[:5_000_000])


def plain(body: bytes, charset: str | None = None) -> Hostile:
    return Hostile("text/plain", body, charset)


def pdf(*objects: str | bytes) -> Hostile:
    return Hostile("application/pdf", pdf_file(objects))


def stream(data: bytes, entries: str = "") -> bytes:
    """Return an object that is a stream."""
    return f"<< /Length {len(data)} {entries} >>\nstream\n".encode() + data + b"\nendstream"


def one_page(contents: bytes, entries: str = "", *more: str | bytes, resources: str = "") -> Hostile:
    """Return a PDF of one page that is drawn by a stream."""
    return pdf(
        "<< /Type /Catalog /Pages 2 0 R >>",
        "<< /Type /Pages /Kids [4 0 R] /Count 1 >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 5 0 R"
        f" /Resources << /Font << /F1 3 0 R >> {resources} >> >>",
        stream(contents, entries),
        *more,
    )


def zeros(count: int) -> bytes:
    """Return what unpacks to so many zeros."""
    engine = zlib.compressobj(9)
    piece = bytes(1_000_000)
    return b"".join(engine.compress(piece) for _ in range(count // len(piece))) + engine.flush()


def flate_over_ascii85() -> Hostile:
    packed = zlib.compress(b"<~" + base64.a85encode(zeros(50_000_000)) + b"~>" + b"z" * 10_000_000, 9)
    return one_page(packed, "/Filter [/FlateDecode /ASCII85Decode]")


def z_of_ascii85() -> Hostile:
    # A "z" is four zero bytes: 60 kB become 60 MB become 240 MB.
    return one_page(zlib.compress(b"z" * 60_000_000, 9), "/Filter [/FlateDecode /ASCII85Decode]")


def flate_in_flate() -> Hostile:
    packed = zlib.compress(zlib.compress(zeros(200_000_000), 9), 9)
    return one_page(packed, "/Filter [/FlateDecode /FlateDecode /FlateDecode]")


def many_filters() -> Hostile:
    packed = b"a" * 2_000_000
    return one_page(packed, f"/Filter [{'/ASCIIHexDecode ' * 2_000}]")


def run_lengths() -> Hostile:
    return one_page(b"\x81 " * 2_400_000, "/Filter /RunLengthDecode")


def flate_over_run_lengths() -> Hostile:
    return one_page(zlib.compress(b"\x81 " * 30_000_000, 9), "/Filter [/FlateDecode /RunLengthDecode]")


def lzw() -> Hostile:
    # Codes that each mean one byte more than the one before: a square of what came in.
    bits = "".join(f"{code:09b}" for code in (256, 65, *range(258, 510)))
    codes = bits + "".join(f"{511 if n % 2 else 510:010b}" for n in range(1_000_000))
    raw = int(codes + "0" * (-len(codes) % 8), 2).to_bytes((len(codes) + 7) // 8, "big")
    return one_page(raw * 3, "/Filter /LZWDecode")


def predictor() -> Hostile:
    return one_page(zeros(70_000_000), "/Filter /FlateDecode /DecodeParms << /Predictor 15 /Columns 1 /Colors 1 >>")


def page_tree(kids: Callable[[int], str], count: int) -> Hostile:
    nodes = (f"<< /Type /Pages /Kids [{kids(n)}] /Count 1000000 >>" for n in range(count))
    return pdf("<< /Type /Catalog /Pages 2 0 R >>", *nodes)


def forms(depth: int) -> Hostile:
    """Return a page whose drawing draws another twice, and that another twice."""
    drawn = [
        stream(
            b"/X Do /X Do",
            f"/Type /XObject /Subtype /Form /Resources << /XObject << /X {n + 7} 0 R >> >>",
        )
        for n in range(depth)
    ]
    return one_page(b"/X Do", "", *drawn, stream(b"BT /F1 12 Tf (a) Tj ET"), resources="/XObject << /X 6 0 R >>")


def to_unicode() -> Hostile:
    cmap = b"1 beginbfrange\n<0000> <FFFFFFFF> <0000>\nendbfrange\n" * 50
    return pdf(
        "<< /Type /Catalog /Pages 2 0 R >>",
        "<< /Type /Pages /Kids [4 0 R] /Count 1 >>",
        "<< /Type /Font /Subtype /Type0 /BaseFont /Helvetica /ToUnicode 6 0 R >>",
        "<< /Type /Page /Parent 2 0 R /Contents 5 0 R /Resources << /Font << /F1 3 0 R >> >> >>",
        stream(b"BT /F1 12 Tf 72 720 Td <0041> Tj ET"),
        stream(cmap),
    )


def object_stream() -> Hostile:
    index = b" ".join(b"%d 0" % (n + 10) for n in range(400_000))
    packed = zlib.compress(index + b" << /A 1 >>", 9)
    entries = f"/Type /ObjStm /N 400000 /First {len(index) + 1} /Filter /FlateDecode"
    return pdf("<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [] /Count 0 >>", stream(packed, entries))


def xref_circle() -> Hostile:
    body = b"%PDF-1.5\n1 0 obj\n<< /Type /Catalog /Pages 2 0 R >>\nendobj\n"
    at = len(body)
    return Hostile(
        "application/pdf",
        body
        + b"xref\n0 1\n0000000000 65535 f \ntrailer\n<< /Size 2 /Root 1 0 R /Prev %d >>\n" % at
        + b"startxref\n%d\n%%%%EOF\n" % at,
    )


def huge_xref() -> Hostile:
    body = b"%PDF-1.5\n1 0 obj\n<< /Type /Catalog /Pages 2 0 R >>\nendobj\n"
    at = len(body)
    packed = zeros(60_000_000)
    entries = b"<< /Type /XRef /Size 2000000000 /W [1 2 1] /Root 1 0 R /Filter /FlateDecode /Length %d >>" % len(packed)
    return Hostile(
        "application/pdf",
        body + b"3 0 obj\n" + entries + b"\nstream\n" + packed + b"\nendstream\nendobj\nstartxref\n%d\n%%%%EOF\n" % at,
    )


def image() -> Hostile:
    picture = stream(
        zeros(100_000_000),
        "/Type /XObject /Subtype /Image /Width 100000 /Height 100000 /BitsPerComponent 8 /ColorSpace /DeviceRGB"
        " /Filter /FlateDecode",
    )
    return one_page(b"/X Do", "", picture, resources="/XObject << /X 6 0 R >>")


def json_ld(inner: str) -> Hostile:
    return html(f"<script type='application/ld+json'>{inner}</script><p>Turnout was 61 percent.</p>")


HOSTILE: dict[str, Callable[[], Hostile]] = {
    # ------------------------------------------------------------ HTML
    "a tag with 280,000 attributes": lambda: html("<a " + " ".join(f"a{n}=1" for n in range(280_000)) + ">hi</a>"),
    "a tag with 1,600,000 attributes of one letter": lambda: html("<a " + "x " * 1_600_000 + ">hi</a>"),
    "20,000 nested hidden elements": lambda: html("<body>" + "<div hidden>" * 20_000 + "x"),
    "20,000 nested styles": lambda: html("<body>" + "<div style='display:none'>a" * 20_000 + "x"),
    "20,000 hidden elements side by side": lambda: html("<body>" + "<p hidden>x</p>" * 20_000),
    "a name of colons": lambda: html("<meta " + "a:-" * 1_600_000 + ">"),
    "short names of colons": lambda: html(
        "<meta a:-a:-" + ":-a" * 150 + ">" * 1 + ("<meta " + "a:-" * 190 + ">") * 5_000
    ),
    "namespaces": lambda: html("<p " + " ".join(f"xmlns:n{n}='u{n}'" for n in range(150_000)) + ">a</p>"),
    "nested namespaces": lambda: html("".join(f"<n{n}:p xmlns:n{n}='u'>" for n in range(39_000)) + "x"),
    "1,000,000 nested elements": lambda: html("<div>" * 1_000_000),
    "40,000 nested elements with text": lambda: html("<div>a" * 39_999),
    "nested tables": lambda: html("<table><tr><td>" * 13_000 + "x"),
    "nested lists": lambda: html("<ul><li>a" * 19_000),
    "nested fonts left open": lambda: html("<p><font><b><i><a href=x>t" * 7_900),
    "a table of 30,000 columns": lambda: html("<table>" + ("<tr>" + "<td>1" * 13_000) * 3 + "</table>"),
    "a comment of 5 MB": lambda: html("<!--" + "-" * 4_999_000),
    "comments left open": lambda: html("<!--" * 1_000_000),
    "a million comments": lambda: html("<!---->" * 39_000 + "<!-" * 500_000),
    "entities": lambda: html("<p>" + "&amp;" * 990_000),
    "entities without end": lambda: html("<p>" + "&" * 4_900_000),
    "an entity of a million digits": lambda: html("<p>&#" + "9" * 1_000_000 + ";" + "&#x" + "f" * 1_000_000),
    "entities that unfold": lambda: html(
        "<!DOCTYPE x [<!ENTITY a 'aaaaaaaaaa'>"
        + "".join(f"<!ENTITY {chr(98 + n)} '{f'&{chr(97 + n)};' * 10}'>" for n in range(12))
        + "]><p>&m;</p>"
    ),
    "entities from files": lambda: html("<!DOCTYPE x [<!ENTITY a SYSTEM 'file:///dev/zero'>]><p>&a;</p>"),
    "one word of 3 MB": lambda: html("<p>" + "a" * 4_900_000),
    "one line of blanks": lambda: html("<p>a" + " " * 4_900_000 + "b"),
    "line ends": lambda: html("<p>a" + "\n \r" * 1_600_000 + "b"),
    "characters of four bytes": lambda: html("<p>" + "\U0001f600" * 1_240_000),
    "combining marks": lambda: html("<p>a" + "\u0301" * 2_400_000),
    "zeros": lambda: Hostile("text/html", bytes(5_000_000)),
    "quotes left open": lambda: html('<a href="' * 500_000),
    "a title of 3 MB": lambda: html("<title>" + "t " * 1_500_000 + "</title><p>Turnout was 61 percent.</p>"),
    "a script that never ends": lambda: html("<script>" + "<!--<script>" * 400_000),
    "scripts": lambda: html("<script>while(1){document.write('<p>a</p>')}</script>" * 13_000 + "<p>a"),
    "XML declarations": lambda: html("<?xml " + "a" * 200 + " " + "<?xml " * 800_000),
    "a doctype of 5 MB": lambda: html("<!DOCTYPE html " + "a" * 4_900_000),
    "deep linked data": lambda: json_ld("[" * 1_000_000),
    "deep linked data, closed": lambda: json_ld("[" * 100_000 + "]" * 100_000),
    "wide linked data": lambda: json_ld("[" + "{}," * 1_600_000 + "{}]"),
    "linked data of digits": lambda: json_ld("[" + "1" * 4_000_000 + "]"),
    "linked data left open": lambda: html("<script type='application/ld+json'" + " " * 190 + "<script " * 500_000),
    "dates": lambda: html("<p>" + "12 February 2024, 2024-02-12, Feb 2024, 20240212 " * 100_000),
    "numbers that are nearly dates": lambda: html("<p>" + "2024-1" * 800_000),
    "images, links and forms": lambda: html("<a href=//a.b><img src=x><form><input></form></a>" * 9_000 + "<p>a"),
    "iframes and objects": lambda: html("<iframe><object><embed>" * 13_000 + "<p>a"),
    "SVG and MathML": lambda: html("<svg><math><mtext><style>" * 9_900 + "<p>a"),
    "headings": lambda: html("<h1>a</h1>" * 39_000),
    "line breaks": lambda: html("<p>a" + "<br>" * 39_000),
    "paragraphs left open": lambda: html("<p>a" * 39_999),
    "select and options": lambda: html("<select>" + "<option>a" * 39_000),
    "frames": lambda: html("<frameset>" * 39_000 + "<p>a"),
    "base and links": lambda: html("<base href=http://a.example/>" + "<a href=../..>a</a>" * 19_000),
    "language and direction": lambda: html("".join(f"<p lang=x{n} dir=rtl>a</p>" for n in range(19_000))),
    # ------------------------------------------------------------ text
    "UTF-7": lambda: plain(b"+ADw-script+AD4-" * 300_000, "utf-7"),
    "punycode": lambda: plain(b"a-" + b"9" * 300_000, "punycode"),
    "half of UTF-16": lambda: plain(b"\xff\xfe" + b"\x00\xd8" * 2_400_000),
    "ISO-2022 escapes": lambda: plain(b"\x1b$B\x1b(B" * 700_000, "iso-2022-jp"),
    "GB18030": lambda: plain(b"\x81\x30\x81\x30" * 1_200_000, "gb18030"),
    "broken UTF-8": lambda: plain(b"\xf0\x9f\x98" * 1_600_000, "utf-8"),
    "control characters": lambda: plain(b"\x1b[31m\x00\x07" * 700_000),
    "letters on lines of their own": lambda: plain(b"x\n" * 2_400_000),
    "blank lines": lambda: plain(b"a" + b" \n\t\n" * 1_200_000 + b"b"),
    # ------------------------------------------------------------ PDF
    "Flate over ASCII85": flate_over_ascii85,
    "Flate over ASCII85, of z": z_of_ascii85,
    "Flate in Flate in Flate": flate_in_flate,
    "Flate of 200 MB": lambda: one_page(zeros(200_000_000), "/Filter /FlateDecode"),
    "2,000 filters": many_filters,
    "run lengths": run_lengths,
    "Flate over run lengths": flate_over_run_lengths,
    "LZW": lzw,
    "a predictor": predictor,
    "3,000,000 operators": lambda: one_page(
        zlib.compress(b"BT /F1 12 Tf " + b"1 0 0 1 0 0 Tm (a) Tj " * 1_500_000 + b"ET", 9), "/Filter /FlateDecode"
    ),
    "3,000,000 numbers": lambda: one_page(zlib.compress(b"[" + b"1 " * 3_000_000 + b"] TJ", 9), "/Filter /FlateDecode"),
    "nested arrays": lambda: one_page(b"[" * 1_000_000 + b"] TJ"),
    "nested dictionaries": lambda: one_page(b"<<" * 1_000_000),
    "a string that never ends": lambda: one_page(b"BT (" + b"\\(" * 2_000_000),
    "a name that never ends": lambda: one_page(b"/" + b"#41" * 1_500_000),
    "saved states": lambda: one_page(zlib.compress(b"q " * 5_000_000, 9), "/Filter /FlateDecode"),
    "inline images": lambda: one_page(b"BI /W 1 /H 1 /BPC 8 ID " * 200_000),
    "a page tree in a circle": lambda: page_tree(lambda _: "2 0 R", 1),
    "a page tree that doubles": lambda: page_tree(lambda n: f"{n + 3} 0 R " * 2, 60),
    "a deep page tree": lambda: page_tree(lambda n: f"{n + 3} 0 R", 50_000),
    "a million kids": lambda: page_tree(lambda _: "3 0 R " * 700_000, 1),
    "forms that double": lambda: forms(60),
    "a circle of references": lambda: pdf("<< /Type /Catalog /Pages 2 0 R >>", "3 0 R", "2 0 R"),
    "a character map without end": to_unicode,
    "an object stream": object_stream,
    "a table of objects in a circle": xref_circle,
    "a table of 2,000,000,000 objects": huge_xref,
    "a picture of 30 GB": image,
    "JavaScript": lambda: pdf(
        "<< /Type /Catalog /Pages 2 0 R /OpenAction << /S /JavaScript /JS (while\\(1\\){}) >> >>",
        "<< /Type /Pages /Kids [] /Count 0 >>",
    ),
    "no table of objects": lambda: Hostile("application/pdf", b"%PDF-1.4\n" + b"1 0 obj\n" * 600_000),
    "half objects": lambda: Hostile("application/pdf", b"%PDF-1.4\n" + b"1 0 obj << /A [ " * 300_000),
    "startxref without end": lambda: Hostile("application/pdf", b"%PDF-1.4\n" + b"startxref\n" * 490_000),
    "blanks and no end": lambda: Hostile("application/pdf", b"%PDF-1.4\n" + b" " * 4_900_000),
}

LIKE_OTHERS = {
    "a tag with 280,000 attributes", "a tag with 1,600,000 attributes of one letter", "20,000 nested styles",
    "20,000 hidden elements side by side", "short names of colons", "namespaces", "nested namespaces",
    "1,000,000 nested elements", "40,000 nested elements with text", "nested tables", "nested lists",
    "a comment of 5 MB", "a million comments", "entities", "entities without end", "one word of 3 MB", "line ends",
    "characters of four bytes", "combining marks", "scripts", "deep linked data", "wide linked data",
    "numbers that are nearly dates", "images, links and forms", "headings", "line breaks", "paragraphs left open",
    "select and options", "frames", "base and links", "language and direction", "UTF-7", "control characters",
    "blank lines", "Flate over ASCII85, of z", "Flate in Flate in Flate", "Flate over run lengths", "a predictor",
    "3,000,000 numbers", "a deep page tree", "a million kids", "no table of objects", "half objects",
    "startxref without end", "blanks and no end",
}  # fmt: skip
"""Pages that only the end of their time ends, as it ends one of the others: for `make soak`."""


def end_in_time(pool: ParserPool, page: Hostile, *, seconds: float) -> None:
    """Hold that a page is read, or given up in words, and that no thread is left behind."""
    # A parser is there, so that all the time is the page's.
    ready = PageSource("text/plain", None, "http://a.example/", 60.0, b"ready")
    assert pool.parse(ready, Deadline.after(60.0, time.monotonic)).text == "ready"
    threads = threading.enumerate()
    source = PageSource(page.content_type, page.charset, "http://a.example/", seconds, page.body)
    try:
        read = pool.parse(source, Deadline.after(seconds, time.monotonic))
    except PageUnreadable as error:
        assert str(error).endswith("; take another source")
    else:
        assert 0 < len(read.text) < 501_000
    assert threading.enumerate() == threads
