"""The wheel: what a user installs."""

import re
import tomllib
from email.parser import Parser
from pathlib import Path
from zipfile import ZipFile

import pytest

import predibot
from tests.packaging.conftest import REPOSITORY

EXTRAS = {
    *("agreement", "distributed", "embeddings", "notify", "otel", "plots", "postgres", "stocks", "web", "dev", "all"),
}


@pytest.fixture(scope="session")
def names(wheel: Path) -> list[str]:
    """Return the paths in the wheel."""
    return ZipFile(wheel).namelist()


def test_every_plugin_is_in_the_wheel(names: list[str]) -> None:
    plugins = {path for kind in ("strategies", "tools") for path in (REPOSITORY / kind).rglob("*.py")}

    assert {f"predibot/{path.relative_to(REPOSITORY).as_posix()}" for path in plugins} <= set(names)


def test_every_file_of_the_package_is_in_the_wheel(names: list[str]) -> None:
    ours = [path for path in (REPOSITORY / "predibot").rglob("*") if path.is_file() and "__pycache__" not in path.parts]

    assert {path.relative_to(REPOSITORY).as_posix() for path in ours} <= set(names)


def test_nothing_else_is_in_the_wheel(names: list[str]) -> None:
    assert {name.split("/")[0] for name in names} == {"predibot", f"predibot-{predibot.__version__}.dist-info"}
    assert [name for name in names if name.endswith((".pyc", "README.md"))] == []


def test_the_wheel_states_the_version_of_the_package(wheel: Path) -> None:
    metadata = Parser().parsestr(ZipFile(wheel).read(f"predibot-{predibot.__version__}.dist-info/METADATA").decode())

    assert metadata["Version"] == predibot.__version__
    assert set(metadata.get_all("Provides-Extra", [])) == EXTRAS
    assert metadata["License-Expression"] == "MIT"


_IMPORT_NAMES = {"beautifulsoup4": "bs4", "pyyaml": "yaml"}
_USED_BY_NAME = {"lxml", "lxml-html-clean"}
"""What beautifulsoup4 and trafilatura import for us."""


def test_every_dependency_is_imported() -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    required = {re.split(r"[^\w-]", requirement)[0] for requirement in project["dependencies"]}
    folders = [REPOSITORY / part for part in ("predibot", "strategies", "tools")]
    code = "".join(path.read_text("utf-8") for folder in folders for path in folder.rglob("*.py"))
    imported = set(re.findall(r"^ *(?:import|from) (\w+)", code, re.MULTILINE))

    used = {_IMPORT_NAMES.get(name, name.replace("-", "_")): name for name in required - _USED_BY_NAME}
    assert {name for module, name in used.items() if module not in imported} == set()
