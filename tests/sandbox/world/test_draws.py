"""Draws: random numbers that are looked up, each with the minute at which it becomes known."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from predibot.sandbox.world.draws import Draws


def test_the_order_of_asking_changes_no_draw() -> None:
    items = np.arange(50)
    together = Draws(3).uniform("a", event=1, item=items, known_at_minute=0)
    backwards = [Draws(3).uniform("a", event=1, item=item, known_at_minute=0)[0] for item in items[::-1]]
    assert together.tolist() == backwards[::-1]


def test_seed_purpose_event_and_item_each_make_another_draw() -> None:
    first = Draws(3).uniform("a", event=1, item=1, known_at_minute=0)
    assert first != Draws(4).uniform("a", event=1, item=1, known_at_minute=0)
    assert first != Draws(3).uniform("b", event=1, item=1, known_at_minute=0)
    assert first != Draws(3).uniform("a", event=2, item=1, known_at_minute=0)
    assert first != Draws(3).uniform("a", event=1, item=2, known_at_minute=0)


@given(after=st.integers(0, 99))
def test_only_draws_known_later_are_altered(after: int) -> None:
    minutes = np.arange(100)
    plain = Draws(3).uniform("a", event=1, item=minutes, known_at_minute=minutes)
    altered = Draws(3, altered_after_minute=after).uniform("a", event=1, item=minutes, known_at_minute=minutes)
    assert ((plain == altered) == (minutes <= after)).all()


def test_uniform_draws_are_uniform_and_independent_along_both_keys() -> None:
    drawn = Draws(5).uniform("a", event=np.arange(300)[:, None], item=np.arange(300), known_at_minute=0)
    counts, _ = np.histogram(drawn, bins=10, range=(0, 1))
    assert abs(counts / 9_000 - 1).max() < 0.05
    assert abs(np.corrcoef(drawn[:-1].ravel(), drawn[1:].ravel())[0, 1]) < 0.02
    assert abs(np.corrcoef(drawn[:, :-1].ravel(), drawn[:, 1:].ravel())[0, 1]) < 0.02


def test_normal_draws_have_the_moments_of_a_standard_normal() -> None:
    drawn = Draws(5).normal("a", event=1, item=np.arange(100_000), known_at_minute=0)
    assert abs(drawn.mean()) < 0.02
    assert abs(drawn.std() - 1) < 0.02
    assert abs((drawn**4).mean() - 3) < 0.15


@given(event=st.integers(0, 2**63 - 1), item=st.integers(0, 2**63 - 1))
def test_one_event_draws_what_it_draws_among_others(event: int, item: int) -> None:
    alone = Draws(3).uniform("a", event=event, item=item, known_at_minute=0)
    among = Draws(3).uniform("a", event=np.array([event, 7]), item=item, known_at_minute=0)
    assert alone.tolist() == among[:1].tolist()
