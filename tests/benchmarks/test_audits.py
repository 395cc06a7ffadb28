"""Audits of comments: their power on 100 crowds with a planted effect, and their size on 500 without."""

import pytest

from tests.studies.stakebench.scores.crowds import shares_found

pytestmark = pytest.mark.benchmark


def test_power_and_size(capsys: pytest.CaptureFixture[str]) -> None:
    power, size = shares_found(100, planted=True), shares_found(500, planted=False)
    with capsys.disabled():
        print(f"\nfound where planted: {power}; reported where not: {size}")
    assert min(power.values()) >= 0.9
    assert max(size.values()) <= 0.07
