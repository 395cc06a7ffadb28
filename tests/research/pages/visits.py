"""A program that visits pages out of files and prints what that took: a process of its own can be measured whole.

`python -m tests.research.pages.visits SECONDS TYPE:FILE ...` prints a line of JSON for each.
"""

import json
import resource
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psutil
from predibot.tools.visit_webpage import make_visit_webpage

from predibot.contracts import ToolError
from predibot.research.pages.fetch import Page
from predibot.research.pages.parser_pool import ParserPool
from predibot.research.pages.parser_process import ParserLimits
from tests.research.pages.hostile_pages import Hostile

ROOT = Path(__file__).parents[3]
_KILOBYTE = 1 if sys.platform == "darwin" else 1024


def visited(pages: Mapping[str, Hostile], folder: Path, *, seconds: float) -> dict[str, dict[str, Any]]:
    """Return what visits to pages took by their names, each with so much time for reading."""
    named = []
    for number, page in enumerate(pages.values()):
        (folder / str(number)).write_bytes(page.body)
        named.append(f"{page.content_type}:{folder / str(number)}")
    command = [sys.executable, "-m", "tests.research.pages.visits", f"{seconds:g}", *named]
    # A process begins with the peak memory of who started it: here of a small shell, which is not replaced.
    shell = ["/bin/sh", "-c", '"$@"; exit $?', "sh", *command]
    said = subprocess.run(shell, cwd=ROOT, capture_output=True, text=True, check=True, timeout=3_600).stdout
    return dict(zip(pages, map(json.loads, said.splitlines()), strict=True))


def visit(content_type: str, file: Path, seconds: float) -> dict[str, object]:
    """Return what one visit took, in this process and in that of its parser, and what it left behind."""
    before_bytes = psutil.Process().memory_info().rss
    parsers = ParserPool(ParserLimits(seconds=seconds))

    def fetch(url: str) -> Page:
        return Page(url, content_type, None, file.read_bytes(), datetime.now(UTC), None)

    began = time.monotonic()
    said = make_visit_webpage(fetch=fetch, parsers=parsers)("http://a.example/", 1, "turnout")
    took = time.monotonic() - began
    threads = threading.active_count() - 1
    parsers.close()
    return {
        "said": said.text[:200],
        "is_error": isinstance(said, ToolError),
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
    for argument in sys.argv[2:]:
        content_type, _, file = argument.partition(":")
        sys.stdout.write(json.dumps(visit(content_type, Path(file), float(sys.argv[1]))) + "\n")


if __name__ == "__main__":
    main()
