"""What is behind one decision: orders, fills, what it gained by each horizon, and its sources with their kept text."""

from typing import Any

from predibot.errors import PredibotError, UsageError
from predibot.jobs.histories.gains import HorizonGain, gains_of_bot
from predibot.ledger.files.content_store import Pages
from predibot.ledger.read.rows_for_python import LedgerDecision
from predibot.web.pages.page import WebPage
from predibot.web.shelf import Shelf


def shown_details(shelf: Shelf, decision: LedgerDecision) -> dict[str, Any]:
    """Return what a page shows of a decision besides its forecasts and its trace."""
    bot = decision.bot
    gains: tuple[HorizonGain, ...] = ()
    if decision.subject_kind == "event" and not decision.late:
        venue = next((run.venue for run in shelf.runs() if (run.run, run.void) == (decision.run, decision.void)), None)
        # One record of a bot serves all its decisions.
        of_bot = shelf.once(
            "gains",
            (bot, venue),
            lambda: gains_of_bot(shelf.store, bot, venue=venue, clock=shelf.clock),
        )
        gains = of_bot.get((decision.subject_id, decision.decided_at), ())
    return {"details": shelf.details(decision.run, bot, decision.subject_id), "gains": gains}


def source_page(shelf: Shelf, run: str, bot: str, subject: str, number: int) -> WebPage:
    """Return a source of a decision, with the text that was kept of it."""
    found = shelf.details(run, bot, subject)
    source = next((each for each in found.sources if each.number == number), None)
    if source is None:
        raise UsageError(f"no source {number} of {bot[:60]!r} on {subject[:60]!r} in run {run[:80]!r}")
    text, missing = "", "Of a search only what was searched for is kept." if source.kind == "search" else ""
    if source.sha256 is not None:
        try:
            text = Pages(shelf.store).text(source.sha256)
        except PredibotError as error:
            # Pages may be pruned, or left on another machine.
            missing = str(error)
    shown = {"source": source, "run": run, "bot": bot, "subject": subject, "text": text, "missing": missing}
    return WebPage("source", shown)
