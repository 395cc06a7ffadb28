"""Options: how users write what sandbox they want."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predibot.sandbox.server.fault import Fault
from predibot.sandbox.server.options import DEFAULT_SEED, SandboxOptions, parse_options


def test_an_empty_text_gives_the_defaults() -> None:
    assert parse_options("") == SandboxOptions(seed=DEFAULT_SEED, events=None, markets=None, fault=None, port=None)


def test_every_option_is_read() -> None:
    options = parse_options(" seed=7, events=60, fault=rate_limit, times=3, path=/events, seconds=0.5")
    fault = Fault("rate_limit", times=3, path="/events", seconds=0.5)
    assert options == SandboxOptions(seed=7, events=60, fault=fault)
    assert parse_options("markets=1000").markets == 1000
    assert parse_options("port=4711").port == 4711


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("sede=7", "did you mean 'seed'?"),
        ("fault=rate_limits", "did you mean 'rate_limit'?"),
        ("fault=qqqq", "there are rate_limit, server_error"),
        ("seed=seven", "'seed' is a whole number from 0 on, got 'seven'"),
        ("seed=-1", "'seed' is a whole number"),
        ("events=0", "'events' is a whole number from 1 on"),
        ("seed", "'seed' has no value"),
        ("seed=1,seed=2", "'seed' is given twice"),
        ("times=3", "'times' needs a fault"),
        ("events=3,markets=4", "either events or markets"),
        ("fault=slow,seconds=long", "'seconds' is a number"),
        ("fault=slow,seconds=nan", "0 to 3600 seconds"),
    ],
)
def test_a_mistake_is_named_with_what_is_valid(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        parse_options(text)


@given(text=st.text(alphabet="sedfault=,0123456789./ime", max_size=40))
def test_any_text_gives_options_or_a_value_error(text: str) -> None:
    try:
        assert isinstance(parse_options(text), SandboxOptions)
    except ValueError as error:
        assert str(error)
