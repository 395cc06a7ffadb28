"""Keys: where they are looked for, and that they are in no text."""

import traceback

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predibot.agents.models.open_model import model_destination, open_model
from predibot.domain.terms import ClientName, ModelTerms
from predibot.errors import ModelRefused, UsageError
from predibot.net.api_keys import MASK, SECRET_RUN_CHARACTERS, ApiKeys, Key, host_of, key_names, mask_json, mask_text
from predibot.research.search.open_provider import PROVIDER_NAMES, own_url
from tests.agents.clients import HELLO, SECRET, Clock, retry_of

KEY = Key("OPENAI_API_KEY", SECRET)
TEXT = st.text(alphabet="abc123-", max_size=40)


OPENAI = "https://api.openai.com/v1"
KEYS = ApiKeys({"OPENAI_API_KEY": SECRET, "ACME_API_KEY": SECRET, "PERPLEXITYAI_API_KEY": "x", "TOGETHER_API_KEY": ""})


def test_a_key_is_found_under_its_usual_names() -> None:
    assert KEYS.find(key_names("openai"), OPENAI) == KEYS.of_provider("openai", None) == KEY
    assert KEYS.of_provider("perplexity", None) == Key("PERPLEXITYAI_API_KEY", "x")
    assert KEYS.of_provider("together_ai", None) is None


@pytest.mark.parametrize(
    "url", [OPENAI, "https://API.openai.com:443", "http://localhost:1/v1", "http://127.0.0.1:1", "https://[::1]:9/v1"]
)
def test_a_key_goes_to_its_providers_own_host_and_to_this_machine(url: str) -> None:
    assert KEYS.get_named("OPENAI_API_KEY", url) == KEY


@pytest.mark.parametrize(
    ("url", "place"),
    [
        ("https://evil.example/v1", "evil.example"),
        ("http://api.openai.com/v1", "http://api.openai.com"),
        ("https://api.openai.com:8443/v1", "api.openai.com:8443"),
        ("https://api.openai.com.evil.example/v1", "api.openai.com.evil.example"),
        ("https://api.openai.com%2eevil.example/v1", "api.openai.com%2eevil.example"),
        ("https://localhost.evil.example/v1", "localhost.evil.example"),
        ("https://127.0.0.1.evil.example/v1", "127.0.0.1.evil.example"),
        ("https://\u0430pi.openai.com/v1", "xn--pi-6kc.openai.com"),
        ("http://10.0.0.5:8000/v1", "http://10.0.0.5:8000"),
        ("https://openrouter.ai/api/v1", "openrouter.ai"),
    ],
)
def test_a_key_goes_nowhere_else_unless_the_operator_binds_it_there(url: str, place: str) -> None:
    with pytest.raises(UsageError) as refused:
        KEYS.get_named("OPENAI_API_KEY", url)
    assert f"may not be sent to {place}: it belongs to api.openai.com" in str(refused.value)
    assert SECRET not in str(refused.value)
    assert f'PREDIBOT_KEY_HOSTS="OPENAI_API_KEY={place}"' in str(refused.value)
    assert ApiKeys(KEYS.values, {"OPENAI_API_KEY": (place,)}).get_named("OPENAI_API_KEY", url) == KEY


@pytest.mark.parametrize("name", ["brave", "exa", "serper", "tavily"])
def test_a_key_of_a_search_provider_is_not_said_to_be_nobodys(name: str) -> None:
    key_name, own = f"{name.upper()}_API_KEY", own_url(name)
    assert own is not None
    with pytest.raises(UsageError, match=f"it belongs to {host_of(own)}"):
        ApiKeys({key_name: "x"}).of_provider("openai", key_name)


def test_a_key_that_nobody_bound_goes_to_no_host_of_a_recipe() -> None:
    with pytest.raises(UsageError, match="nobody bound it to a host"):
        KEYS.find(("ACME_API_KEY",), "https://api.acme.com")
    assert KEYS.find(("ACME_API_KEY",), "https://api.acme.com", own_url="https://api.acme.com/v2") is not None


@pytest.mark.parametrize(
    ("provider", "named", "said"),
    [
        ("openai", "ACME_API_KEY", "ACME_API_KEY may not be sent to api.openai.com"),
        ("deepseek", "OPENAI_API_KEY", "OPENAI_API_KEY may not be sent to api.deepseek.com: it belongs to api.openai"),
        ("novita", "OPENAI_API_KEY", "no key of provider 'novita'; put its key into NOVITA_API_KEY"),
        ("openai", "NO_SUCH_KEY", "NO_SUCH_KEY is not set; set it in the environment"),
        ("together_ai", "TOGETHER_API_KEY", "TOGETHER_API_KEY is not set"),
    ],
)
def test_a_provider_gets_no_key_of_somebody_else(provider: str, named: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        KEYS.of_provider(provider, named)


@pytest.mark.parametrize("name", ["openai/tiny", "acme/o3-deep-research", "openai/o3-deep-research"])
@pytest.mark.parametrize("client", ["light", "litellm"])
@pytest.mark.parametrize(("key_name", "said"), [("OPENAI_API_KEY", "may not be sent"), ("NO_SUCH_KEY", "is not set")])
def test_no_client_takes_a_key_to_a_recipes_host(name: str, client: ClientName, key_name: str, said: str) -> None:
    where = ModelTerms("https://evil.example/v1", client, key_name)
    with pytest.raises(UsageError, match=said):
        model_destination(name, where, KEYS)
    with pytest.raises(UsageError, match=said):
        model = open_model(name, where, keys=KEYS, retry=retry_of(Clock()))
        # Importing litellm counts, and a busy machine may take long over it.
        model.chat(HELLO, deadline_seconds=600.0)


def test_the_operators_own_address_of_a_provider_is_shown() -> None:
    keys = ApiKeys({}, bases={"OPENAI_API_BASE": "https://gateway.corp:8443/openai", "OLLAMA_API_BASE": "box:11434"})
    assert (keys.place_of("openai"), keys.place_of("groq")) == ("gateway.corp:8443", "api.groq.com")
    assert keys.place_of("ollama") == "the address in OLLAMA_API_BASE"


def test_every_search_provider_with_a_key_has_a_host_of_its_own() -> None:
    assert {name for name in PROVIDER_NAMES if own_url(name)} == {"brave", "tavily", "exa", "serper", "reddit"}
    assert host_of(str(own_url("brave"))) == "api.search.brave.com"


def test_a_key_shows_its_name_only() -> None:
    assert SECRET not in repr(KEYS)
    assert repr(KEY) == "Key(name='OPENAI_API_KEY')"
    assert SECRET not in f"{KEY}"


@pytest.mark.parametrize("value", ["sk-two words\n", "sk-\x00", "schlüssel", " sk-x", ""])
def test_what_cannot_be_a_key_is_refused_unseen(value: str) -> None:
    with pytest.raises(ModelRefused, match="the key in OPENAI_API_KEY") as caught:
        Key("OPENAI_API_KEY", value)
    assert not value or value.strip() not in "".join(traceback.format_exception(caught.value))


@given(TEXT, TEXT, st.integers(0, 8), st.integers(0, 8))
def test_no_long_run_of_a_key_outlives_masking(before: str, after: str, start: int, less: int) -> None:
    text = mask_text(before + SECRET[start : len(SECRET) - less] + after, KEY)
    runs = [SECRET[at : at + SECRET_RUN_CHARACTERS] for at in range(len(SECRET) - SECRET_RUN_CHARACTERS + 1)]
    assert not any(run in text for run in runs)
    assert MASK in text


@given(TEXT)
def test_a_text_without_the_key_stays_as_it_is(text: str) -> None:
    assert mask_text(text, KEY) == text
    assert mask_text(text, None) == text


def test_the_key_is_masked_however_deep_it_is_and_a_placeholder_masks_nothing() -> None:
    value = {"a": [{"b": f"x{SECRET}y"}, 1, None, True], SECRET: "z"}
    assert mask_json(value, KEY) == {"a": [{"b": f"x{MASK}y"}, 1, None, True], MASK: "z"}
    assert mask_text("none of them", Key("K", "none")) == "none of them"
