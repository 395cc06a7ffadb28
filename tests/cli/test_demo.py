"""`predibot demo`: the main job from nothing."""

from pathlib import Path

from tests.acceptance.conftest import Predibot


def test_the_demo_plays_a_week_from_nothing_whatever_an_earlier_one_left(predibot: Predibot, tmp_path: Path) -> None:
    (tmp_path / "runs/out").mkdir(parents=True)
    (tmp_path / "runs/out/demo.db").write_text("what is left of an earlier one")
    said = predibot("demo")
    assert (said.code, said.err.count(" recorded\n")) == (0, 7)
    assert "predibot report --ledger sqlite:///runs/out/demo.db" in said.out
    runs = predibot("runs", "--ledger", "sqlite:///runs/out/demo.db", "--json").document["runs"]
    assert (len(runs), runs[-1]["bots"]) == (7, 5)
