"""One bot: how good it is, and what became of its decisions."""

from predibot.errors import UsageError
from predibot.scoring.evaluation.evaluation import Question
from predibot.web.pages.leaderboard import lines_of
from predibot.web.pages.page import PAGE, Page
from predibot.web.shelf import Shelf


def bot_page(shelf: Shelf, name: str, venue: str = "") -> Page:
    """Return a bot's place and curve, its latest decisions, and why some were none."""
    own = [each for each in shelf.decisions() if each.bot == name]
    if not own:
        raise UsageError(f"no bot {name[:60]!r} has decided")
    found = shelf.evaluation("", Question(wanted=("evidence", "curves")), venue)
    return Page(
        "bot",
        {
            "name": name,
            "lines": [
                each for ranking in found.rankings.values() for each in lines_of(ranking) if each.row.bot == name
            ],
            "decisions": own,
            "reasons": [each for each in own if each.status != "recorded"][:PAGE],
            "latest": own[:PAGE],
        },
    )
