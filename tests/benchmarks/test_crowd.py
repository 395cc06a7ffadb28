"""Ten simulated crowds of each platform: how many hold after a comment, and how far knowing is above guessing."""

from pathlib import Path

import pytest

from predibot.studies.stakebench.crowd import crowd
from predibot.studies.stakebench.crowd_host import CrowdHost
from tests.studies.stakebench.collecting.test_collect import collected, crowd_scores

pytestmark = pytest.mark.benchmark

SEEDS = range(1, 11)


@pytest.mark.parametrize("manifold", [False, True], ids=["polymarket", "manifold"])
def test_an_oracle_of_skill_seven_tenths_is_above_the_commonest_label_in_ten_crowds(
    manifold: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for seed in SEEDS:
        folder = tmp_path / str(seed)
        collected(CrowdHost(crowd(seed, manifold=manifold, comments=2_500)), folder, manifold=manifold)
        done, scores = crowd_scores(folder, seed)
        hold, (oracle, majority) = done["hold"] / done.total(), (scores[bot]["Agg"] for bot in ("oracle", "majority"))
        with capsys.disabled():
            print(f"\nseed {seed}: hold {hold:.3f}, Agg {oracle:.3f} against {majority:.3f}", end="")
        assert 0.42 < hold < 0.53
        assert oracle > majority
