"""Text from strangers: titles, messages and reasons, made harmless for any screen."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from predibot.reports.terminal.terminal import plain


@given(st.text())
def test_nothing_is_left_that_a_terminal_obeys(text: str) -> None:
    shown = plain(text)
    assert not any(unicodedata.category(one) in ("Cc", "Cs", "Zl", "Zp") for one in shown)
    assert len(shown.splitlines()) <= 1
    shown.encode("utf-8")


@given(st.text(), st.integers(1, 30))
def test_a_shortened_text_keeps_to_its_limit(text: str, limit: int) -> None:
    assert cell_len(plain(text, limit)) <= limit


@given(st.text())
def test_what_is_plain_stays_as_it_is(text: str) -> None:
    assert plain(plain(text)) == plain(text)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Will it rain?", "Will it rain?"),
        ("two\nlines\tand a  gap ", "two lines and a gap"),
        ("\x1b[31mred\x1b[0m", "\ufffd[31mred\ufffd[0m"),
        ("\x9b2J", "\ufffd2J"),
        ("abc\u202egnp.exe", "abcgnp.exe"),
        ("\u2066a\u2069\u200e\ufeffb", "ab"),
        ("\ud800", "\ufffd"),
        ("[red]5[/red] :smile:", "[red]5[/red] :smile:"),
        ("می\u200cخواهم", "می\u200cخواهم"),
    ],
)
def test_control_characters_are_seen_and_overrides_are_gone(text: str, shown: str) -> None:
    assert plain(text) == shown


def test_a_long_text_ends_in_an_ellipsis_and_wide_characters_count_twice() -> None:
    assert plain("a long title", 7) == "a long…"
    assert plain("a long title", 12) == "a long title"
    assert plain("日本語の題", 5) == "日本…"
