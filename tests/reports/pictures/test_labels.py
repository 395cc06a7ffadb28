"""Names of points: none lies on another name or point, and none leaves the picture."""

import random

from predibot.reports.pictures.labels import place_labels


def test_names_lie_apart_and_within_the_picture() -> None:
    rng = random.Random(1)
    points = [(rng.uniform(10, 310), rng.uniform(10, 190)) for _ in range(25)]
    names = ["a_bot_of_some_name"] * 25
    places = place_labels(points, names, width=320.0, height=200.0, letter=5.0, line=10.0)
    boxes = []
    for place in places:
        if place is not None:
            left = place.x - 90.0 * {"start": 0.0, "middle": 0.5, "end": 1.0}[place.anchor]
            boxes.append((left, place.y - 8.0, left + 90.0, place.y + 2.0))
    assert 10 < len(boxes) < 25
    assert all(left >= 0.0 and top >= 0.0 and right <= 320.0 and bottom <= 200.0 for left, top, right, bottom in boxes)
    for number, (left, top, right, bottom) in enumerate(boxes):
        assert not any(left < r and x < right and top < b and y < bottom for x, y, r, b in boxes[:number])
        assert not any(left < x < right and top < y < bottom for x, y in points)


def test_a_name_that_finds_no_room_has_no_place() -> None:
    places = place_labels([(5.0, 5.0)] * 2, ["long name", "x"], width=20.0, height=20.0, letter=5.0, line=10.0)
    assert places[0] is None
    assert places[1] is not None
