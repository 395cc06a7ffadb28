"""`predibot init`: a recipe to start from."""

from pathlib import Path

from tests.acceptance.conftest import Predibot
from tests.cli.conftest import WORLD


def test_the_recipe_is_used_from_then_on(predibot: Predibot, tmp_path: Path) -> None:
    assert predibot("init").out == "wrote runs/daily.toml. Next: predibot select runs/daily.toml\n"
    assert predibot("select", "--venue", WORLD).err == "recipe: runs/daily.toml\n"
    assert (tmp_path / "runs/daily.toml").read_text().count("[[bots]]") >= 2


def test_a_file_that_is_there_is_kept_unless_forced(predibot: Predibot, tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text("mine")
    said = predibot("init", "mine.toml")
    assert (said.code, path.read_text()) == (1, "mine")
    assert said.err == "error: mine.toml is there already and is kept; name another file, or add --force.\n"
    assert predibot("init", "mine.toml", "--force", "--json").document == {"recipe": "mine.toml"}
    assert path.read_text() != "mine"


def test_another_ending_is_refused(predibot: Predibot) -> None:
    assert predibot("init", "mine.txt").code == 1
