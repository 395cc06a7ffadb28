"""A sandbox on the wire, shared by the tests of its dialects, and plain httpx clients for it."""

from collections.abc import Iterator

import httpx
import pytest

from predibot.sandbox.server.server import SandboxServer
from predibot.sandbox.world.calendar import SANDBOX_OPENS_AT
from predibot.sandbox.world.world import World


@pytest.fixture(scope="session")
def world() -> World:
    return World.from_seed(7)


@pytest.fixture(scope="session")
def large() -> World:
    return World.from_seed(11, events=120)


@pytest.fixture(scope="session")
def server(world: World) -> Iterator[SandboxServer]:
    with SandboxServer(world, now=SANDBOX_OPENS_AT) as server:
        yield server


@pytest.fixture(scope="session")
def gamma(server: SandboxServer) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=server.gamma_url, timeout=30, trust_env=False) as client:
        yield client


@pytest.fixture(scope="session")
def clob(server: SandboxServer) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=server.clob_url, timeout=30, trust_env=False) as client:
        yield client
