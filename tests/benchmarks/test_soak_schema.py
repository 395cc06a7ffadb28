"""The API beside its own description, asked a hundred times as much as in the tests."""

import pytest

pytest.importorskip("fastapi", reason="needs predibot[web]")

from tests.web.conftest import played
from tests.web.test_schema import ROUTES, OpenApiSchema, ask_often, described

__all__ = ["described", "played"]

pytestmark = pytest.mark.benchmark


@pytest.mark.parametrize("route", ROUTES)
def test_soak_every_answer_is_as_described(described: OpenApiSchema, route: str) -> None:
    ask_often(described, route, 400)
    print(f"\n400 requests of {route}: no answer undescribed")
