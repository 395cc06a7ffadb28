"""A sandbox's server in a process of its own, so that what it works out takes no time from who asks it.

`python -m predibot.sandbox.server.apart events=200` says its port and serves until its input ends.
"""

import sys

from predibot.sandbox.server.options import parse_options
from predibot.sandbox.server.server import SandboxServer
from predibot.sandbox.world.calendar import SANDBOX_OPENS_AT


def serve(argument: str = "") -> None:
    """Serve a world at its opening, at a port that is said, until standard input ends."""
    with SandboxServer(now=SANDBOX_OPENS_AT, options=parse_options(argument)) as server:
        sys.stdout.write(f"{server.address[1]}\n")
        sys.stdout.flush()
        sys.stdin.read()


if __name__ == "__main__":
    serve(*sys.argv[1:])
