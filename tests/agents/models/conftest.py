"""What tests of models may ask for."""

import pytest

from tests.agents.clients import CLIENTS, Client


@pytest.fixture(params=list(CLIENTS))
def client(request: pytest.FixtureRequest) -> Client:
    return CLIENTS[request.param]
