"""The HTTP client: JSON whole or not at all, within one deadline."""

import random
from collections.abc import Callable
from datetime import timedelta
from email.utils import format_datetime

import httpx
import pytest

from predibot.errors import UsageError, VenueChanged, VenueUnavailable
from predibot.venues.http import MAX_TRIES, RETRIED_STATUSES, RequestRefusal, VenueClient
from tests.venues.payloads import NOW, Asked, Clock

URL = "https://host.test/events"


def client_of(answer: Callable[[httpx.Request], object], **changes: object) -> tuple[VenueClient, Asked, Clock]:
    """Return a client whose network is a function and whose time passes only by waiting."""
    asked, clock = Asked(answer), Clock()
    client = VenueClient(
        transport=asked.transport,
        now=lambda: NOW,
        monotonic=clock.monotonic,
        sleep=clock.sleep,
        rng=random.Random(1),
        **changes,  # type: ignore[arg-type] # any of the constructor's numbers
    )
    return client, asked, clock


def after(failures: int, failure: httpx.Response | Exception) -> Callable[[httpx.Request], object]:
    """Return a network that fails so many times and then answers."""
    left = [failure] * failures

    def answer(request: httpx.Request) -> object:
        if not left:
            return {"ok": True}
        failure = left.pop()
        if isinstance(failure, Exception):
            raise failure
        return httpx.Response(failure.status_code, content=failure.content, headers=failure.headers)

    return answer


def concrete_errors(parent: type[Exception]) -> list[type[Exception]]:
    """Return every kind of error below one."""
    return [kind for child in parent.__subclasses__() for kind in [child, *concrete_errors(child)]]


PASSING = [
    *(httpx.Response(status) for status in sorted(RETRIED_STATUSES)),
    *(httpx.ReadTimeout(""), httpx.ReadError("reset"), httpx.RemoteProtocolError("cut"), httpx.ConnectError("")),
]


@pytest.mark.parametrize("failure", PASSING, ids=repr)
def test_a_passing_failure_is_asked_again(failure: httpx.Response | Exception) -> None:
    client, asked, _ = client_of(after(2, failure))
    assert client.get(URL) == {"ok": True}
    assert len(asked.requests) == 3


@pytest.mark.parametrize("text", ['{"events": [{"id": "1"', "[1, 2", "", "[1] trailing", b'{"a": "\xff"}'])
def test_json_that_is_not_whole_is_asked_again_and_never_used(text: str | bytes) -> None:
    client, asked, _ = client_of(after(1, httpx.Response(200, content=text)))
    assert client.get(URL) == {"ok": True}
    always, asked, _ = client_of(lambda request: httpx.Response(200, content=text))
    with pytest.raises(VenueUnavailable, match="not whole"):
        always.get(URL)
    assert len(asked.requests) == MAX_TRIES


def test_a_page_of_html_is_no_contract() -> None:
    client, asked, _ = client_of(lambda request: httpx.Response(200, text="<html>\x1b[31m hello"))
    with pytest.raises(VenueChanged, match=r"no JSON but '<html>.x1b") as caught:
        client.get(URL)
    assert str(caught.value).isprintable()
    assert len(asked.requests) == 1


@pytest.mark.parametrize("status", [301, 400, 404, 410, 422])
def test_a_refusal_is_final_and_tells_its_status_and_the_beginning_of_its_words(status: int) -> None:
    client, asked, _ = client_of(lambda request: httpx.Response(status, text="ä" * 5_000))
    with pytest.raises(RequestRefusal, match=f"answered {status} 'ä{{200}}") as caught:
        client.get(URL)
    assert (caught.value.status, len(asked.requests), str(caught.value).count("ä")) == (status, 1, 200)


@pytest.mark.parametrize("status", [401, 403, 451, 501])
def test_a_barred_network_is_no_changed_contract(status: int) -> None:
    client, asked, _ = client_of(lambda request: httpx.Response(status))
    with pytest.raises(VenueUnavailable):
        client.get(URL)
    assert len(asked.requests) == 1


def http_date(seconds: float) -> str:
    """Return an instant so long after now as HTTP writes it."""
    return format_datetime(NOW + timedelta(seconds=seconds), usegmt=True)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0"}, 0.0),
        ({"retry-after": http_date(9)}, 9.0),
        ({"retry-after": http_date(-9)}, 0.0),
        # A date counts from the venue's own clock, which is three hours fast.
        ({"retry-after": http_date(10_804), "date": http_date(10_800)}, 4.0),
    ],
)
def test_retry_after_is_honoured_in_both_forms(headers: dict[str, str], seconds: float) -> None:
    client, _, clock = client_of(after(1, httpx.Response(429, headers=headers)))
    client.get(URL)
    assert seconds <= clock.seconds <= seconds + 0.2


@pytest.mark.parametrize("text", ["soon", "-5", "nan", "١٢", "Mon, 99 Foo 2026"])
def test_a_retry_after_that_says_nothing_is_passed_over(text: str) -> None:
    client, _, clock = client_of(after(1, httpx.Response(503, headers=[(b"retry-after", text.encode())])))
    assert client.get(URL) == {"ok": True}
    assert 0.0 < clock.seconds <= 0.5


def test_a_venue_that_says_when_to_come_back_is_asked_until_the_deadline() -> None:
    client, _, clock = client_of(after(12, httpx.Response(429, headers={"retry-after": "2"})))
    assert client.get(URL) == {"ok": True}
    assert 24.0 <= clock.seconds < 60.0


def test_a_wait_longer_than_the_deadline_is_not_begun() -> None:
    client, asked, clock = client_of(lambda request: httpx.Response(429, headers={"retry-after": "120"}))
    with pytest.raises(VenueUnavailable, match="asks to wait 120 s"):
        client.get(URL)
    assert (clock.seconds, len(asked.requests)) == (0.0, 1)


def test_waits_grow_are_not_all_alike_and_keep_the_deadline() -> None:
    client, _, clock = client_of(lambda request: httpx.Response(500))
    with pytest.raises(VenueUnavailable, match=f"after {MAX_TRIES} tries"):
        client.get(URL)
    bases = [0.5, 1.0, 2.0, 4.0, 8.0]
    assert all(base / 2 <= wait <= base for base, wait in zip(bases, clock.slept, strict=True))
    assert len({wait / base for base, wait in zip(bases, clock.slept, strict=True)}) == len(bases)
    client, _, clock = client_of(lambda request: httpx.Response(500), deadline_seconds=3.0)
    with pytest.raises(VenueUnavailable):
        client.get(URL)
    assert clock.seconds < 3.0


def test_an_answer_too_long_to_be_one_is_refused() -> None:
    client, _, _ = client_of(lambda request: httpx.Response(200, content=b"[" + b"1," * 500), max_response_bytes=100)
    with pytest.raises(VenueChanged, match="more than 100 bytes"):
        client.get(URL)


def test_a_message_shows_no_password_of_an_address() -> None:
    client, _, _ = client_of(lambda request: httpx.Response(404))
    with pytest.raises(RequestRefusal) as caught:
        client.get("https://me:hunter2@host.test/events")
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize("kind", concrete_errors(httpx.HTTPError), ids=lambda kind: kind.__name__)
def test_every_error_of_httpx_is_translated(kind: type[httpx.HTTPError]) -> None:
    error = kind.__new__(kind)
    Exception.__init__(error, "seen")

    def answer(request: httpx.Request) -> object:
        raise error

    client, _, _ = client_of(answer)
    with pytest.raises((VenueUnavailable, UsageError), match=f"GET {URL}: .*seen"):
        client.get(URL)


@pytest.mark.parametrize("url", ["ftp://host/x", "host/x", "http://[::1", "https://" + "a" * 300 + "..b"])
def test_an_address_that_is_none_says_to_mend_the_settings(url: str) -> None:
    with VenueClient(deadline_seconds=1.0) as client, pytest.raises(UsageError, match="fix the address"):
        client.get(url)


def test_a_proxy_that_cannot_be_used_says_to_mend_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "gopher://proxy.test")
    with pytest.raises(UsageError, match="fix HTTPS_PROXY"):
        VenueClient()


def test_a_post_sends_json_and_is_tried_again_too() -> None:
    client, asked, _ = client_of(after(1, httpx.Response(502)))
    assert client.post(URL, [{"token_id": "1"}]) == {"ok": True}
    assert [request.content for request in asked.requests] == [b'[{"token_id":"1"}]'] * 2


def test_ctrl_c_goes_through_a_wait() -> None:
    def interrupted(seconds: float) -> None:
        raise KeyboardInterrupt

    asked = Asked(lambda request: httpx.Response(500))
    client = VenueClient(transport=asked.transport, sleep=interrupted)
    with pytest.raises(KeyboardInterrupt):
        client.get(URL)
    assert len(asked.requests) == 1
