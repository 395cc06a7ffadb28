"""Messages of a parser: what is packed is read again, and what no honest parser says is refused."""

import io
from collections.abc import Callable, Sequence
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predibot.research.pages.content.publication_date import parse_date
from predibot.research.pages.errors import Obstacle
from predibot.research.pages.html_text import clean_text
from predibot.research.pages.parser_messages import (
    MAX_TEXT_CHARACTERS,
    PageDate,
    PageSource,
    ParsedPage,
    pack_fields,
    parse_answer,
    read_fields,
    refusal_fields,
)

TEXT = st.text(min_size=1, max_size=50).map(clean_text).filter(bool)
DATE = st.sampled_from(
    [None, parse_date("2026-02-13"), parse_date("2026-02-13T12:00:01+01:00"), parse_date("0001-01-01")]
)
CONFIDENCE = st.sampled_from(["stated", "found", "guessed", "unknown"])


def sent(fields: Sequence[bytes]) -> tuple[bytes, ...]:
    return read_fields(io.BytesIO(b"".join(pack_fields(fields))).read, max_bytes=10_000)


@given(title=TEXT, text=TEXT, published=DATE, modified=DATE, confidence=CONFIDENCE)
def test_an_answer_is_read_as_it_was_sent(title: str, text: str, **date: object) -> None:
    answer = ParsedPage(" ".join(title.split()), text, PageDate(**date))  # type: ignore[arg-type]
    assert parse_answer(sent(answer.fields())) == answer


@given(st.builds(PageSource, st.text(), st.none() | st.text(min_size=1), st.text(), st.floats(0, 100), st.binary()))
def test_a_question_is_read_as_it_was_sent(source: PageSource) -> None:
    assert PageSource.of(sent(source.fields())) == source


@pytest.mark.parametrize("reason", Obstacle)
def test_a_refusal_is_read_as_it_was_sent(reason: Obstacle) -> None:
    assert parse_answer(sent(refusal_fields(reason))) is reason


GOOD = (b"parsed", b"Title", b"Text.", b"stated", b"2026-02-13", b"2026-02-14T12:00:00+00:00", b"", b"", b"")


def with_field(number: int, value: bytes) -> tuple[bytes, ...]:
    return (*GOOD[:number], value, *GOOD[number + 1 :])


@pytest.mark.parametrize(
    "fields",
    [
        (b"",), GOOD[:5], (b"unreadable",), (b"unreadable", b"Obey!"), (b"unreadable", b"NO_TEXT", b"Obey!"),
        with_field(0, b"done"), with_field(1, b"a\nb"), with_field(1, b"a" * 1_001), with_field(1, b"\x1b[31m"),
        with_field(2, b""), with_field(2, b"a" * (MAX_TEXT_CHARACTERS + 101)), with_field(2, b"\xff"),
        with_field(2, "\u202e".encode()), with_field(2, b"\xed\xa0\x80"), with_field(3, b"proven"),
        with_field(4, b"Obey!"), with_field(4, b""), with_field(5, b"2026-02-14T12:00:00"), with_field(5, b""),
        with_field(7, b"2026-02-14T12:00:00+00:00"),
    ],
)  # fmt: skip
def test_what_no_honest_parser_says_is_refused(fields: Sequence[bytes]) -> None:
    with pytest.raises(ValueError):
        parse_answer(fields)


def nothing(_: int) -> bytes:
    raise AssertionError("nothing more may be read")


@pytest.mark.parametrize("raw", [b"\x00\x00\x00\x00", b"\x00\x00\x00\x0a", b"\xff\xff\xff\xff"])
def test_a_number_of_fields_that_no_message_has_is_refused_before_they_are_read(raw: bytes) -> None:
    reads: list[Callable[[int], bytes]] = [nothing, lambda _: raw]
    with pytest.raises(ValueError):
        read_fields(lambda count: reads.pop()(count), max_bytes=10)


def test_fields_that_are_too_long_together_are_refused_before_they_are_read() -> None:
    raw = [nothing, *(lambda _, piece=piece: piece for piece in (b"\x00\x00\x00\x06", b"\x00\x00\x00\x05"))]
    raw.append(lambda _: b"\x00\x00\x00\x02")
    with pytest.raises(ValueError, match="11 bytes"):
        read_fields(lambda count: raw.pop()(count), max_bytes=10)


def test_an_instant_with_a_zone_survives() -> None:
    answer = parse_answer(GOOD)
    assert isinstance(answer, ParsedPage)
    assert answer.date.latest_at == datetime(2026, 2, 14, 12, tzinfo=UTC)
