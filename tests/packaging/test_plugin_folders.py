"""Plug-in folders: `strategies/` and `tools/` at the top, imported as parts of the package everywhere."""

from pathlib import Path
from zipfile import ZipFile

import pytest

from tests.packaging.conftest import Copy, write_probe

SHOW_PLACE = "from predibot.strategies.probe import Probe; print(Probe().place)"

SHOW_PLACE_IN_WORKER = """
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

from predibot.strategies.probe import Probe

if __name__ == "__main__":
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as executor:
        made = executor.submit(Probe).result()
    print(made.place, type(made) is Probe)
"""


def test_a_strategy_imports_under_the_packages_name(copy: Copy, tmp_path: Path) -> None:
    done = copy.run("-c", SHOW_PLACE, cwd=tmp_path)

    assert (done.stdout.strip(), done.stderr) == ("checkout", "")


def test_a_folder_of_the_user_goes_first_may_be_relative_and_stays_where_it_was(copy: Copy, tmp_path: Path) -> None:
    write_probe(tmp_path / "mine", "mine")
    code = f"import os, predibot.strategies; os.chdir('/'); {SHOW_PLACE}"

    done = copy.run("-c", code, cwd=tmp_path, PREDIBOT_STRATEGIES="not there:mine")

    assert (done.stdout.strip(), done.stderr) == ("mine", "")


def test_a_spawned_worker_has_the_same_strategy(copy: Copy, tmp_path: Path) -> None:
    write_probe(tmp_path / "mine", "mine")
    (tmp_path / "script.py").write_text(SHOW_PLACE_IN_WORKER, encoding="utf-8")

    done = copy.run("script.py", cwd=tmp_path, PREDIBOT_STRATEGIES=str(tmp_path / "mine"))

    assert (done.stdout.strip(), done.stderr) == ("mine True", "")


def test_tools_are_found_like_strategies(copy: Copy, tmp_path: Path) -> None:
    (tmp_path / "lamp.py").write_text('"""A tool."""\n', encoding="utf-8")
    code = "from predibot.tools import lamp; print(lamp.__file__)"

    done = copy.run("-c", code, cwd=tmp_path.parent, PREDIBOT_TOOLS=str(tmp_path))

    assert (done.stdout.strip(), done.stderr) == (str(tmp_path / "lamp.py"), "")


@pytest.mark.parametrize("kind", ["strategies", "tools"])
def test_nothing_leaks_to_the_top_level(from_wheel: Copy, tmp_path: Path, kind: str) -> None:
    done = from_wheel.run("-c", f"import {kind}", cwd=tmp_path)

    assert f"No module named '{kind}'" in done.stderr


def test_the_neighbours_of_an_installed_package_are_not_its_plugins(wheel: Path, tmp_path: Path) -> None:
    ZipFile(wheel).extractall(tmp_path)
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "another"\n', encoding="utf-8")
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "stray.py").touch()

    done = Copy.of_folder(tmp_path).run("-c", "import predibot.tools.stray", cwd=tmp_path)

    assert "No module named 'predibot.tools.stray'" in done.stderr
