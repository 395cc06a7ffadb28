"""`predibot notify`: whom predibot tells, and what a person sees of it; and the service that tells."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.acceptance.conftest import Predibot
from tests.cli.alone import predibot_alone
from tests.cli.terminal import on_a_terminal, without_colours
from tests.jobs.notify.servers import TOKEN, Heard, Mailbox, refusing, smtp, web
from tests.operator import set_up

MAIL = (
    '[notify.email]\nhost = "localhost"\nport = {port}\nsecurity = "none"\n'
    'sender = "bot@example.org"\nto = ["me@example.org"]\n'
)
PARTS = (TOKEN, TOKEN[-16:], "xoxSECRET")


@pytest.fixture
def chat(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Heard]:
    set_up(tmp_path, "[notify.webhook]\n[notify.ping]\n")
    with web() as heard:
        monkeypatch.setenv("PREDIBOT_WEBHOOK", heard.url)
        monkeypatch.setenv("PREDIBOT_PING", heard.url)
        yield heard


def test_without_a_channel_it_says_which_there_could_be(predibot: Predibot) -> None:
    said = predibot("notify")
    assert said.code == 1
    assert said.err.startswith("error: nobody is told: predibot.toml names no channel. Add [notify.webhook]")


def test_channels_are_shown_and_nothing_is_sent_unasked(predibot: Predibot, chat: Heard) -> None:
    said = predibot("notify", "--json")
    assert (said.code, chat.asked) == (0, [])
    assert said.document["channels"] == [
        {"channel": "webhook", "verdict": "ready", "seen": "the address in PREDIBOT_WEBHOOK"},
        {"channel": "ping", "verdict": "ready", "seen": "the address in PREDIBOT_PING"},
    ]


def test_a_test_reaches_each_channel_and_says_which_did_not(
    predibot: Predibot, chat: Heard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = tmp_path / "predibot.toml"
    set_up(
        settings.parent,
        settings.read_text() + MAIL.format(port=refusing()) + '[notify.command]\nrun = ["false"]\n[notify.apprise]\n',
    )
    monkeypatch.delenv("PREDIBOT_APPRISE", raising=False)
    said = predibot("notify", "--test", "--json", "-v")
    assert said.code == 1
    assert {each["channel"]: (each["verdict"], each["seen"]) for each in said.document["channels"]} == {
        "webhook": ("arrived", "the address in PREDIBOT_WEBHOOK"),
        "email": ("failed", "no connection, or it broke off"),
        "command": ("failed", "false ended with exit code 1"),
        "apprise": ("failed", "PREDIBOT_APPRISE is not set; set it in the environment"),
        "ping": ("arrived", "the address in PREDIBOT_PING"),
    }
    assert said.document["error"]["kind"] == "NotTold"
    assert chat.texts[0].startswith("*predibot: a test*\n```Sent at 20")
    assert not [part for part in PARTS if part in said.out + said.err]
    with smtp(Mailbox()) as box:
        set_up(settings.parent, MAIL.format(port=box.port))
        assert predibot("notify", "--test").code == 0
    assert box.mails[0]["Subject"] == "predibot: a test"


def test_it_fits_a_screen_of_80_columns(chat: Heard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    chat.says[:] = [(302, {"Location": "http://evil.example"})]
    code, sent = on_a_terminal("notify", "--test", columns=80)
    lines = without_colours(sent)
    assert code == 1
    assert max(map(len, lines)) <= 80
    assert "set PREDIBOT_WEBHOOK to their end" in " ".join(" ".join(lines).split())


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ('[notify.webhook]\nurl = "https://hooks.example/SECRETSECRET"', "put it into a variable of the environment"),
        ('[notify.webhook]\nurl_env = "https://hooks.example/SECRETSECRET"', "name the variable of the environment"),
        ('[notify.webhook]\nurl_env = "PATH"', "its name ends in _WEBHOOK"),
        (MAIL.format(port=25) + 'password = "SECRETSECRET"', "put it into a variable of the environment"),
        (MAIL.format(port=25).replace("localhost", "mail.example.org"), "for a server on localhost"),
        (MAIL.format(port=25).replace("me@", "me@a\\r\\nBcc: SECRETSECRET@"), "write an address such as"),
        ('[notify.command]\nrun = "rm -rf /"', "notify.command.run"),
        ('[notify]\non = ["everything"]', "notify.on.0"),
        ("[notify]\nbudget_share = 80", "notify.budget_share"),
    ],
)
def test_settings_that_are_wrong_are_named_and_no_secret_is(
    predibot: Predibot, tmp_path: Path, table: str, said: str
) -> None:
    set_up(tmp_path, f"{table}\n")
    ended = predibot("notify")
    assert ended.code == 1
    assert ended.err.startswith("error: setting 'notify.") and ended.err.count("\n") == 1
    assert said in ended.err
    assert "SECRETSECRET" not in ended.err
    assert "Value error" not in ended.err and "Input" not in ended.err


def test_the_settings_may_be_json_of_the_environment(
    predibot: Predibot, chat: Heard, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PREDIBOT_NOTIFY", '{"command": {"run": ["true"]}}')
    found = predibot("notify", "--json").document["channels"]
    assert [each["channel"] for each in found] == ["webhook", "command", "ping"]
    monkeypatch.setenv("PREDIBOT_NOTIFY", '{"command": SECRETSECRET')
    said = predibot("notify")
    assert (said.code, said.err) == (
        1,
        "error: setting 'notify' is wrong: PREDIBOT_NOTIFY is no JSON. Fix or unset it.\n",
    )


def test_an_address_in_a_variable_that_reads_like_that_of_a_venue_is_none(
    predibot: Predibot, chat: Heard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PREDIBOT_CHAT_WEBHOOK_URL", chat.url)
    set_up(tmp_path, '[notify.webhook]\nurl_env = "PREDIBOT_CHAT_WEBHOOK_URL"\n')
    assert predibot("notify", "--test").code == 0
    assert len(chat.asked) == 1


def test_the_doctor_says_over_what_nobody_can_be_told(
    predibot: Predibot, chat: Heard, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PREDIBOT_PING")
    checks = [each for each in predibot("doctor", "--json").document["checks"] if each["name"] == "notify"]
    assert [(each["verdict"], each["seen"]) for each in checks] == [
        ("ok", "webhook; `predibot notify --test` tries them"),
        ("warning", "ping: PREDIBOT_PING is not set; set it in the environment"),
    ]


def test_the_service_tells_of_its_slots_and_a_chat_in_trouble_fails_nothing(chat: Heard, tmp_path: Path) -> None:
    (tmp_path / "daily.toml").write_text(
        'venue = "sandbox:events=20"\n[schedule]\ncron = "0 * * * *"\ncatch_up = "1h"\n[selection]\nevents = 2\n'
        '[[bots]]\nstrategy = "market_price"\n'
    )
    once = ("schedule", "daily.toml", "--once", "-v")
    assert predibot_alone(tmp_path, *once).code == 0
    # As if it had been begun earlier, so that slots are due.
    for hours in (1, 30):
        with closing(sqlite3.connect(tmp_path / "runs/out/predibot.db")) as ledger, ledger:
            ledger.execute("UPDATE schedules SET since = since - ?", (hours * 3_600_000_000,))
        done = predibot_alone(tmp_path, *once)
        assert "is done" in done.err or hours == 30
        chat.says[:] = [(500, {})]
    assert "webhook: not told" in done.err
    assert "Traceback" not in done.err
    assert not [part for part in PARTS if part in done.err + done.out]
    assert any(method == "GET" for method, _, _ in chat.asked)
    assert any("runs done" in body["text"] for _, _, body in chat.asked if body)
    assert any("missed" in body["text"] for _, _, body in chat.asked if body)
