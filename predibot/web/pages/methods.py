"""Methods: what every number is."""

from predibot.reports.views.methods import chapters, column_meanings
from predibot.web.cache import LedgerCache
from predibot.web.pages.page import WebPage


def methods_page(_cache: LedgerCache) -> WebPage:
    """Return the definitions of the public scoring functions, and what headers of tables mean."""
    return WebPage("methods", {"chapters": chapters(), "columns": column_meanings()})
