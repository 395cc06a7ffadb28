"""The changelog: what a user can now do or observe, one short line each."""

from tests.packaging.conftest import REPOSITORY


def test_every_entry_is_one_line_of_at_most_25_words() -> None:
    fragments = [path for path in (REPOSITORY / "changelog.d").glob("*.md") if path.name != "README.md"]
    lines = (REPOSITORY / "CHANGELOG.md").read_text(encoding="utf-8").splitlines()
    entries = [line.removeprefix("- ") for line in lines if line.startswith("- ")]
    entries += [path.read_text(encoding="utf-8").strip() for path in fragments]

    assert entries
    assert [entry for entry in entries if "\n" in entry or len(entry.split()) > 25] == []
