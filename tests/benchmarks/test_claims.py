"""Measures how often claims are wrong, and intervals miss, where events move together."""

import pytest

from tests.scoring import claims, swings
from tests.scoring.coverage import Cell

pytestmark = pytest.mark.benchmark


def _printed(cells: list[Cell], capsys: pytest.CaptureFixture[str]) -> None:
    """Print the worst and the best bot of each quantity, and whether it misses its aim."""
    of_quantity: dict[tuple[str, ...], list[Cell]] = {}
    for cell in cells:
        of_quantity.setdefault(cell.name[:2], []).append(cell)
    with capsys.disabled():
        for name, of in of_quantity.items():
            shares = sorted(100 * each.share for each in of)
            missed = "  MISSES" if any(each.misses for each in of) else ""
            print(f"\n{', '.join(name)}: {shares[0]:.1f} to {shares[-1]:.1f} % of {of[0].n}{missed}", end="")


@pytest.mark.parametrize("name", swings.WORLDS)
def test_false_claims_of_beating_a_fair_price(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    _printed(claims.better_cells(name, range(15)), capsys)


@pytest.mark.parametrize("name", claims.HALFWAY)
def test_false_claims_of_being_worse_in_nights(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    _printed(claims.worse_cells(name, range(12)), capsys)


@pytest.mark.parametrize("name", claims.HALFWAY_DAILY)
def test_false_claims_of_being_worse_where_prices_move_daily(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    _printed(claims.worse_cells(name, range(8)), capsys)


@pytest.mark.parametrize(
    ("events", "edge", "together", "at_least"),
    [(360, 0.01, 0.0, 0.80), (1_000, 0.005, 0.0, 0.92), (360, 0.02, 0.3, 0.94)],
)
def test_power(events: int, edge: float, together: float, at_least: float, capsys: pytest.CaptureFixture[str]) -> None:
    _printed(claims.power_cells(events, edge, together, 400, at_least=at_least), capsys)


@pytest.mark.parametrize("name", (*claims.EDGE_WORLDS, "midnight.7"))
def test_coverage_of_edge_and_returns_and_of_pairs(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    _printed(claims.interval_cells(name, range(8)), capsys)


@pytest.mark.parametrize(("events", "rounds", "skilled"), [(40, 8, 0.65), (120, 8, 0.90), (360, 4, 0.98)])
def test_who_is_first_on_a_board(events: int, rounds: int, skilled: float, capsys: pytest.CaptureFixture[str]) -> None:
    for cell in claims.board_cells(events, range(rounds), skilled=skilled):
        _printed([cell], capsys)
