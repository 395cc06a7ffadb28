"""The HTTP client against a real socket that drips, cuts and closes."""

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import pytest

from predibot.errors import VenueUnavailable
from predibot.venues.http import VenueClient

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"


@contextmanager
def serving(answer: Callable[[socket.socket, int], None]) -> Iterator[str]:
    """Serve each connection with a function of it and its number, until the block ends."""
    listener = socket.create_server(("127.0.0.1", 0))
    listener.settimeout(0.05)
    over = threading.Event()

    def serve() -> None:
        number = 0
        while not over.is_set():
            try:
                connection, _ = listener.accept()
            except TimeoutError:
                continue
            with connection:
                try:
                    connection.recv(65_536)
                    answer(connection, number)
                except OSError:
                    pass
            number += 1

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/events"
    finally:
        over.set()
        thread.join(timeout=5.0)
        listener.close()


def drip_for_ever(connection: socket.socket, beginning: bytes, more: bytes) -> None:
    connection.sendall(HEAD + beginning)
    for _ in range(3000):
        connection.sendall(more)
        time.sleep(0.02)


def drip(connection: socket.socket, number: int) -> None:
    """Send a byte now and then for ever."""
    drip_for_ever(connection, b"Content-Length: 100000\r\n\r\n[", b"1,")


def drip_headers(connection: socket.socket, number: int) -> None:
    """Send a header that never ends."""
    drip_for_ever(connection, b"X-Padding: ", b"a")


def cut_once(connection: socket.socket, number: int) -> None:
    """Break off in the middle of the first answer."""
    body = b'{"events": []}'
    connection.sendall(HEAD + b"Connection: close\r\nContent-Length: %d\r\n\r\n" % len(body))
    connection.sendall(body if number else body[:6])


def cut_without_length_once(connection: socket.socket, number: int) -> None:
    """Break off in a way that HTTP takes for the end of the answer."""
    connection.sendall(HEAD + b"Connection: close\r\n\r\n" + (b'{"events": []}' if number else b'{"events"'))


@pytest.mark.parametrize(("answer", "said"), [(drip, "and no end"), (drip_headers, "no whole answer")])
def test_an_answer_that_drips_ends_at_the_deadline(answer: Callable[[socket.socket, int], None], said: str) -> None:
    with serving(answer) as url, VenueClient(deadline_seconds=0.3) as client:
        started = time.monotonic()
        with pytest.raises(VenueUnavailable, match=said):
            client.get(url)
        assert time.monotonic() - started < 30


def drip_once(connection: socket.socket, number: int) -> None:
    """Drip at first, and answer whole when asked again."""
    if number:
        connection.sendall(HEAD + b"Content-Length: 14\r\n\r\n" + b'{"events": []}')
    else:
        drip(connection, number)


def test_an_answer_that_drips_leaves_time_to_ask_again() -> None:
    # The second is for a machine that stands still in the first.
    for seconds in (3.0, 60.0):
        with serving(drip_once) as url, VenueClient(deadline_seconds=seconds) as client, suppress(VenueUnavailable):
            assert client.get(url) == {"events": []}
            return
    pytest.fail("there was no time to ask again")


@pytest.mark.parametrize("answer", [cut_once, cut_without_length_once])
def test_an_answer_that_breaks_off_is_asked_for_again(answer: Callable[[socket.socket, int], None]) -> None:
    with serving(answer) as url, VenueClient(sleep=lambda seconds: None) as client:
        assert client.get(url) == {"events": []}


def answer_twice(connection: socket.socket, number: int) -> None:
    """Answer two requests of one connection, each with the number of the connection."""
    for _ in range(2):
        connection.sendall(HEAD + b"Content-Length: 1\r\n\r\n%d" % number)
        connection.recv(65_536)


def test_a_connection_is_used_again() -> None:
    with serving(answer_twice) as url, VenueClient() as client:
        assert [client.get(url), client.get(url)] == [0, 0]


def test_this_machine_is_not_asked_through_a_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://192.0.2.1:9")
    with serving(cut_once) as url, VenueClient(sleep=lambda seconds: None, deadline_seconds=5.0) as client:
        assert client.get(url) == {"events": []}


def test_a_host_that_listens_nowhere_is_unavailable() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with (
        VenueClient(sleep=lambda seconds: None) as client,
        pytest.raises(VenueUnavailable, match=r"no connection .* after 3 tries"),
    ):
        client.get(f"http://127.0.0.1:{port}/events")
