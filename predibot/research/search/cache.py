"""The cache of searches: one small file an answer, in a folder that the caller names."""

import hashlib
import json
import logging
import os
import tempfile
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path

from predibot.research.search.provider import SearchAnswer, SearchResult

MAX_FILES = 5_000
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class SearchCache:
    """Answers by (provider, query, window). A file that cannot be read or written is as good as none."""

    folder: Path
    max_files: int = MAX_FILES

    def get(self, provider: str, query: str, window: str) -> SearchAnswer | None:
        """Return the stored answer, which now costs nothing, or None."""
        try:
            content = json.loads(self._path(provider, query, window).read_text(encoding="utf-8"))
            results = tuple(_result(row) for row in content["results"])
        except FileNotFoundError:
            return None
        except (OSError, ValueError, TypeError, KeyError) as error:
            _log.debug("a stored search cannot be read: %s", error)
            return None
        return SearchAnswer(results, cost_usd=0.0)

    def put(self, provider: str, query: str, window: str, answer: SearchAnswer) -> None:
        """Store an answer, whole or not at all; the oldest make room for it."""
        path = self._path(provider, query, window)
        rows = [asdict(result) | {"published_at": _written(result.published_at)} for result in answer.results]
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._make_room()
            with tempfile.NamedTemporaryFile(
                "w", encoding="utf-8", dir=self.folder, suffix=".new", delete=False
            ) as new:
                json.dump({"query": query, "results": rows}, new, ensure_ascii=False)
            os.replace(new.name, path)  # noqa: PTH105 - the name of an open file is text
        except OSError as error:
            _log.warning("a search could not be stored in %s: %s", self.folder, error)

    def _path(self, provider: str, query: str, window: str) -> Path:
        """Return the file of an answer."""
        key = json.dumps([provider, " ".join(query.split()), window], ensure_ascii=False)
        return self.folder / f"{hashlib.sha256(key.encode()).hexdigest()}.json"

    def _make_room(self) -> None:
        """Remove the oldest files where there are too many."""
        files = list(self.folder.glob("*.json"))
        if len(files) < self.max_files:
            return
        ages = sorted((path.stat().st_mtime_ns, path) for path in files if path.exists())
        for _, path in ages[: len(files) - self.max_files + 1 + self.max_files // 10]:
            path.unlink(missing_ok=True)


def _written(instant: datetime | None) -> str | None:
    return None if instant is None else instant.isoformat()


def _result(row: dict[str, str | None]) -> SearchResult:
    """Return a stored result."""
    published = row["published_at"]
    return SearchResult(
        title=str(row["title"]),
        url=str(row["url"]),
        snippet=str(row["snippet"]),
        published_at=None if published is None else datetime.fromisoformat(published),
        provider=str(row["provider"]),
    )
