"""Difficulty: comparable scores of forecasters who were asked different questions."""

import numpy as np
from numpy.typing import ArrayLike

from predibot.scoring.arguments import Floats, Ints, array_of, indices, numbers, refuse, same_length, within_floats
from predibot.scoring.inference.clusters import cluster_codes

MAX_FORECASTERS = 1_000_000
MAX_EQUATIONS = 3_000
"""The most equations solved at once: one for each forecaster or each question, whichever are fewer."""


@within_floats
def difficulty_adjusted(scores: ArrayLike, forecaster: ArrayLike, question: ArrayLike) -> Floats:
    """Return the score each forecaster would have on the average question.

    Two-way fixed effects: score = forecaster + question + rest, fitted by least
    squares. A forecaster's number is its own effect plus the mean effect of
    all questions, each counted once. If lower scores are better, lower numbers
    are too. If everybody answered every question, it is the plain mean.

    Args:
        scores: One for each answer, such as (p - y)^2, shape (n,).
        forecaster: Who answered, numbered from zero and below 1,000,000, or by names, shape (n,).
        question: The question of each, words or whole numbers, shape (n,). A question answered by one forecaster alone
            does not show who is better, but counts as a question.

    Returns:
        Shape (largest forecaster + 1,), NaN for a forecaster without an answer; for names one each, in sorted order.
        Only forecasters linked by shared questions, directly or through others, are comparable. If they form several
        groups, the largest has numbers and the others NaN. On a tie nobody has one, and neither with more than 3,000
        forecasters and 3,000 questions.

    Raises:
        ValueError: If there is no answer, the lengths differ, a score is NaN or
            infinite, or a forecaster is neither a name nor a number in that range.

    Source:
        Abowd, Kramarz and Margolis (1999) for the model and its groups;
        ForecastBench adjusts forecasters' Brier scores by the same model.

    Examples:
        >>> hard, easy = 1, 2
        >>> difficulty_adjusted([0.4, 0.3, 0.1], [0, 1, 1], [hard, hard, easy]).round(3).tolist()
        [0.3, 0.2]
    """
    values, who = numbers("scores", scores), _number_forecasters(forecaster)
    what = cluster_codes(question, "question")
    same_length(scores=values, forecaster=who, question=what)
    refuse("forecaster", who, who < 0, "each must be zero or more")
    # The answer has a number for each one below the largest.
    refuse("forecaster", who, who >= MAX_FORECASTERS, f"each must be below {MAX_FORECASTERS:,}, or a name")
    adjusted = np.full(int(who.max()) + 1, np.nan)
    linked = _largest_linked_group(who, what)
    rows = np.isin(who, linked)
    if rows.any():
        _, who_linked = np.unique(who[rows], return_inverse=True)
        adjusted[linked] = _scores_on_the_average_question(values[rows], who_linked, cluster_codes(what[rows]))
    return adjusted


def _number_forecasters(forecaster: ArrayLike) -> Ints:
    """Return forecasters as numbers: their own, or the places of their sorted names."""
    if array_of("forecaster", forecaster).dtype.kind in "US":
        return cluster_codes(forecaster, "forecaster")
    return indices("forecaster", forecaster)


def _largest_linked_group(who: Ints, what: Ints) -> Ints:
    """Return the forecasters of the largest group that shared questions link; none on a tie."""
    # Imported here: it takes a tenth of a second.
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    present, row = np.unique(who, return_inverse=True)
    nodes = present.size + int(what.max()) + 1
    answers = coo_array((np.ones(who.size), (row, present.size + what)), shape=(nodes, nodes))
    group = connected_components(answers, directed=False)[1][: present.size]
    members = np.bincount(group)
    largest = np.flatnonzero(members == members.max())
    return present[group == largest[0]] if largest.size == 1 else present[:0]


def _scores_on_the_average_question(values: Floats, who: Ints, what: Ints) -> Floats:
    forecasters, questions = int(who.max()) + 1, int(what.max()) + 1
    if min(forecasters, questions) > MAX_EQUATIONS:
        return np.full(forecasters, np.nan)
    if forecasters <= questions:
        skills, difficulties = _effects(values, who, what)
    else:
        difficulties, skills = _effects(values, what, who)
    adjusted: Floats = skills + difficulties.mean()
    return adjusted


def _effects(values: Floats, few: Ints, many: Ints) -> tuple[Floats, Floats]:
    """Return the least-squares effects of the few, which add up to zero, and of the many."""
    from scipy.sparse import coo_array

    answers = coo_array((np.ones(few.size), (few, many))).tocsr()
    each_of_many = np.bincount(many)
    means = np.bincount(many, values) / each_of_many
    # With the many solved for, one equation for each of the few remains.
    equations = np.diag(np.bincount(few).astype(np.float64)) - (answers / each_of_many @ answers.T).toarray()
    beyond = np.bincount(few, values - means[many])
    # The equations fix effects up to a constant only; this picks the ones that add up to zero.
    effects = np.linalg.solve(equations + 1.0 / len(equations), beyond)
    return effects, means - (answers.T @ effects) / each_of_many
