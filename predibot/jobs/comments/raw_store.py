"""Raw payloads: every answer of a venue as it was sent, kept once, so that a collection goes on where it ended."""

import gzip
import hashlib
import json
import zlib
from collections.abc import Callable
from pathlib import Path

from predibot.errors import UsageError
from predibot.whole_file import whole_file


class RawStore:
    """A folder of answers, each under the kind and the id of what was asked for."""

    def __init__(self, folder: Path) -> None:
        """Use a folder, made where it does not exist."""
        self.folder = folder
        self.asked = 0
        """How many were not there and had to be asked for."""

    def keep_to(self, platform: str) -> None:
        """Keep answers of one platform alone: those of another, or of a simulated one, would be taken for its own.

        Raises:
            UsageError: If those of another are kept here.
        """
        path = self.folder / "raw" / "platform"
        if path.is_file():
            there = path.read_text(encoding="utf-8", errors="replace").strip()
            if there != platform:
                raise UsageError(
                    f"{self.folder} holds answers of {there[:40]!r}, not of {platform!r}; name another folder"
                )
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(path) as file:
            file.write(f"{platform}\n".encode())

    def answer(self, kind: str, name: str, ask: Callable[[], object]) -> object:
        """Return an answer that is kept, or ask for it and keep it; it is kept whole or not at all.

        Raises:
            UsageError: If what is kept cannot be read.
        """
        # A venue's id may be anything, and a file's name may not.
        path = self.folder / "raw" / kind / f"{hashlib.sha256(name.encode()).hexdigest()[:32]}.json.gz"
        if path.is_file():
            try:
                kept = json.loads(gzip.decompress(path.read_bytes()))
                return kept["answer"]
            except (OSError, EOFError, zlib.error, ValueError, KeyError, TypeError) as error:
                raise UsageError(f"{path} cannot be read ({error}); delete it and collect again") from None
        answer = ask()
        self.asked += 1
        path.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(path) as file:
            # Without an instant, so that equal answers are equal files.
            file.write(gzip.compress(json.dumps({"asked": name, "answer": answer}).encode(), mtime=0))
        return answer
