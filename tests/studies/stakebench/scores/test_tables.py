"""Tables of text tasks, beside loops over the same answers."""

import math
from statistics import fmean

import numpy as np
import pytest

from predibot.scoring.study_table import StudyTable
from predibot.studies.stakebench.scores.tables import Readings, stakebench_tables
from predibot.studies.stakebench.tasks import Item, Truth
from tests.studies.table_rows import rows_of

SPLITS = ("polymarket/crypto", "polymarket/other", "manifold/crypto", "manifold/other")
ACTIONS = ("flip", "increase", "decrease", "hold")
HOURS = (6, 48)


def test_replicates_have_a_row_for_each_task() -> None:
    found = readings(n=4)
    labels = {"x#1": found.labels["a"], "x#2": found.labels["a"], "x": found.labels["b"]}
    table = next(each for each in stakebench_tables(Readings(found.facts, labels)) if each.name == "replicates")
    rows = rows_of(table)
    assert len(rows) > 1 and {row["bot"] for row in rows} == {"x"}
    # The third answers otherwise: of three pairs one is of the same labels.
    assert all(1 / 3 <= row["same label"] < 1.0 for row in rows)


def readings(seed: int = 3, n: int = 60) -> Readings:
    """Return what three bots said of made-up texts; the third was never asked where the odds go."""
    rng = np.random.default_rng(seed)
    facts: dict[str, Item] = {}
    for split in SPLITS:
        for task in ("G1", "G2", "G2before", "G3", "G3f", "G3d", "G4"):
            for number in range(n):
                stake, side = float(rng.lognormal(3.0, 2.0)), str(rng.choice(["YES", "NO"]))
                label = {
                    "G1": "YES" if number % 2 else "NO",
                    "G2": side,
                    "G2before": "",
                    "G3f": str(rng.choice(["flip", "hold"])),
                    "G3d": str(rng.choice(["decrease", "hold"])),
                    "G4": str(rng.choice(["UP", "DOWN"])),
                }.get(task, ACTIONS[number % 4])
                side = ("NO", "", "YES")[int(rng.integers(0, 3))] if task == "G4" else side
                facts[f"{task}/{split}.{number}"] = Item(
                    task,
                    f"{split}.{number}",
                    split,
                    f"{split} {number % 9}",
                    "Will it?",
                    ("x" * int(rng.integers(30, 300)),),
                    truth=Truth(
                        label,
                        () if task == "G2before" else ((side, stake),),
                        f"u{number % 20}",
                        1 if number % 9 < 5 else -1,
                        written=int(rng.integers(1, 9)),
                        volume=float(rng.lognormal(9.0)),
                        days_left=float(rng.integers(1, 60)),
                        actions=(ACTIONS[(number + 1) % 4], label) if task == "G3" else (),
                    ),
                )
    labels: dict[str, list[str | None]] = {
        "G1": ["YES", "NO"],
        "G2": ["YES", "NO", "NEUTRAL", None],
        "G2before": ["YES", "NO", "NEUTRAL"],
        "G3": [*ACTIONS, None],
        "G3f": ["flip", "hold"],
        "G3d": ["decrease", "hold"],
        "G4": ["UP", "DOWN", "NEUTRAL"],
    }
    said: dict[str, dict[str, str | None]] = {}
    for bot in ("a", "b", "c"):
        said[bot] = {
            item: str(fact.known.label)
            if rng.random() < 0.3 and fact.known.label
            else labels[fact.task][rng.integers(len(labels[fact.task]))]
            for item, fact in facts.items()
            if bot != "c" or fact.task != "G4"
        }
    return Readings(facts, said, {split: (3 + place, 9) for place, split in enumerate(SPLITS)}, HOURS)


@pytest.fixture(scope="module")
def found() -> Readings:
    return readings()


@pytest.fixture(scope="module")
def tables(found: Readings) -> dict[str, StudyTable]:
    return {table.name: table for table in stakebench_tables(found, pairs=[("a", "b")])}


def answers(found: Readings, bot: str, task: str, split: str) -> list[tuple[Item, str | None]]:
    return [
        (fact, found.labels[bot][item])
        for item, fact in found.facts.items()
        if fact.task == task and fact.split == split and item in found.labels[bot]
    ]


def macro(values: list[float]) -> float:
    return fmean(value for value in values if not math.isnan(value))


def test_all_tables_of_the_paper_are_there(tables: dict[str, StudyTable]) -> None:
    numbers = [3, 4, *range(6, 15), 17, 20]
    assert [name for name in tables if name.isdigit()] == [str(each) for each in numbers]
    assert all(table.rows for table in tables.values())


def test_scores_are_those_of_loops_over_the_answers(found: Readings, tables: dict[str, StudyTable]) -> None:
    for row in rows_of(tables["3"]):
        bot = row["bot"]

        def accuracy(task: str, bot: str = bot) -> list[float]:
            return [
                fmean(said == fact.known.label for fact, said in answers(found, bot, task, split)) for split in SPLITS
            ]

        assert row["G1 Acc"] == pytest.approx(macro(accuracy("G1")))
        assert row["G2 strict"] == pytest.approx(macro(accuracy("G2")))
        assert row["G3 Acc_act"] == pytest.approx(macro(accuracy("G3")))
        assert row["G3 Acc_f"] == pytest.approx(macro(accuracy("G3f")))
        assert row["G3 Acc_d"] == pytest.approx(macro(accuracy("G3d")))
        named = [[(f, s) for f, s in answers(found, bot, "G2", split) if s in ("YES", "NO")] for split in SPLITS]
        assert row["G2 DA"] == pytest.approx(macro([fmean(s == f.known.label for f, s in each) for each in named]))
        weighed = [
            sum(math.log1p(f.known.stake) * (s == f.known.label) for f, s in each)
            / sum(math.log1p(f.known.stake) for f, _ in each)
            for each in named
        ]
        assert row["G2 CCA"] == pytest.approx(macro(weighed))
        if bot == "c":
            assert (row["G4 PLA"], row["G4 lead"], row["n+"], row["Agg"]) == (None, None, None, None)
            continue
        right = accuracy("G4")
        stakes = [
            fmean(
                {"UP": 1, "DOWN": -1}[f.known.label] == {"YES": 1, "NO": -1, "": 0}[f.known.side]
                for f, _ in answers(found, bot, "G4", split)
            )
            for split in SPLITS
        ]
        ahead = [a - b for a, b in zip(right, stakes, strict=True)]
        assert row["G4 PLA"] == pytest.approx(macro(right))
        assert row["G4 lead"] == pytest.approx(macro(ahead))
        assert (row["n+"], row["splits"]) == (sum(each > 0 for each in ahead), 4)
        parts = [(row["G1 Acc"] - 0.5) / 0.5, (row["G2 DA"] - 0.5) / 0.5, (row["G3 Acc_act"] - 0.25) / 0.75]
        parts += [(row["G3 Acc_f"] - 0.5) / 0.5, row["n+"] / 4]
        assert row["Agg"] == pytest.approx(fmean(max(0.0, each) for each in parts))


def test_every_score_has_its_interval_and_says_on_how_much_it_rests(
    found: Readings, tables: dict[str, StudyTable]
) -> None:
    scores = {row["bot"]: row for row in rows_of(tables["3"])}
    rows = rows_of(tables["intervals"])
    assert len(rows) == 11 + 11 + 9
    for row in rows:
        assert row["value"] == pytest.approx(scores[row["bot"]][row["score"]])
        assert row["low"] < row["value"] < row["high"]
        assert (row["splits"], row["markets"]) == (4, 36)
        assert 0 < row["answers"] <= 240


def test_windows_of_actions_take_the_same_answers_beside_another_truth(
    found: Readings, tables: dict[str, StudyTable]
) -> None:
    rows = rows_of(tables["7"])
    assert [row["window"] for row in rows] == ["6 h", "48 h"]
    for place, row in enumerate(rows):
        right = [
            macro([fmean(s == f.known.actions[place] for f, s in answers(found, bot, "G3", split)) for split in SPLITS])
            for bot in found.labels
        ]
        assert row["G3 Acc_act"] == pytest.approx(fmean(right))
        assert row["true hold"] == pytest.approx(0.25)
    assert rows[1]["G3 Acc_act"] == pytest.approx(fmean(row["G3 Acc_act"] for row in rows_of(tables["3"])))


def test_gaps_pairs_and_platforms_follow_from_the_scores(found: Readings, tables: dict[str, StudyTable]) -> None:
    scores = {row["bot"]: row for row in rows_of(tables["3"])}
    for row in rows_of(tables["20"]):
        assert row["O2"] == pytest.approx(fmean([3 / 9, 4 / 9, 5 / 9, 6 / 9]))
        assert row["CG(2)"] == pytest.approx(row["O2"] - scores[row["bot"]]["G2 DA"])
        assert row["CG(3)"] == pytest.approx(1.0 - scores[row["bot"]]["G3 Acc_act"])
    assert rows_of(tables["20"])[2]["MCG"] is None
    (pair,) = rows_of(tables["13"])
    assert pair["G2 DA"] == pytest.approx(scores["a"]["G2 DA"] - scores["b"]["G2 DA"])
    platforms = {row["score"]: row for row in rows_of(tables["12"])}
    both = [
        fmean(
            macro([fmean(s == f.known.label for f, s in answers(found, bot, "G1", f"{platform}/{topic}"))])
            for bot in found.labels
            for topic in ("crypto", "other")
        )
        for platform in ("polymarket", "manifold")
    ]
    assert platforms["G1 Acc"]["difference"] == pytest.approx(both[0] - both[1])
    assert (platforms["G1 Acc"]["topics"], platforms["G4 lead"]["bots"]) == (2, 2)


def test_a_strict_reading_has_rows_of_its_own_and_counts_as_no_bot_where_bots_are_counted() -> None:
    plain = readings(n=14)
    # Unlike the bot it belongs to, it answered nothing that can be read.
    labels = {**plain.labels, "a (strict)": dict.fromkeys(plain.labels["a"])}
    before, after = (
        {each.name: each for each in stakebench_tables(Readings(plain.facts, said, plain.crowds, HOURS))}
        for said in (plain.labels, labels)
    )
    assert "a (strict)" in {row["bot"] for row in rows_of(after["3"])}
    for name in ("6", "7", "12", "14", "17"):
        assert before[name].rows and after[name].rows == before[name].rows


def test_a_bot_that_answered_nothing_has_no_score() -> None:
    some = readings(n=20)
    nothing = Readings(some.facts, {"mute": {}}, some.crowds, HOURS)
    found = {table.name: table for table in stakebench_tables(nothing)}
    (row,) = rows_of(found["3"])
    assert {name: value for name, value in row.items() if value is not None} == {
        "bot": "mute",
        "answers": 0,
        "unread": 0,
    }
    assert not any(found[name].rows for name in ("intervals", "4", "6", "7", "8", "9", "10", "11", "12", "14", "17"))
