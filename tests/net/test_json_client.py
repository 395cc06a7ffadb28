"""The one HTTP client: what is sent, what is taken, and which failure says what."""

import gzip
import traceback
from collections.abc import Callable

import httpx
import pytest

from predibot.net.api_keys import Key
from predibot.net.failures import BadAddress, BadAnswer, LateAnswer, LostAnswer, TryAgain
from predibot.net.json_client import HttpAnswer, JsonClient

URL = "https://me:hunter2@host.test/events?page=3"
KEY = Key("PLANTED_API_KEY", "sk-planted-0123456789abcdef")


def ask(answer: Callable[[httpx.Request], httpx.Response], url: str = URL, **changes: object) -> HttpAnswer:
    """Return what a network that is a function answers to a client with a key."""
    options = {"key": KEY, "transport": httpx.MockTransport(answer), **changes}
    with JsonClient(**options) as client:  # type: ignore[arg-type] # any of the constructor's
        return client.ask("GET", url, seconds=5.0)


def raising(error: Exception) -> Callable[[httpx.Request], httpx.Response]:
    def answer(request: httpx.Request) -> httpx.Response:
        raise error

    return answer


def concrete(parent: type[httpx.HTTPError]) -> list[type[httpx.HTTPError]]:
    """Return every kind of error below one."""
    return [kind for child in parent.__subclasses__() for kind in [child, *concrete(child)]]


@pytest.mark.parametrize("kind", concrete(httpx.HTTPError), ids=lambda kind: kind.__name__)
def test_every_error_of_httpx_becomes_a_failure_that_shows_no_key(kind: type[httpx.HTTPError]) -> None:
    error = kind.__new__(kind)
    Exception.__init__(error, f"seen {KEY.value}")
    with pytest.raises((TryAgain, BadAddress), match=r"GET https://\*\*\*@host.test/events: .*seen \*\*\*") as caught:
        ask(raising(error))
    assert isinstance(caught.value, TryAgain | BadAddress)
    assert caught.value.cause == kind.__name__
    assert KEY.value not in "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (httpx.ConnectError("x"), TryAgain),
        (httpx.ConnectTimeout("x"), TryAgain),
        (httpx.ProxyError("x"), TryAgain),
        (httpx.ReadTimeout("x"), LateAnswer),
        (httpx.RemoteProtocolError("x"), LostAnswer),
        (httpx.LocalProtocolError("x"), BadAddress),
    ],
)
def test_only_what_was_sent_can_be_lost(error: Exception, kind: type[Exception]) -> None:
    with pytest.raises((TryAgain, BadAddress)) as caught:
        ask(raising(error))
    assert type(caught.value) is kind


def test_silence_before_the_time_is_over_is_no_lateness() -> None:
    with pytest.raises(LostAnswer) as caught:
        ask(raising(httpx.ReadTimeout("x")), silence_seconds=1.0)
    assert type(caught.value) is LostAnswer


def test_what_is_packed_is_taken_only_where_it_was_asked_for() -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        packed = gzip.compress(b"[1]")
        return httpx.Response(200, content=packed, headers={"content-encoding": "gzip"}, request=request)

    with pytest.raises(BadAnswer, match="compressed"):
        ask(answer)
    assert ask(answer, takes_compressed=True).json() == [1]
    # Counted as it is after unpacking, so that no bomb passes.
    with pytest.raises(BadAnswer, match="more than 2 bytes"):
        ask(answer, takes_compressed=True, max_bytes=2)


def test_the_query_of_an_address_is_sent_and_not_said() -> None:
    received = ask(lambda request: httpx.Response(404, json={"page": request.url.params["page"], "key": KEY.value}))
    assert received.asked == "GET https://***@host.test/events"
    assert (received.status, received.is_success) == (404, False)
    assert received.json() == {"page": "3", "key": "***"}
    assert KEY.value not in received.text()


@pytest.mark.parametrize("body", [b"", b'{"a": ', b"[1, 2", b'{"a": 1} more'])
def test_json_that_breaks_off_may_come_whole_another_time(body: bytes) -> None:
    with pytest.raises(LostAnswer, match="not whole"):
        ask(lambda request: httpx.Response(200, content=body)).json()


def test_what_is_no_json_never_will_be_and_is_shown_without_the_key() -> None:
    page = httpx.Response(200, text=f"<html>{KEY.value}")
    with pytest.raises(BadAnswer, match=r"no JSON but '<html>\*\*\*'") as caught:
        ask(lambda request: page).json()
    assert caught.value.status == 200
