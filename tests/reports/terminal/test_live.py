"""The live board: what every bot is doing, and nothing that a stranger wrote does anything."""

from io import StringIO

from predibot.contracts import Progress
from predibot.domain.trace import SearchStep
from predibot.jobs.deciding.activity import Activity, activity_of_step
from predibot.reports.terminal.live import LiveBoard, live_board
from predibot.reports.terminal.terminal import console_for


def _drawn(board: LiveBoard) -> str:
    screen = StringIO()
    console_for(screen, columns=120).print(board)
    return screen.getvalue()


def test_a_bot_shows_its_events_steps_cost_and_what_it_does() -> None:
    board = LiveBoard(["sharp", "idle"])
    board.activity(Activity("sharp", "1", "running", 1, "thinks", 0.25))
    board.activity(Activity("sharp", "1", "recorded"))
    board.activity(Activity("sharp", "2", "running", 1, "searched rain", 0.5))
    row = _drawn(board).splitlines()[1]
    assert "●▸" in row
    assert "$0.750" in row
    assert "2: searched rain" in row
    assert _drawn(board).splitlines()[2].startswith("idle")


def test_an_unknown_cost_is_not_nothing() -> None:
    board = LiveBoard(["a"])
    board.activity(Activity("a", "1", "running", 1, "thinks", None))
    assert "$0.000 + unknown" in _drawn(board)


def test_a_late_step_of_a_decision_that_is_over_changes_nothing() -> None:
    board = LiveBoard(["a"])
    board.activity(Activity("a", "1", "failed"))
    board.activity(Activity("a", "1", "running", 5, "thinks", 1.0))
    assert "✗" in _drawn(board)
    assert "$0.000" in _drawn(board)


def test_the_time_left_follows_from_the_pace_so_far() -> None:
    seconds = iter([0.0, 10.0])
    board = LiveBoard(["a"], monotonic=lambda: next(seconds))
    board.progress(Progress("decide", 1, 12))
    assert "time left unknown" in _drawn(board)
    board.progress(Progress("decide", 6, 12))
    assert "decide: 6 of 12, about 12 s left" in _drawn(board)


def test_what_strangers_wrote_does_nothing_on_the_screen() -> None:
    hostile = "\x1b]0;owned\x07\u202e\x9b2J\r\n[red]x"
    screen = StringIO()
    with live_board([hostile], screen, width=120) as board:
        step = SearchStep(hostile, (), cost_usd=0.0)
        board.activity(activity_of_step(hostile, hostile, 1, step))
        board.progress(Progress(hostile, 1, 2, hostile))
        assert not set("\x1b\x07\u202e\x9b") & set(_drawn(board))
    assert "owned\x07" not in screen.getvalue()
