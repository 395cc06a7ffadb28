"""The crowd's host: its lists end where those of the venues end."""

import json
from typing import Any
from urllib.parse import urlencode

from predibot.studies.stakebench.crowd import crowd
from predibot.studies.stakebench.crowd_host import CrowdHost


def test_markets_beyond_a_page_are_listed_by_the_instant_they_were_made() -> None:
    host = CrowdHost(crowd(1, manifold=True, markets=5, comments=5))

    def listed(**query: int) -> list[dict[str, Any]]:
        reply = host.reply(f"/manifold/v0/search-markets?{urlencode(query)}")
        assert reply.status == 200
        rows: list[dict[str, Any]] = json.loads(reply.body)
        return rows

    found, page = [], listed(limit=2)
    while page:
        found += [market["id"] for market in page]
        page = listed(limit=2, beforeTime=page[-1]["createdTime"])
    assert found == [market["id"] for market in listed(limit=1_000)] == [f"c{number}" for number in range(5)]
    assert [market["id"] for market in listed(limit=2, offset=3)] == ["c3", "c4"]
    assert host.reply("/manifold/v0/search-markets?limit=2&offset=1001").status == 400
