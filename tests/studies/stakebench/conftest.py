"""What tests of comments share."""

import json
from pathlib import Path

import pytest

from tests.studies.stakebench.readers import data_set


@pytest.fixture(scope="session")
def texts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a small data set of comments, which nobody changes."""
    return data_set(tmp_path_factory.mktemp("texts"), comments=1_500)


@pytest.fixture(scope="session")
def few_texts(texts: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return those of two topics of it."""
    folder = tmp_path_factory.mktemp("few")
    for name in ("comments.jsonl", "windows.jsonl"):
        lines = (texts / name).read_text().splitlines(keepends=True)
        kept = [line for line in lines if json.loads(line)["split"] in ("crypto", "economics")]
        (folder / name).write_text("".join(kept))
    return folder
