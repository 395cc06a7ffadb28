"""Secret values: in whatever form a library writes a key into a text, it is taken out."""

import json
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predibot.domain.secret_values import MASK, SecretValues

KEY = 'sk+SECRET/0123456789=a"b\\c~é'
FORMS: dict[str, Callable[[str], str]] = {
    "plain": str,
    "quote": quote,
    "quote_all": lambda key: quote(key, safe=""),
    "quote_plus": quote_plus,
    "lower_hex": lambda key: quote(key, safe="").replace("%2B", "%2b").replace("%2F", "%2f").replace("%5C", "%5c"),
    "hex": lambda key: key.encode().hex(),
    "hex_upper": lambda key: key.encode().hex().upper(),
    "every_character": lambda key: "".join(f"%{byte:02X}" for byte in key.encode()),
    "entities": lambda key: "".join(f"&#{byte};" for byte in key.encode()),
    "hex_entities": lambda key: "".join(f"&#x{byte:x};" for byte in key.encode()),
    "quoted_twice": lambda key: quote(quote(key, safe=""), safe=""),
    "json": json.dumps,
    "json_in_json": lambda key: json.dumps(json.dumps(key)),
    "json_slash": lambda key: json.dumps(key).replace("/", "\\/"),
    "repr": repr,
    "ascii": ascii,
    "base64": lambda key: b64encode(key.encode()).decode(),
    "basic": lambda key: b64encode(f"user:{key}".encode()).decode(),
    "basic_user": lambda key: b64encode(f"{key}:".encode()).decode(),
    "urlsafe": lambda key: urlsafe_b64encode(f"me:{key}:x".encode()).decode(),
    "base64_in_url": lambda key: quote(b64encode(f"u:{key}".encode()).decode(), safe=""),
}
LONG_FORMS = {"quoted_twice", "every_character", "entities", "hex_entities"}
"""Of which so few characters hold less of the key than can be known for it."""


@pytest.mark.parametrize("form", FORMS)
def test_a_key_is_taken_out_in_every_form(form: str) -> None:
    written = FORMS[form](KEY)
    text = SecretValues([KEY, "another-key-0"]).mask(f"GET /?a=1&key={written}&b=2")
    assert MASK in text
    assert text.startswith("GET /?a=1&key=") and text.endswith("&b=2")
    # What is left of base64 at its ends is less than one character of the key.
    assert len(text) - len("GET /?a=1&key=&b=2") <= len(MASK) + 10
    assert "SECRET" not in text and "0123456789" not in text


@given(
    st.text(alphabet="ab+/=%\\\"'$&#;{} \u00e9", min_size=8, max_size=20).filter(lambda key: len(key.strip()) >= 8),
    st.sampled_from(sorted(FORMS)),
    st.text(alphabet='ab+/%\\" ', max_size=20),
)
def test_no_form_of_any_key_outlives_hiding(key: str, form: str, around: str) -> None:
    key = key.strip()
    hidden = SecretValues([key]).mask(f"{around} {FORMS[form](key)} {around}")
    assert MASK in hidden
    assert key not in hidden


@given(st.text(max_size=50))
def test_a_text_without_a_key_stays_as_it_is(text: str) -> None:
    assert SecretValues([KEY]).mask(text) == text


def test_of_keys_that_begin_alike_the_longer_goes_first_and_a_short_value_is_no_secret() -> None:
    secrets = SecretValues(["abcdefgh", "abcdefghijkl\n", "none", ""])
    assert secrets.mask("abcdefghijkl abcdefgh none") == "*** *** none"
    keys = [f"sk-ant-api03-{letter * 20}" for letter in "abc"]
    text = f"{keys[1]},{keys[2][:20]}…,{keys[0]}{keys[1]}"
    assert SecretValues(keys).mask(text) == "***,***…,******"


def test_decoded_json_is_gone_through_whole() -> None:
    found = SecretValues(["abcdefgh"]).mask_json({"xabcdefgh": [{"b": "abcdefgh"}, 1, None, True, 12345678.0]})
    assert found == {"x***": [{"b": "***"}, 1, None, True, 12345678.0]}


@pytest.mark.parametrize("form", sorted(FORMS.keys() - LONG_FORMS))
def test_what_is_left_of_a_key_where_a_text_was_cut_is_taken_out(form: str) -> None:
    written = FORMS[form](KEY)
    assert "SECRET/0123456" not in SecretValues([KEY]).mask(f"answered {written[:34]}…").replace("%2F", "/")
    assert MASK in SecretValues([KEY]).mask(f"answered {written[:34]}…")
