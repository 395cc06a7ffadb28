"""What a server says that speaks OpenAI's Responses API, and a client of it; time passes only by waiting."""

from collections.abc import Mapping, Sequence

from predibot.agents.budget.price import TokenPrice
from predibot.agents.models.clients.chat_completions import Endpoint
from predibot.agents.models.clients.responses import ResponsesModel
from predibot.net.api_keys import Key
from tests.agents.chat_server import ChatServer, Said, said_json
from tests.agents.clients import KEY_NAME, SECRET, Clock, retry_of

NAME = "openai/o4-mini-deep-research"
JOB = "resp_0123abc"
USAGE = {"input_tokens": 60_000, "output_tokens": 9_000, "input_tokens_details": {"cached_tokens": 20_000}}
REPORT = "Rain is likely: 0.6, confidence 7, bet $0.50 on YES."
PAGE = "https://weather.example/monday"


def response(status: str, output: Sequence[Mapping[str, object]] = (), **more: object) -> Said:
    """Return how far a job is."""
    value = {"id": JOB, "object": "response", "status": status, "model": "o4-mini-deep-research-1", "error": None}
    return said_json({**value, "output": list(output), "usage": None, **more})


def searched(kind: str | None = "search") -> dict[str, object]:
    return {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": kind} if kind else {}}


def message(text: str = REPORT, urls: Sequence[str] = (PAGE,)) -> dict[str, object]:
    annotations = [{"type": "url_citation", "url": url, "title": "t", "start_index": 0, "end_index": 1} for url in urls]
    content = [{"type": "output_text", "text": text, "annotations": annotations}]
    return {"type": "message", "role": "assistant", "status": "completed", "content": content}


def refusal(text: str) -> dict[str, object]:
    return {"type": "message", "role": "assistant", "content": [{"type": "refusal", "refusal": text}]}


def completed(*output: Mapping[str, object], **more: object) -> Said:
    found = output or ({"type": "reasoning", "summary": []}, searched(), searched("open_page"), message())
    return response("completed", found, **{"usage": USAGE, **more})


QUEUED, WORKING, CANCELLED = response("queued"), response("in_progress"), response("cancelled")


def model_of(server: ChatServer, clock: Clock, *, price: TokenPrice | None = None) -> ResponsesModel:
    return ResponsesModel(
        NAME,
        Endpoint(server.base_url, key=Key(KEY_NAME, SECRET)),
        retry=retry_of(clock),
        price=price,
        monotonic=clock.monotonic,
        sleep=clock.sleep,
    )
