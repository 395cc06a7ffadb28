"""The changelog: what a user can now do or observe, one short line each."""

from tests.packaging.conftest import REPOSITORY


def test_every_entry_is_one_line_of_at_most_25_words() -> None:
    lines = (REPOSITORY / "CHANGELOG.md").read_text(encoding="utf-8").splitlines()
    entries = [line.removeprefix("- ") for line in lines if line.startswith("- ")]
    prose = [line for line in lines[lines.index("## [Unreleased]") :] if line and not line.startswith(("- ", "#"))]

    assert entries
    assert [entry for entry in entries if len(entry.split()) > 25] == []
    assert prose == []
