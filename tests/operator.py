"""An operator: who trusts the folder that its settings lie in."""

from pathlib import Path

from predibot.trust import Folder


def set_up(folder: Path, settings: str) -> None:
    """Write the settings of a folder, and trust it."""
    (folder / "predibot.toml").write_text(settings, encoding="utf-8")
    Folder.read(folder).trust()
