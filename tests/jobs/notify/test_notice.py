"""Notices: whatever a recipe, a venue or a model is called or says, they are short, harmless and ours."""

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predibot.domain.clock import parse_instant
from predibot.errors import PredibotError
from predibot.jobs.notify.notice import (
    MAX_LINE_CHARACTERS,
    MAX_LINES,
    MAX_TITLE_CHARACTERS,
    Notice,
    kind_of_error,
    notice_of_abstentions,
    notice_of_budget,
    notice_of_day,
    notice_of_drift,
    notice_of_missed,
    notice_of_recipe,
    notice_of_remarks,
    notice_of_slot,
    safe_name,
)
from tests.plain_words import private_words

SLOT = parse_instant("2026-11-22T12:05Z")
HARMFUL = "<>&@`[]|*~\r\n\x1b\u202e\u200b"


def _notices(name: str, reason: str) -> list[Notice]:
    day: dict[str, Any] = {"slots": {"done": 1}, "outcomes": {"failed": 2}, "cost_usd": 0.5, "is_cost_known": False}
    return [
        notice_of_slot(name, SLOT, is_good=False, reason=reason, outcomes={"failed": 1, "recorded": 1}),
        notice_of_slot(name, SLOT, is_good=True, reason=reason),
        notice_of_remarks(name, SLOT, reason),
        notice_of_missed(name, [SLOT + timedelta(days=each) for each in range(400)]),
        notice_of_recipe(name, is_good=False),
        notice_of_drift(name, ["3 of 10 events lack a tag"]),
        notice_of_budget(name, f"the run {safe_name(name)}", "usd", spent=0.9, limit=1.0),
        notice_of_abstentions(name, 3),
        notice_of_day(name, SLOT, ["Nobody beats the price."], ["# bot"], troubles=[f"runs of {name}"], **day),
    ]


@given(st.text(), st.text(alphabet="SECRET", min_size=6))
def test_no_name_is_more_than_a_name_and_no_reason_is_told(name: str, reason: str) -> None:
    for notice in _notices(name, f"{name}{reason}"):
        text = "\n".join((notice.title, *notice.body))
        assert not [mark for mark in HARMFUL.replace("\n", "").replace("`", "") if mark in text]
        assert "//" not in text
        assert len(notice.title) <= MAX_TITLE_CHARACTERS
        assert len(notice.body) <= MAX_LINES and max(map(len, notice.body), default=0) <= MAX_LINE_CHARACTERS
        if "SECRET" in reason and "SECRET" not in name:
            assert "SECRET" not in text


def test_each_kind_of_error_comes_to_a_sentence_or_to_none() -> None:
    def kinds(of: type[PredibotError]) -> list[str]:
        return [of.__name__, *(kind for each in of.__subclasses__() for kind in kinds(each))]

    known = {kind for kind in kinds(PredibotError) if kind_of_error(f"{kind}: x")}
    # What a slot ends with; the others are about one decision, or name a branch of the tree.
    assert known >= {"VenueUnavailable", "VenueChanged", "RunConflict", "PluginError", "RecipeError", "LedgerUnusable"}
    assert kind_of_error("KeyError: sk-SECRET") == ""
    notices = [notice for kind in known for notice in _notices("daily", f"{kind}: x")]
    assert private_words("\n".join(line for each in notices for line in (each.title, *each.body))) == []


@pytest.mark.parametrize(("kind", "told"), [("VenueChanged", "drift"), ("VenueUnavailable", "failure")])
def test_a_venue_that_changed_is_told_as_drift(kind: str, told: str) -> None:
    assert notice_of_slot("daily", SLOT, is_good=False, reason=f"{kind}: x").kind == told
    assert notice_of_remarks("daily", SLOT, f"tracking failed: {kind}: x").kind == told


def test_a_long_message_is_cut_and_says_so() -> None:
    notice = Notice("summary", "a day", tuple(f"line {number} {'x' * 500}" for number in range(60)))
    assert len(notice.body) == MAX_LINES
    assert notice.body[-1] == "... and 36 more lines"
    assert notice.body[0].endswith("x…")


def test_no_trouble_that_goes_on_is_cut_off() -> None:
    troubles = [f"runs of {'recipe-' * 6}{number}" for number in range(12)]
    day: dict[str, Any] = {"slots": {"done": 1}, "outcomes": {}, "cost_usd": 0.5, "is_cost_known": True}
    notice = notice_of_day("daily", SLOT, ["Nobody beats the price."], ["# bot"], troubles=troubles, **day)
    assert max(map(len, notice.body)) <= MAX_LINE_CHARACTERS
    assert f"Not over yet: {', '.join(troubles)}." in " ".join(notice.body)
    assert notice.body[-2:] == ("Nobody beats the price.", "# bot")
