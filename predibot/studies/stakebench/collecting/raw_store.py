"""Raw answers: every answer of a venue is stored once as it was sent, so that a collection can be resumed."""

import fcntl
import hashlib
import json
import os
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from predibot.domain.untrusted_text import MAX_JSON_VALUES, has_too_many_values
from predibot.errors import UsageError
from predibot.plain_file import plain_bytes, plain_text, unpack
from predibot.whole_file import remove_unfinished_files, whole_file


class RawStore:
    """A folder of answers by kind and id."""

    def __init__(self, folder: Path) -> None:
        """Use a folder; it is made when needed."""
        self.folder = folder
        self.requests = 0
        """Answers that were not stored yet."""

    @contextmanager
    def lock(self, platform: str) -> Iterator[None]:
        """Lock the folder for one collection of one platform, and remove half-written files of a killed one.

        Raises `UsageError` if another collection is at work in it, or it holds answers of another platform, or of a
        simulated one: they would be mistaken for this one's.
        """
        raw = self.folder / "raw"
        raw.mkdir(parents=True, exist_ok=True)
        held = os.open(raw, os.O_RDONLY)
        try:
            try:
                fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise UsageError(f"another collection is at work in {self.folder}; wait for it to end") from None
            path = raw / "platform"
            if not path.is_file():
                with whole_file(path) as file:
                    file.write(f"{platform}\n".encode())
            if (there := plain_text(path, errors="replace").strip()) != platform:
                raise UsageError(
                    f"{self.folder} holds answers of {there[:40]!r}, not of {platform!r}; name another folder"
                )
            for folder in (self.folder, *filter(Path.is_dir, raw.iterdir())):
                remove_unfinished_files(folder)
            yield
        finally:
            os.close(held)

    def answer(self, kind: str, name: str, ask: Callable[[], object]) -> object:
        """Return a stored answer, or ask for it and store it whole.

        Raises `UsageError` if a stored one cannot be read.
        """
        # Ids may hold anything, file names may not.
        path = self.folder / "raw" / kind / f"{hashlib.sha256(name.encode()).hexdigest()[:32]}.json.gz"
        if path.is_file():
            try:
                text = unpack(plain_bytes(path))
                if has_too_many_values(text):
                    raise ValueError(f"it holds more than {MAX_JSON_VALUES:,} values")
                return json.loads(text)["answer"]
            except (OSError, ValueError, RecursionError, KeyError, TypeError) as error:
                raise UsageError(f"{path} cannot be read ({error}); delete it and collect again") from None
        answer = ask()
        self.requests += 1
        path.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(path) as file:
            # Without an instant, so that equal answers are equal files.
            file.write(zlib.compress(json.dumps({"asked": name, "answer": answer}).encode(), level=9, wbits=31))
        return answer
