"""litellm's proxy between an agent and providers that refuse: it decides all the same."""

import importlib.metadata
import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import httpx
import pytest

from predibot.agents.models.clients.chat_completions import Endpoint, OpenAICompatibleModel
from predibot.domain.terms import ReasoningEffort
from tests.agents.clients import Clock, retry_of
from tests.agents.providers.dialects import DIALECTS, SEARCHES, Dialect, Provider, provider
from tests.agents.providers.native import Anthropic
from tests.agents.providers.test_providers import decided
from tests.jobs.program import wait_until

pytestmark = pytest.mark.outside

MODELS = {
    "deepseek": "deepseek/deepseek-v4-pro",
    "mistral": "mistral/magistral-medium-latest",
    "anthropic": "anthropic/claude-sonnet-4-5",
}


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the programs of an environment that has litellm's proxy, which the tests' own has not."""
    folder = tmp_path_factory.mktemp("proxy")
    subprocess.run([sys.executable, "-m", "venv", folder], check=True, timeout=120)
    wanted = f"litellm[proxy]=={importlib.metadata.version('litellm')}"
    subprocess.run([folder / "bin/python", "-m", "pip", "install", "--quiet", wanted], check=True, timeout=600)
    return folder / "bin"


@pytest.fixture(scope="module")
def servers() -> Iterator[dict[str, Provider]]:
    with ExitStack() as stack:
        yield {
            name: stack.enter_context(
                provider(Dialect("claude"), Anthropic) if name == "anthropic" else provider(DIALECTS[name])
            )
            for name in MODELS
        }


@pytest.fixture(scope="module")
def proxy(environment: Path, servers: dict[str, Provider], tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("running")
    rows = []
    for name, model in MODELS.items():
        url = servers[name].base_url.removesuffix("/v1" if name == "anthropic" else "")
        rows.append({"model_name": name, "litellm_params": {"model": model, "api_base": url, "api_key": "sk-1"}})
    # YAML is JSON and more.
    (folder / "proxy.yaml").write_text(json.dumps({"model_list": rows}), encoding="utf-8")
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        port = taken.getsockname()[1]
    command = [str(environment / "litellm"), "--config", "proxy.yaml", "--host", "127.0.0.1", "--port", str(port)]
    settings = {**os.environ, "LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_MODE": "PRODUCTION"}
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(command, cwd=folder, env=settings, stdout=log, stderr=log)
        try:
            wait_until(lambda: _is_up(port), seconds=120.0)
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            process.terminate()
            process.wait(timeout=30)


def _is_up(port: int) -> bool:
    try:
        return httpx.get(f"http://127.0.0.1:{port}/health/liveliness", timeout=5.0).is_success
    except httpx.HTTPError:
        return False


@pytest.mark.parametrize("steps", [12, 2])
@pytest.mark.parametrize(("name", "effort"), [("deepseek", None), ("mistral", None), ("anthropic", "low")])
def test_an_agent_decides_through_the_proxy(
    proxy: str, servers: dict[str, Provider], name: str, effort: ReasoningEffort | None, steps: int
) -> None:
    model = OpenAICompatibleModel(f"openai/{name}", Endpoint(proxy), retry=retry_of(Clock()))
    decision, searched = decided(model, effort, max_steps=steps)
    assert searched == list(SEARCHES[: min(2, steps - 1)])
    assert "without tools" not in decision.notes
    assert servers[name].answered
