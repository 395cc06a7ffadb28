"""The simulated crowd: who holds a position acts about as often as people do, so that scores can tell bots apart."""

import random
from collections import Counter

import pytest

from predibot.studies.data_set import DataSet
from predibot.studies.stakebench.readings import fact_of
from predibot.studies.stakebench.scores.tables import Readings, stakebench_tables
from predibot.studies.stakebench.tasks import TASKS, draw_items
from predibot.studies.stakebench.venues.comments import COMMENTS
from tests.studies.stakebench.readers import data_set


@pytest.fixture(scope="module")
def crowd_set(tmp_path_factory: pytest.TempPathFactory) -> DataSet:
    """Return a data set of a simulated crowd."""
    return DataSet(data_set(tmp_path_factory.mktemp("crowd")), COMMENTS)


def test_about_half_of_those_who_hold_change_nothing_within_two_days(crowd_set: DataSet) -> None:
    actions = Counter(row.action for row in crowd_set.rows("comments") if row.action is not None)
    # The paper's Table 4 has .476.
    assert 0.43 < actions["hold"] / actions.total() < 0.53
    assert min(actions[action] for action in TASKS["G3"].labels) > 0.05 * actions.total()


def test_an_oracle_of_skill_seven_tenths_is_above_the_commonest_label(crowd_set: DataSet) -> None:
    found = draw_items(crowd_set.rows, tasks=TASKS, per_split=100, seed=1)
    rng, facts = random.Random(1), {item.subject_id: fact_of(item) for item in found.items}
    labels: dict[str, dict[str, str | None]] = {"majority": {}, "oracle": {}}
    for task in TASKS:
        own = {id: fact for id, fact in facts.items() if fact.task == task}
        commonest = Counter(fact.label or "NEUTRAL" for fact in own.values()).most_common(1)[0][0]
        for id, fact in own.items():
            others = [label for label in TASKS[task].labels if label != fact.label]
            labels["majority"][id] = commonest
            labels["oracle"][id] = fact.label if fact.label and rng.random() < 0.7 else rng.choice(others)
    main = stakebench_tables(Readings(facts, labels, found.crowds))[0]
    rows = {row[0]: dict(zip(main.columns, row, strict=True)) for row in main.rows}
    for score in ("Agg", "G1 Acc", "G2 strict", "G3 Acc_act", "G4 PLA"):
        oracle, majority = rows["oracle"][score], rows["majority"][score]
        assert isinstance(oracle, float) and isinstance(majority, float) and oracle > majority, score
