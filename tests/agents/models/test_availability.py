"""Whether a model can be asked at all: known before anything is spent, and never guessed."""

from collections.abc import Iterator

import pytest

from predibot.agents.models.open_model import why_unavailable
from predibot.domain.terms import ModelTerms
from predibot.net.api_keys import ApiKeys
from tests.agents.chat_server import Asked, ChatServer, Said, chat_server, completion, error, said_json

UNKNOWN = "The model `tiny` does not exist"


class Listing(ChatServer):
    """Answers a question about a model; any other request is one too many."""

    says_of_models = True
    said: Said

    def next(self, asked: Asked) -> Said:
        self.asked.append(asked)
        assert (asked.method, asked.path) == ("GET", "/v1/models/tiny")
        return self.said


@pytest.fixture
def server() -> Iterator[Listing]:
    with chat_server(completion()) as made:
        made.__class__ = Listing
        assert isinstance(made, Listing)
        yield made


def why(server: ChatServer | None, name: str = "openai/tiny", *, key: str | None = None, **values: str) -> str:
    base_url = None if server is None else server.base_url
    return why_unavailable(name, ModelTerms(base_url, credential=key), ApiKeys(values))


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (error(404, UNKNOWN), "see whether the model's name and the base URL are right"),
        (error(401, "Incorrect API key provided"), "the key is refused, set ACME_API_KEY to one that may use"),
    ],
)
def test_a_server_that_does_not_know_the_model_or_refuses_the_key_is_believed(
    server: Listing, said: Said, words: str
) -> None:
    server.said = said
    assert words in why(server, key="ACME_API_KEY", ACME_API_KEY="sk-0123456789")
    assert server.asked[0].headers["authorization"] == "Bearer sk-0123456789"


@pytest.mark.parametrize(
    "said",
    [
        said_json({"id": "tiny", "object": "model"}),
        said_json({"detail": "Not Found"}, 404),  # vLLM
        error(404, "File Not Found"),  # llama.cpp
        error(404, "there is no page /v1/models/tiny"),
        Said(b"<html>404 tiny", 404),
        error(401, "You have insufficient permissions. Missing scopes: api.model.read"),
        error(403, "tiny"),
        error(429, "slow down"),
        error(500, "tiny"),
        Said(b"", 200, {"Content-Length": "10"}),
    ],
)
def test_whatever_else_it_says_says_nothing_of_the_model(server: Listing, said: Said) -> None:
    server.said = said
    assert why(server) == ""


def test_a_server_that_is_not_there_and_a_key_that_is_missing_are_said_with_what_to_fix() -> None:
    with chat_server(completion()) as gone:
        pass
    gone.server_close()
    assert why(gone).endswith("start the server, or fix base_url") and "no connection" in why(gone)
    assert why(gone, key="ACME_API_KEY").startswith("credential ACME_API_KEY is not set")
    assert why(None) == "openai/tiny needs a key; set OPENAI_API_KEY"
    assert why(None, OPENAI_API_KEY="sk-0123456789") == ""
    # Where the operator's own address is, or nobody knows which key it takes, only asking would tell.
    own = ApiKeys({}, bases={"OPENAI_API_BASE": "http://10.0.0.5/v1"})
    assert why_unavailable("openai/tiny", ModelTerms(), own) == ""
    for name in ("ollama/llama3", "github_copilot/gpt-5", "litellm_proxy/tiny", "hosted_vllm/org/tiny"):
        assert why(None, name) == ""


@pytest.mark.parametrize("name", ["nosuch/model", "opnai/gpt-5", "my.company/tiny", "openai-/tiny"])
def test_a_provider_that_nobody_knows_is_said_before_it_is_asked(name: str) -> None:
    assert why(None, name).startswith(f"nobody can be asked for {name}: litellm knows no such provider; write ")
