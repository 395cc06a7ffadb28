"""Rows of a data set, made by hand."""

from collections.abc import Iterable, Sequence
from typing import Any

from predibot.studies.label_game import Rows
from predibot.studies.stakebench.data_set import LabelledComment, LabelledWindow
from predibot.studies.stakebench.positions import ACTION_HOURS


def a_comment(market: int, number: int, **said: Any) -> LabelledComment:
    """Return a comment of a market, by default of nobody who holds anything."""
    values: dict[str, Any] = {
        "platform": "polymarket",
        "split": "crypto",
        "market": f"m{market}",
        "question": f"Will it happen in case {market}?",
        "comment": f"c{market}-{number}",
        "user": f"u{number % 7}",
        "at": "2026-01-02T00:00:00Z",
        "text": f"these are words of comment {number} below market {market}",
        "side": None,
        "size": 0.0,
        "action": None,
        "resolved": 1,
        "ever_held": False,
        "truncated": False,
        "volume": 20_000.0,
        "closed": "2026-01-12T00:00:00Z",
    }
    said.setdefault("actions", (said["action"],) * len(ACTION_HOURS) if said.get("action") else ())
    return LabelledComment(**{**values, **said})


def a_window(market: int, comments: Iterable[str], **said: Any) -> LabelledWindow:
    """Return a window of a market whose price went up."""
    values: dict[str, Any] = {
        "platform": "polymarket",
        "split": "crypto",
        "market": f"m{market}",
        "question": f"Will it happen in case {market}?",
        "start": "2026-01-02T00:00:00Z",
        "days": 1,
        "price_before": 0.4,
        "price_after": 0.5,
        "direction": "UP",
        "comments": tuple(comments),
    }
    return LabelledWindow(**{**values, **said})


def rows_of(comments: Sequence[LabelledComment], windows: Sequence[LabelledWindow] = ()) -> Rows:
    """Return what reads them, as often as it is asked to."""
    return lambda name: iter(comments if name == "comments" else windows)
