"""Forecasting bots that bet paper money on prediction markets, and what became of it.

```
import predibot

with predibot.open_ledger("sqlite:///runs/out/predibot.db") as ledger:
    for row in ledger.leaderboard():
        print(row.rank, row.bot, row.edge)
```
"""

from typing import TYPE_CHECKING

from predibot.version import __version__

if TYPE_CHECKING:
    from predibot.api import (
        DecideView,
        LeaderboardRow,
        Ledger,
        LedgerCohort,
        LedgerDecision,
        LedgerForecast,
        LedgerRun,
        Played,
        PredibotError,
        Progress,
        Replay,
        Rows,
        ScoreRow,
        Scores,
        decide,
        open_ledger,
        replay,
    )

__all__ = [
    "DecideView",
    "LeaderboardRow",
    "Ledger",
    "LedgerCohort",
    "LedgerDecision",
    "LedgerForecast",
    "LedgerRun",
    "Played",
    "PredibotError",
    "Progress",
    "Replay",
    "Rows",
    "ScoreRow",
    "Scores",
    "__version__",
    "decide",
    "open_ledger",
    "replay",
]


if not TYPE_CHECKING:
    # A type checker would take every name for one that there is.
    def __getattr__(name: str) -> object:
        """Return a name of the Python interface, which loads with the first: a command needs none."""
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from predibot import api

        return getattr(api, name)


def __dir__() -> list[str]:
    """Return the public names, loaded or not."""
    return sorted({*globals(), *__all__})
