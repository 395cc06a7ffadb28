"""Views of tests: a scorecard with every kind of number, and a call of `decide`; and what is printed of one."""

from collections.abc import Callable
from dataclasses import fields
from datetime import UTC, datetime
from io import StringIO

from predibot.domain.decision import STATUSES
from predibot.ledger.read.rows_for_python import LedgerRun
from predibot.ledger.write.decisions import StoredBet
from predibot.ledger.write.runs import StoredRun
from predibot.reports.terminal.terminal import console_for
from predibot.reports.views.decide import ChosenView, DecideView, DecisionView
from predibot.scoring.evaluation.evaluation import Evaluation
from predibot.scoring.evaluation.forecast_score import ForecastScore
from predibot.scoring.evaluation.scorecard import HorizonScore, Scorecard
from predibot.scoring.inference.bootstrap import Estimate
from predibot.scoring.standing import BASELINES
from predibot.selection import Rejection

AS_OF = datetime(2026, 2, 13, 19, 30, tzinfo=UTC)


def piped(show: Callable[..., None], *what: object, columns: int | None = None, **how: object) -> str:
    """Return what is printed of something into a pipe."""
    out = StringIO()
    show(console_for(out, columns=columns), *what, **how)
    return out.getvalue()


def horizon(days: float | None, mean_return: float | None, n: int, *, sharpe: float | None = None) -> HorizonScore:
    """Return a score of ten decisions of which n have a value."""
    return HorizonScore(
        days=days,
        mean_return=mean_return,
        n=n,
        coverage=n / 10,
        sharpe=sharpe,
        market_mean_return=None if mean_return is None else -0.0037782,
        n_market=n,
        n_passed=10,
        n_unpriced=10 - n,
    )


def forecast_score() -> ForecastScore:
    """Return a score with an interval, and without what needs a second bot."""
    return ForecastScore(
        n=15,
        clusters=12,
        brier=0.0024782,
        log_score=0.0342925,
        accuracy=1.0,
        calibration_error=0.031,
        n_market=15,
        market_brier=0.0000153,
        market_log_score=0.01,
        skill_vs_market=-160.9,
        intervals={"brier": Estimate(0.0024782, 0.0012, 0.0135, 0.95, 15, 12, "studentised cluster bootstrap", 999, 0)},
    )


def card(bot: str = "random_bet") -> Scorecard:
    """Return a scorecard with present and missing numbers."""
    return Scorecard(
        bot=bot,
        baseline=bot in BASELINES,
        decisions=12,
        forecasts=45,
        void=1,
        forecast=forecast_score(),
        brier_open=None,
        n_brier_open=0,
        horizons={
            "1": horizon(1, -0.0037782, 2, sharpe=-12.345),
            "7": horizon(7, None, 0),
            "settled": horizon(None, 12.3456, 2),
        },
        cost_usd=None,
        cost_known_usd=1.25,
        refused=1,
        failed=1,
        abstained=0,
        clean=12,
        unknown=0,
        ahead=0,
        contaminated=0,
    )


def evaluation(*bots: str, notes: tuple[str, ...] = ()) -> Evaluation:
    return Evaluation(AS_OF, tuple(card(bot) for bot in bots), notes)


RUN = StoredRun(
    id=1,
    key="daily/2026-02-13",
    recipe="daily",
    slot_at=datetime(2026, 2, 13, tzinfo=UTC),
    as_of=AS_OF,
    venue="archive",
    venue_name="archive",
    game="dollar_per_event",
    seed=0,
    digest="",
    recipe_json="{}",
    overrides={},
    code_version="1",
    created_at=AS_OF,
    passed_over=(),
    notes=(),
    voided_at=None,
    void_reason=None,
)
CHOSEN = ChosenView("26004", "Next Prime Minister of the Netherlands", 3, 1_234_567.8)
PASSED_OVER = Rejection("77", "MegaETH market cap (FDV)?", "exclude", 'crypto: the word "megaeth"')
BET = StoredBet("m1", 0.25, 0.5, None, 0.375)


def run_row(void_reason: str, **statuses: int) -> LedgerRun:
    known = {each.name: getattr(RUN, each.name) for each in fields(LedgerRun) if hasattr(RUN, each.name)}
    counts = dict.fromkeys(STATUSES, 0) | statuses | {"bots": 2, "events": 10, "late": 0, "void": 1}
    return LedgerRun(run=RUN.key, **{**known, **counts, "void_reason": void_reason})


def decided(*decisions: DecisionView, notes: tuple[str, ...] = ()) -> DecideView:
    return DecideView(RUN, (CHOSEN,), (PASSED_OVER,), decisions, 1.5, notes)
