"""The text of a PDF, within bounds of pages and time."""

import io
from collections.abc import Iterator

from predibot.research.pages.deadline import Deadline
from predibot.research.pages.errors import Obstacle, PageUnreadable
from predibot.research.pages.html_text import cleaned, hush

MAX_PAGES = 100
MAX_CHARACTERS = 1_000_000


def pdf_text(body: bytes, deadline: Deadline) -> str:
    """Return the text of a PDF's first pages, a line a line.

    Args:
        body: The file.
        deadline: Looked at between pages; a single page may pass it.

    Returns:
        Text that says so where pages were left out.

    Raises:
        PageUnreadable: If it is no PDF, is locked, or holds no text.
        MemoryError: If that takes more than there may be.
    """
    # Costs 0.2 s to import, and few pages are PDF.
    from pypdf.errors import PyPdfError

    hush("pypdf")
    # What pypdf ends in on broken files beside its own errors.
    failures = (
        PyPdfError, ValueError, TypeError, LookupError, AttributeError, AssertionError,
        ArithmeticError, RecursionError, NotImplementedError, OSError, ImportError,
    )  # fmt: skip
    try:
        text = "\n".join(_page_texts(body, deadline))
    except failures as error:
        raise PageUnreadable(Obstacle.BROKEN_PDF) from error
    if not text.strip():
        raise PageUnreadable(Obstacle.PICTURES)
    return text


def _page_texts(body: bytes, deadline: Deadline) -> Iterator[str]:
    """Yield the text of page after page, and a note where it ends early."""
    from pypdf import PasswordType, PdfReader

    try:
        reader = PdfReader(io.BytesIO(body))
    except NotImplementedError as error:
        # By certificates, or by a scheme that a seller's own reader opens.
        raise PageUnreadable(Obstacle.SEALED_PDF) from error
    # Most locks only forbid to print or copy, and open with no password.
    if reader.is_encrypted and reader.decrypt("") == PasswordType.NOT_DECRYPTED:
        raise PageUnreadable(Obstacle.LOCKED_PDF)
    characters = 0
    for number, page in enumerate(reader.pages):
        late = number > 0 and deadline.monotonic() > deadline.at
        if number == MAX_PAGES or characters > MAX_CHARACTERS or late:
            yield f"[the text ends here, after {number} of {len(reader.pages)} pages]"
            return
        text = cleaned(page.extract_text())
        characters += len(text)
        yield text
