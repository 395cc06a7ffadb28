"""The pictures of Figure 2: which number stands where, and which are marked."""

from itertools import combinations

from predibot.scoring.study_table import StudyTable
from predibot.studies.stakebench.readings import figure_2
from predibot.studies.stakebench.scores.chain import LINKS, Family, chain_tables

SCORES = ("bot", "Agg", *LINKS)


def test_the_chain_is_a_triangle_and_small_p_values_are_marked() -> None:
    # G3 Acc_f has one value only, so that it goes with nothing.
    rows = [(f"bot{n}", n / 9, n / 9, n / 9, 1 - n / 9, 0.5, (n * 5 % 9) / 9) for n in range(9)]
    main = StudyTable("3", "", SCORES, tuple(rows))
    sizes = {f"bot{n}": Family("even" if n % 2 == 0 else "odd", float(n + 1)) for n in range(9)}
    chain, families, scale = figure_2(*chain_tables(main, sizes))
    (panel,) = chain.panels
    assert (panel.rows, panel.columns) == (LINKS[1:], LINKS[:-1])
    values = dict(zip(panel.rows, panel.values, strict=True))
    assert values["G2 DA"] == (1.0, None, None, None)
    assert values["G3 Acc_act"] == (-1.0, -1.0, None, None)
    assert values["G3 Acc_f"] == (None, None, None, None)
    assert sum(value is not None for row in panel.values for value in row) == len([*combinations("1245", 2)])
    assert panel.marked == {(0, 0), (1, 0), (1, 1)}
    assert chain.reach == scale.reach == 1.0
    assert families.panels[0].rows == ("even", "odd")
    assert families.panels[0].values[1] == (4 / 9, 4 / 9, 4 / 9, 5 / 9, 0.5, 6.5 / 9)
    assert [*scale.panels[0].values[0][:4]] == [1.0, 1.0, 1.0, -1.0]
    # Without sizes and families there is only the chain.
    assert [each.name for each in figure_2(*chain_tables(main, {}))] == ["figure_2a"]
