"""Settlements: what resolutions write into the journal of an account."""

from collections.abc import Mapping, Sequence
from datetime import timedelta

import pytest

from predibot.domain.account import JournalRow
from predibot.domain.price import Instrument
from predibot.domain.resolution import Resolution
from predibot.games.accounts import Journal, account_of, settle
from tests.games.holdings import AT, bought, deposit, outcome, resolved

YES, NO, OTHER = (outcome(name) for name in ("yes", "no", "other"))
LATER = AT + timedelta(days=1)
HELD = [deposit(10_000.0), bought(YES, 1000.0, 0.6)]


def settled(
    journal: Sequence[JournalRow], resolutions: Mapping[Instrument, Sequence[Resolution]], at=AT
) -> list[JournalRow]:
    """Return a journal with what follows from resolutions, numbered from 1."""
    numbered = {each: list(enumerate(revisions, start=1)) for each, revisions in resolutions.items()}
    return [*journal, *settle(Journal().with_rows(journal), numbered, as_of=at)]


def test_the_no_side_is_paid_what_yes_is_not() -> None:
    journal = [deposit(100.0), bought(NO, 100.0, 0.4)]
    for payout, cash_usd in ((0.0, 160.0), (1.0, 60.0), (0.25, 135.0), (None, 100.0)):
        paid = resolved(payout).of_outcome(1)
        assert paid is not None
        account = account_of(settled(journal, {NO: [paid]}))
        assert account.cash_usd == pytest.approx(cash_usd)


def test_a_settlement_is_written_once_a_revision() -> None:
    once = settled(HELD, {YES: [resolved(1.0)]})
    assert settled(once, {YES: [resolved(1.0)]}, LATER) == once
    assert (once[-1].revision, once[-1].shares, once[-1].cash_usd) == (1, -1000.0, 1000.0)


def test_a_correction_reverses_and_settles_again() -> None:
    revisions = [resolved(1.0), resolved(0.0, LATER)]
    # Before it is effective nobody knows of it.
    first = settled(HELD, {YES: revisions})
    assert first == settled(HELD, {YES: revisions[:1]})
    second = settled(first, {YES: revisions}, LATER)
    assert [(row.kind, row.cash_usd, row.revision) for row in second[-2:]] == [
        ("reversal", -1000.0, 2),
        ("settlement", 0.0, 2),
    ]
    assert account_of(second) == account_of(settled(HELD, {YES: [resolved(0.0)]}))
    # Who comes later, and never saw the first, has the same account.
    assert account_of(settled(HELD, {YES: revisions}, LATER)) == account_of(second)


def test_a_refund_may_be_corrected_and_a_win_become_a_refund() -> None:
    journal = settled(settled(HELD, {YES: [resolved(None)]}), {YES: [resolved(None), resolved(1.0, LATER)]}, LATER)
    assert [row.kind for row in journal[-3:]] == ["refund", "reversal", "settlement"]
    assert account_of(journal).cash_usd == 10_400.0
    journal = settled(settled(HELD, {YES: [resolved(1.0)]}), {YES: [resolved(1.0), resolved(None, LATER)]}, LATER)
    assert [row.kind for row in journal[-3:]] == ["settlement", "reversal", "refund"]
    assert (account_of(journal).cash_usd, account_of(journal).realised_usd) == (10_000.0, 0.0)


def test_what_is_bought_of_something_settled_is_settled_too_and_corrected_with_it() -> None:
    journal = [*settled(HELD, {YES: [resolved(1.0)]}), bought(YES, 10.0, 0.9)]
    journal = settled(journal, {YES: [resolved(1.0)]})
    assert (journal[-1].shares, account_of(journal).cash_usd) == (-10.0, pytest.approx(10_401.0))
    journal = settled(journal, {YES: [resolved(1.0), resolved(0.5, LATER)]}, LATER)
    assert [row.kind for row in journal[-3:]] == ["reversal", "reversal", "settlement"]
    assert account_of(journal).cash_usd == pytest.approx(10_000.0 - 600.0 - 9.0 + 505.0)


def test_what_nobody_knows_the_winner_of_stays_open() -> None:
    for resolutions in ({}, {YES: []}, {YES: [resolved(1.0, LATER)]}, {OTHER: [resolved(1.0)]}):
        assert settled(HELD, resolutions) == HELD
