"""Reading many price histories at once: each is kept as it arrives, and a venue that is out of reach is given up."""

from collections.abc import Callable

import pytest

from predibot.errors import VenueUnavailable
from predibot.jobs.price_histories import read_histories, shorten_failures
from tests.jobs.tiny import nobody

ANSWERS = Callable[[], int]


def answers() -> int:
    return 7


def fails() -> int:
    raise VenueUnavailable("it is away")


def read(*asked: ANSWERS) -> tuple[int, list[str]]:
    numbered = {number: str(number) for number in range(len(asked))}
    return read_histories(
        numbered, lambda number: asked[number](), lambda some: sum(points for _, points in some), "track", 1, nobody
    )


def test_after_five_failures_in_a_row_the_rest_is_not_asked_for() -> None:
    new, failures = read(answers, answers, *[fails] * 5, *[answers] * 3)
    assert new == 2 * 7
    assert failures[0] == "prices of 2 could not be read: it is away"
    assert failures[5:] == ["3 more price histories were not asked for"]
    assert shorten_failures(failures) == [*failures[:3], "3 more could not be read"]


def test_an_answer_between_failures_keeps_the_venue_asked() -> None:
    new, failures = read(*[fails] * 4, answers, *[fails] * 4, answers)
    assert (new, len(failures)) == (2 * 7, 8)


def test_a_failure_that_is_not_the_venues_ends_it_all() -> None:
    def breaks() -> int:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        read(answers, breaks, answers)
