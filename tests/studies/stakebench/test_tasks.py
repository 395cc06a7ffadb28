"""What a run asks about: drawn by seed alone, balanced where chance is to be one half, whole or left out."""

import hashlib
from collections import Counter
from dataclasses import replace

import pytest

from predibot.studies.stakebench.data_set import LabelledComment
from predibot.studies.stakebench.tasks import TASKS, Item, ItemDraw, draw_items
from tests.studies.stakebench.rows import a_comment, a_window, rows_of

COMMENTS = [
    a_comment(market, number, **({"side": "YES", "size": 10.0 + number, "action": "hold"} if number % 3 else {}))
    for market in range(4)
    for number in range(30)
]


def draw(
    comments: list[LabelledComment], *, per_split: int = 20, seed: int = 7, tasks: tuple[str, ...] = ()
) -> ItemDraw:
    return draw_items(rows_of(comments), tasks=tasks or tuple(TASKS), per_split=per_split, seed=seed)


def ids(found: ItemDraw, task: str) -> list[str]:
    return [item.id for item in found.items if item.task == task]


def test_the_draw_is_the_same_wherever_and_in_whatever_order_the_rows_come() -> None:
    first = ids(draw(COMMENTS, tasks=("G2",), per_split=12), "G2")
    held = [row.comment for row in COMMENTS if row.side is not None]
    assert first == sorted(held, key=lambda name: hashlib.sha256(f"7|G2|{name}".encode()).digest())[:12]
    other = sorted(COMMENTS, key=lambda row: (row.market, -int(row.comment.partition("-")[2])))
    assert ids(draw(other, tasks=("G2",), per_split=12), "G2") == first
    assert ids(draw(COMMENTS, tasks=("G2",), per_split=12, seed=8), "G2") != first
    # More of them are the same and then more.
    assert ids(draw(COMMENTS, tasks=("G2",), per_split=30), "G2")[:12] == first


def test_who_holds_a_position_is_asked_of_as_many_who_do_as_do_not() -> None:
    found = draw(COMMENTS, per_split=24)
    assert Counter(item.truth.label for item in found.items if item.task == "G1" and item.truth) == {
        "YES": 12,
        "NO": 12,
    }
    few = [
        row
        for row in COMMENTS
        if row.side is not None or row.comment in ("c0-0", "c0-3", *[f"c1-{n}" for n in range(30)])
    ]
    counts = Counter(item.truth.label for item in draw(few, per_split=24).items if item.task == "G1" and item.truth)
    assert counts == {"YES": 12, "NO": 12}
    none = [row for row in COMMENTS if row.side is not None]
    assert ids(draw(none), "G1") == []


def test_a_split_with_too_little_is_left_out_and_said() -> None:
    rare = [replace(row, split="other", market=f"x{row.market}") for row in COMMENTS[:11]]
    found = draw([*COMMENTS, *rare])
    assert {item.split for item in found.items} == {"polymarket/crypto"}
    assert "G2 of polymarket/other has 7 instances, fewer than 12: left out" in found.notes


def test_prompts_of_two_labels_are_asked_where_the_truth_is_one_of_them() -> None:
    acts = ("flip", "increase", "decrease", "hold")
    comments = [
        a_comment(market, number, side="NO", size=-3.0, action=acts[number % 4])
        for market in range(4)
        for number in range(40)
    ]
    found = draw(comments, per_split=200)
    by_task = {task: {item.truth.label for item in found.items if item.task == task and item.truth} for task in TASKS}
    assert by_task["G3"] == set(acts)
    assert by_task["G3f"] == {"flip", "hold"}
    assert by_task["G3d"] == {"decrease", "hold"}
    assert {(item.side, item.size) for item in found.items if item.task.startswith("G3")} == {("NO", -3.0)}
    assert {(item.side, item.size) for item in found.items if not item.task.startswith("G3")} == {(None, None)}


def test_what_people_wrote_before_they_held_anything_is_asked_of_those_who_did_later() -> None:
    # Of the seven users of each market, u1 never holds anything.
    comments = [
        a_comment(
            market,
            number,
            ever_held=number >= 21,
            side="YES" if number >= 21 and number % 7 != 1 else None,
        )
        for market in range(2)
        for number in range(35)
    ]
    found = draw(comments, per_split=200, tasks=("G2before",))
    assert {item.truth.user for item in found.items if item.truth} == {"u0", "u2", "u3", "u4", "u5", "u6"}
    assert {int(item.id.partition("-")[2]) for item in found.items} <= set(range(21))


def test_a_window_shows_its_comments_and_knows_the_stakes_behind_them() -> None:
    windows = [
        a_window(market, [f"c{market}-{n}" for n in range(1, 12)], start=f"2026-01-{day:02}T00:00:00Z")
        for market in range(4)
        for day in range(2, 6)
    ]
    found = draw_items(rows_of(COMMENTS, windows), tasks=("G4",), per_split=50, seed=1)
    assert len(found.items) == 16
    item = found.items[0]
    market = item.market[1:]
    assert item.texts[0] == f"these are words of comment 1 below market {market}"
    assert item.price == 0.4
    assert item.truth is not None
    assert item.truth.stakes[:3] == (("YES", 11.0), ("YES", 12.0), ("", 0.0))
    assert item.truth.label == "UP"
    with pytest.raises(ValueError, match="which is not among the comments"):
        draw_items(rows_of(COMMENTS, [a_window(1, ["c9-9"]) for _ in range(12)]), tasks=("G4",), per_split=50, seed=1)


def test_the_stakes_of_a_market_say_who_would_have_won() -> None:
    comments = [
        a_comment(0, 0, side="YES", size=-50.0),
        a_comment(0, 1, side="NO", size=40.0),
        a_comment(1, 0, side="YES", size=10.0, resolved=-1),
        a_comment(2, 0, side="YES", size=10.0, resolved=0),
        *[a_comment(3, n, side=("YES", "NO")[n % 2], size=10.0) for n in range(2)],
    ]
    assert draw(comments).crowds == {"polymarket/crypto": (1, 2)}


def test_what_a_bot_is_shown_has_no_truth_in_it() -> None:
    item = draw(COMMENTS, tasks=("G3",)).items[0]
    assert Item.from_json(item.as_json()) == item
    shown = Item.public_json(item.as_json())
    assert item.truth is not None
    assert item.truth.user not in shown
    assert Item.from_json(shown) == replace(item, truth=None)
    assert Item.public_json('{"anything": "else"}') == ""


def test_a_row_that_is_there_twice_is_refused() -> None:
    # Also where it would not be drawn: the stakes of a market count each comment once.
    with pytest.raises(ValueError, match="a comment of market 'm0' is there more than once"):
        draw([COMMENTS[0], *COMMENTS], per_split=0)
    with pytest.raises(ValueError, match="is there more than once"):
        draw([*COMMENTS, *[row for row in COMMENTS if row.market == "m3"]], per_split=200, tasks=("G2",))
