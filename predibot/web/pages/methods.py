"""Methods: what every number is."""

from predibot.errors import UsageError
from predibot.reports.views.methods import chapters, column_meanings, entries_of
from predibot.web.cache import LedgerCache
from predibot.web.pages.page import WebPage


def methods_page(_cache: LedgerCache, chapter: str = "") -> WebPage:
    """Return meanings of headers with a list of the scoring functions, or a chapter of these.

    Raises `UsageError` for an unknown chapter.
    """
    found = chapters()
    shown = next((each for each in found if each.name == chapter), None)
    if chapter and shown is None:
        raise UsageError(f"there is no chapter {chapter[:60]!r}; there are: {', '.join(each.name for each in found)}")
    shown_here = {"chapters": found, "chapter": shown, "columns": column_meanings(), "entries_of": entries_of}
    return WebPage("methods", shown_here)
