"""Tables: forecasts of several forecasters on settled questions, drawn from a seed or by hypothesis."""

import numpy as np
from hypothesis import strategies as st

from predibot.scoring import Forecasts

NAN = float("nan")
ANSWERS = st.tuples(
    st.integers(0, 2),
    st.integers(0, 5),
    st.floats(0, 1),
    st.floats(0, 1) | st.just(NAN),
    st.floats(0, 10) | st.just(NAN),
    st.floats(0, 100),
)
"""Whose, of which question, the probability, the price, the confidence, and how many days ahead."""
Answer = tuple[int, int, float, float, float, float]


def table_of(answers: list[Answer], forecasters: tuple[str, ...] = ("a", "b", "c")) -> Forecasts:
    """Return answers as a table: odd questions came out YES, two neighbours are a cluster, three a category."""
    who, question, said, price, sure, ahead = (np.array([row[index] for row in answers]) for index in range(6))
    asked = question.astype(np.int64)
    return Forecasts(
        forecasters=forecasters,
        forecaster=who.astype(np.int64),
        question=asked,
        cluster=asked // 2,
        probability=said.astype(float),
        outcome=(asked % 2).astype(float),
        market_probability=price.astype(float),
        days_ahead=ahead.astype(float),
        confidence=sure.astype(float),
        category=asked // 3,
        categories=("sports", "weather"),
    )


TABLES = st.lists(ANSWERS, min_size=1, max_size=25).map(table_of)


def drawn(clusters: int, *, forecasters: int = 3, seed: int = 1) -> Forecasts:
    """Return two questions a cluster, answered by everybody, the first of them best."""
    rng = np.random.default_rng(seed)
    questions = 2 * clusters
    chances = rng.random(questions)
    outcome = (rng.random(questions) < chances).astype(float)
    who, asked = (each.ravel() for each in np.meshgrid(np.arange(forecasters), np.arange(questions), indexing="ij"))
    noise = 0.15 * who / max(forecasters - 1, 1) + 0.05
    return Forecasts(
        forecasters=tuple("abcdefgh"[:forecasters]),
        forecaster=who,
        question=asked,
        cluster=asked // 2,
        probability=np.clip(chances[asked] + rng.normal(0.0, 2.0 * noise), 0.0, 1.0),
        outcome=outcome[asked],
        market_probability=np.clip(chances[asked] + rng.normal(0.0, 0.1, asked.size), 0.01, 0.99),
        days_ahead=rng.uniform(0.0, 60.0, asked.size),
        confidence=rng.integers(0, 11, asked.size).astype(float),
        category=(asked // 2) % 2,
        categories=("sports", "weather"),
    )
