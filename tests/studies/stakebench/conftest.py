"""What tests of comments share."""

from pathlib import Path

import pytest

from tests.studies.stakebench.readers import data_set


@pytest.fixture(scope="session")
def texts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a small data set of comments, which nobody changes."""
    return data_set(tmp_path_factory.mktemp("texts"), comments=1_500)
