"""A sandbox's server in a process of its own, so that what it works out takes no time from who asks it.

`python -m predibot.sandbox.server.apart events=200` says its port and serves until its input ends.
"""

import sys
from contextlib import AbstractContextManager
from dataclasses import dataclass

from predibot.sandbox.server.options import parse_options
from predibot.sandbox.server.server import open_sandbox
from predibot.sandbox.world.calendar import SANDBOX_OPENS_AT


@dataclass(frozen=True, slots=True)
class SandboxApart(AbstractContextManager["SandboxApart"]):
    """The addresses of one that runs; who started it ends it."""

    port: int

    def __exit__(self, *_: object) -> None:
        """Leave it as it is."""

    @property
    def address(self) -> tuple[str, int]:
        """Return host and port, which a run over the sandbox may visit although they are private."""
        return "127.0.0.1", self.port

    @property
    def search_url(self) -> str:
        """Return the base address of the search engine."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def gamma_url(self) -> str:
        """Return the base address of the Gamma dialect."""
        return f"{self.search_url}/gamma"

    @property
    def clob_url(self) -> str:
        """Return the base address of the CLOB dialect."""
        return f"{self.search_url}/clob"

    @property
    def mana_url(self) -> str:
        """Return the base address of the dialect of play money."""
        return f"{self.search_url}/mana"

    @property
    def chat_url(self) -> str:
        """Return the base address of the forecasters."""
        return f"{self.search_url}/v1"


def serve(argument: str = "") -> None:
    """Serve a world at its opening, at a port that is said, until standard input ends."""
    with open_sandbox(parse_options(argument), now=SANDBOX_OPENS_AT) as server:
        sys.stdout.write(f"{server.address[1]}\n")
        sys.stdout.flush()
        sys.stdin.read()


if __name__ == "__main__":
    serve(*sys.argv[1:])
