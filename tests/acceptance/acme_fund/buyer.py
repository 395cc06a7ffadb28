"""A buyer that spends thirty dollars at each turn, and hangs where a file says so."""

import threading
from dataclasses import dataclass
from pathlib import Path

from predibot.contracts import Context
from predibot.domain.decision import Decision

TOLD = Path("told.txt")


@dataclass(frozen=True, slots=True)
class AcmeBuyer:
    """Buy for thirty dollars."""

    usd: float = 30.0
    games = ("buy_or_hold",)

    def decide(self, context: Context) -> Decision:
        """Return a purchase."""
        if TOLD.is_file() and TOLD.read_text(encoding="utf-8") == "hang":
            TOLD.write_text("hanging", encoding="utf-8")
            threading.Event().wait()
        assert context.account is not None
        return context.form().parse({"action": "BUY", "usd": self.usd})
