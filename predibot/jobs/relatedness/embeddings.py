"""Embeddings: texts as vectors of a sentence-transformer that is already on this machine."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from predibot.errors import UsageError
from predibot.related.features import Embed
from predibot.scoring.arguments import Floats


def open_embedding(model: str) -> Embed:
    """Return a function that turns texts into vectors of length 1, by a sentence-transformer, without a download.

    Args:
        model: Its folder, as a path that begins with `/` or `.`, or its name in the cache of Hugging Face.

    Raises:
        UsageError: If the library or the model is not on this machine, or a folder here has the name.
    """
    if not model.startswith(("/", ".")) and Path(model).exists():
        raise UsageError(
            f"a folder of the name {model[:100]!r} lies here, and would be taken for the model; it can hold code. "
            f"Write ./{model[:100]} if you mean it"
        )
    # Imported here: it loads torch, which takes seconds and is an extra.
    try:
        from sentence_transformers import SentenceTransformer
    except ImportError:
        raise UsageError(
            f"model {model[:100]!r} needs sentence-transformers, which is not installed: "
            "pip install 'predibot[embeddings]', or compare by tfidf"
        ) from None
    try:
        transformer: Any = SentenceTransformer(model, local_files_only=True)
    except (OSError, ValueError) as error:
        raise UsageError(
            f"the model {model[:100]!r} is not on this machine ({str(error)[:200]}); nothing is downloaded unasked. "
            f"Run `huggingface-cli download {model[:100]}` first, or name a folder"
        ) from None

    def embed(texts: Sequence[str]) -> Floats:
        vectors = np.asarray(transformer.encode(list(texts), show_progress_bar=False), dtype=np.float64)
        length = np.linalg.norm(vectors, axis=1, keepdims=True)
        empty = np.array([[not text.strip()] for text in texts])
        # An empty text has no direction, whatever the model makes of it.
        unit: Floats = np.where(empty | (length == 0.0), 0.0, vectors / np.where(length == 0.0, 1.0, length))
        return unit

    return embed
