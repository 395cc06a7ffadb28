"""Apprise, as it is installed, over a server on this machine."""

import logging

import pytest

from predibot.jobs.notify.channels import Apprise, DeliveryError
from predibot.jobs.notify.notice import Notice
from predibot.net.failures import TryAgain
from tests.jobs.notify.servers import hanging, refusing, web

# It still looks at a module of Python's that newer ones have no more.
pytestmark = pytest.mark.filterwarnings("ignore:.*imghdr.*:DeprecationWarning")
NOTICE = Notice("failure", "predibot: daily failed", ("<b>3</b> \\n {{ x }} failed.",))
SECRET = "SECRETsecretSECRETsecret"


@pytest.fixture(scope="module", autouse=True)
def loaded() -> None:
    """Load it and its services, for which a busy machine takes longer than a message may."""
    import apprise

    apprise.Apprise("json://127.0.0.1")


def to(url: str, seconds: float = 20.0) -> Apprise:
    return Apprise("PREDIBOT_APPRISE", 1, url, seconds)


def test_a_service_takes_the_message_as_it_is() -> None:
    with web() as chat:
        to(chat.url.replace("http", "json", 1)).send(NOTICE)
    ((method, _, body),) = chat.asked
    assert (method, body["title"], body["message"]) == ("POST", NOTICE.title, "<b>3</b> \\n {{ x }} failed.")


def test_a_redirect_is_not_followed() -> None:
    with web() as other, web((302, {"Location": other.url})) as chat, pytest.raises(TryAgain):
        to(chat.url.replace("http", "json", 1)).send(NOTICE)
    assert other.asked == []


def test_what_fails_is_said_without_the_address(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    with web(500) as chat, pytest.raises(TryAgain, match="did not take it"):
        to(f"{chat.url.replace('http', 'json', 1)}/{SECRET}").send(NOTICE)
    with pytest.raises(TryAgain):
        to(f"json://127.0.0.1:{refusing()}/{SECRET}").send(NOTICE)
    with pytest.raises(DeliveryError, match=r"^address 1 in PREDIBOT_APPRISE is of no service that apprise knows"):
        to(f"nobody://{SECRET}").send(NOTICE)
    with hanging() as port, pytest.raises(TryAgain):
        to(f"json://127.0.0.1:{port}/{SECRET}", 0.3).send(NOTICE)
    assert SECRET not in caplog.text
