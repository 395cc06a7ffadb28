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
from predibot.version import __version__ as __version__

if TYPE_CHECKING:
    from predibot.api.python import Ledger as Ledger
    from predibot.api.python import Replay as Replay
    from predibot.api.python import Scores as Scores
    from predibot.api.python import decide as decide
    from predibot.api.python import open_ledger as open_ledger
    from predibot.api.python import replay as replay
    from predibot.contracts import Progress as Progress
    from predibot.errors import PredibotError as PredibotError
    from predibot.jobs.replay.replay import ReplayInstant as ReplayInstant
    from predibot.ledger.read.accounts.cohorts import LedgerCohort as LedgerCohort
    from predibot.ledger.read.labels import LedgerItem as LedgerItem
    from predibot.ledger.read.labels import LedgerLabel as LedgerLabel
    from predibot.ledger.read.rows_for_python import LedgerDecision as LedgerDecision
    from predibot.ledger.read.rows_for_python import LedgerForecast as LedgerForecast
    from predibot.ledger.read.rows_for_python import LedgerRun as LedgerRun
    from predibot.reports.views.decide import DecideView as DecideView
    from predibot.reports.views.evaluation import ScoreRow as ScoreRow
    from predibot.reports.views.leaderboard import LeaderboardRow as LeaderboardRow
    from predibot.rows import Rows as Rows

    Played = ReplayInstant
else:
    __getattr__, __dir__ = lazily(__name__, renamed={"Played": "ReplayInstant"})
