"""One bot: how good it is, and what became of its decisions."""

from predibot.errors import UsageError
from predibot.ledger.read.rows_for_python import Asked
from predibot.scoring.evaluation.evaluation import Question
from predibot.web.pages.leaderboard import lines_of
from predibot.web.pages.page import PAGE, Page
from predibot.web.shelf import Shelf


def bot_page(shelf: Shelf, name: str, venue: str = "") -> Page:
    """Return a bot's place and curve, its latest decisions, and why some were none.

    Raises:
        UsageError: If no such bot has decided.
    """
    asked = Asked(bots=(name,))
    counts = shelf.counts(asked)
    if not counts:
        raise UsageError(f"no bot {name[:60]!r} has decided")
    found = shelf.evaluation("", Question(wanted=("evidence", "curves")), venue)
    silent = [
        each
        for status in counts
        if status != "recorded"
        for each in shelf.decisions(Asked(bots=(name,), status=status), limit=PAGE)
    ]
    return Page(
        "bot",
        {
            "name": name,
            "lines": [row for ranking in found.rankings.values() for row in lines_of(ranking) if row.row.bot == name],
            "counts": counts,
            "reasons": sorted(silent, key=lambda each: each.slot_at, reverse=True)[:PAGE],
            "latest": shelf.decisions(asked, limit=PAGE),
        },
    )
