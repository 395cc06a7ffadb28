"""Wire: the forms in which venues write values."""

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predibot.venues import fields


@pytest.mark.parametrize("value", [0.5, "0.5", " 0.5 ", "5e-1"])
def test_a_number_may_be_written_as_text(value: object) -> None:
    assert fields.optional_number(value) == 0.5


@pytest.mark.parametrize("value", [None, ""])
def test_absent_null_and_empty_mean_not_stated(value: object) -> None:
    assert fields.optional_number(value) is None
    assert fields.optional_flag(value) is None
    assert fields.optional_instant(value) is None
    assert fields.json_list(value) == []


@pytest.mark.parametrize("value", [True, "abc", "25%", float("nan"), "NaN", "inf", float("-inf"), [], {}, 10**400])
def test_what_is_no_finite_number_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match="number"):
        fields.optional_number(value)


@pytest.mark.parametrize("value", ['["1", "0"]', ["1", "0"]])
def test_a_list_may_be_written_inside_a_string(value: object) -> None:
    assert fields.json_list(value) == ["1", "0"]


@pytest.mark.parametrize("value", ["[1,", '{"a": 1}', "1", 7, {}, "[" * 90_000, "[" + "1," * 60_000 + "1]"])
def test_what_is_no_list_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match="list"):
        fields.json_list(value)


@pytest.mark.parametrize(
    "text",
    ["2026-05-28T05:29:05Z", "2026-05-28 05:29:05+00", "2026-05-28T05:29:05.000000000Z", "2026-05-28T07:29:05+02:00"],
)
def test_an_instant_comes_in_several_shapes(text: str) -> None:
    assert fields.optional_instant(text) == datetime(2026, 5, 28, 5, 29, 5, tzinfo=UTC)


def test_milliseconds_are_not_taken_for_seconds() -> None:
    with pytest.raises(ValueError, match="seconds since 1970"):
        fields.unix_instant(1_770_000_000_000)


@pytest.mark.parametrize("value", ["../etc/passwd", "", "1" * 81, "12a", "\u0661\u0662", "1\n", -1, True, 10**90])
def test_a_token_id_is_digits_and_nothing_else(value: object) -> None:
    with pytest.raises(ValueError, match="token id"):
        fields.token_id(value)


def test_text_that_no_database_holds_is_made_harmless_and_a_long_title_is_cut_visibly() -> None:
    assert fields.optional_text("a\x00b\ud800") == "a\ufffdb\ufffd"
    title = fields.short_text("x" * 5_000)
    assert (len(title), title[-1]) == (fields.MAX_TITLE_CHARACTERS, "…")


def test_infinity_and_nan_never_leave_as_json_numbers() -> None:
    text = fields.dumps(fields.loads('{"a": NaN, "b": 1e999}'))
    assert json.loads(text) == {"a": "NaN", "b": "Infinity"}


def test_json_nested_too_deeply_is_a_value_error() -> None:
    with pytest.raises(ValueError, match="deep"):
        fields.loads("[" * 100_000)


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@given(JSON_VALUES)
def test_canonical_text_says_the_same_and_does_not_change_when_written_again(value: object) -> None:
    text = fields.dumps(value)
    assert text.isascii()
    assert fields.dumps(fields.loads(text)) == text
