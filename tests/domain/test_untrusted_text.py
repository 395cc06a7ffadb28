"""Untrusted text: one line that can only be read, and a cell that no spreadsheet runs."""

import unicodedata
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predibot.domain.untrusted_text import MAX_JSON_DEPTH, one_line, require_shallow, spreadsheet_cell, toml_table


@given(st.text())
def test_no_cell_begins_as_a_formula_does_or_holds_what_a_screen_obeys(text: str) -> None:
    cell = spreadsheet_cell(text)
    assert unicodedata.normalize("NFKC", cell[:1]) not in ("=", "+", "-", "@")
    assert not any(unicodedata.category(each) in ("Cc", "Cs", "Zl", "Zp") for each in cell)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("Will  it\nrain? ", "Will it rain?"),
        ("a\x1b[2Jb", "a\ufffd[2Jb"),
        ("a\u202eb", "ab"),
        ("half \ud800", "half \ufffd"),
        ("wide\u3000space", "wide space"),
        ("\U0001f468\u200d\U0001f469", "\U0001f468\u200d\U0001f469"),
    ],
)
def test_a_line_keeps_its_words_and_nothing_that_acts(text: str, line: str) -> None:
    assert one_line(text) == line


@pytest.mark.parametrize(
    "text",
    [
        f"x = {'[' * 100_000}",
        f"x = {'[' * 100}{']' * 100}",
        f"x = {'{a = ' * 100}1{'}' * 100}",
        f"{'a.' * 100}a = 1",
        f"[{'a.' * 100}a]",
        f"[[{'a.' * 100}a]]",
        f"x = {'[{a = ' * 50}1{'}]' * 50}",
    ],
)
def test_a_table_that_is_nested_deeply_is_none(text: str) -> None:
    with pytest.raises(ValueError, match=r"^(it is nested too deeply|a key has more than 50 parts)$"):
        toml_table(text)


def test_a_table_is_what_it_says() -> None:
    assert toml_table("a.b = [1, {c = 'd'}]\n[[e]]\nf = 2026-01-01") == {
        "a": {"b": [1, {"c": "d"}]},
        "e": [{"f": date(2026, 1, 1)}],
    }


def test_a_deep_text_is_refused_before_the_stack_ends() -> None:
    closed = "[" * 100_000 + "]" * 100_000
    hidden = '["]",' * 100_000 + "1" + "]" * 100_000
    for text in (closed, hidden, '{"a":' * 100_000):
        for form in (text, text.encode()):
            with pytest.raises(RecursionError, match="nested too deeply"):
                require_shallow(form)
    require_shallow("[" * MAX_JSON_DEPTH + "]" * MAX_JSON_DEPTH)
    require_shallow('["' + "[" * 100_000 + '", "\\"' + "{" * 100_000 + '"]')
    require_shallow("[" + "[]," * 100_000 + "[]]")
