"""Looking ahead: nothing that happens after a run's instant can change what is decided."""

import shutil
from pathlib import Path

from predibot.ledger.store import Store
from tests.jobs.tiny import DAY, at, canonical, decide_on, recipe_of, request_of, write_archive
from tests.venues.payloads import NOW, condition_of

EVERYBODY = ("market_price", "random_bet", "favourite", "underdog", "always_half")


def decided_on(folder: Path, ledger: Path) -> str:
    """Decide with every baseline, and return the canonical export."""
    with Store.open(f"sqlite:///{ledger}") as store:
        decide_on(store, folder, request_of(recipe_of(*EVERYBODY)))
        return canonical(store)


def test_another_future_gives_a_byte_identical_export(tmp_path: Path, archive: Path) -> None:
    bent = write_archive(tmp_path / "another" / "folder", future=-0.5)
    assert (bent / "resolutions.json").read_text() != (archive / "resolutions.json").read_text()
    assert decided_on(bent, tmp_path / "b.db") == decided_on(archive, tmp_path / "a.db")


def test_a_future_that_cannot_even_be_read_gives_a_byte_identical_export(tmp_path: Path, archive: Path) -> None:
    broken = tmp_path / "broken"
    shutil.copytree(archive, broken)
    (broken / "snapshots" / "2026-02-14T193000Z" / "events.json").write_text("{ not JSON")
    (broken / "prices" / "10.json").write_text(f'{{"history": [{{"t": {at(NOW + DAY)}, "p": "high"}}]}}')
    (broken / "resolutions.json").write_text(f'{{"{condition_of(1)}": {{"resolved_at": {at(NOW + DAY)}}}}}')
    assert decided_on(broken, tmp_path / "b.db") == decided_on(archive, tmp_path / "a.db")


def test_another_present_is_seen(tmp_path: Path, archive: Path) -> None:
    other = tmp_path / "other"
    shutil.copytree(archive, other)
    now = other / "snapshots" / "2026-02-13T193000Z" / "events.json"
    now.write_text(now.read_text().replace("0.4100", "0.4200").replace("0.5900", "0.5800"))
    assert decided_on(other, tmp_path / "b.db") != decided_on(archive, tmp_path / "a.db")
