"""Keys: where they are looked for, and that they are in no text."""

import traceback

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predibot.agents.key import MASK, SECRET_RUN_CHARACTERS, Key, find_key, key_names, masked, masked_text
from predibot.errors import ModelRefused
from tests.agents.clients import SECRET

KEY = Key("OPENAI_API_KEY", SECRET)
TEXT = st.text(alphabet="abc123-", max_size=40)


def test_a_key_is_found_under_its_usual_names_in_a_mapping_or_by_a_function() -> None:
    assert find_key(key_names("openai"), {"OPENAI_API_KEY": SECRET}) == KEY
    assert find_key(key_names("openai"), lambda name: SECRET if name == "OPENAI_API_KEY" else None) == KEY
    assert find_key(key_names("perplexity"), {"PERPLEXITYAI_API_KEY": "x"}) == Key("PERPLEXITYAI_API_KEY", "x")
    assert find_key(key_names("together_ai"), {"TOGETHER_API_KEY": ""}) is None


def test_a_key_shows_its_name_only() -> None:
    assert repr(KEY) == "Key(name='OPENAI_API_KEY')"
    assert SECRET not in f"{KEY}"


@pytest.mark.parametrize("value", ["sk-two words\n", "sk-\x00", "schlüssel", " sk-x", ""])
def test_what_cannot_be_a_key_is_refused_unseen(value: str) -> None:
    with pytest.raises(ModelRefused, match="the key in OPENAI_API_KEY") as caught:
        Key("OPENAI_API_KEY", value)
    assert not value or value.strip() not in "".join(traceback.format_exception(caught.value))


@given(TEXT, TEXT, st.integers(0, 8), st.integers(0, 8))
def test_no_long_run_of_a_key_outlives_masking(before: str, after: str, start: int, less: int) -> None:
    text = masked_text(before + SECRET[start : len(SECRET) - less] + after, KEY)
    runs = [SECRET[at : at + SECRET_RUN_CHARACTERS] for at in range(len(SECRET) - SECRET_RUN_CHARACTERS + 1)]
    assert not any(run in text for run in runs)
    assert MASK in text


@given(TEXT)
def test_a_text_without_the_key_stays_as_it_is(text: str) -> None:
    assert masked_text(text, KEY) == text
    assert masked_text(text, None) == text


def test_the_key_is_masked_however_deep_it_is() -> None:
    value = {"a": [{"b": f"x{SECRET}y"}, 1, None, True], SECRET: "z"}
    assert masked(value, KEY) == {"a": [{"b": f"x{MASK}y"}, 1, None, True], MASK: "z"}


def test_a_placeholder_masks_nothing() -> None:
    assert masked_text("none of them", Key("K", "none")) == "none of them"
