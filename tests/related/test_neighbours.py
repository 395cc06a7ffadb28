"""Neighbours of an event: the most alike first, each with what makes it so."""

import numpy as np

from predibot.related.beliefs import Beliefs
from predibot.related.features import TUNED
from predibot.related.filters import Filters
from predibot.related.neighbours import neighbours_of
from tests.related.made import FIRST_DAY, from_logits, from_prices, scores_of

MOVING = 0.2 * (-1.0) ** np.arange(60)


def jumping(*days: int) -> np.ndarray:
    steps = MOVING.copy()
    steps[list(days)] += 1.5 * (-1.0) ** np.arange(len(days))
    return np.cumsum(steps)


def three() -> Beliefs:
    """Return two markets that jump on days 20 and 40 (or 41), and one that jumps on day 30."""
    return from_logits(
        np.array([jumping(20, 40), jumping(20, 41), jumping(30)]),
        texts=["Will the rates fall in Rome?", "Will the rates fall in Oslo?", "Will it snow?"],
        tags=[["economy", "italy"], ["economy"], ["weather"]],
        events=["rome", "oslo", "snow"],
    )


def test_a_neighbour_comes_with_shared_jumps_tags_and_words() -> None:
    found = neighbours_of("rome", three(), filters=None)
    first, second = found.neighbours
    assert (first.event_id, first.tags, first.common_days) == ("oslo", ("economy",), 60)
    assert first.shared_jumps == ((FIRST_DAY + 20, FIRST_DAY + 20), (FIRST_DAY + 40, FIRST_DAY + 41))
    assert first.words == ("fall", "rates")
    assert (second.event_id, second.shared_jumps, second.tags, second.words) == ("snow", (), (), ())
    assert first.score > 0.4 > second.score


def test_scores_are_those_of_the_whole_table_in_either_direction() -> None:
    beliefs = three()
    scores = scores_of(beliefs, TUNED)
    assert neighbours_of("rome", beliefs, filters=None).neighbours[0].score == scores[0, 1]
    assert neighbours_of("oslo", beliefs, filters=None).neighbours[0].score == scores[0, 1]


def test_two_events_are_as_alike_as_their_most_alike_markets() -> None:
    beliefs = from_logits(
        np.array([jumping(20, 40), jumping(10), jumping(50), jumping(20, 40)]),
        events=["a", "a", "b", "b"],
        texts=["rain"] * 4,
    )
    (found,) = neighbours_of("a", beliefs, filters=None).neighbours
    assert (found.own_market_id, found.market_id, found.score) == ("m0000", "m0003", 1.0)


def test_events_that_were_never_open_together_are_no_neighbours() -> None:
    prices = (1 / (1 + np.exp(-jumping(20)))).tolist()
    beliefs = from_prices([prices, prices], first_days=[0, 60], texts=["rain", "rain"])
    assert neighbours_of("e0000", beliefs, filters=None).neighbours == ()
    beliefs = from_prices([prices, prices], first_days=[0, 59], texts=["rain", "rain"])
    assert [each.common_days for each in neighbours_of("e0000", beliefs, filters=None).neighbours] == [1]


def test_what_the_filters_leave_out_is_counted_and_is_nobodys_neighbour() -> None:
    flat = 0.001 * MOVING
    beliefs = from_logits(np.array([jumping(20), jumping(20), flat]), events=["a", "b", "c"])
    found = neighbours_of("a", beliefs, filters=Filters())
    assert [each.event_id for each in found.neighbours] == ["b"]
    assert found.left_out is not None
    assert (found.markets, found.own_markets, found.left_out.flat, found.left_out.volume_unknown) == (3, 1, 1, 3)
    alone = neighbours_of("c", beliefs, filters=Filters())
    assert (alone.own_markets, alone.neighbours) == (0, ())


def test_a_port_of_vectors_stands_in_for_the_words() -> None:
    def vectors(texts: object) -> np.ndarray:
        return np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])

    beliefs = from_logits(np.array([MOVING] * 3), events=["a", "b", "c"], texts=["x", "x", "y"])
    assert [each.event_id for each in neighbours_of("a", beliefs, filters=None, embed=vectors).neighbours] == ["c", "b"]
