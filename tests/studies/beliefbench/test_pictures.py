"""The figures: what each shows, from tables that are counted by hand."""

from predibot.scoring.study_table import StudyTable
from predibot.studies.beliefbench.readings import beliefbench_pictures

SCORES = ("MSE", "MAE", "Acc", "F1", "QWK")


def test_scores_of_a_domain_are_from_worst_to_best_and_errors_are_turned_round() -> None:
    rows = [("Crypto", "b", 0.2, 0.3, 0.1, 0.5, None), ("Crypto", "a", 0.1, 0.4, 0.3, 0.5, 0.2)]
    (picture,) = beliefbench_pictures([StudyTable("domains", "", ("domain", "bot", *SCORES), tuple(rows))])
    (panel,) = picture.panels
    # The mean of a is (1 + 0 + 1 + .5 + .5) / 5, that of b (0 + 1 + 0 + .5) / 4.
    assert (panel.name, panel.rows, panel.columns) == ("Crypto", ("a", "b"), SCORES)
    assert panel.values == ((1.0, 0.0, 1.0, 0.5, 0.5), (0.0, 1.0, 0.0, 0.5, None))


def test_changes_are_drawn_for_the_mse_and_for_all_scores_and_reasons_by_bot() -> None:
    changes = StudyTable("changes", "", ("domain", "bot", *SCORES), (("Election", "a", -0.5, -0.4, -0.1, 0.1, None),))
    kinds = ("logical", "causal", "confounding", "narrative")
    reasons = StudyTable("reasons", "", ("bot", "domain", *kinds), (("a", "Sports", 0.1, 0.2, 0.3, 0.4),))
    found = {each.name: each for each in beliefbench_pictures([changes, reasons])}
    assert list(found) == ["after_cutoff", "reasons", "after_cutoff_all"]
    assert found["after_cutoff"].panels[0].values == ((-0.5,),)
    assert found["after_cutoff_all"].panels[0].values == ((-0.5, -0.4, -0.1, 0.1, None),)
    assert (found["reasons"].panels[0].rows, found["reasons"].panels[0].columns) == (("Sports",), kinds)
