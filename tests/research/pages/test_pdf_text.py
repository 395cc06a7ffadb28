"""PDF: its text within bounds, and one sentence about what cannot be read."""

import io
import time

import pytest
from pypdf import PdfReader, PdfWriter

from predibot.research.pages.errors import Deadline, PageUnreadable
from predibot.research.pages.parse import MAX_PDF_PAGES, pdf_text
from predibot.research.pages.parser_messages import PageSource
from predibot.research.pages.parser_pool import ParserPool
from tests.research.pages.pdf_files import pdf_of


def soon() -> Deadline:
    """Return a deadline that is counted from now, not from when the tests were collected."""
    return Deadline.after(60, time.monotonic)


def locked(body: bytes, user_password: str = "secret", algorithm: str = "RC4-128") -> bytes:
    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(body)))
    writer.encrypt(user_password, "owner", algorithm=algorithm)
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


def sealed(body: bytes, how: bytes) -> bytes:
    """Return a file that says it is locked in another way than by a password."""
    return body.replace(b"trailer\n<<", b"trailer\n<</ID[<00><00>]/Encrypt<<" + how + b">>", 1)


@pytest.mark.parametrize("algorithm", ["RC4-40", "RC4-128", "AES-128", "AES-256-R5", "AES-256"])
def test_a_lock_without_a_password_is_opened_and_one_with_a_password_is_named(algorithm: str) -> None:
    assert pdf_text(locked(pdf_of(["Counted by hand."]), "", algorithm), soon()) == "Counted by hand."
    with pytest.raises(PageUnreadable, match="locked with a password"):
        pdf_text(locked(pdf_of(["Counted by hand."]), "secret", algorithm), soon())


def test_a_parser_opens_a_lock_without_a_password_within_its_limits() -> None:
    pool = ParserPool()
    source = PageSource("application/pdf", None, "http://a.example/", 60.0, locked(pdf_of(["Counted."]), "", "AES-256"))
    try:
        assert pool.parse(source, soon()).text == "Counted."
    finally:
        pool.close()


def test_a_long_file_says_where_its_text_ends() -> None:
    assert pdf_text(pdf_of(["Turnout.", "Counted by hand."]), soon()) == "Turnout.\nCounted by hand."
    text = pdf_text(pdf_of(["x"] * (MAX_PDF_PAGES + 20)), soon())
    assert text.endswith(f"[the text ends here, after {MAX_PDF_PAGES} of {MAX_PDF_PAGES + 20} pages]")


def test_a_file_that_takes_too_long_shows_its_first_page() -> None:
    late = Deadline.after(-1, time.monotonic)
    assert pdf_text(pdf_of(["first", "second"]), late) == "first\n[the text ends here, after 1 of 2 pages]"


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (b"", "broken"),
        (b"%PDF-1.4\nnothing", "broken"),
        (pdf_of(["a"])[:200], "broken|no text"),
        (pdf_of([""]), "no text"),
        (locked(pdf_of(["a"])), "password"),
        (sealed(pdf_of(["a"]), b"/Filter/Adobe.PubSec/SubFilter/adbe.pkcs7.s4/V 2"), "certificate"),
        (sealed(pdf_of(["a"]), b"/Filter/EBX_HANDLER/V 1"), "own scheme"),
        (sealed(pdf_of(["a"]), b"/Filter/Standard/V 9/R 9"), "own scheme"),
    ],
    ids=["empty", "no pages", "half", "pictures", "locked", "certificate", "seller", "unknown"],
)
def test_what_cannot_be_read_is_one_sentence(body: bytes, says: str) -> None:
    with pytest.raises(PageUnreadable, match=says):
        pdf_text(body, soon())
