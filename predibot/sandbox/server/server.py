"""The sandbox's server: a simulated world behind real HTTP on loopback, with a clock and faults of its own.

Its hosts are told apart by the first part of a path: Polymarket's Gamma and CLOB (`/gamma`, `/clob`), Manifold
(`/mana`), Tiingo and Alpha Vantage (`/tiingo`, `/query`), SearXNG (`/search`) with its news pages (`/news`), and an
OpenAI-compatible provider of scripted forecasters (`/v1`).
"""

import logging
import socket
import socketserver
import sys
import threading
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from email.utils import format_datetime
from functools import lru_cache, partial
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from typing import Any, Self
from urllib.parse import parse_qs, urlencode, urlsplit

from predibot.sandbox.server.fault import Fault, damage_query, damage_reply, replacement_reply
from predibot.sandbox.server.hosts.chat import answer_chat
from predibot.sandbox.server.hosts.clob import answer_clob
from predibot.sandbox.server.hosts.gamma import answer_gamma
from predibot.sandbox.server.hosts.mana import answer_mana
from predibot.sandbox.server.hosts.searxng import NewsIndex, answer_news, answer_search
from predibot.sandbox.server.hosts.snapshot import Snapshot
from predibot.sandbox.server.hosts.stock_prices import StockPrices, answer_alpha_vantage, answer_tiingo
from predibot.sandbox.server.options import DEFAULT_OPTIONS, SandboxOptions
from predibot.sandbox.server.reply import HttpReply, error_reply
from predibot.sandbox.world.calendar import minute_of
from predibot.sandbox.world.world import World


class SandboxAddresses:
    """The addresses of a sandbox, which may also run in another process."""

    def __init__(self, port: int | None = None) -> None:
        """Take the port; None while the server is not started."""
        self._port = port

    @property
    def search_url(self) -> str:
        """Return the base address of the search engine and of the two providers of stock prices."""
        return f"http://127.0.0.1:{self.address[1]}"

    @property
    def gamma_url(self) -> str:
        """Return Gamma's base address."""
        return f"{self.search_url}/gamma"

    @property
    def clob_url(self) -> str:
        """Return the CLOB's base address."""
        return f"{self.search_url}/clob"

    @property
    def mana_url(self) -> str:
        """Return Manifold's base address, without `/v0`."""
        return f"{self.search_url}/mana"

    @property
    def chat_url(self) -> str:
        """Return the forecasters' base address, in the form of an OpenAI-compatible provider's."""
        return f"{self.search_url}/v1"

    @property
    def address(self) -> tuple[str, int]:
        """Return host and port; agents may visit this private address."""
        if self._port is None:
            raise RuntimeError("the sandbox has no address before it is started; use it as a context manager")
        return "127.0.0.1", self._port


_log = logging.getLogger(__name__)

_CACHED_SNAPSHOTS = 4
_LARGEST_BODY_BYTES = 8_000_000
_PIECE_BYTES = 2**20
_IDLE_SECONDS = 60


class SandboxServer(SandboxAddresses):
    """A server on 127.0.0.1 at a free port: use it as a context manager, or call `start` and `stop`."""

    def __init__(
        self,
        world: World | None = None,
        *,
        now: datetime | Callable[[], datetime],
        options: SandboxOptions = DEFAULT_OPTIONS,
        site: Callable[[str], HttpReply] | None = None,
    ) -> None:
        """Make a server; `start` starts it; raise `ValueError` if the options make no world.

        `world` is by default that of the options, which also say faults, manners and the forecasters' speed. `now` is
        the clock: a fixed instant, or a function called at each request. `site` answers a GET
        of a path with its query before all others, such as a study's comments; its 404 leaves the request to them.
        """
        super().__init__()
        self._site = site
        self.world = world = world or options.world()
        self._clock: datetime | Callable[[], datetime] = now
        self._options = options
        self._index = NewsIndex(world)
        self._stock_prices = StockPrices(world.draws)
        self._faults_done = 0
        self.requests = 0
        self._snapshot = lru_cache(_CACHED_SNAPSHOTS)(partial(Snapshot, world))
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._listener: _Listener | None = None

    def __enter__(self) -> Self:
        """Start it."""
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop it."""
        self.stop()

    def start(self) -> None:
        """Listen on a free port of 127.0.0.1."""
        if self._listener is not None:
            raise RuntimeError("the sandbox is already started; stop it first")
        self._stopped.clear()
        self._listener = _Listener(self)
        self._port = self._listener.server_address[1]
        threading.Thread(target=self._listener.serve_forever, args=(0.05,), name="sandbox", daemon=True).start()

    def stop(self) -> None:
        """Close the socket and every connection; a stopped server may be stopped again."""
        if self._listener is not None:
            self._stopped.set()
            self._listener.shutdown()
            self._listener.server_close()
            self._listener.end_connections()
            self._listener = self._port = None

    @property
    def now(self) -> datetime:
        """Return the server's time in UTC."""
        return (self._clock if isinstance(self._clock, datetime) else self._clock()).astimezone(UTC)

    @now.setter
    def now(self, clock: datetime | Callable[[], datetime]) -> None:
        """Set the clock: a fixed instant, or a function."""
        self._clock = clock

    def reply(self, target: str, *, body: bytes | None, token: str = "") -> tuple[HttpReply, Fault | None]:
        """Return the reply to a request for a path and query, and the fault that the connection has still to show.
        `body` is None for a GET; `token` is the header `Authorization`.
        """
        parts = urlsplit(target)
        query: dict[str, list[str]] = parse_qs(parts.query, keep_blank_values=True)
        fault = self._due_fault(parts.path)
        if fault is None:
            return self._answer(parts.path, query, body, token), None
        if fault.kind == "slow":
            self._stopped.wait(fault.seconds)
        if (refused := replacement_reply(fault, parts.path)) is not None:
            return refused, None
        reply = self._answer(parts.path, dict(damage_query(fault, query)), body, token)
        return damage_reply(fault, query, reply), fault

    def _due_fault(self, path: str) -> Fault | None:
        fault = self._options.fault
        with self._lock:
            self.requests += 1
            if fault is None or not fault.matches(path):
                return None
            if fault.times is not None and self._faults_done >= fault.times:
                return None
            self._faults_done += 1
        return fault

    def _answer(self, path: str, query: dict[str, Any], body: bytes | None, token: str) -> HttpReply:
        now = self.now
        minute, seconds = minute_of(now), int(now.timestamp())
        dialect, _, rest = path.lstrip("/").partition("/")
        if dialect == "v1":
            # No lock: a forecaster reads its conversation only.
            self._stopped.wait(self._options.thinking_seconds)
            informed = partial(self._insider_chances, minute=minute)
            answer = partial(answer_chat, f"/{rest}", now_seconds=seconds, informed=informed)
            return self._options.manners.handle(body, answer)
        if self._site is not None and body is None:
            reply = self._site(f"{path}?{urlencode(query, doseq=True)}")
            if reply.status != HTTPStatus.NOT_FOUND:
                return reply
        hosts: dict[str, Callable[[], HttpReply]] = {
            "search": lambda: answer_search(self._index, self.world, query, minute=minute, base_url=self.search_url),
            "news": lambda: answer_news(self.world, rest, minute=minute),
            "tiingo": lambda: answer_tiingo(self._stock_prices, rest, query, token=token, minute=minute),
            "query": lambda: answer_alpha_vantage(self._stock_prices, query, minute=minute),
            "gamma": lambda: answer_gamma(self._snapshot(minute), f"/{rest}", query),
            "mana": lambda: answer_mana(self._snapshot(minute), rest, query),
            "clob": lambda: answer_clob(self._snapshot(minute), f"/{rest}", query, body=body, now_seconds=seconds),
        }
        # Only the order books are asked for with a body.
        if dialect not in hosts or (body is not None and dialect != "clob"):
            return error_reply(404, "not found")
        with self._lock:
            return hosts[dialect]()

    def _insider_chances(self, market_id: str, *, minute: int) -> Sequence[float] | None:
        """Return the chance of each outcome of a market, or of YES alone, as insiders know it at a minute. What nobody
        knows by then is in no chance. The id is a market's own, or `EVENT-ANSWER`.
        """
        place = self.world.names.market_of(market_id.rpartition("-")[2])
        if place is None or not self.world.is_born(place[0], minute):
            return None
        chances = self.world.insider_chances(place[0], minute)
        if self.world.is_named(self.world.plan(place[0])):
            return chances
        return chances[place[1] : place[1] + 1] or None


class _Listener(socketserver.ThreadingMixIn, socketserver.TCPServer):
    daemon_threads = True
    block_on_close = False
    allow_reuse_address = True
    request_queue_size = 256

    def __init__(self, sandbox: SandboxServer) -> None:
        self.sandbox = sandbox
        self._connections: set[socket.socket] = set()
        self._lock = threading.Lock()
        super().__init__(("127.0.0.1", 0), _Handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Remember the connection, so that `end_connections` can end it."""
        with self._lock:
            self._connections.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        with self._lock:
            self._connections.discard(request)
        super().shutdown_request(request)

    def end_connections(self) -> None:
        with self._lock:
            connections = list(self._connections)
        for connection in connections:
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                # The client closed it first.
                _log.debug("a connection had already ended")

    def handle_error(self, request: Any, client_address: Any) -> None:
        level = logging.DEBUG if isinstance(sys.exception(), OSError) else logging.ERROR
        _log.log(level, "a sandbox connection failed", exc_info=True)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    timeout = _IDLE_SECONDS
    server: _Listener

    def do_GET(self) -> None:
        self._respond(None)

    def do_POST(self) -> None:
        length = self.headers.get("Content-Length", "0")
        if not length.isdigit() or int(length) > _LARGEST_BODY_BYTES:
            self.close_connection = True
            self._write(error_reply(413, "Payload too large"), fault=None)
            return
        self._respond(self.rfile.read(int(length)))

    def log_message(self, format: str, *args: Any) -> None:
        _log.debug(format, *args)

    def _respond(self, body: bytes | None) -> None:
        token = self.headers.get("Authorization", "")
        reply, fault = self.server.sandbox.reply(self.path, body=body, token=token)
        self._write(reply, fault=fault)

    def _write(self, reply: HttpReply, *, fault: Fault | None) -> None:
        """Write head and body in one piece, unless it is large, so that no delayed acknowledgement slows the reply."""
        headers = [
            ("Date", format_datetime(self.server.sandbox.now, usegmt=True)),
            ("Content-Type", reply.content_type),
            ("Content-Length", str(len(reply.body))),
            *reply.headers,
        ]
        head = f"HTTP/1.1 {reply.status} {self.responses[reply.status][0]}\r\n"
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers)
        body = reply.body
        if fault is not None and fault.kind == "cut_connection":
            body = body[: len(body) // 2]
            self.close_connection = True
        self.wfile.write(f"{head}{lines}\r\n".encode("latin-1") + body[:_PIECE_BYTES])
        if len(body) > _PIECE_BYTES:
            # Without another copy of what may be millions of bytes.
            self.wfile.write(memoryview(body)[_PIECE_BYTES:])
