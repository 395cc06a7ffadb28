"""A vote on labels: most win, of equally many the one named first, and too few say nothing."""

from dataclasses import replace

import pytest

from predibot.domain.decision import Abstention, Decision, Label
from predibot.jobs.deciding.worker import sample_steps
from predibot.plugins.strategies import load_strategy, spec_of
from predibot.studies.beliefbench.games.beliefbench import Beliefbench
from predibot.studies.beliefbench.pairs import PairItem
from tests.agents.scripted import context
from tests.studies.beliefbench.strategies.test_pair_volume import PAYLOADS


def voted(*labels: str | None) -> Decision | Abstention:
    """Return the vote of bots that gave these labels; None is one without."""
    names = [f"b{row}" for row in range(len(labels))]
    view = PairItem.from_json(PairItem.public_json(PAYLOADS["a~b"]))
    stored = {
        name: None if label is None else Decision(labels=(Label("a~b", label),))
        for name, label in zip(names, labels, strict=True)
    }
    where = replace(context(members=stored), view=view, game=Beliefbench())
    assert [step.label for step in sample_steps(where)] == [label or "" for label in labels]
    return load_strategy(spec_of("label_vote", {"members": names})).decide(where)


@pytest.mark.parametrize(
    ("labels", "won", "shares"),
    [
        (("x", "y", "y"), "y", {"y": 2 / 3, "x": 1 / 3}),
        (("x", "y", "y", "x"), "x", {"x": 0.5, "y": 0.5}),
        (("x", None), "x", {"x": 1.0}),
    ],
)
def test_the_label_of_most_wins_and_of_equally_many_the_first(
    labels: tuple[str | None, ...], won: str, shares: dict[str, float]
) -> None:
    decision = voted(*labels)
    assert isinstance(decision, Decision)
    assert decision.labels == (Label("a~b", won, shares),)


def test_too_few_labels_are_no_vote() -> None:
    assert voted("x", None, None) == Abstention("1 of 3 members have a label", "members")
