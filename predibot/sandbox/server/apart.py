"""The sandbox's server as a program of its own, so that its work takes no time from its client.

`python -m predibot.sandbox.server.apart events=200` prints its port and serves until standard input ends.
"""

import sys

from predibot.sandbox.server.options import parse_options
from predibot.sandbox.server.server import SandboxServer
from predibot.sandbox.world.calendar import SANDBOX_OPENS_AT


def serve(argument: str = "") -> None:
    """Print the port, and serve a world at its opening until standard input ends."""
    with SandboxServer(now=SANDBOX_OPENS_AT, options=parse_options(argument)) as server:
        sys.stdout.write(f"{server.address[1]}\n")
        sys.stdout.flush()
        sys.stdin.read()


if __name__ == "__main__":
    serve(*sys.argv[1:])
