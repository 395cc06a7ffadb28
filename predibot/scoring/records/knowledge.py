"""Knowledge: whether the models behind a decision may have learned how its event ended before they were asked."""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from predibot.scoring.arguments import Floats, Ints, booleans, floats, indices, one_dimensional, refuse, same_length

Knowledge = Literal["clean", "unknown", "ahead", "contaminated"]
KNOWLEDGE: tuple[Knowledge, ...] = ("clean", "unknown", "ahead", "contaminated")
"""From best to worst. Clean decisions are scored, unknown ones are ranked apart, the others have no score."""
CLEAN, UNKNOWN, AHEAD, CONTAMINATED = range(len(KNOWLEDGE))


def knowledge_of(
    opened_model: ArrayLike,
    cutoff_at: ArrayLike,
    *,
    is_live: ArrayLike,
    decided_at: ArrayLike,
    event_settled_at: ArrayLike,
) -> NDArray[np.int8]:
    """Return what the models behind each decision can have known, (n,), as indices into `KNOWLEDGE`.

    A decision that opened no model is clean, and so is a live one: nobody can have read an outcome that has not come.
    In a replay it is clean if the knowledge cutoff is not after the decision, `ahead` if the cutoff lies between
    decision and settlement, `contaminated` if it lies after the settlement, and `unknown` without a cutoff.

    Args:
        opened_model: Whether a model was opened for the decision, (n,).
        cutoff_at: The knowledge cutoff, for several models the latest, in
            seconds since 1970, (n,); NaN where it is unknown.
        is_live: Whether the model was asked while the event went on, (n,), and not in a replay.
        decided_at: The instant of the decision, in seconds since 1970, (n,).
        event_settled_at: When the last market of the event settled, (n,);
            infinite if one has not, or if the decision is about no event.

    Raises:
        ValueError: If the lengths differ, or an instant other than a cutoff is NaN.

    Examples:
        >>> codes = knowledge_of(
        ...     [True, True, True, False],
        ...     [5.0, 15.0, 25.0, 25.0],
        ...     is_live=[False] * 4,
        ...     decided_at=[10.0] * 4,
        ...     event_settled_at=[20.0] * 4,
        ... )
        >>> [KNOWLEDGE[code] for code in codes]
        ['clean', 'ahead', 'contaminated', 'clean']
    """
    opened, live = booleans("opened_model", opened_model), booleans("is_live", is_live)
    cutoff = one_dimensional("cutoff_at", floats("cutoff_at", cutoff_at))
    decided, settled = _instants("decided_at", decided_at), _instants("event_settled_at", event_settled_at)
    same_length(opened_model=opened, cutoff_at=cutoff, is_live=live, decided_at=decided, event_settled_at=settled)
    later = np.where(cutoff > settled, CONTAMINATED, AHEAD)
    replayed = np.where(np.isnan(cutoff), UNKNOWN, np.where(cutoff > decided, later, CLEAN))
    return np.where(opened & ~live, replayed, CLEAN).astype(np.int8)


def inherited_knowledge(knowledge: ArrayLike, pooling: ArrayLike, pooled: ArrayLike) -> NDArray[np.int8]:
    """Return what can have been known by decisions that pool others, (n,), as indices into `KNOWLEDGE`.

    A decision that pools others is as bad as the worst of them.

    Args:
        knowledge: What the models of each decision itself can have known, (n,), as indices into `KNOWLEDGE`.
        pooling: The row of a decision that pools another, (m,).
        pooled: The row of the pooled one, (m,).

    Raises:
        ValueError: If the lengths of the last two differ, or a row or an index is out of range.

    Examples:
        >>> inherited_knowledge([0, 3, 1, 0], [0, 0], [1, 2]).tolist()
        [3, 3, 1, 0]
    """
    codes, above, below = indices("knowledge", knowledge), indices("pooling", pooling), indices("pooled", pooled)
    refuse("knowledge", codes, (codes < 0) | (codes >= len(KNOWLEDGE)), f"there are {len(KNOWLEDGE)}, counted from 0")
    same_length(pooling=above, pooled=below)
    for name, rows in (("pooling", above), ("pooled", below)):
        refuse(name, rows, (rows < 0) | (rows >= codes.size), f"there are {codes.size} decisions, counted from 0")
    return _worst(codes, above, below).astype(np.int8)


def _worst(codes: Ints, above: Ints, below: Ints) -> Ints:
    worst = codes.copy()
    np.maximum.at(worst, above, codes[below])
    # A pooled decision may itself pool others.
    return worst if np.array_equal(worst, codes) else _worst(worst, above, below)


def _instants(name: str, values: ArrayLike) -> Floats:
    array = one_dimensional(name, floats(name, values))
    refuse(name, array, np.isnan(array), "each must be an instant, or infinite")
    return array
