"""`predibot demo`: the main job over a simulated world, without network or key."""

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from predibot.cli import options, output

if TYPE_CHECKING:
    from predibot.jobs.decide import DecideReport

_FILE = Path("runs/out/demo.db")
_RECIPES = ("sandbox", "sandbox_agents")
_NEXT = """
Bots named script_* are scripted forecasters of a simulated world, no models. To see more of it:
  predibot report --full --ledger {url}
On real markets, with a network: predibot decide && predibot evaluate"""


def demo(json: options.Json = False, verbose: options.Verbose = False) -> None:
    """Decide on thirty simulated days, track, evaluate; start over each time."""
    from predibot.config import load_settings
    from predibot.jobs.demo import demonstrate
    from predibot.jobs.requested_recipe import asked_recipe
    from predibot.ledger.store import Store
    from predibot.reports.terminal.evaluation_screen import Shown
    from predibot.reports.terminal.terminal import print_line
    from predibot.reports.views.evaluation_json import evaluation_document
    from predibot.reports.views.from_jobs import decide_view
    from predibot.scoring.evaluation.evaluation import Question

    output.set_up_logs(verbose=verbose)
    asked = [asked_recipe(name, overrides={}) for name in _RECIPES]
    for name in (_FILE.name, f"{_FILE.name}-wal", f"{_FILE.name}-shm"):
        _FILE.with_name(name).unlink(missing_ok=True)
    url = f"sqlite:///{_FILE.as_posix()}"
    output.say(f"recipes: {' and '.join(each.label for each in asked)}\nledger: {url}")
    with Store.open(url) as store, output.progress(verbose=verbose) as listener:
        done = demonstrate(
            tuple(each.recipe for each in asked),
            store=store,
            settings=load_settings(),
            clock=options.wall_clock,
            listener=listener,
            told=_tell,
            question=output.question_for(Question(), Shown(), json=json),
        )
    if json:
        output.print_document(
            {
                "runs": [decide_view(report).document() for report in done.runs],
                "evaluation": evaluation_document(done.evaluation),
            }
        )
        return
    output.print_evaluation(done.evaluation, json=False)
    console = output.report_console()
    for line in _NEXT.format(url=url).split("\n"):
        print_line(console, line)


def _tell(report: "DecideReport") -> None:
    seen = Counter(decision.status for decision in report.decisions)
    output.say(f"{report.run.key}: {', '.join(f'{count} {status}' for status, count in seen.items())}")
