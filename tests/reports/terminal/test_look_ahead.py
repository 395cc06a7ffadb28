"""What became of decisions that were made again without the future."""

from predibot.jobs.replay.look_ahead_check import DecisionDifference, LookAhead
from predibot.reports.terminal.replay import look_ahead_document, print_look_ahead
from tests.reports.views_of import piped

PEEK = DecisionDifference("daily@2025-09-01T00:00Z", "peeker", "e1", "forecasts 101 probability", 0.99, None, 0.99)
FOUND = LookAhead(7_285, 20, (PEEK,), {"gpt": "it talks to openai/gpt-5, which may answer otherwise each time"})


def test_who_looked_ahead_is_shown_with_all_three_values_and_who_was_left_out_with_the_reason() -> None:
    text = piped(print_look_ahead, FOUND)
    assert "look-ahead: 19 of 20 decisions, drawn from 7,285, are the same with everything after" in text
    assert "note: gpt was left out: it talks to openai/gpt-5, which may answer otherwise each time" in text
    (row,) = [line for line in text.splitlines() if "peeker" in line]
    assert row.split()[:3] == ["daily@2025-09-01T00:00Z", "peeker", "e1"]
    assert row.split()[-3:] == ["0.99", "–", "0.99"]


def test_many_differences_are_cut_and_counted() -> None:
    many = LookAhead(9, 9, (PEEK,) * 23, {})
    assert piped(print_look_ahead, many).count("peeker") == 20
    assert "note: 3 more; --json has them all" in piped(print_look_ahead, many)
    assert many.differing == 1


def test_where_nothing_differs_there_is_no_table() -> None:
    assert "Not the same" not in piped(print_look_ahead, LookAhead(9, 9, (), {}))


def test_the_document_has_every_value() -> None:
    assert look_ahead_document(FOUND) == {
        "decisions": 7_285,
        "checked": 20,
        "differing": 1,
        "differences": [
            {
                "run": "daily@2025-09-01T00:00Z",
                "bot": "peeker",
                "event_id": "e1",
                "what": "forecasts 101 probability",
                "stored": 0.99,
                "without_future": None,
                "with_future": 0.99,
            }
        ],
        "skipped": dict(FOUND.skipped),
    }
