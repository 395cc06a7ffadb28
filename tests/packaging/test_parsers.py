"""Parsers of pages: child processes that find predibot however it is installed."""

from pathlib import Path

from tests.packaging.conftest import Copy

VISIT = """
import os
from datetime import UTC, datetime

from predibot.research.pages.fetch import Page
from predibot.tools.visit_webpage import make_visit_webpage

def fetch(url):
    return Page(url, "text/html", None, b"<p>The vote is on Tuesday.</p>", datetime.now(UTC), None)

os.chdir("/")
print(make_visit_webpage(fetch=fetch)("http://a.example/", 1, None).text)
"""


def test_a_page_is_read_however_predibot_is_installed(copy: Copy, tmp_path: Path) -> None:
    done = copy.run("-W", "error", "-c", VISIT, cwd=tmp_path)

    assert (done.stdout, done.stderr) == ("http://a.example/ · undated\nThe vote is on Tuesday.\n", "")
