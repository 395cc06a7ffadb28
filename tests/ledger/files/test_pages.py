"""Pages: each kept once, as bytes and nothing more, under the hash of what is in it."""

import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from predibot.errors import LedgerUnusable, UsageError
from predibot.ledger.files.content_store import MAX_PAGE_CHARACTERS, Pages
from predibot.ledger.store import Store

HOSTILE = "\x1b]0;owned\x07 ../../etc/passwd $(rm -rf .) <script>x</script>\r\n\u202e\u2028\x00 \ud83d"


@pytest.fixture
def in_file(tmp_path: Path) -> Iterator[Store]:
    """Open a ledger that is a file."""
    with Store.open(f"sqlite:///{tmp_path}/ledger.db") as opened:
        yield opened


@pytest.mark.parametrize("text", ["The vote is on Tuesday.", "", HOSTILE])
def test_a_page_is_kept_as_it_is_under_the_hash_of_its_bytes(in_file: Store, tmp_path: Path, text: str) -> None:
    digest = Pages(in_file).keep(text)
    (kept,) = (path for path in (tmp_path / "ledger.db.files/pages").rglob("*") if path.is_file())
    assert kept.name == f"{digest}.txt"
    assert hashlib.sha256(kept.read_bytes()).hexdigest() == digest
    assert Pages(in_file).text(digest) == text


@pytest.mark.parametrize("text", ["The vote is on Tuesday.", "", HOSTILE])
def test_a_page_is_read_again_from_every_database(store: Store, text: str) -> None:
    assert Pages(store).text(Pages(store).keep(text)) == text


def test_a_page_is_written_once(in_file: Store, tmp_path: Path) -> None:
    Pages(in_file).keep("a")
    (kept,) = tmp_path.rglob("*.txt")
    kept.write_text("whoever was first")
    assert Pages(in_file).keep("a") == kept.stem
    assert kept.read_text() == "whoever was first"


def test_an_endless_page_is_cut_and_says_so(store: Store) -> None:
    kept = Pages(store).text(Pages(store).keep("x" * (MAX_PAGE_CHARACTERS + 1)))
    assert kept == "x" * MAX_PAGE_CHARACTERS + "\n… (2,000,001 characters)"


def test_a_page_that_is_not_there_or_was_changed_is_refused(in_file: Store, tmp_path: Path) -> None:
    digest = Pages(in_file).keep("a")
    with pytest.raises(UsageError, match="there is no page"):
        Pages(in_file).text("0" * 64)
    next(tmp_path.rglob("*.txt")).write_text("b")
    with pytest.raises(UsageError, match="was changed since"):
        Pages(in_file).text(digest)


def test_a_folder_that_cannot_be_written_says_so(in_file: Store, tmp_path: Path) -> None:
    (tmp_path / "ledger.db.files").write_text("a file")
    with pytest.raises(LedgerUnusable, match=r"the page .* cannot be written"):
        Pages(in_file).keep("a")
