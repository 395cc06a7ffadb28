"""litellm as predibot uses it: late, silent, and its price table not always believed."""

import subprocess
import sys
from pathlib import Path

import pytest

from predibot.agents.budget.price import TokenPrice
from predibot.agents.models.clients.chat_completions import OpenAICompatibleModel
from predibot.agents.models.clients.litellm_library import table_price
from predibot.agents.models.clients.litellm_model import LiteLLMModel, provider_of
from predibot.agents.models.open_model import open_model, worst_price
from predibot.domain.chat import Cost
from predibot.domain.terms import ClientName, ModelTerms
from predibot.errors import ModelError, ModelRefused, UsageError
from predibot.net.api_keys import ApiKeys
from tests.agents.chat_server import USAGE, Said, chat_server, completion, error, said_json
from tests.agents.clients import HELLO, SECRET, Clock, heavy, retry_of

REPOSITORY = Path(__file__).resolve().parents[4]
LIGHT_IMPORTS = """
import importlib, pkgutil, sys
import predibot.agents.loop.run_agent, predibot.research.search.open_provider, predibot.tools.web_search
heavy = [name for name in ("smolagents", "ddgs") if name in sys.modules]
for module in pkgutil.walk_packages(predibot.agents.__path__, "predibot.agents."):
    importlib.import_module(module.name)
heavy += [name for name in ("litellm", "openai") if name in sys.modules]
sys.exit(f"imported {heavy}" if heavy else 0)
"""
CALLS = """
import sys, threading
strangers = []
def watch(event, arguments):
    if event == "socket.connect" and arguments[1][0] != "127.0.0.1":
        strangers.append(arguments[1])
    if event == "socket.getaddrinfo" and arguments[0] not in ("127.0.0.1", "localhost"):
        strangers.append(arguments[0])
sys.addaudithook(watch)
from predibot.agents.models.failures import GivenUp
from predibot.net.api_keys import ApiKeys
from predibot.agents.models.clients.litellm_model import LiteLLMModel
from predibot.agents.models.retry import Retry
from predibot.domain.chat import ChatRequest, Message
from predibot.errors import ModelRefused
model = LiteLLMModel("openai/tiny", base_url=sys.argv[1], keys=ApiKeys(), retry=Retry())
request, lost = ChatRequest((Message("user", "hi"),)), []
for litellm in ("not loaded", "loaded"):
    assert ("litellm" in sys.modules) is (litellm == "loaded")
    try:
        model.chat(request, deadline_seconds=0.05)
    except GivenUp as error:
        for thread in threading.enumerate():
            if thread is not threading.main_thread():
                thread.join()
        lost.append(error.lost_tries)
# Whether litellm was about to send is not known where nobody waits for it any more.
assert lost in ([0, 0], [0, 1]), lost
try:
    model.chat(request, deadline_seconds=60.0)
except ModelRefused as error:
    sys.exit(3 if "fix the request" in str(error) and not strangers else str(strangers))
"""


def python(code: str, *arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run a program in a folder, with a key in its environment."""
    environment = {"PYTHONPATH": str(REPOSITORY), "HOME": str(cwd), "OPENAI_API_KEY": SECRET, "PATH": ""}
    command = [sys.executable, "-B", "-c", code, *arguments]
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=120, check=False)


def test_importing_agents_and_tools_imports_nothing_heavy(tmp_path: Path) -> None:
    done = python(LIGHT_IMPORTS, cwd=tmp_path)
    assert done.returncode == 0, done.stderr


def test_late_calls_are_not_sent_and_a_refused_one_prints_nothing_writes_nothing_and_speaks_to_nobody_else(
    tmp_path: Path,
) -> None:
    with chat_server(error(400, "no")) as server:
        done = python(CALLS, server.base_url, cwd=tmp_path)
        sent = [{name.lower(): text for name, text in asked.headers.items()} for asked in server.asked]
    assert (done.returncode, done.stdout, done.stderr) == (3, "", "")
    assert list(tmp_path.iterdir()) == []
    # One alone, without a key: none of the environment goes to an address of the user's that was not told to have it.
    assert [headers["authorization"] for headers in sent] == ["Bearer none"]


def ask_known(monkeypatch: pytest.MonkeyPatch, said: Said, *, price: TokenPrice | None = None, name: str) -> Cost:
    with chat_server(said) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        model = LiteLLMModel(name, keys=ApiKeys({"OPENAI_API_KEY": SECRET}), retry=retry_of(Clock()), price=price)
        return model.chat(HELLO, deadline_seconds=60.0).cost


def test_the_table_comes_after_the_provider_and_before_the_recipe(monkeypatch: pytest.MonkeyPatch) -> None:
    price, name = TokenPrice(9.0, 9.0), "openai/gpt-4o-mini"
    told = completion(usage={**USAGE, "cost": 0.5})
    assert ask_known(monkeypatch, told, price=price, name=name) == Cost(0.5, "provider")
    assert ask_known(monkeypatch, completion(), price=price, name=name) == Cost(20 * 0.15e-6 + 5 * 0.6e-6, "litellm")
    assert ask_known(monkeypatch, completion(usage=None), price=price, name=name) == Cost(None, "unknown")
    assert ask_known(monkeypatch, completion(), price=price, name="openai/no-such") == Cost(25 * 9 / 1e6, "recipe")
    assert ask_known(monkeypatch, completion(), name="openai/no-such") == Cost(None, "unknown")


def test_the_table_says_the_dearest_of_a_models_tiers_and_what_a_searching_model_takes_for_a_call() -> None:
    price = table_price("gemini/gemini-2.5-pro")
    assert price is not None
    assert (price.input_usd_per_million_tokens, price.output_usd_per_million_tokens) == pytest.approx((2.5, 15.0))
    assert (price.call_usd, price.source) == (0.0, "litellm")
    searching = table_price("perplexity/sonar-deep-research")
    assert searching is not None and searching.call_usd > 0.0


@pytest.mark.parametrize(
    "name", ["wandb/zai-org/GLM-4.5", "ollama/llama3", "openai/no-such", "anthropic/gpt-5", "dashscope/qwen3-max"]
)
def test_a_price_that_is_missing_zero_or_absurd_is_unknown(name: str) -> None:
    assert table_price(name) is None


def test_the_worst_price_is_the_dearer_of_recipe_and_table() -> None:
    worst = worst_price("openai/gpt-4o-mini", price=TokenPrice(0.01, 5.0))
    assert worst is not None
    assert worst.input_usd_per_million_tokens == pytest.approx(0.15)
    assert worst.output_usd_per_million_tokens == 5.0
    assert worst_price("openai/gpt-4o-mini", price=None, base_url="http://localhost/v1") is None


def test_a_provider_without_a_key_says_which_to_set() -> None:
    model = LiteLLMModel("openai/gpt-4o-mini", keys=ApiKeys(), retry=retry_of(Clock()))
    with pytest.raises(ModelRefused, match="set OPENAI_API_KEY"):
        model.chat(HELLO, deadline_seconds=60.0)


def test_a_proxy_of_litellm_states_the_cost_in_a_header() -> None:
    told = completion()
    with chat_server(Said(told.body, headers={"x-litellm-response-cost": "0.25"})) as server:
        reply = heavy(server, retry_of(Clock())).chat(HELLO, deadline_seconds=60.0)
    assert reply.cost == Cost(0.25, "provider")


@pytest.mark.parametrize(
    "name",
    [
        "openrouter/deepseek/deepseek-r1:free",
        "bedrock/us-east-1/anthropic.claude-3-5-sonnet-20240620-v1:0",
        "bedrock/converse/arn:aws-us-gov:bedrock:us-gov-west-1:123456789012:inference-profile/us.anthropic.claude",
        "vertex_ai/claude-3-5-sonnet@20240620",
        "cloudflare/@cf/meta/llama-2-7b-chat-int8",
        "openai/ft:gpt-4o-mini-2024-07-18:learn::ab12",
    ],
)
def test_a_model_is_named_as_its_provider_names_it(name: str) -> None:
    assert provider_of(name) == name.partition("/")[0]


def test_a_name_without_a_provider_is_looked_up() -> None:
    assert provider_of("gpt-4o-mini") == "openai"
    with pytest.raises(ModelRefused, match="write provider/model"):
        provider_of("nobodys-model")


@pytest.mark.parametrize(
    "name",
    [
        "acme/a?b",
        "acme/a#b",
        "acme/a\\b",
        "acme/a b",
        "acme/a\n",
        "acme/a%2fb",
        "acme/\u0430",
        "bedrock/ARN:aws:bedrock-agentcore:evil.example/:1:runtime/a",
        "bedrock/a:b:c:evil.example/:arn:aws:bedrock:us-east-1:1:runtime/a",
        "bedrock/agentcore/arn:evil:x:evil.example:1:runtime/a",
    ],
)
def test_a_name_of_which_an_address_could_be_made_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="holds no address"):
        provider_of(name)


def test_a_base_url_takes_the_light_client_and_no_key_that_is_not_named() -> None:
    keys = ApiKeys({"OPENAI_API_KEY": SECRET})
    with chat_server(completion()) as server:
        model = open_model("openai/tiny", ModelTerms(server.base_url), keys=keys, retry=retry_of(Clock()))
        model.chat(HELLO, deadline_seconds=60.0)
        assert "authorization" not in {name.lower() for name in server.asked[0].headers}
    assert isinstance(model, OpenAICompatibleModel)
    assert isinstance(open_model("openai/tiny", keys=keys, retry=retry_of(Clock())), LiteLLMModel)


def test_litellm_takes_a_base_url_only_where_it_follows_no_redirects() -> None:
    with pytest.raises(UsageError, match="openai/"):
        LiteLLMModel("anthropic/claude", base_url="http://localhost/v1", keys=ApiKeys(), retry=retry_of(Clock()))


@pytest.mark.parametrize("client", ["light", "litellm"])
def test_a_server_is_asked_by_the_name_it_knows(client: ClientName) -> None:
    with chat_server(completion()) as server:
        terms = ModelTerms(server.base_url, client)
        model = open_model("sandbox/sharp", terms, keys=ApiKeys(), retry=retry_of(Clock()))
        model.chat(HELLO, deadline_seconds=60.0)
        assert (model.name, server.asked[0].body["model"]) == ("sandbox/sharp", "sandbox/sharp")


def test_a_model_whose_name_is_an_address_gets_no_key() -> None:
    keys = ApiKeys({"HF_TOKEN": SECRET})
    with chat_server(completion()) as server:
        model = LiteLLMModel(f"huggingface/{server.base_url}", keys=keys, retry=retry_of(Clock()))
        with pytest.raises(UsageError, match="holds no address"):
            model.chat(HELLO, deadline_seconds=60.0)
        assert server.asked == []


def test_a_redirect_of_a_provider_carries_no_key_away(monkeypatch: pytest.MonkeyPatch) -> None:
    keys = ApiKeys({"ANTHROPIC_API_KEY": SECRET})
    with chat_server(completion()) as elsewhere:
        away = Said(b"", status=307, headers={"location": f"{elsewhere.base_url}/messages"})
        with chat_server(away) as server:
            monkeypatch.setenv("ANTHROPIC_API_BASE", server.base_url)
            model = LiteLLMModel("anthropic/claude-x", keys=keys, retry=retry_of(Clock()))
            with pytest.raises(ModelError):
                model.chat(HELLO, deadline_seconds=60.0)
            assert [asked.headers.get("x-api-key") for asked in server.asked][:1] == [SECRET]
        assert elsewhere.asked == []


def test_an_error_that_comes_as_a_success_is_one_at_any_provider(monkeypatch: pytest.MonkeyPatch) -> None:
    keys = ApiKeys({"ANTHROPIC_API_KEY": SECRET})
    with chat_server(said_json({"error": {"code": 400, "message": "no such beast"}})) as server:
        monkeypatch.setenv("ANTHROPIC_API_BASE", server.base_url)
        model = LiteLLMModel("anthropic/claude-x", keys=keys, retry=retry_of(Clock()))
        with pytest.raises(ModelRefused, match="no such beast"):
            model.chat(HELLO, deadline_seconds=60.0)
