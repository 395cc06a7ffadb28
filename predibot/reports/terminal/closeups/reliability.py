"""The reliability diagram in characters: what was said beside what happened, a line a bin."""

from collections.abc import Iterator

from predibot.reports import figures
from predibot.scoring.metrics.calibration import CalibrationBins

_CELLS = 41
"""Of the axis from 0 to 100%: one for each 2.5%."""
_SAID, _HAPPENED, _BOTH = "◇", "●", "◆"
LEGEND = (
    f"{_HAPPENED} how often it happened, ─ its 95% interval (Wilson's, over as many events as the forecasts are "
    f"worth), {_SAID} what was said on average, {_BOTH} both in one place."
)


def reliability_lines(bins: CalibrationBins) -> Iterator[str]:
    """Yield a diagram of bins that are not empty, at most 80 characters wide, with its axis and without its legend.

    Examples:
        >>> from predibot.scoring import calibration_bins
        >>> for line in reliability_lines(calibration_bins([0.1, 0.1, 0.1, 0.1], [0, 0, 0, 1])):
        ...     print(line.rstrip())
                    0%        25%       50%       75%      100%   said   n
        0.1 to 0.2  |  ──◇─────●──────────────────            |   0.10   4
    """
    yield f"{'':12}{_axis()}  {'said':>5} {'n':>3}"
    for row in range(bins.count.size):
        if bins.count[row]:
            said, n = float(bins.mean_probability[row]), int(bins.count[row])
            ends = float(bins.outcome_low[row]), float(bins.outcome_high[row])
            line = _line(said, float(bins.mean_outcome[row]), ends)
            yield (
                f"{bins.lower[row]:.1f} to {bins.upper[row]:.1f}  |{line}|  {figures.probability(said):>5} "
                f"{figures.count(n):>3}"
            )


def _axis() -> str:
    cells = [" "] * (_CELLS + 2)
    for share in (0, 25, 50, 75, 100):
        word = f"{share}%"
        start = min(max(1 + _place(share / 100.0) - len(word) // 2, 0), len(cells) - len(word))
        cells[start : start + len(word)] = word
    return "".join(cells)


def _line(said: float, happened: float, ends: tuple[float, float]) -> str:
    cells = [" "] * _CELLS
    low, high = (_place(end) for end in ends)
    cells[low : high + 1] = "─" * (high - low + 1)
    cells[_place(said)] = _SAID
    cells[_place(happened)] = _BOTH if _place(said) == _place(happened) else _HAPPENED
    return "".join(cells)


def _place(share: float) -> int:
    return min(max(round(share * (_CELLS - 1)), 0), _CELLS - 1)
