"""Pages: each kept once, as bytes and nothing more, under the hash of what is in it."""

import hashlib
from pathlib import Path

import pytest

from predibot.errors import LedgerUnusable, UsageError
from predibot.ledger.files.pages import MAX_PAGE_CHARACTERS, PageFolder

HOSTILE = "\x1b]0;owned\x07 ../../etc/passwd $(rm -rf .) <script>x</script>\r\n\u202e\u2028\x00 \ud83d"


@pytest.mark.parametrize("text", ["The vote is on Tuesday.", "", HOSTILE])
def test_a_page_is_kept_as_it_is_under_the_hash_of_its_bytes(tmp_path: Path, text: str) -> None:
    pages = PageFolder(tmp_path)
    digest = pages.keep(text)
    (kept,) = (path for path in tmp_path.rglob("*") if path.is_file())
    assert kept.name == f"{digest}.txt"
    assert hashlib.sha256(kept.read_bytes()).hexdigest() == digest
    assert pages.text(digest) == text


def test_a_page_is_written_once(tmp_path: Path) -> None:
    pages = PageFolder(tmp_path)
    pages.keep("a")
    (kept,) = tmp_path.rglob("*.txt")
    kept.write_text("whoever was first")
    assert pages.keep("a") == kept.stem
    assert kept.read_text() == "whoever was first"


def test_an_endless_page_is_cut_and_says_so(tmp_path: Path) -> None:
    pages = PageFolder(tmp_path)
    kept = pages.text(pages.keep("x" * (MAX_PAGE_CHARACTERS + 1)))
    assert kept == "x" * MAX_PAGE_CHARACTERS + "\n… (2,000,001 characters)"


def test_a_page_that_is_not_there_or_was_changed_is_refused(tmp_path: Path) -> None:
    pages = PageFolder(tmp_path)
    digest = pages.keep("a")
    with pytest.raises(UsageError, match="there is no page"):
        pages.text("0" * 64)
    next(tmp_path.rglob("*.txt")).write_text("b")
    with pytest.raises(UsageError, match="was changed since"):
        pages.text(digest)


def test_a_folder_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    (tmp_path / "pages").write_text("a file")
    with pytest.raises(LedgerUnusable, match=r"the page .* cannot be written"):
        PageFolder(tmp_path / "pages").keep("a")
