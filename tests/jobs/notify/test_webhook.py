"""Webhooks and pings over a server on this machine: what arrives, and what is said where nothing does."""

import pytest

from predibot.jobs.notify.channels import DeliveryError, Ping, Webhook
from predibot.jobs.notify.notice import Notice, safe_name
from predibot.net.failures import LostAnswer, TryAgain
from tests.jobs.notify.servers import TOKEN, dripping, hanging, refusing, web

NOTICE = Notice("failure", "predibot: daily failed", ("3 recorded, 2 failed.",), ("1  kelly  +12",))
BEHIND = f"/services/{TOKEN}"


def webhook(url: str, seconds: float = 10.0) -> Webhook:
    return Webhook("PREDIBOT_WEBHOOK", url, seconds)


def test_a_chat_is_sent_slacks_json() -> None:
    with web() as chat:
        webhook(chat.url).send(NOTICE)
    assert chat.asked == [
        ("POST", BEHIND, {"text": "*predibot: daily failed*\n```3 recorded, 2 failed.\n1  kelly  +12```"})
    ]


@pytest.mark.parametrize(
    "name",
    ["<!channel>", "@here", "@everyone", "<https://evil.example|look>", "[x](http://evil.example)", "```", "*_~"],
)
def test_a_name_calls_nobody_together_and_is_no_link(name: str) -> None:
    # By the name's own rule, and once more by that of the channel, should a sentence not keep to it.
    for written in (safe_name(name), name):
        with web() as chat:
            webhook(chat.url).send(Notice("failure", f"a {written}", (f"b {written}",)))
        title, _, block = chat.texts[0].partition("\n")
        assert not any(mark in chat.texts[0] for mark in ("<", ">", "@h", "@e"))
        assert title.startswith("*a ") and title.count("*") == 2
        assert block.startswith("```b ") and block.count("`") == 6
    assert "//" not in safe_name(name)


def test_a_server_in_trouble_is_asked_again_by_who_has_time() -> None:
    for status in (500, 502, 503, 429, 408):
        with web((status, {"Retry-After": "7"})) as chat, pytest.raises(TryAgain) as failed:
            webhook(chat.url).send(NOTICE)
        assert f"it answered {status}" in str(failed.value)
        assert failed.value.wait_seconds == 7.0
        assert TOKEN[-10:] not in str(failed.value)


def test_a_redirect_is_not_followed_and_a_refusal_is_for_good_and_is_not_quoted() -> None:
    body = f"no such hook {BEHIND}".encode()
    for status in (301, 302, 307, 308, 400, 403, 404, 410):
        why = (
            "redirects are not followed, so set PREDIBOT_WEBHOOK to their end"
            if status < 400
            else "look whether PREDIBOT_WEBHOOK is right"
        )
        refused = pytest.raises(DeliveryError)
        with web() as other, web((status, {"Location": other.url}), body=body) as chat, refused as failed:
            webhook(chat.url).send(NOTICE)
        assert str(failed.value) == f"it answered {status}; {why}"
        assert other.asked == []


def test_a_long_or_odd_answer_is_an_answer() -> None:
    with web(200, body=b"x" * 200_000) as chat:
        webhook(chat.url).send(NOTICE)
    with web((200, {"Content-Encoding": "gzip"}), body=b"no gzip") as chat:
        webhook(chat.url).send(NOTICE)


def test_a_server_that_hangs_or_drips_is_left_after_its_time() -> None:
    with hanging() as port, pytest.raises(LostAnswer, match=r"no answer in 0.2 s"):
        webhook(f"http://127.0.0.1:{port}/hook", 0.2).send(NOTICE)
    with dripping(b"x") as port, pytest.raises(LostAnswer):
        webhook(f"http://127.0.0.1:{port}/hook", 0.2).send(NOTICE)


def test_nobody_listening_is_no_connection() -> None:
    with pytest.raises(TryAgain, match=r"^no connection$") as failed:
        webhook(f"http://127.0.0.1:{refusing()}{BEHIND}").send(NOTICE)
    assert not isinstance(failed.value, LostAnswer)


@pytest.mark.parametrize("held", ["hooks.example/x", "ftp://a.example/x", "https://a\nb/secret", "secret"])
def test_what_is_no_address_is_not_repeated(held: str) -> None:
    with pytest.raises(DeliveryError) as failed:
        webhook(held, 1.0).send(NOTICE)
    assert str(failed.value) == "what PREDIBOT_WEBHOOK holds is no address; set it anew"
    assert held not in repr(webhook(held))


def test_a_ping_says_how_a_slot_ended() -> None:
    with web() as watchdog:
        Ping("PREDIBOT_PING", watchdog.url).ping(is_good=True)
        Ping("PREDIBOT_PING", f"{watchdog.url}/?rid=1").ping(is_good=False)
        Ping("PREDIBOT_PING", watchdog.url, tells_failures=False).ping(is_good=False)
    assert watchdog.asked == [("GET", BEHIND, None), ("GET", f"{BEHIND}/fail?rid=1", None)]
