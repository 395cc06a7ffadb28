"""Weekly cohorts over recorded markets: what comes later changes nothing before it."""

import json
import shutil
from datetime import datetime, timedelta
from pathlib import Path

from predibot.venues.archive.layout import snapshot_instant
from tests.acceptance.conftest import Predibot
from tests.jobs.tiny import canonical_at

RECIPE = """
venue = "archive:archive"
every = "7d"
[game]
name = "weekly_cohort"
[[bots]]
strategy = "random_trade"
[[bots]]
name = "another"
strategy = "random_trade"
"""
LAST = datetime.fromisoformat("2025-10-19T00:05:00+00:00")
WEEK = timedelta(weeks=1)


def write_altered(recorded: Path, folder: Path) -> None:
    """Copy an archive; of all that happens after `LAST`, nothing is listed and the other side of it happens."""
    for snapshot in (recorded / "snapshots").iterdir():
        at = snapshot_instant(snapshot.name)
        if at is not None and at <= LAST:
            shutil.copytree(snapshot, folder / "snapshots" / snapshot.name)
    (folder / "prices").mkdir()
    for file in (recorded / "prices").iterdir():
        points = json.loads(file.read_text())["history"]
        later = [{**point, "p": 1.0 - point["p"]} if point["t"] > LAST.timestamp() else point for point in points]
        (folder / "prices" / file.name).write_text(json.dumps({"history": later}))
    resolutions = {
        condition: {**each, "payouts": each["payouts"][::-1]} if each["resolved_at"] > LAST.timestamp() else each
        for condition, each in json.loads((recorded / "resolutions.json").read_text()).items()
    }
    (folder / "resolutions.json").write_text(json.dumps(resolutions))


def test_another_future_changes_nothing_of_cohorts(predibot: Predibot, shared_data: Path, tmp_path: Path) -> None:
    recorded, archive = shared_data / "polymarket-daily", tmp_path / "archive"
    (tmp_path / "cohorts.toml").write_text(RECIPE)
    before, after = [], []
    for number, write in enumerate((shutil.copytree, write_altered)):
        write(recorded, archive)
        address = f"sqlite:///{number}.db"
        for first, last, found in ((LAST - WEEK, LAST, before), (LAST + WEEK, LAST + WEEK, after)):
            span = ("--from", first.isoformat(), "--to", last.isoformat(), "--as-of", last.isoformat())
            said = predibot("replay", "cohorts.toml", *span, "--ledger", address, "--json")
            assert said.code == 0, said.err
            found.append((canonical_at(address), said.document["cohorts"]))
        shutil.rmtree(archive)
    assert before[0] == before[1]
    assert before[0][0].count('["fills"') > 3
    # It is another future.
    assert after[0] != after[1]
