"""Passages: nothing of a text is lost, nothing is too long, and what was looked for comes first."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from predibot.tools._passages import FOCUS_TOKENS, PART_TOKENS, estimated_tokens, focused_parts, mentions, parts_of

FILLER = [f"Paragraph {n} tells of the weather in the harbour, of ships and of the price of fish." for n in range(400)]
NEEDLE = "The electoral commission certified turnout of 61 percent in Ruritania."
TEXT = "\n".join([*FILLER[:300], NEEDLE, *FILLER[300:]])
TEXTS = st.text(alphabet="ab .\n選é", max_size=400)


@given(TEXTS, st.integers(10, 60))
def test_the_parts_hold_the_text_in_its_order(text: str, tokens: int) -> None:
    assert "".join("".join(parts_of(text, tokens=tokens)).split()) == "".join(text.split())


@given(TEXTS, st.integers(10, 60))
def test_no_part_is_too_long(text: str, tokens: int) -> None:
    parts = [*parts_of(text, tokens=tokens), *focused_parts(text, "ab", tokens=tokens)]
    # Pieces put together may read as English, or no more; the sum of their costs is what is bounded.
    assert all(estimated_tokens(part) <= 2 * tokens for part in parts)


@given(TEXTS)
def test_focus_moves_passages_and_loses_none(text: str) -> None:
    focused = "".join(focused_parts(text, "ab", tokens=30))
    assert sorted("".join(focused.split())) == sorted("".join(text.split()))


@pytest.mark.parametrize("focus", ["turnout Ruritania", "What was the TURNOUT in ruritania?", "electoral commissions"])
def test_what_was_looked_for_comes_first(focus: str) -> None:
    first = focused_parts(TEXT, focus)[0]
    assert first.startswith(NEEDLE)
    assert estimated_tokens(first) <= FOCUS_TOKENS


def test_without_any_of_the_words_the_order_of_the_text_stays() -> None:
    assert focused_parts(TEXT, "zebra")[0].startswith("Paragraph 0")
    assert not mentions(TEXT, "what is the zebra?")
    assert mentions(TEXT, "ship")


def test_scripts_without_blanks_can_be_looked_for() -> None:
    text = "\n".join(["天気は晴れです。"] * 200 + ["選挙の投票率は六割でした。"])
    assert focused_parts(text, "投票率", tokens=100)[0].startswith("選挙")


def test_a_long_text_comes_in_parts_cut_between_paragraphs() -> None:
    parts = parts_of(TEXT)
    assert len(parts) > 2
    assert "\n".join(parts) == TEXT
    assert all(estimated_tokens(part) <= PART_TOKENS for part in parts)


@pytest.mark.parametrize("text", ["x" * 30_000, "選" * 9_000, "😀" * 5_000, "a1" * 9_000, "word " * 9_000])
def test_a_paragraph_without_end_is_cut(text: str) -> None:
    parts = parts_of(text)
    assert len(parts) > 1
    assert all(estimated_tokens(part) <= PART_TOKENS + 10 for part in parts)
