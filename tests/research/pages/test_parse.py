"""Parsing in a child: the same text as here, and of hostile pages an end, whatever they try."""

import gzip
import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from predibot.research.pages.errors import Deadline
from predibot.research.pages.parse import parse_page
from predibot.research.pages.parser_messages import PageSource, ParsedPage
from predibot.research.pages.parser_pool import ParserPool
from tests.research.pages.hostile_pages import HOSTILE, LIKE_OTHERS, end_in_time
from tests.research.pages.pdf_files import pdf_of
from tests.soaks import few

SECONDS = 0.5
"""Enough for an ordinary page, and short of what most hostile ones want."""


@pytest.fixture(scope="module")
def pool() -> Iterator[ParserPool]:
    made = ParserPool()
    yield made
    made.close()


def by(pool: ParserPool, source: PageSource, seconds: float = 60.0) -> ParsedPage:
    return pool.parse(source, Deadline.after(seconds, time.monotonic))


def test_a_child_reads_recorded_pages_as_this_process_does(pool: ParserPool, shared_data: Path) -> None:
    folder = shared_data / "web_pages"
    truth = json.loads((folder / "ground-truth.json").read_text(encoding="utf-8"))
    for name, said in list(truth.items())[::30]:
        body = gzip.decompress((folder / "html" / f"{name}.html.gz").read_bytes())
        source = PageSource("text/html", None, said["url"], 60.0, body)
        assert by(pool, source) == parse_page(source)


@pytest.mark.parametrize(
    ("content_type", "charset", "body"),
    [
        ("application/pdf", None, pdf_of(["Turnout was 61 percent.", "Counted by hand."])),
        ("text/plain", "koi8-r", "выборы".encode("koi8-r")),
        ("text/html", None, "<title>選挙</title><p>選挙 on 0001-01-01".encode()),
        ("text/html", None, b"<meta property='article:published_time' content='0001-01-01T00:00:00'><p>a"),
    ],
)
def test_a_child_reads_every_type_as_this_process_does(
    pool: ParserPool, content_type: str, charset: str | None, body: bytes
) -> None:
    source = PageSource(content_type, charset, "http://a.example/2026/02/13/vote", 60.0, body)
    assert by(pool, source) == parse_page(source)


def test_of_a_pdf_that_takes_too_long_the_pages_read_so_far_are_shown() -> None:
    late = PageSource("application/pdf", None, "http://a.example/", -1.0, pdf_of(["first", "second"]))
    assert parse_page(late).text == "first\n[the text ends here, after 1 of 2 pages]"


@pytest.mark.parametrize("end", ["\n", ". "])
def test_of_a_page_of_endless_short_sentences_only_the_first_are_cut_into_parts(end: str) -> None:
    text = parse_page(PageSource("text/plain", None, "http://a.example/", 60.0, f"a{end}".encode() * 150_000)).text
    assert text.count("a") < 51_000
    assert text.splitlines()[-1].startswith("[the page goes on; ")
    source = PageSource("text/html", None, "http://a.example/", 60.0, b"<title>" + b"vote " * 10_000 + b"</title><p>a")
    assert len(parse_page(source).title) == 1_000


ALONE = [name for name in HOSTILE if name not in LIKE_OTHERS]


@pytest.mark.parametrize("name", few(ALONE, *ALONE[::3]))
def test_a_hostile_page_ends_within_its_time_and_leaves_nothing_behind(pool: ParserPool, name: str) -> None:
    end_in_time(pool, HOSTILE[name](), seconds=SECONDS)
