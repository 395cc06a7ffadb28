"""The light client: one address the user set, and nothing but the chat-completions dialect."""

import json
from collections.abc import Callable
from dataclasses import replace

import httpx
import pytest

from predibot.agents.models.clients.chat_completions import Endpoint, OpenAICompatibleModel
from predibot.domain.chat import ChatReply, ChatRequest, ToolCall
from predibot.errors import ModelRefused, ModelUnavailable, UsageError
from tests.agents.chat_server import completion, said_json
from tests.agents.clients import HELLO, Clock, retry_of

OK = json.loads(completion().body)


def ask(
    answer: Callable[[httpx.Request], httpx.Response],
    *,
    base_url: str = "http://models.test/v1",
    request: ChatRequest = HELLO,
) -> ChatReply:
    """Return the reply of a server that is a function."""
    transport = httpx.MockTransport(answer)
    model = OpenAICompatibleModel("openai/tiny", Endpoint(base_url, transport=transport), retry=retry_of(Clock()))
    return model.chat(request, deadline_seconds=30.0)


def test_parameters_that_a_model_refuses_by_name_are_not_sent_again() -> None:
    seen: list[dict[str, object]] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(json.loads(request.content))
        refused = [name for name in ("max_tokens", "temperature") if name in seen[-1]]
        error = {"message": f"Unsupported parameter: {refused}", "param": refused[0] if refused else None}
        return httpx.Response(400, json={"error": error}) if refused else httpx.Response(200, json=OK)

    assert ask(answer, request=replace(HELLO, temperature=0.5)).retries == 2
    assert seen[2]["max_completion_tokens"] == seen[0]["max_tokens"]
    assert not {"max_tokens", "temperature"} & seen[2].keys()


def test_a_parameter_that_was_not_sent_cannot_be_left_out() -> None:
    refusal = httpx.Response(400, json={"error": {"message": "no", "param": "temperature"}})
    with pytest.raises(ModelRefused, match="fix the request"):
        ask(lambda request: refusal)


def streamed(*deltas: object) -> ChatReply:
    """Return the reply of a server that answers in a stream only, in these pieces."""
    end = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
    events = [*({"choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas), end]
    said = "".join(f"data: {json.dumps(event, ensure_ascii=False)}\r\n\r\n" for event in events) + "data: [DONE]\n\n"
    return answered_by_stream(said.encode())


def answered_by_stream(said: bytes, content_type: str = "text/event-stream") -> ChatReply:
    """Return the reply of a server that answers in a stream only, in these bytes."""

    def answer(request: httpx.Request) -> httpx.Response:
        if not json.loads(request.content).get("stream"):
            return httpx.Response(400, json={"error": {"message": "only streamed responses are supported: stream"}})
        return httpx.Response(200, content=said, headers={"content-type": content_type})

    return ask(answer)


def event(text: str = "", *, finish: str | None = None, index: int = 0, **more: object) -> str:
    """Return an event of a stream, in JSON that may be cut at each of its fields."""
    choice = {"index": index, "delta": {"content": text}, "finish_reason": finish}
    return json.dumps({"choices": [choice], **more}, indent=0, ensure_ascii=False)


YE, S = event("ye"), event("s", finish="stop")
COUNTED = json.dumps({"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 3}})
LINES = "data: " + YE.replace("\n", "\ndata: ") + "\n\ndata: " + S.replace("\n", "\ndata:") + "\n\n"
FLAT = [f"data: {each}\n\n".replace("\n", "", each.count("\n")) for each in (YE, S)]
OTHER = [
    "data: " + event(text, finish=end, index=1).replace("\n", "") + "\n\n"
    for text, end in (("n", None), ("o", "length"))
]


@pytest.mark.parametrize(
    "said",
    [
        LINES,
        LINES.replace("\n", "\r\n"),
        LINES.replace("\n", "\r"),
        "\ufeff" + LINES,
        "\ufeff" + "".join(FLAT),
        ": keep-alive\n\n" + FLAT[0] + ": ping\n:\n" + FLAT[1] + ": bye",
        "event: message\nid: 1\n" + FLAT[0] + "id: 2\nretry: 10\nevent: message\n" + FLAT[1],
        "".join(FLAT).replace("data: ", "data:"),
        "".join(FLAT).replace("\n\n", "\n"),
        "".join(FLAT).rstrip("\n"),
        "".join(FLAT) + "data: [DONE]",
        "data\n\ndata:\n\n" + "".join(FLAT) + "data:\n\n",
        "".join(OTHER[:1] + FLAT[:1] + OTHER[1:] + FLAT[1:]),
        "".join(FLAT[:1] + OTHER + FLAT[1:]),
        "".join(FLAT + OTHER),
        "".join([*FLAT, "data: [DONE]\n\n", *FLAT]),
        FLAT[0] + FLAT[1].replace("{", '{"usage": null, ', 1),
    ],
)  # fmt: skip
def test_a_stream_is_read_as_its_standard_says(said: str) -> None:
    reply = answered_by_stream(said.encode())
    assert (reply.message.text, reply.finish_reason, reply.retries) == ("yes", "stop", 1)
    counted = answered_by_stream((said.removesuffix("data: [DONE]") + f"\n\ndata: {COUNTED}\n\n").encode())
    is_over = "[DONE]\n" in said
    assert (counted.usage.input_tokens, counted.usage.output_tokens) == ((None, None) if is_over else (7, 3))


def test_a_stream_that_says_that_it_is_over_is_whole_and_one_that_says_nothing_was_cut() -> None:
    reply = answered_by_stream(f"{FLAT[0]}data: [DONE]\n\n".encode(), "Text/Event-Stream; charset=UTF-8")
    assert (reply.message.text, reply.finish_reason) == ("ye", "other")
    for cut in (FLAT[0], "".join(FLAT)[:-20], "".join(OTHER), ""):
        with pytest.raises(ModelUnavailable, match=r"broke off before its end|breaks off"):
            answered_by_stream(cut.encode())
    unasked = httpx.Response(200, content="".join(FLAT).encode(), headers={"content-type": "text/event-stream"})
    reply = ask(lambda _request: unasked)
    assert (reply.message.text, reply.retries) == ("yes", 0)


@pytest.mark.parametrize(
    ("deltas", "text"),
    [
        ([{"content": "ye"}, {"content": "s"}], "yes"),
        *[([{"content": f"y{mark}"}, {"content": "s"}], f"y{mark}s") for mark in "\u2028\u2029\x85\x0b\x0c\x1c"],
        # Magistral's thoughts, and the text after them.
        ([{"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "h"}]}]}, {"content": "yes"}], "yes"),
        ([{"content": "y"}, {"content": [{"type": "text", "text": "e"}]}, {"content": "s"}], "yes"),
        ([{"content": [{"type": "text", "text": "ye"}]}, {"content": [{"type": "text", "text": "s"}]}], "yes"),
        ([{"content": None}, None, {"content": "yes"}], "yes"),
    ],
)
def test_the_pieces_of_a_text_come_to_the_whole(deltas: list[object], text: str) -> None:
    assert streamed(*deltas).message.text == text


def called(arguments: str = "", **more: object) -> dict[str, object]:
    name = {"name": more.pop("name")} if "name" in more else {}
    return {"tool_calls": [{**more, "function": {**name, "arguments": arguments}}]}


F, G = ToolCall("a", "f", '{"q":1}'), ToolCall("b", "g", "{}")
UNKNOWN = [replace(F, id="call_0"), replace(G, id="call_1")]


@pytest.mark.parametrize(
    ("deltas", "calls"),
    [
        ([called(id="a", name="f"), called('{"q":'), called("1}"), called(id="b", name="g"), called("{}")], [F, G]),
        ([called('{"q":', id="a", name="f"), called("1}", id="a", name="f"), called("{}", id="b", name="g")], [F, G]),
        ([called(name="f"), called('{"q":1}'), called("{}", name="g")], UNKNOWN),
        ([called(index=1, id="a", name="f"), called('{"q":1}', index=1), called("{}", index=2, id="b", name="g")],
         [F, G]),
        ([called(index=0, id="a", name="f"), called("{", index=1, id="b", name="g"), called('{"q":1}', index=0),
          called("}", index=1)], [F, G]),
        # Google says index 0 of each.
        ([called('{"q":1}', index=0, id="a", name="f"), called("{}", index=0, id="b", name="g")], [F, G]),
        ([called('{"q":', index=0, id="a", name="f"), called("1}", index=0, id=None, name=None)], [F]),
    ],
)  # fmt: skip
def test_the_pieces_of_calls_come_to_the_calls(deltas: list[object], calls: list[ToolCall]) -> None:
    assert streamed(*deltas).message.tool_calls == tuple(calls)


@pytest.mark.parametrize(
    "delta", ["x", ["x"], {"tool_calls": ["x"]}, {"content": {"a": 1}}, {"tool_calls": [{"function": 5}]}]
)
def test_a_piece_that_is_none_counts_as_lost(delta: object) -> None:
    with pytest.raises(ModelUnavailable, match="no piece of an answer"):
        streamed(delta, {"content": "yes"})


@pytest.mark.parametrize("status", [307, 404])
def test_a_redirect_is_not_followed_and_the_query_of_a_base_url_is_kept_and_not_shown(status: int) -> None:
    asked: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(str(request.url))
        return httpx.Response(status, headers={"location": "http://169.254.169.254/"})

    words = "redirects are not followed" if status == 307 else "404"
    with pytest.raises(ModelRefused, match=words) as caught:
        ask(answer, base_url="http://models.test/v1/?code=hidden")
    assert asked == ["http://models.test/v1/chat/completions?code=hidden"]
    assert "hidden" not in str(caught.value)


@pytest.mark.parametrize(
    "base_url", ["", "models.test", "ftp://models.test", "http://", "http://me:pw@models.test/v1", "http://[::1"]
)
def test_what_is_no_base_url_is_refused_without_its_password(base_url: str) -> None:
    with pytest.raises(UsageError, match="base URL") as caught:
        ask(lambda request: httpx.Response(200, json=OK), base_url=base_url)
    assert "pw" not in str(caught.value)


@pytest.mark.parametrize("body", [b"<html>", b"[1, 2]", b'"yes"'])
def test_what_is_no_object_is_no_such_server(body: bytes) -> None:
    with pytest.raises(ModelRefused, match="see whether the base URL is right"):
        ask(lambda request: httpx.Response(200, content=body))


@pytest.mark.parametrize(
    "value", [{}, {"choices": []}, {"choices": [{}]}, {"choices": "no"}, {"choices": [{"message": {"content": 7}}]}]
)
def test_an_object_that_is_no_completion_counts_as_lost(value: object) -> None:
    with pytest.raises(ModelUnavailable, match="no chat completion"):
        ask(lambda request: httpx.Response(200, json=value))
    with pytest.raises(ModelUnavailable, match="not whole"):
        ask(lambda request: httpx.Response(200, content=b'{"a":' * 200_000))


@pytest.mark.parametrize("choices", [[], [{"message": None, "finish_reason": "stop"}]])
def test_an_answer_that_says_nothing_and_was_counted_is_an_empty_one(choices: list[object]) -> None:
    reply = ask(lambda request: httpx.Response(200, json={**OK, "choices": choices}))
    assert (reply.message.text, reply.message.tool_calls, reply.retries) == ("", (), 0)
    assert (reply.usage.input_tokens, reply.usage.output_tokens) == (20, 5)


def test_an_error_without_a_status_may_have_been_charged() -> None:
    answers = [{"error": {"type": "timeout", "message": "idle"}}, OK]
    assert ask(lambda _request: httpx.Response(200, json=answers.pop(0))).lost_tries == 1


def test_arguments_that_come_decoded_become_text() -> None:
    call = {"function": {"name": "ping", "arguments": {"word": "pong"}}}
    body = said_json({"choices": [{"message": {"tool_calls": [call]}, "finish_reason": "stop"}]}).body
    reply = ask(lambda request: httpx.Response(200, content=body))
    assert reply.message.tool_calls == (ToolCall("call_0", "ping", '{"word": "pong"}'),)


LOST = (httpx.ReadError, httpx.WriteError, httpx.RemoteProtocolError)


@pytest.mark.parametrize("kind", [*LOST, httpx.ConnectError, httpx.LocalProtocolError, httpx.UnsupportedProtocol])
def test_an_error_of_the_connection_is_one_of_ours(kind: type[Exception]) -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        raise kind("x")

    with pytest.raises((ModelUnavailable, ModelRefused), match="broke off" if kind in LOST else None):
        ask(answer)
