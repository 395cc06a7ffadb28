"""A program that visits pages out of files and prints what that took: a process of its own can be measured whole.

`python -m tests.research.pages.visits SECONDS TYPE:FILE ...` prints a line of JSON for each.
"""

import json
import resource
import sys
import threading
import time
from datetime import UTC, datetime
from pathlib import Path

import psutil
from predibot.tools.visit_webpage import make_visit_webpage

from predibot.research.pages.fetch import Page
from predibot.research.pages.parser_pool import ParserPool
from predibot.research.pages.parser_process import ParserLimits

_KILOBYTE = 1 if sys.platform == "darwin" else 1024


def visit(content_type: str, file: Path, seconds: float) -> dict[str, object]:
    """Return what one visit took, in this process and in that of its parser, and what it left behind."""
    before_bytes = psutil.Process().memory_info().rss
    parsers = ParserPool(ParserLimits(seconds=seconds))

    def fetch(url: str) -> Page:
        return Page(url, url, 200, content_type, None, file.read_bytes(), datetime.now(UTC), None, None)

    began = time.monotonic()
    said = make_visit_webpage(fetch=fetch, parsers=parsers)("http://a.example/", 1, "turnout")
    took = time.monotonic() - began
    threads = threading.active_count() - 1
    parsers.close()
    return {
        "said": said[:200],
        "seconds": took,
        "threads_left": threads,
        "children_left": len(psutil.Process().children()),
        "resident_mb": (_peak_bytes(resource.RUSAGE_SELF) - before_bytes) / 1e6,
        "child_mb": _peak_bytes(resource.RUSAGE_CHILDREN) / 1e6,
    }


def _peak_bytes(who: int) -> int:
    """Return the most memory that was ever resident; of children, the largest one's."""
    return resource.getrusage(who).ru_maxrss * _KILOBYTE


def main() -> None:
    """Visit what is named on the command line."""
    for argument in sys.argv[2:]:
        content_type, _, file = argument.partition(":")
        sys.stdout.write(json.dumps(visit(content_type, Path(file), float(sys.argv[1]))) + "\n")


if __name__ == "__main__":
    main()
