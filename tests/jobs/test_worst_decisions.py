"""The worst decisions: each with its own question and reason."""

import io
import re
from collections.abc import Iterator
from contextlib import chdir

import pytest
from rich.console import Console
from sqlalchemy import select, update

from predibot.domain.clock import parse_instant
from predibot.jobs.worst_decisions import worst_decisions
from predibot.ledger.store import Store
from predibot.ledger.write.decisions import bets, bots, decisions, forecasts
from predibot.ledger.write.events import markets
from predibot.ledger.write.prices_and_resolutions import resolutions
from predibot.reports.terminal.closeups.rows import print_worst, worst_documents
from predibot.scoring.records.part import Part
from tests.acceptance.conftest import said_here
from tests.cli.conftest import WORLD

AS_OF = parse_instant("2026-02-20T12:00Z")


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """Return a ledger with a run of five events, several markets each, and what they paid."""
    with chdir(tmp_path_factory.mktemp("played")):
        at = ("--as-of", "2026-01-11T12:00Z")
        assert said_here("decide", "sandbox", "--venue", WORLD, "--events", "5", *at).code == 0
        assert said_here("track", "--as-of", "2026-02-20T12:00Z").code == 0
        with Store.open("sqlite:///runs/out/predibot.db", create=False) as store:
            yield store


def test_each_loss_stands_with_the_question_price_forecast_and_outcome_that_are_stored(played: Store) -> None:
    asked = (
        select(
            bots.c.name,
            markets.c.question,
            bets.c.booked_usd,
            bets.c.price_yes,
            forecasts.c.probability,
            resolutions.c.payout_yes,
        )
        .join(decisions, decisions.c.id == bets.c.decision_id)
        .join(bots, bots.c.id == decisions.c.bot_id)
        .join(markets, markets.c.id == bets.c.market_row)
        .join(resolutions, resolutions.c.market_row == bets.c.market_row)
        .join(
            forecasts, (forecasts.c.decision_id == bets.c.decision_id) & (forecasts.c.market_row == bets.c.market_row)
        )
    )
    with played.read() as connection:
        stored = {
            (row.name, row.question, row.booked_usd): (row.price_yes, row.probability, row.payout_yes)
            for row in connection.execute(asked)
        }
    paid = [each for each in worst_decisions(played, "sandbox", AS_OF, 1000) if each.loss.paid]
    assert len({each.reason.question for each in paid}) > 3
    for each in paid:
        loss = each.loss
        told = stored[loss.bot, each.reason.question, loss.bet_usd]
        assert (loss.price_yes, loss.probability, loss.later_price_yes) == told
    losing = [bot for (bot, _, usd), (price, _, payout) in stored.items() if usd * (payout - price) < 0.0]
    assert sorted(each.loss.bot for each in paid) == sorted(losing)


def test_only_the_bots_asked_for_are_listed_and_nothing_later_is_seen(played: Store) -> None:
    found = worst_decisions(played, "sandbox", AS_OF, 5, Part(bots=("underdog",)))
    assert {each.loss.bot for each in found} == {"underdog"}
    assert worst_decisions(played, "sandbox", parse_instant("2026-01-11T11:00Z"), 5) == ()


def test_texts_of_bots_and_venues_are_shown_bounded_and_do_nothing(played: Store) -> None:
    evil = "\x1b[2J\x1b]0;gone\x07 [red]now[/red] " + "and on " * 300
    played.run_write(lambda connection: connection.execute(update(forecasts).values(rationale=evil)))
    played.run_write(lambda connection: connection.execute(update(markets).values(question=evil)))
    found = worst_decisions(played, "sandbox", AS_OF, 2)
    stream = io.StringIO()
    print_worst(Console(file=stream, width=80, markup=False, highlight=False, force_terminal=True), found)
    text = re.sub(r"\x1b\[[0-9;]*m", "", stream.getvalue())
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f]", text)
    assert "[red]now[/red]" in text and "…" in text
    assert len(text.splitlines()) < 30
    # Programs get it whole.
    assert worst_documents(found)[0]["rationale"] == found[0].reason.rationale
    assert str(worst_documents(found)[0]["rationale"]).count("and on") == 300


def test_nothing_lost_is_said() -> None:
    stream = io.StringIO()
    print_worst(Console(file=stream, width=80), ())
    assert stream.getvalue().strip() == "No bet lost money."
