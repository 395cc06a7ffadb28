"""Methods: what every number is."""

from predibot.reports.views.methods import chapters, column_meanings
from predibot.web.pages.page import Page
from predibot.web.shelf import Shelf


def methods_page(_shelf: Shelf) -> Page:
    """Return the definitions of docs/metrics.md, and what headers of tables mean."""
    return Page("methods", {"chapters": chapters(), "columns": column_meanings()})
