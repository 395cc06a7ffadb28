"""`predibot demo`: the main job over a simulated world, without network or key."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from predibot.cli import options, output
from predibot.cli.options import flag, option
from predibot.errors import UsageError

if TYPE_CHECKING:
    from predibot.jobs.decide import DecideReport

_ABOUT_BOTS = "Scripts played, no models; yours begins with `predibot init`. More:"

_Game = Literal["dollar_per_event", "portfolio_weights", "weekly_cohort"]
_Market = Literal["questions", "stocks"]


@dataclass(frozen=True, slots=True)
class _Demo:
    recipes: Sequence[str]
    file: Path
    days: int
    next_steps: str
    overrides: Mapping[str, Any] = field(default_factory=dict)
    bots: Sequence[str] = ()
    """Only these of a recipe; empty for all."""
    stocks: Path | None = None
    """Folder for simulated stocks; None for a game on questions."""


_GAMES: Mapping[_Game, _Demo] = {
    "dollar_per_event": _Demo(
        recipes=("sandbox", "sandbox_agents"),
        file=Path("runs/out/demo.db"),
        days=30,
        next_steps="""\
{about_bots}
  predibot report --explain --ledger {url}
  predibot serve --ledger {url}""",
    ),
    "portfolio_weights": _Demo(
        recipes=("sandbox_portfolio",),
        file=Path("runs/out/demo_portfolio.db"),
        # Ranks take 30 returns.
        days=32,
        next_steps="""\
{about_bots}
  predibot account script_sharp --ledger {url}
  predibot report --full --ledger {url}
  predibot serve --ledger {url}
With all its scripts, for minutes: `predibot replay sandbox_portfolio`
On real markets, with a network: `predibot decide portfolio`""",
        # Reading takes most of the time: few markets, and only one bot that reads.
        overrides={"events": 3},
        bots=(
            *("all_cash", "equal_weights", "buy_and_hold", "market_favourite", "random_weights"),
            *("script_sharp", "script_lazy"),
        ),
    ),
    "weekly_cohort": _Demo(
        recipes=("sandbox_weekly",),
        file=Path("runs/out/demo_weekly.db"),
        # Eight cohorts: while the last one decides, the first three are only followed.
        days=56,
        next_steps="""\
A cohort starts every week with $10,000 a bot. To see more of it:
  predibot cohort --ledger {url}
  predibot cohort {cohort} --ledger {url}
  predibot account script_sharp --cohort {cohort} --ledger {url}
  predibot report --full --ledger {url}
  predibot serve --ledger {url}""",
    ),
}


_STOCKS = _Demo(
    recipes=("sandbox_stocks",),
    file=Path("runs/out/demo_stocks.db"),
    # A quarter has dividends, and sometimes a split, a halt or a delisting.
    days=63,
    next_steps="""\
The stocks are simulated, whatever their names; their files lie in {folder}.
{about_bots}
  predibot account script_sharp --ledger {url}
  predibot report --full --ledger {url}
  predibot serve --ledger {url}
With all its scripts, for minutes: `predibot replay sandbox_stocks`
On prices of your own: `predibot replay stocks --venue stocks:FOLDER`""",
    # Only one script: each takes as long as all other bots together.
    bots=(
        *("all_cash", "equal_weights", "buy_and_hold", "random_weights"),
        *("index_qqq", "index_spy", "script_sharp"),
    ),
    stocks=Path("runs/out/demo_stocks"),
)


def demo(
    game: Annotated[_Game, flag("--game", "which game is played")] = "dollar_per_event",
    market: Annotated[_Market, flag("--market", "what a portfolio is of")] = "questions",
    days: Annotated[int | None, option("--days", "N", "how many; left out: a month", min=2, max=100)] = None,
    json: options.Json = False,
    verbose: options.Verbose = False,
) -> None:
    """Decide on a month of simulated days, track, evaluate; start over each time."""
    from predibot.jobs.deciding.open_run import RunRequest
    from predibot.jobs.deciding.worker import Resources
    from predibot.jobs.demo import demonstrate
    from predibot.ledger.store import Store
    from predibot.reports.terminal.evaluation_screen import ScreenOptions
    from predibot.reports.views.decide import decide_view
    from predibot.reports.views.evaluation import evaluation_document
    from predibot.scoring.evaluation.evaluation import Question

    caller = output.caller(verbose=verbose)
    if market != "questions" and game != "portfolio_weights":
        raise UsageError("--market stocks is of portfolios; add --game portfolio_weights")
    settings = caller.settings()
    played = _GAMES[game] if market == "questions" else _STOCKS
    requests = tuple(RunRequest.read(name, played.overrides, played.bots) for name in played.recipes)
    for name in (played.file.name, f"{played.file.name}-wal", f"{played.file.name}-shm"):
        played.file.with_name(name).unlink(missing_ok=True)
    url = f"sqlite:///{played.file.as_posix()}"
    output.say(f"recipes: {' and '.join(each.recipe.source for each in requests)}\nledger: {url}")
    runs: list[DecideReport] = []
    with Store.open(url) as store, caller.progress() as listener:
        evaluation = demonstrate(
            requests,
            Resources(store, settings, caller.clock, listener),
            told=partial(_report_run, runs),
            question=output.question_for(Question(), ScreenOptions(), options.Output(json=json)),
            days=days or played.days,
            stocks=played.stocks,
        )
    if json:
        output.print_document(
            {"runs": [decide_view(report).document() for report in runs], "evaluation": evaluation_document(evaluation)}
        )
        return
    cohort = min((each.run.slot_at for each in runs), default=caller.clock())
    text = played.next_steps.format(about_bots=_ABOUT_BOTS, url=url, cohort=f"{cohort:%Y-%m-%d}", folder=played.stocks)
    shown = ScreenOptions(simulated=True, next_steps=tuple(text.split("\n")))
    output.print_evaluation(evaluation, options.Output(), shown)


def _report_run(runs: "list[DecideReport]", report: "DecideReport") -> None:
    runs.append(report)
    seen = Counter(decision.status for decision in report.decisions)
    output.say(f"{report.run.key}: {', '.join(f'{count} {status}' for status, count in seen.items())}")
