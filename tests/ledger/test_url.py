"""The address of a ledger: which are taken, and that no password is ever shown."""

import pytest

from predibot.errors import UsageError
from predibot.ledger.store import Store
from predibot.ledger.url import mask_url, parse_ledger_url

OTHER = ["mysql://root:hunter2@db/x", "redis://:hunter2@host", "ledger.db", "", "://", "postgresql://u:p@h:port/x"]
LOST = ["sqlite://", "sqlite:///:memory:", "sqlite:///file:x?mode=memory&uri=true", "sqlite:///what?/ledger.db"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        *((text, r"A ledger is named by a sqlite or postgresql URL$") for text in OTHER),
        *((text, r"name a file|is a file without options") for text in LOST),
    ],
)
def test_what_is_no_ledger_or_would_be_lost_or_lie_elsewhere_is_refused(text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        parse_ledger_url(text)


@pytest.mark.parametrize(
    "text",
    [
        "mysql://root:hunter2@db/x",
        "postgresql://u:hunter2@h:port/x",
        "postgresql://u:ab@hunter2@h/x",
        "host=db password=hunter2",
        "nonsense://u:hunter2@h",
        "sqlite://u:hunter2@h/x.db",
    ],
)
def test_a_refusal_does_not_show_the_password(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_ledger_url(text)
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        "postgresql://u:hunter2@h/x",
        "postgres://u:hunter2@h/x",
        "postgresql+asyncpg://u:hunter2@h/x",
        "postgresql://h/x?user=u&password=hunter2",
        "postgresql://h/x?sslpassword=hunter2&connect_timeout=3",
        "postgresql://u@h/x?SECRET_thing=hunter2",
    ],
)
def test_an_address_is_shown_without_its_password(text: str) -> None:
    shown = mask_url(parse_ledger_url(text))
    assert "hunter2" not in shown
    assert "***" in shown
    assert shown.startswith("postgresql://")


def test_what_is_no_secret_is_shown() -> None:
    assert mask_url(parse_ledger_url("postgresql://me@db:5433/x?connect_timeout=3")) == (
        "postgresql://me@db:5433/x?connect_timeout=3"
    )
    assert mask_url(parse_ledger_url("sqlite:///runs/out/predibot.db")) == "sqlite:///runs/out/predibot.db"


def test_a_server_that_is_down_is_told_without_the_password() -> None:
    with pytest.raises(Exception, match="Is the server up") as caught:
        Store.open("postgresql://me:hunter2@127.0.0.1:1/x?connect_timeout=2&password=hunter3")
    assert "hunter" not in str(caught.value)
