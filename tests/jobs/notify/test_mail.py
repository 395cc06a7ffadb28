"""Mail over an SMTP server on this machine: encrypted or not at all, and nothing of the password in any word."""

from pathlib import Path

import pytest

from predibot.config import EmailSettings, MailSecurity
from predibot.jobs.notify.channels import DeliveryError, Mail
from predibot.jobs.notify.notice import Notice
from predibot.net.failures import LostAnswer, TryAgain
from tests.jobs.notify.servers import Mailbox, certificate_in, dripping, hanging, refusing, smtp

NOTICE = Notice("summary", "predibot: täglich, 2 of 2 runs done", ("Cost $0.12.",), ("1  kelly  +12",))
TO = ("me@example.org", "you@example.org")


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return certificate_in(tmp_path_factory.mktemp("trust"))


def mail(
    port: int,
    security: MailSecurity = "none",
    *,
    seconds: float = 10.0,
    password: str | None = None,
    to: tuple[str, ...] = TO,
) -> Mail:
    user = None if password is None else "me"
    settings = EmailSettings(host="localhost", port=port, security=security, sender="bot@example.org", to=to, user=user)
    return Mail(settings, password, seconds)


def test_a_mail_arrives_whole() -> None:
    with smtp(Mailbox()) as box:
        mail(box.port).send(NOTICE)
    (got,) = box.mails
    assert (got["Subject"], got["From"], got["To"]) == (
        NOTICE.title,
        "bot@example.org",
        "me@example.org, you@example.org",
    )
    assert got["X-Peers"] == "me@example.org,you@example.org"
    assert got["Auto-Submitted"] == "auto-generated"
    assert got["Message-ID"].endswith("@example.org>")
    assert got.get_content().splitlines() == ["Cost $0.12.", "1  kelly  +12"]


@pytest.mark.parametrize("security", ["starttls", "tls"])
def test_a_password_goes_over_an_encrypted_line_only(
    security: MailSecurity, certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    box = Mailbox()
    with smtp(box, **{security: certificate}):
        mail(box.port, security, password=box.password).send(NOTICE)
        with pytest.raises(DeliveryError) as failed:
            mail(box.port, security, password="wrong-SECRET-0123456789").send(NOTICE)
    assert len(box.mails) == 1
    assert str(failed.value) == "the server did not take user and password (535)"


def test_a_server_that_nobody_vouches_for_is_told_nothing(certificate: Path) -> None:
    box = Mailbox()
    with smtp(box, starttls=certificate), pytest.raises(DeliveryError, match="certificate is not to be trusted"):
        mail(box.port, "starttls", password=box.password).send(NOTICE)
    with smtp(box, tls=certificate), pytest.raises(DeliveryError, match="certificate is not to be trusted"):
        mail(box.port, "tls", password=box.password).send(NOTICE)
    assert (box.mails, box.logins) == ([], [])


def test_a_server_without_encryption_is_sent_no_password() -> None:
    box = Mailbox()
    with smtp(box):
        with pytest.raises(DeliveryError, match="offers no STARTTLS"):
            mail(box.port, "starttls", password=box.password).send(NOTICE)
        with pytest.raises(DeliveryError, match="does not speak TLS there"):
            mail(box.port, "tls", password=box.password).send(NOTICE)
    assert (box.mails, box.logins) == ([], [])


def test_refused_addresses_are_counted_and_what_the_server_says_is_not_quoted() -> None:
    with smtp(Mailbox(refused=TO[:1])) as box:
        with pytest.raises(DeliveryError) as failed:
            mail(box.port).send(NOTICE)
        assert str(failed.value) == "the server refused 1 of 2 addresses, and took the others"
        with pytest.raises(DeliveryError) as failed:
            mail(box.port, to=TO[:1]).send(NOTICE)
        assert str(failed.value) == "the server refused all addresses (550)"
    assert len(box.mails) == 1


def test_a_server_that_is_busy_is_asked_again() -> None:
    with smtp(Mailbox(says="451 later")) as box, pytest.raises(TryAgain, match=r"refused the mail for now \(451\)"):
        mail(box.port).send(NOTICE)
    with smtp(Mailbox(says="554 spam")) as box, pytest.raises(DeliveryError, match=r"refused the mail \(554\)"):
        mail(box.port).send(NOTICE)
    with pytest.raises(TryAgain, match="no connection") as failed:
        mail(refusing()).send(NOTICE)
    assert not isinstance(failed.value, LostAnswer)


@pytest.mark.parametrize("farewell", ["421 going down", "500 what?"])
def test_a_mail_that_was_taken_is_sent_however_the_server_says_goodbye(farewell: str) -> None:
    with smtp(Mailbox(farewell=farewell)) as box:
        mail(box.port).send(NOTICE)
    assert len(box.mails) == 1


@pytest.mark.parametrize("security", ["none", "tls", "starttls"])
def test_a_server_that_hangs_is_left_after_its_time(security: MailSecurity) -> None:
    with hanging() as port, pytest.raises(TryAgain):
        mail(port, security, seconds=0.2).send(NOTICE)


def test_a_server_that_never_ends_its_greeting_is_left_after_its_time() -> None:
    with dripping(b"220-still here\r\n") as port, pytest.raises(TryAgain, match=r"not done in 0.2 s"):
        mail(port, seconds=0.2).send(NOTICE)


def test_a_title_adds_no_header() -> None:
    for title in ("a\r\nBcc: all@example.org", "a\nb", "", "x" * 200, "a\x1b[2J"):
        with pytest.raises(ValueError, match="a title is one line"):
            Notice("failure", title)


def test_an_address_is_one_address() -> None:
    for address in ("a@b\nBcc: c@d", "A <a@b.org>", "a@b.org, c@d.org", "nobody", "a b@c.org"):
        with pytest.raises(ValueError, match="write an address such as"):
            EmailSettings(host="localhost", sender=address, to=("me@example.org",))
