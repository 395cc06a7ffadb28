"""Usage in traces: what decisions cost in tokens, as far as their traces can be read."""

from pathlib import Path

from predibot.jobs.read_traces import usage_of_traces
from predibot.ledger.store import Store


def test_a_bot_whose_traces_are_all_gone_has_no_usage_rather_than_none_at_all(tmp_path: Path) -> None:
    with Store.open(f"sqlite:///{tmp_path}/ledger.db") as store:
        usage = usage_of_traces(store, [("bot", "0" * 64)])
    assert usage.rows == () and usage.traces == 0
    assert len(usage.missing) == 1
