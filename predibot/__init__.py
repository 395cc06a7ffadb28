"""Forecasting bots that bet paper money on prediction markets, and how they did.

```
import predibot

with predibot.open_ledger("sqlite:///runs/out/predibot.db") as ledger:
    for row in ledger.leaderboard():
        print(row.rank, row.bot, row.edge)
```
"""

from typing import TYPE_CHECKING

from predibot._lazy import lazily
from predibot.version import __version__

if TYPE_CHECKING:
    from predibot.api.python import Ledger, Replay, Scores, decide, open_ledger, replay
    from predibot.contracts import Progress
    from predibot.errors import PredibotError
    from predibot.jobs.replay.replay import ReplayInstant
    from predibot.ledger.read.accounts.cohorts import LedgerCohort
    from predibot.ledger.read.labels import LedgerItem, LedgerLabel
    from predibot.ledger.read.rows_for_python import LedgerDecision, LedgerForecast, LedgerRun
    from predibot.reports.views.decide import DecideView
    from predibot.reports.views.evaluation_csv import ScoreRow
    from predibot.reports.views.leaderboard import LeaderboardRow
    from predibot.rows import Rows

    Played = ReplayInstant
else:
    __getattr__, __dir__ = lazily(__name__, renamed={"Played": "ReplayInstant"})

__all__ = [
    "DecideView",
    "LeaderboardRow",
    "Ledger",
    "LedgerCohort",
    "LedgerDecision",
    "LedgerForecast",
    "LedgerItem",
    "LedgerLabel",
    "LedgerRun",
    "PredibotError",
    "Progress",
    "Replay",
    "ReplayInstant",
    "Rows",
    "ScoreRow",
    "Scores",
    "__version__",
    "decide",
    "open_ledger",
    "replay",
]
