"""Methods: what every number is."""

from predibot.reports.views.methods import chapters, column_meanings
from predibot.web.pages.page import WebPage
from predibot.web.shelf import Shelf


def methods_page(_shelf: Shelf) -> WebPage:
    """Return the definitions of the public scoring functions, and what headers of tables mean."""
    return WebPage("methods", {"chapters": chapters(), "columns": column_meanings()})
