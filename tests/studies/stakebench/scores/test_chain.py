"""Figure 2 and Table 5: scores of one task against another's, families, sizes, and texts on which bots split."""

from collections import Counter
from typing import Any

import pytest
from scipy import stats

from predibot.scoring.study_table import StudyTable
from predibot.studies.stakebench.scores.chain import LINKS, Family, case_table, chain_tables, split_texts
from predibot.studies.stakebench.scores.tables import Readings
from predibot.studies.stakebench.tasks import Item, Truth

SCORES = {"a": (0.6, 0.5), "b": (0.7, 0.6), "c": (0.8, 0.55), "d": (0.9, None), "a (strict)": (0.0, 1.0)}
MAIN = StudyTable.of(
    "3",
    "Scores",
    ("bot", "Agg", *LINKS),
    [(bot, 0.1, one, other, 0.3, 0.4, 0.5) for bot, (one, other) in SCORES.items()],
)
FAMILIES = {"a": Family("closed", None), "b": Family("open", 8.0), "c": Family("open", 14.0), "d": Family("open", 32.0)}


def rows_of(name: str, families: dict[str, Family]) -> dict[Any, tuple[Any, ...]]:
    (table,) = (each for each in chain_tables(MAIN, families) if each.name == name)
    return {row[0]: row[1:] for row in table.rows}


def test_scores_go_together_by_rank_over_bots_that_have_both() -> None:
    rho, p, bots = rows_of("chain", {})["G1 Acc and G2 DA"]
    expected = stats.spearmanr([0.6, 0.7, 0.8], [0.5, 0.6, 0.55])
    assert (rho, p, bots) == (pytest.approx(expected.statistic), pytest.approx(expected.pvalue), 3)
    # A score that is the same for all has no ranks.
    assert rows_of("chain", {})["G1 Acc and G4 PLA"][0] is None


def test_families_have_means_and_sizes_of_those_that_are_known() -> None:
    assert rows_of("families", FAMILIES)["open"][1:3] == (pytest.approx(0.8), pytest.approx(0.575))
    assert rows_of("families", FAMILIES)["closed"][-1] == 1
    rho, _, bots = rows_of("scale", FAMILIES)["G1 Acc"]
    assert (rho, bots) == (pytest.approx(1.0), 3)
    assert not rows_of("families", {}) and not rows_of("scale", {})


def test_the_texts_on_which_bots_split_most_are_shown_with_who_was_right() -> None:
    facts = {
        f"G2/{n}": Item("G2", f"{n}", "polymarket/crypto", "m", "Will it?", ("words",), truth=Truth("YES"))
        for n in range(5)
    }
    labels: dict[str, dict[str, str | None]] = {
        bot: {f"G2/{n}": "YES" if place >= n else "NO" for n in range(5)} for place, bot in enumerate("wxyz")
    }
    labels["w (strict)"] = dict.fromkeys(facts, None)
    labels["z"]["G2/1"] = None
    readings = Readings(facts, labels)
    cases = dict(split_texts(readings))
    assert cases == {
        "G2/1": Counter({"YES": 2, "NO": 1, "unread": 1}),
        "G2/2": Counter({"YES": 2, "NO": 2}),
        "G2/3": Counter({"NO": 3, "YES": 1}),
    }
    table = case_table(readings, cases)
    assert table.rows[0] == ("G2/1", "Will it?", "words", "YES", "YES 2, NO 1, unread 1", 0.5)
