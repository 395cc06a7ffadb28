"""Embeddings: a model that is on this machine, and never one that would have to be downloaded."""

import sys
from pathlib import Path

import numpy as np
import pytest

from predibot.errors import UsageError
from predibot.jobs.relatedness.embeddings import open_embedding

LIBRARY = """
class SentenceTransformer:
    def __init__(self, model, local_files_only=False):
        if not local_files_only:
            raise AssertionError("it would be downloaded")
        if model != "here":
            raise OSError("couldn't find it in the cache")

    def encode(self, texts, show_progress_bar=True):
        return [[3.0 * len(text), 4.0 * len(text)] if text.strip() else [1.0, 0.0] for text in texts]
"""


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put a library of that name into the way of the import."""
    (tmp_path / "sentence_transformers.py").write_text(LIBRARY)
    monkeypatch.syspath_prepend(tmp_path)
    # Set first, so that what the import puts there is taken away again after the test.
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    monkeypatch.delitem(sys.modules, "sentence_transformers")


@pytest.mark.usefixtures("library")
def test_vectors_have_length_one_and_an_empty_text_has_none() -> None:
    assert np.allclose(open_embedding("here")(["rain", "  "]), [[0.6, 0.8], [0.0, 0.0]])


@pytest.mark.usefixtures("library")
def test_a_model_that_is_not_on_this_machine_is_named_and_not_downloaded() -> None:
    with pytest.raises(UsageError, match=r"'there' is not on this machine .*nothing is downloaded unasked"):
        open_embedding("there")


def test_a_folder_of_somebody_is_not_taken_for_a_model_by_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "some/model").mkdir(parents=True)
    with pytest.raises(UsageError, match=r"Write \./some/model if you mean it"):
        open_embedding("some/model")
    with pytest.raises(UsageError, match=r"not on this machine|not installed"):
        open_embedding("./some/model")


def test_without_the_library_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(UsageError, match=r"pip install 'predibot\[embeddings\]'"):
        open_embedding("here")
