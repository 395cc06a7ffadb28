"""The paper's tables: Agg, the commitment gaps and the dose responses come out of the other columns it prints."""

import re
from pathlib import Path

import numpy as np
import pytest

from predibot.studies.stakebench.scores.significance import dose_response
from predibot.studies.stakebench.scores.tallies import RecallProfile, aggregate_score, commitment_gap


@pytest.fixture(scope="module")
def paper(shared_data: Path) -> str:
    file = shared_data.parent / "papers" / "stakebench.txt"
    if not file.is_file():
        pytest.skip("the paper's text is not beside this checkout")
    return file.read_text(encoding="utf-8")


def _numbers(line: str, pattern: str) -> tuple[str, list[float]] | None:
    found = re.fullmatch(pattern, line)
    return (found["model"], [float(each) for each in found["rest"].split()]) if found else None


@pytest.fixture(scope="module")
def scores(paper: str) -> dict[str, list[float]]:
    table = paper[paper.index("Table 3: Main benchmark") : paper.index("Results are organized")]
    rows = (_numbers(line, r"(?P<model>\S+)(?P<rest>(?: -?\.\d+){11} \d+ \.\d+)") for line in table.splitlines())
    return dict(row for row in rows if row)


@pytest.fixture(scope="module")
def gaps(paper: str) -> dict[str, list[float]]:
    table = paper[paper.index("Table 20: Commitment Gap") :]
    pattern = r"(?:closed|general|finance) (?P<model>\S+) 18/18(?P<rest>(?: -?\d?\.\d+){5})"
    rows = (_numbers(line, pattern) for line in table.splitlines())
    return dict(row for row in rows if row)


def test_agg_of_all_fifteen_rows_follows_from_the_other_columns(scores: dict[str, list[float]]) -> None:
    assert len(scores) == 15
    for model, (acc, _, _, da, _, _, act, flip, _, _, _, ahead, printed) in scores.items():
        found = aggregate_score(
            accuracy=acc, directed_accuracy=da, action_accuracy=act, flip_accuracy=flip, lead_share=ahead / 18
        )
        assert found == pytest.approx(printed, abs=0.001), model


def test_commitment_gaps_of_all_fifteen_rows_follow_from_both_tables(
    scores: dict[str, list[float]], gaps: dict[str, list[float]]
) -> None:
    assert gaps.keys() == scores.keys()
    for model, (side, action, reference, odds, mean) in gaps.items():
        row = scores[model]
        found = commitment_gap(
            side_reference=0.552,
            directed_accuracy=row[3],
            action_accuracy=row[6],
            odds_reference=reference,
            odds_lead=row[9],
        )
        seen = tuple(found.values())
        # Both columns are printed with three decimals: 1e-9 is the floats' own.
        assert seen == pytest.approx((side, action, odds, mean), abs=0.001 + 1e-9), model


DOSES = {"FinMA-30B": (30, 28, 29, 29), "Qwen3-30B": (19, 19, 18, 19), "Qwen3-8B": (18, 17, 17, 18)}


@pytest.mark.parametrize("model", DOSES)
def test_dose_responses_follow_from_the_hits_of_each_quartile(paper: str, model: str) -> None:
    table = paper[paper.index("Table 10: Stake-magnitude") :]
    row = next(line for line in table.splitlines() if line.startswith(f"{model} mani/economics"))
    # The p-value it prints does not follow from the quartiles beside it, by any form of the test.
    n, signal, _, *printed = (float(each) for each in row.split()[2:])
    sizes = DOSES[model]
    hits = [round(share * size) for share, size in zip(printed, sizes, strict=True)]
    assert [hit / size for hit, size in zip(hits, sizes, strict=True)] == pytest.approx(printed, abs=0.0006)
    said = np.concatenate([[1] * hit + [-1] * (size - hit) for hit, size in zip(hits, sizes, strict=True)])
    # Only the first group is unequal in size where stakes are tied at its end.
    stakes = np.concatenate([np.full(size, float(at)) for at, size in enumerate(sizes, 1)])
    found = dose_response(said, np.ones(said.size, dtype=int), stakes)
    assert found.n == n
    assert found.signal == pytest.approx(signal, abs=0.001)
    assert found.p_value < 0.05


def test_who_finds_one_or_two_actions_in_table_4_is_told_from_the_rest(paper: str) -> None:
    table = paper[paper.index("Table 4: Per-class recall") : paper.index("exposes a class-coverage collapse")]
    rows = re.findall(r"([\w.-]+)((?: \d+\.\d){4})$", table, re.MULTILINE)
    # The last two rows are a mean and the truth.
    truth = tuple(float(each) / 100.0 for each in rows[-1][1].split())
    found = {
        model: RecallProfile(tuple(float(each) / 100.0 for each in said.split()), truth, 0.5)
        for model, said in rows[:-2]
    }
    assert len(found) == 15
    degenerate = {model for model, profile in found.items() if profile.is_degenerate}
    collapsed = {"FinMA-30B", "Fino1-14B", "Gemma2-9B", "Qwen3-8B", "Fino1-8B", "Mistral-7B", "Fin-Chat-7B"}
    # The paper calls Llama-3.2-3B partially degenerate: it finds flips and holds only.
    assert degenerate == collapsed | {"Llama-3.2-3B"}
