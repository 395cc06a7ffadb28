"""Pictures of effort against success: which are drawn, and what they say."""

from dataclasses import replace

from predibot.reports.pictures.series import effort_pictures
from predibot.scoring.evaluation.effort import Effort
from predibot.scoring.evaluation.evaluation import Evaluation
from tests.reports.made_evaluation import made_evaluation


def with_effort() -> Evaluation:
    """Return an evaluation of bots that read more and more pages, search alike, and cost an unknown sum."""
    made = replace(made_evaluation(), apart=None)
    efforts = (
        Effort(card.bot, 5, searches=1.0, pages=number, seconds=9.0, cost_usd=None, tokens=None, traces=0)
        for number, card in enumerate(made.cards)
    )
    return made.with_effort(tuple(efforts))


def test_an_effort_that_is_unknown_or_the_same_of_all_has_no_picture() -> None:
    found = dict(effort_pictures(with_effort()))
    assert list(found) == ["effort-pages"]
    assert [panel.name for panel in found["effort-pages"].panels] == ["edge", "Brier", "return"]
    assert dict(effort_pictures(made_evaluation().with_effort(()))) == {}


def test_a_panel_has_a_point_for_each_bot_that_knows_both_its_edge_in_thousandths() -> None:
    made = with_effort()
    picture = dict(effort_pictures(made))["effort-pages"]
    edge, *_ = picture.panels
    assert "Edge: in thousandths of Brier." in picture.note
    known = {card.bot: 1_000.0 * card.edge.edge for card in made.cards if card.edge.edge is not None}
    assert {bot: up for bot, (_, up) in edge.of.items()} == known
    assert edge.note.endswith(f"{len(known)} bots")
