"""Telling: each trouble once and when it is over, whatever the channels do, and no secret on the way."""

import logging
import random
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from threading import Event

import pytest

from predibot.config import load_settings
from predibot.domain.clock import parse_instant
from predibot.jobs.notify.channels import Channel, Ping, Webhook
from predibot.jobs.notify.notice import Notice, notice_of_slot
from predibot.jobs.notify.open_channels import open_channels, open_teller
from predibot.jobs.notify.teller import GIVEN_UP_AFTER, LONGEST_PAUSE, MAX_WAITING, Teller
from predibot.net.retry import RetryPolicy
from tests.jobs.notify.servers import TOKEN, Heard, Mailbox, hanging, refusing, smtp, web
from tests.jobs.program import PATIENCE_SECONDS
from tests.operator import set_up

NOON = parse_instant("2026-11-22T12:00Z")
SLOT = parse_instant("2026-11-22T11:00Z")
MINUTE = timedelta(minutes=1)
KEY = "sk-SECRET-0123456789abcdef"
FAILED, WELL = (
    notice_of_slot("daily", SLOT, is_good=good, reason="ModelUnavailable: no answer") for good in (False, True)
)


class Clock:
    """A clock that is set."""

    now: datetime = NOON

    def __call__(self) -> datetime:
        return self.now


class Patient(Teller):
    """Waits for what is told, as no service does."""

    def send_waiting(self) -> None:
        super().send_waiting()
        assert self.settle(PATIENCE_SECONDS)


def to(url: str, seconds: float = 10.0) -> Webhook:
    return Webhook("PREDIBOT_WEBHOOK", url, seconds)


def teller(*channels: Channel, clock: Callable[[], datetime] = lambda: NOON, ping: Ping | None = None) -> Patient:
    policy = RetryPolicy(tries=3, lost_tries=1, sleep=lambda _: None, rng=random.Random(0))
    return Patient(channels, clock=clock, hidden=lambda text: text, ping=ping, policy=policy)


def titles(chat: Heard) -> list[str]:
    return [text.splitlines()[0].strip("*") for text in chat.texts]


def test_a_trouble_is_told_once_and_when_it_is_over() -> None:
    with web() as chat:
        telling = teller(to(chat.url))
        for notice in (WELL, FAILED, FAILED, FAILED, WELL, WELL, FAILED):
            telling.tell(notice)
    assert titles(chat) == [
        "predibot: daily failed, run of 2026-11-22T11:00Z",
        "predibot: daily is well again, run of 2026-11-22T11:00Z",
        "predibot: daily failed, run of 2026-11-22T11:00Z",
    ]
    assert telling.troubles == {"runs of daily"}


def test_what_an_earlier_process_told_is_not_told_again_but_its_end_is() -> None:
    with web() as chat:
        telling = teller(to(chat.url))
        telling.mark_as_told(FAILED)
        telling.tell(FAILED)
        telling.tell(WELL)
    assert titles(chat) == [WELL.title]


def test_what_nobody_wants_to_hear_of_is_not_told() -> None:
    with web() as chat:
        telling = Patient([to(chat.url)], clock=Clock(), hidden=str, wanted=["summary"])
        telling.tell(FAILED, Notice("summary", "the day"), Notice(None, "a test"))
    assert titles(chat) == ["the day", "a test"]


def test_a_channel_in_trouble_is_tried_a_few_times_and_later_and_said_once(caplog: pytest.LogCaptureFixture) -> None:
    clock = Clock()
    with web(500) as chat:
        telling = teller(to(chat.url), clock=clock)
        telling.tell(FAILED)
        assert len(chat.asked) == 3
        for _ in range(100):
            telling.send_waiting()
        telling.tell(Notice("missed", "another"))
        assert len(chat.asked) == 3
        clock.now += MINUTE
        telling.send_waiting()
        assert len(chat.asked) == 6
        assert [record.getMessage() for record in caplog.records] == [
            f"webhook: not told {FAILED.title!r}: it answered 500"
        ]
        chat.says[:] = [(200, {})]
        clock.now += 2 * MINUTE
        telling.send_waiting()
        assert titles(chat)[6:] == [FAILED.title, "another"]
    assert caplog.records[1].getMessage() == "webhook: reached again"
    assert len(caplog.records) == 2


def test_what_waits_is_bounded_in_number_and_time_and_what_was_lost_is_said(caplog: pytest.LogCaptureFixture) -> None:
    clock = Clock()
    with web(500) as chat:
        telling = teller(to(chat.url), clock=clock)
        for number in range(MAX_WAITING + 5):
            telling.tell(Notice("missed", f"n{number}"))
        chat.says[:] = [(200, {})]
        clock.now += LONGEST_PAUSE
        telling.send_waiting()
        assert titles(chat)[3:] == [f"n{number}" for number in range(5, MAX_WAITING + 5)]
        assert caplog.records[-1].getMessage() == "webhook: reached again; 5 before could not be told"
        chat.says[:] = [(500, {})]
        telling.tell(Notice("missed", "old"))
        for _ in range(20):
            clock.now += LONGEST_PAUSE
            telling.send_waiting()
        asked = len(chat.asked)
        clock.now += GIVEN_UP_AFTER
        telling.send_waiting()
        assert len(chat.asked) == asked


def test_what_is_refused_for_good_is_asked_once() -> None:
    for status in (404, 302):
        clock = Clock()
        with web(status) as chat:
            telling = teller(to(chat.url), clock=clock)
            telling.tell(FAILED)
            clock.now += LONGEST_PAUSE
            telling.send_waiting()
        assert len(chat.asked) == 1


def test_what_may_have_been_told_is_not_told_twice_and_keeps_no_other_channel_waiting() -> None:
    clock = Clock()
    with hanging() as port, web() as chat:
        telling = teller(to(f"http://127.0.0.1:{port}/hook", 0.2), to(chat.url), clock=clock)
        telling.tell(FAILED)
        clock.now += LONGEST_PAUSE
        telling.send_waiting()
    assert titles(chat) == [FAILED.title]


def test_no_channel_can_fail_who_tells(caplog: pytest.LogCaptureFixture) -> None:
    class Broken:
        """A channel with a mistake in it."""

        name = where = "broken"

        def send(self, notice: Notice) -> None:
            raise RuntimeError(f"with {KEY}")

    with web() as chat:
        telling = Patient([Broken(), to(chat.url)], clock=Clock(), hidden=lambda text: text.replace(KEY, "***"))
        telling.tell(FAILED)
    assert titles(chat) == [FAILED.title]
    assert caplog.records[0].getMessage().endswith("RuntimeError: with ***")


def test_a_watchdog_is_pinged_after_each_slot_and_its_own_trouble_is_said_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    clock = Clock()
    with web() as watchdog:
        telling = teller(ping=Ping("PREDIBOT_PING", watchdog.url), clock=clock)
        telling.report_slot_end(is_good=True)
        telling.report_slot_end(is_good=False)
        assert pings(watchdog) == ["", "/fail"]
        watchdog.says[:] = [(404, {})]
        for _ in range(3):
            telling.report_slot_end(is_good=True)
            clock.now += MINUTE
        watchdog.says[:] = [(200, {})]
        telling.report_slot_end(is_good=True)
    assert [record.getMessage() for record in caplog.records] == [
        "ping: not told 'a run is done': it answered 404; look whether PREDIBOT_PING is right",
        "ping: reached again; 3 before could not be told",
    ]
    teller().report_slot_end(is_good=True)


def pings(watchdog: Heard) -> list[str]:
    return [path.removeprefix(f"/services/{TOKEN}") for _, path, _ in watchdog.asked]


def test_a_watchdog_that_is_down_is_asked_again_after_a_pause_and_told_the_last_slot_only() -> None:
    clock = Clock()
    with web(500) as watchdog:
        telling = teller(ping=Ping("PREDIBOT_PING", watchdog.url), clock=clock)
        for number in range(10):
            telling.report_slot_end(is_good=number < 9)
        assert pings(watchdog) == ["", "", ""]
        watchdog.says[:] = [(200, {})]
        clock.now += MINUTE
        telling.send_waiting()
        assert pings(watchdog)[3:] == ["/fail"]
        telling.report_slot_end(is_good=True)
    assert pings(watchdog)[4:] == [""]


def test_a_channel_that_was_down_is_asked_again_though_the_clock_is_set_back() -> None:
    clock = Clock()
    with web(500) as chat:
        telling = teller(to(chat.url), clock=clock)
        telling.tell(Notice("missed", "one"))
        chat.says[:] = [(200, {})]
        clock.now -= timedelta(days=1)
        telling.send_waiting()
    assert titles(chat) == ["one"] * 4


def test_the_end_waits_no_longer_than_it_is_told_and_says_what_was_not_told(caplog: pytest.LogCaptureFixture) -> None:
    with web(gate=Event()) as chat, web(gate=Event()) as watchdog:
        ping = Ping("PREDIBOT_PING", watchdog.url)
        telling = Teller([to(chat.url)], clock=Clock(), hidden=lambda text: text.replace(KEY, "***"), ping=ping)
        for title in ("one", "two", f"three {KEY}"):
            telling.tell(Notice("missed", title))
        for _ in range(2):
            telling.report_slot_end(is_good=True)
        telling.close(0.0)
    assert [record.getMessage() for record in caplog.records][:2] == [
        "webhook: 3 could not be told by the end: 'one', 'two', 'three ***'",
        "ping: 2 could not be told by the end: 'a run is done', 'a run is done'",
    ]


SETTINGS = """
[notify.webhook]
[notify.email]
host = "localhost"
port = {port}
security = "none"
user = "me"
sender = "bot@example.org"
to = ["me@example.org"]
[notify.command]
run = ["{command}", "notices"]
[notify.ping]
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PREDIBOT_SMTP_PASSWORD", "swordfish-0123456789")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    (tmp_path / "tell").write_text('#!/bin/sh\ncat >> "$1"; env >> environment\n')
    (tmp_path / "tell").chmod(0o755)
    return tmp_path


def test_the_settings_reach_every_channel_and_no_key_does(
    folder: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "predibot")
    with web() as chat, web() as watchdog, smtp(Mailbox()) as box:
        monkeypatch.setenv("PREDIBOT_WEBHOOK", chat.url)
        monkeypatch.setenv("PREDIBOT_PING", watchdog.url)
        set_up(folder, SETTINGS.format(port=box.port, command=folder / "tell"))
        settings = load_settings()
        notice = notice_of_slot(f"daily {KEY}", SLOT, is_good=False, reason=f"openai.Error: {KEY}")
        telling = open_teller(open_channels(settings.notify, Clock()), settings.notify, Clock())
        telling.tell(notice)
        telling.report_slot_end(is_good=True)
        telling.close(PATIENCE_SECONDS)
    (mail,) = box.mails
    texts = [chat.texts[0], str(mail), (folder / "notices").read_text(), (folder / "environment").read_text()]
    assert all("daily" in text for text in texts[:3])
    everything = "".join((*texts, caplog.text, repr(settings)))
    assert len(watchdog.asked) == 1
    assert not [part for part in (KEY, KEY[:16], "swordfish", TOKEN[-16:]) if part in everything]


def test_a_variable_that_is_not_set_is_said_and_the_others_are_told(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("PREDIBOT_WEBHOOK", "PREDIBOT_PING", "PREDIBOT_SMTP_PASSWORD"):
        monkeypatch.delenv(name, raising=False)
    set_up(folder, SETTINGS.format(port=refusing(), command=folder / "tell"))
    channels = open_channels(load_settings().notify, Clock())
    assert [name for name, _ in channels.problems] == ["webhook", "email", "ping"]
    assert [each.name for each in channels.usable] == ["command"]
