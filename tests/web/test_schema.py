"""The API beside its own description: whatever is asked, no answer is an error of the server or undescribed.

`make soak` asks a hundred times as often.
"""

from collections.abc import Iterator

import pytest

pytest.importorskip("fastapi", reason="needs predibot[web]")

import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.specs.openapi.schemas import OpenApiSchema

from predibot.ledger.store import Store
from predibot.web.app import create_app
from tests.web.conftest import BASE, NOW

ROUTES = ("decisions", "evaluation", "forecasts", "leaderboard", "runs", "status", "trace")
HOST = {"Host": BASE.removeprefix("http://")}


@pytest.fixture(scope="module")
def described(played: str) -> Iterator[OpenApiSchema]:
    """Return what the API of a ledger says of itself."""
    with Store.open_to_read(played) as store:
        app = create_app(store, lambda: NOW)
        yield schemathesis.openapi.from_asgi("/api/v1/openapi.json", app, headers=HOST, timeout=600)


@pytest.mark.parametrize("route", ROUTES)
def test_every_answer_is_as_described(described: OpenApiSchema, route: str) -> None:
    ask_often(described, route, 2)


def ask_often(described: OpenApiSchema, route: str, examples: int) -> None:
    """Ask a route so many things; any answer that is not as described is an error."""
    assert {f"/api/v1/{each}" for each in ROUTES} == set(described)
    operation = described[f"/api/v1/{route}"]["GET"]
    seen = set[int]()

    @settings(
        max_examples=examples,
        deadline=None,
        derandomize=True,
        database=None,
        phases=(Phase.explicit, Phase.generate),
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy())
    def ask(case: schemathesis.Case) -> None:
        seen.add(case.call_and_validate(headers=HOST).status_code)

    ask()
    assert seen and max(seen) < 500
