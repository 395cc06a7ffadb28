"""Pins: the requirements files that `make demo` and `make test` install from."""

import re
import tomllib

import pytest

from tests.packaging.conftest import REPOSITORY

EXTRAS = ["web", "postgres", "distributed"]
ADDED = [f"requirements-{extra}.txt" for extra in EXTRAS]
FILES = ["requirements.txt", "requirements-dev.txt", *ADDED]


def _text(name: str) -> str:
    return (REPOSITORY / name).read_text(encoding="utf-8")


def _pins(name: str) -> dict[str, str]:
    """Return each pinned line of a requirements file, hashes and all, by `name==version`."""
    lines = [line for line in _text(name).splitlines() if not line.lstrip().startswith("#")]
    entries = re.split(r"\n(?=\S)", "\n".join(lines))
    return {entry.split(" ")[0]: entry for entry in entries}


@pytest.mark.parametrize("name", FILES)
def test_every_pin_has_a_version_and_a_hash(name: str) -> None:
    loose = [pin for pin, entry in _pins(name).items() if "==" not in pin or "--hash=sha256:" not in entry]

    assert loose == []


@pytest.mark.parametrize("name", FILES)
def test_a_requirements_file_holds_no_address_and_no_folder(name: str) -> None:
    assert re.findall(r"://|--index|--extra-index|--find-links|file:|(?<!\w)/\w+", _text(name)) == []


def test_the_tests_run_on_the_versions_that_users_get() -> None:
    for name in ("requirements.txt", *ADDED):
        assert set(_pins(name)) <= set(_pins("requirements-dev.txt"))


def test_every_dependency_is_pinned() -> None:
    project = tomllib.loads(_text("pyproject.toml"))["project"]
    pinned = {pin.split("==")[0] for pin in _pins("requirements.txt")}
    asked = {extra: project["optional-dependencies"][extra] for extra in EXTRAS}

    assert _named(project["dependencies"]) <= pinned
    for extra, requirements in asked.items():
        added = {pin.split("==")[0] for pin in _pins(f"requirements-{extra}.txt")}
        assert _named(requirements) <= pinned | added and not pinned & added


def _named(requirements: list[str]) -> set[str]:
    return {re.split(r"[^\w-]", requirement)[0] for requirement in requirements}
