"""Corporate actions: what splits, dividends and delistings write into the journal of an account; pure."""

from collections.abc import Mapping, Sequence

from predibot.domain.account import Account, JournalRow
from predibot.domain.price import CorporateAction, CorporateActionKind, Instrument

_ORDER: Sequence[CorporateActionKind] = ("dividend", "split", "delisting")
"""The order of actions on one date: a dividend is paid on the shares bought before that date."""


def corporate_rows(account: Account, actions: Mapping[Instrument, Sequence[CorporateAction]]) -> tuple[JournalRow, ...]:
    """Return the journal rows of actions on an account's positions, by instrument; none may be in the journal yet.
    Shares of a delisting without a stated payout stay, at their last close.
    """
    rows = []
    for instrument in sorted(actions.keys() & account.positions.keys()):
        shares = account.positions[instrument].shares
        for each in sorted(actions[instrument], key=lambda one: (one.effective_at, _ORDER.index(one.kind))):
            value, why = each.value, f"{each.kind} of {each.effective_at:%Y-%m-%d}"
            if value is None or shares == 0.0:
                continue
            if each.kind == "dividend" and value:
                rows.append(JournalRow("dividend", each.effective_at, shares * value, instrument, 0.0, why))
            elif each.kind == "delisting":
                rows.append(JournalRow("delisting", each.effective_at, shares * value, instrument, -shares, why))
                shares = 0.0
            elif each.kind == "split" and value != 1.0:
                gained = shares * value - shares
                rows.append(JournalRow("split", each.effective_at, 0.0, instrument, gained, why))
                shares += gained
    return tuple(rows)
