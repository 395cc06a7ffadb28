"""Safe fetching: each test is an attack of the table in docs/security.md, and no packet leaves this machine."""

import gzip
import socket
import ssl
import time
import tracemalloc
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from predibot.research.pages.errors import AddressRefused, PageUnavailable, PageUnreadable
from predibot.research.pages.fetch import FetchPolicy, SafeFetcher
from tests.jobs.program import PATIENCE_SECONDS
from tests.net.certificates import make_certificate
from tests.research.web_world import HTML, PUBLIC, World, by_host, drip, redirect, reply, running, saying

URL = "http://www.news.example/a"
SHORT = FetchPolicy(deadline_seconds=0.4)


@pytest.fixture
def world() -> Iterator[World]:
    with running(World()) as made:
        yield made


def test_a_page_is_fetched_from_the_very_address_that_was_checked(world: World) -> None:
    page = world.fetch(URL)
    assert (page.final_url, page.content_type, page.body) == (URL, "text/html", HTML)
    assert world.connected == [(PUBLIC, 80)]
    assert "Host: www.news.example\r\n" in world.heads[0]


@pytest.mark.parametrize(
    "to",
    ["http://127.0.0.1/", "http://[::1]/", "http://localhost/", "//127.0.0.1/x", "http://169.254.169.254/latest/",
     "http://2130706433/", "http://[::ffff:7f00:1]/", "http://inside.news.example/"],
)  # fmt: skip
def test_a_redirect_to_this_machine_is_refused(world: World, to: str) -> None:
    world.answer, world.names = saying(redirect(to)), {"inside.news.example": ("127.0.0.1",)}
    with pytest.raises(AddressRefused):
        world.fetch(URL)
    assert world.connected == [(PUBLIC, 80)]


@pytest.mark.parametrize("to", ["file:///etc/passwd", "ftp://news.example/", "gopher://news.example/", "javascript:1"])
def test_a_redirect_to_another_scheme_is_refused(world: World, to: str) -> None:
    world.answer = saying(redirect(to))
    with pytest.raises(AddressRefused, match="no web address"):
        world.fetch(URL)


@pytest.mark.parametrize("url", ["file:///etc/passwd", "ftp://news.example/", "news.example", "data:text/html,x", ""])
def test_other_schemes_are_refused(world: World, url: str) -> None:
    with pytest.raises(AddressRefused):
        world.fetch(url)
    assert (world.resolved, world.connected) == ([], [])


@pytest.mark.parametrize(
    "host",
    ["localhost", "printer", "db.internal", "router.local", "nas.lan", "metadata.google.internal", "LOCALHOST.",
     "x.localhost", "localhost.localdomain"],
)  # fmt: skip
def test_private_names_are_refused_before_anybody_is_asked(world: World, host: str) -> None:
    with pytest.raises(AddressRefused, match="private name"):
        world.fetch(f"http://{host}/")
    assert (world.resolved, world.connected) == ([], [])


@pytest.mark.parametrize(
    "host",
    ["2130706433", "0x7f000001", "0x7f.0.0.1", "0177.0.0.1", "017700000001", "127.1", "127.0.1", "127.0.0.0x1",
     "127.0.0.1", "127.0.0.1.", "0", "0.0.0.0", "１２７.０.０.１", "①②⑦.0.0.1", "127。0。0。1", "%31%32%37.0.0.1",
     "10.0.0.1", "100.64.0.1", "169.254.169.254", "224.0.0.1", "255.255.255.255", "168.63.129.16"],
)  # fmt: skip
def test_private_ipv4_addresses_are_refused_however_they_are_written(world: World, host: str) -> None:
    with pytest.raises(AddressRefused):
        world.fetch(f"http://{host}/")
    assert (world.resolved, world.connected) == ([], [])


@pytest.mark.parametrize(
    "host",
    ["::1", "::", "::ffff:127.0.0.1", "::ffff:7f00:1", "::127.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::",
     "2001:0:4136:e378:8000:63bf:3fff:fdd2", "fe80::1", "fe80::1%25eth0", "fc00::1", "fd00:ec2::254", "ff02::1",
     "2001:db8::1", "64:ff9b:1::1", "2607:f8b0::5efe:a00:1"],
)  # fmt: skip
def test_private_and_wrapped_ipv6_addresses_are_refused(world: World, host: str) -> None:
    with pytest.raises(AddressRefused):
        world.fetch(f"http://[{host}]/")
    assert world.connected == []


@pytest.mark.parametrize("inside", ["127.0.0.1", "10.1.2.3", "::1", "fe80::1%eth0", "::ffff:10.0.0.1", "nonsense"])
def test_a_name_with_public_and_private_addresses_is_refused(world: World, inside: str) -> None:
    world.names = {"www.news.example": (PUBLIC, inside)}
    with pytest.raises(AddressRefused, match="not on the public web"):
        world.fetch(URL)
    assert world.connected == []


def test_a_name_that_changes_its_address_between_two_look_ups_is_looked_up_once(world: World) -> None:
    answers = [(PUBLIC,), ("127.0.0.1",)]

    def rebinding(_host: str, _port: int) -> Sequence[str]:
        return answers.pop(0)

    SafeFetcher(FetchPolicy(), resolve=rebinding, connect=world.connect).fetch(URL)
    assert world.connected == [(PUBLIC, 80)]
    assert len(answers) == 1


def test_a_name_that_changes_its_address_before_a_redirect_is_checked_again(world: World) -> None:
    answers = [(PUBLIC,), ("127.0.0.1",)]
    world.answer = saying(redirect("/again"))
    fetcher = SafeFetcher(FetchPolicy(), resolve=lambda _host, _port: answers.pop(0), connect=world.connect)
    with pytest.raises(AddressRefused):
        fetcher.fetch(URL)
    assert world.connected == [(PUBLIC, 80)]


@pytest.mark.parametrize("url", ["http://user@news.example/", "http://a:b@news.example/", "http://news.example@[::1]/"])
def test_user_names_are_refused(world: World, url: str) -> None:
    with pytest.raises(AddressRefused, match="user name"):
        world.fetch(url)
    assert world.connected == []


@pytest.mark.parametrize("port", ["22", "8080", "0", "6379", "99999", "-1", "8o"])
def test_odd_ports_are_refused(world: World, port: str) -> None:
    with pytest.raises(AddressRefused, match="port"):
        world.fetch(f"http://news.example:{port}/")
    assert world.connected == []


@pytest.mark.parametrize(
    "url",
    ["http://a.example\\@127.0.0.1/", "http://a.example\t/x", "http://a\n.example/", "http:// a.example/"],
)
def test_what_two_parsers_read_in_two_ways_is_refused(world: World, url: str) -> None:
    with pytest.raises(AddressRefused, match="backslashes"):
        world.fetch(url)


def test_a_gzip_bomb_is_given_up_at_the_limit(world: World) -> None:
    world.answer = saying(reply(gzip.compress(bytes(60_000_000)), headers=["Content-Encoding: gzip"]))
    tracemalloc.start()
    with pytest.raises(PageUnreadable, match=r"larger than 5,000,000"):
        world.fetch(URL)
    _, peak_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak_bytes < 15_000_000


def test_a_bomb_inside_a_bomb_is_not_opened(world: World) -> None:
    packed = gzip.compress(gzip.compress(bytes(1_000_000)))
    world.answer = saying(reply(packed, headers=["Content-Encoding: gzip", "Content-Encoding: gzip"]))
    with pytest.raises(PageUnreadable, match="was not asked for"):
        world.fetch(URL)


def test_a_deflate_bomb_in_chunks_is_given_up_at_the_limit(world: World) -> None:
    packed = zlib.compress(bytes(30_000_000), 9)
    chunk = b"%x\r\n%s\r\n0\r\n\r\n" % (len(packed), packed)
    head = (
        b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: deflate\r\nTransfer-Encoding: chunked\r\n\r\n"
    )
    world.answer = saying(head + chunk)
    with pytest.raises(PageUnreadable, match="larger than"):
        world.fetch(URL)


@pytest.mark.parametrize("length", [b"", b"Content-Length: 99999999999\r\n"])
def test_an_endless_body_is_given_up_at_the_limit(world: World, length: bytes) -> None:
    start = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n" + length + b"\r\n"
    world.answer = drip(start + b"x" * 2_000_000, b"x" * 100_000, world.stop)
    with pytest.raises(PageUnreadable, match="larger than 1,000,000"):
        world.fetch(URL, FetchPolicy(max_body_bytes=1_000_000, deadline_seconds=PATIENCE_SECONDS))


@pytest.mark.parametrize(
    ("start", "piece"),
    [
        (b"HTTP/1.1 200 OK\r\nX: ", b"x"),
        (b"", b"H"),
        (b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>", b"x"),
        (b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n"),
        (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
        (b"HTTP/1.1 302 Found\r\nLocation: ", b"a"),
    ],
    ids=["header", "status line", "body", "chunks", "continue", "redirect"],
)
def test_what_drips_ends_at_the_deadline(world: World, start: bytes, piece: bytes) -> None:
    world.answer = drip(start, piece, world.stop)
    started = time.monotonic()
    with pytest.raises((PageUnavailable, PageUnreadable)):
        world.fetch(URL, SHORT)
    assert time.monotonic() - started < 30


def test_a_server_that_says_nothing_ends_at_the_deadline(world: World) -> None:
    world.answer = drip(b"", b"", world.stop)
    with pytest.raises(PageUnavailable, match=r"not there after 0\.4 s"):
        world.fetch(URL, SHORT)


def test_a_look_up_that_hangs_ends_at_the_deadline(world: World) -> None:
    def hanging(_host: str, _port: int) -> Sequence[str]:
        world.stop.wait(20)
        return (PUBLIC,)

    with pytest.raises(PageUnavailable, match=r"not there after 0\.4 s"):
        SafeFetcher(SHORT, resolve=hanging, connect=world.connect).fetch(URL)


def test_many_redirects_share_one_deadline(world: World) -> None:
    def slow(connection: socket.socket, head: str) -> None:
        time.sleep(0.15)
        connection.sendall(redirect(f"{head.split(' ')[1]}x"))

    world.answer = slow
    with pytest.raises(PageUnavailable, match="not there after"):
        world.fetch(URL, SHORT)


def test_endless_headers_are_given_up(world: World) -> None:
    world.answer = saying(b"HTTP/1.1 200 OK\r\n" + b"X-Long: " + b"x" * 1000 + b"\r\n" * 1 + b"Y: y\r\n" * 500_000)
    with pytest.raises((PageUnreadable, PageUnavailable)):
        world.fetch(URL)


@pytest.mark.parametrize("kind", ["image/png", "application/json", "application/octet-stream", "text/css", "video/mp4"])
def test_wrong_content_types_are_refused_before_the_body_is_read(world: World, kind: str) -> None:
    world.answer = drip(b"HTTP/1.1 200 OK\r\nContent-Type: %s\r\n\r\n" % kind.encode(), b"x", world.stop)
    with pytest.raises(PageUnreadable, match="only HTML, plain text and PDF"):
        world.fetch(URL)


def test_an_answer_without_a_type_is_refused(world: World) -> None:
    world.answer = saying(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx")
    with pytest.raises(PageUnreadable, match="does not say"):
        world.fetch(URL)


@pytest.mark.parametrize("encoding", ["br", "zstd", "gzip, br", "compress"])
def test_encodings_that_were_not_asked_for_are_refused(world: World, encoding: str) -> None:
    world.answer = saying(reply(headers=[f"Content-Encoding: {encoding}"]))
    with pytest.raises(PageUnreadable, match="was not asked for"):
        world.fetch(URL)


def test_a_redirect_in_a_circle_is_refused(world: World) -> None:
    world.answer = by_host({"a.example/": redirect("http://b.example/"), "b.example/": redirect("http://a.example/")})
    with pytest.raises(PageUnavailable, match="in a circle"):
        world.fetch("http://a.example/")
    assert len(world.connected) == 2


def test_five_redirects_are_followed_and_not_six(world: World) -> None:
    hops = {f"a.example/{n}": redirect(f"/{n + 1}") for n in range(6)}
    world.answer = by_host({**hops, "a.example/6": reply()})
    assert world.fetch("http://a.example/1").final_url == "http://a.example/6"
    with pytest.raises(PageUnavailable, match="more than 5 times"):
        world.fetch("http://a.example/0")


@pytest.mark.parametrize(
    "url",
    ["http://polymarket.com/event/x", "http://www.polymarket.com/", "http://POLYMARKET.com./",
     "http://web.archive.org/web/2026/https://polymarket.com/event/x", "http://polymarket-com.translate.goog/event/x",
     "http://1-polymarket-com.translate.goog/event/x?_x_tr_enc=1", "http://www-polymarket-com.translate.goog/x?_x_tr_sl=en",
     "http://www.bing.com/ck/a?u=a1aHR0cHM6Ly9wb2x5bWFya2V0LmNvbS9ldmVudC94", "http://www.google.com/url?q=https://polymarket.com",
     "http://r.example/?u=https%3A%2F%2Fpolymarket.com%2Fevent"],
)  # fmt: skip
def test_blocked_domains_and_what_passes_them_on_are_refused(world: World, url: str) -> None:
    policy = FetchPolicy(blocked_domains=frozenset({"polymarket.com"}))
    with pytest.raises(AddressRefused, match="is blocked"):
        world.fetch(url, policy)
    world.answer = saying(redirect(url))
    with pytest.raises(AddressRefused, match="is blocked"):
        world.fetch(URL, policy)


def test_what_only_looks_like_a_blocked_domain_is_fetched(world: World) -> None:
    policy = FetchPolicy(blocked_domains=frozenset({"polymarket.com"}))
    assert world.fetch("http://notpolymarket.com/polymarket.com-grows", policy).body


def test_the_allowed_host_and_port_of_this_machine_can_be_visited_and_no_other(world: World) -> None:
    policy = FetchPolicy(allowed_private=frozenset({("127.0.0.1", world.port)}))
    assert SafeFetcher(policy).fetch(f"http://127.0.0.1:{world.port}/").body == HTML
    for other in (f"http://127.0.0.1:{world.port + 1}/", f"http://localhost:{world.port}/", "http://127.0.0.1/"):
        with pytest.raises(AddressRefused):
            SafeFetcher(policy).fetch(other)


def test_an_allowed_name_leads_to_this_machine_only(world: World) -> None:
    policy = FetchPolicy(allowed_private=frozenset({("localhost", world.port)}))
    world.names = {"localhost": ("10.0.0.1",)}
    with pytest.raises(AddressRefused, match="not on the public web"):
        world.fetch(f"http://localhost:{world.port}/", policy)


def test_the_environments_proxies_are_not_used(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert world.fetch(URL).body
    assert world.connected == [(PUBLIC, 80)]


@pytest.mark.parametrize(
    ("raw", "error"),
    [
        (b"", PageUnreadable),
        (b"hello\r\n\r\n", PageUnreadable),
        (b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 50\r\n\r\nhalf", PageUnreadable),
        (reply(gzip.compress(HTML)[:-9], headers=["Content-Encoding: gzip"]), PageUnreadable),
        (reply(b"plain", headers=["Content-Encoding: gzip"]), PageUnreadable),
        (reply(status="404 Not Found"), PageUnavailable),
        (reply(status="503 Busy"), PageUnavailable),
        (reply(b"", status="204 No Content"), PageUnavailable),
        (reply(b"", status="302 Found"), PageUnavailable),
    ],
)
def test_broken_answers_are_errors_with_a_sentence(world: World, raw: bytes, error: type[Exception]) -> None:
    world.answer = saying(raw)
    with pytest.raises(error, match=r"[a-z]{3,}"):
        world.fetch(URL)


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "bare deflate"])
def test_packed_pages_are_unpacked(world: World, encoding: str) -> None:
    bare = zlib.compressobj(wbits=-15)
    packed = {
        "gzip": gzip.compress(HTML),
        "deflate": zlib.compress(HTML),
        "bare deflate": bare.compress(HTML) + bare.flush(),
    }[encoding]
    world.answer = saying(reply(packed, headers=[f"Content-Encoding: {encoding.removeprefix('bare ')}"]))
    assert world.fetch(URL).body == HTML


def test_tls_checks_the_certificate_against_the_name(tmp_path: Path) -> None:
    pem = make_certificate(tmp_path, "www.news.example")
    serving = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    serving.load_cert_chain(pem)
    asked: list[str | None] = []
    serving.sni_callback = lambda _socket, name, _context: asked.append(name)
    with running(World(wrap=lambda plain: serving.wrap_socket(plain, server_side=True))) as world:
        trusting = ssl.create_default_context(cafile=str(pem))
        fetcher = SafeFetcher(FetchPolicy(), resolve=world.resolve, connect=world.connect, ssl_context=trusting)
        assert fetcher.fetch("https://www.news.example/a").body == HTML
        assert world.connected == [(PUBLIC, 443)]
        with pytest.raises(PageUnavailable, match="CERTIFICATE_VERIFY_FAILED"):
            fetcher.fetch("https://other.example/a")
        assert asked == ["www.news.example", "other.example"]
        with pytest.raises(PageUnavailable, match="CERTIFICATE_VERIFY_FAILED"):
            world.fetch("https://www.news.example/a")


def test_a_handshake_that_hangs_ends_at_the_deadline(world: World) -> None:
    # The server waits for the head of a request, which a handshake never is.
    with pytest.raises(PageUnavailable, match="not there after"):
        world.fetch("https://www.news.example/", SHORT)
