"""PDF: its text within bounds, and one sentence about what cannot be read."""

import io
import time

import pytest
from pypdf import PdfReader, PdfWriter

from predibot.research.pages.deadline import Deadline
from predibot.research.pages.errors import PageUnreadable
from predibot.research.pages.pdf_text import MAX_PAGES, pdf_text
from tests.research.pages.pdf_files import pdf_of


def soon() -> Deadline:
    """Return a deadline that is counted from now, not from when the tests were collected."""
    return Deadline.after(60, time.monotonic)


def locked(body: bytes) -> bytes:
    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(body)))
    writer.encrypt("secret", algorithm="RC4-128")
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


def locked_by_aes(body: bytes) -> bytes:
    """Return a file that says it is locked by AES-256, for which pypdf wants a library."""
    entries = b"/Filter/Standard/V 5/R 6/Length 256/P -4/StmF/S/StrF/S/CF<</S<</CFM/AESV3/Length 32>>>>"
    keys = b"".join(b"/%s<%s>" % (name, b"00" * size) for name, size in KEY_BYTES.items())
    return body.replace(b"trailer\n<<", b"trailer\n<</ID[<00><00>]/Encrypt<<" + entries + keys + b">>", 1)


KEY_BYTES = {b"U": 48, b"O": 48, b"UE": 32, b"OE": 32, b"Perms": 16}
"""Of an encryption of revision 6."""


def test_the_text_of_all_pages_is_read() -> None:
    assert pdf_text(pdf_of(["Turnout was 61 percent.", "Counted by hand."]), soon()) == (
        "Turnout was 61 percent.\nCounted by hand."
    )


def test_a_long_file_says_where_its_text_ends() -> None:
    text = pdf_text(pdf_of(["x"] * (MAX_PAGES + 20)), soon())
    assert text.endswith(f"[the text ends here, after {MAX_PAGES} of {MAX_PAGES + 20} pages]")


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
        (locked_by_aes(pdf_of(["a"])), "password"),
    ],
    ids=["empty", "no pages", "half", "pictures", "locked", "locked by AES"],
)
def test_what_cannot_be_read_is_one_sentence(body: bytes, says: str) -> None:
    with pytest.raises(PageUnreadable, match=says):
        pdf_text(body, soon())
