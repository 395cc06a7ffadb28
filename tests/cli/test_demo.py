"""`predibot demo`: the main job from nothing."""

from tests.acceptance.conftest import Predibot


def test_the_demo_plays_a_week_and_may_be_repeated(predibot: Predibot) -> None:
    said = predibot("demo", "--json")
    assert (list(said.document), len(said.document["runs"])) == (["runs", "evaluation"], 7)
    assert len(said.document["evaluation"]["bots"]) == 5
    text = predibot("demo")
    assert "predibot report --ledger sqlite:///runs/out/demo.db" in text.out
    assert text.err.count(" recorded\n") == 7
    url = "sqlite:///runs/out/demo.db"
    assert predibot("runs", "--ledger", url, "--json").document["runs"][-1]["bots"] == 5
