"""What tests of tools may ask for."""

import importlib.util
from collections.abc import Callable
from pathlib import Path

import pytest

CL100K_FILE = "9b5ad71b2ce5302211f9c61530b329a4922fc6a4"
"""tiktoken names a vocabulary by the SHA-1 of its address."""


@pytest.fixture(scope="session")
def tokens_of() -> Callable[[str], int]:
    """Return a counter of cl100k_base tokens, as litellm carries that vocabulary, or skip the test."""
    tiktoken = pytest.importorskip("tiktoken")
    spec = importlib.util.find_spec("litellm")
    folder = Path(spec.origin).parent / "litellm_core_utils" / "tokenizers" if spec and spec.origin else Path()
    if not (folder / CL100K_FILE).is_file():
        pytest.skip("no litellm here that carries the vocabulary")
    with pytest.MonkeyPatch.context() as patch:
        # Where tiktoken looks before it would ask the network.
        patch.setenv("TIKTOKEN_CACHE_DIR", str(folder))
        encoding = tiktoken.get_encoding("cl100k_base")
    return lambda text: len(encoding.encode(text, disallowed_special=()))
