"""Knowledge: whether a bot's model may have learned how an event ended before it was asked."""

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from predibot.scoring.arguments import Floats, same_length

Knowledge = Literal["clean", "contaminated", "unknown"]
KNOWLEDGE: tuple[Knowledge, ...] = ("clean", "contaminated", "unknown")
"""A contaminated decision is in no score of its bot; an unknown one is, and is counted."""
CONTAMINATED = KNOWLEDGE.index("contaminated")


def knowledge_of(has_model: NDArray[np.bool_], cutoff_at: Floats, event_settled_at: Floats) -> NDArray[np.int8]:
    """Return what each decision's model can have known, (n,), as indices into `KNOWLEDGE`.

    A model knows how an event ended where the whole of it had ended before the
    day of the model's knowledge cutoff began. Without a model nobody has learned
    anything; of a model without a cutoff nothing is known.

    Args:
        has_model: Whether the decision's bot has a model, (n,).
        cutoff_at: The start of the UTC day of the cutoff in seconds since
            1970, (n,); NaN where it is not known.
        event_settled_at: When the last market of the event settled, (n,);
            infinite where one has not, or the decision is about no event.

    Raises:
        ValueError: If the lengths differ.
    """
    same_length(has_model=has_model, cutoff_at=cutoff_at, event_settled_at=event_settled_at)
    known = np.where(event_settled_at < cutoff_at, CONTAMINATED, KNOWLEDGE.index("clean"))
    codes = np.where(np.isnan(cutoff_at), KNOWLEDGE.index("unknown"), known)
    return np.where(has_model, codes, KNOWLEDGE.index("clean")).astype(np.int8)
