"""A run of portfolios in the sandbox: scripted forecasters through real agents, and an ensemble of what they hold."""

from pathlib import Path

import pytest

from predibot.domain.decision import Decision, Subject
from predibot.domain.price import Instrument
from predibot.ledger.read.allocations import allocations_of
from predibot.ledger.store import Store
from tests.acceptance.conftest import Predibot

RECIPE = """
venue = "sandbox"
[game]
name = "portfolio_weights"
[[bots]]
strategy = "equal_weights"
[[bots]]
name = "restless"
strategy = "one_shot"
model = "sandbox/restless"
[[bots]]
name = "sharp"
strategy = "tool_agent"
model = "sandbox/sharp"
max_steps = 40
[[bots]]
name = "broken"
strategy = "one_shot"
model = "sandbox/broken"
[[bots]]
name = "mean"
strategy = "ensemble"
members = ["equal_weights", "restless"]
"""
DAYS = ("2026-02-01", "2026-02-02")


def weights(decision: Decision) -> dict[Instrument, float]:
    return {order.instrument: order.amount for order in decision.orders}


def test_everybody_decides_through_the_real_agents_and_an_ensemble_holds_the_mean(
    predibot: Predibot, tmp_path: Path
) -> None:
    (tmp_path / "pf.toml").write_text(RECIPE)
    broken = set()
    for day in DAYS:
        decided = predibot("decide", "pf.toml", "--as-of", day, "--json").document["decisions"]
        statuses = {each["bot"]: each["status"] for each in decided}
        broken.add(statuses.pop("broken"))
        assert set(statuses.values()) == {"recorded"}
    assert broken <= {"recorded", "abstained", "failed"}
    with Store.open(f"sqlite:///{tmp_path}/runs/out/predibot.db") as store:
        for run_id in range(1, 1 + len(DAYS)):
            said = store.run_read(
                lambda connection, run_id=run_id: allocations_of(connection, run_id, Subject("portfolio", "weights"))
            )
            equal, restless, mean = (weights(said[name]) for name in ("equal_weights", "restless", "mean"))
            assert sum(equal.values()) == pytest.approx(1.0)
            assert {each.market_id for each in said["sharp"].forecasts}
            # Where both hold one market, they may hold both sides of it, of which the mean holds the difference.
            pooled = {each: (equal.get(each, 0.0) + restless.get(each, 0.0)) / 2 for each in {*equal, *restless}}
            assert sum(mean.values()) <= sum(pooled.values()) + 1e-9
            for instrument, weight in mean.items():
                assert weight <= pooled.get(instrument, 0.0) + 1e-9
            assert any(weight == pytest.approx(pooled[each]) for each, weight in mean.items() if weight)
