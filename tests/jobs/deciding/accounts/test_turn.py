"""An account's turn: what a game may book into an account."""

import pytest

from predibot.domain.account import JournalRow
from predibot.domain.price import Instrument
from predibot.errors import PluginError
from predibot.games.accounts import Journal
from predibot.jobs.deciding.accounts.turn import AccountTurn
from tests.venues.payloads import NOW

SHARE = Instrument("toy", "equity", "ACME")
JOURNAL = (JournalRow("deposit", NOW, 100.0), JournalRow("fill", NOW, -40.0, SHARE, 1.0))
TURN = AccountTurn(1, Journal().with_rows(JOURNAL), ())


def test_a_booking_that_the_account_can_carry_is_taken_to_the_last_cent() -> None:
    TURN.require((JournalRow("fill", NOW, -60.0, SHARE, 1.0),), "toy")
    TURN.require((JournalRow("fill", NOW, 50.0, SHARE, -1.0),), "toy")


@pytest.mark.parametrize(
    ("row", "why"),
    [
        (JournalRow("fill", NOW, -60.01, SHARE, 1.0), "leaves \\$-0.010000 in the account; money is never borrowed"),
        (JournalRow("fill", NOW, 80.0, SHARE, -2.0), "books what the account cannot do: a fill takes 2 shares"),
    ],
)
def test_a_game_that_books_more_than_there_is_is_refused_by_its_name(row: JournalRow, why: str) -> None:
    with pytest.raises(PluginError, match=f"game 'toy' {why}"):
        TURN.require((row,), "toy")
