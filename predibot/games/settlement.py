"""Settlements: what resolutions write into the journal of an account that holds what was resolved; pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from predibot.domain.account import JournalKind, JournalRow
from predibot.domain.price import Instrument
from predibot.domain.resolution import Resolution, as_known
from predibot.games.accounts import SETTLING, Journal

Revisions = Sequence[tuple[int, Resolution]]
"""What is known of how one instrument was resolved, each with the number of its revision."""


@dataclass(frozen=True, slots=True)
class SettlementRow:
    """A journal row, and what it follows from."""

    row: JournalRow
    revision: int
    """Of the resolution; it stands in the row too."""


def settle(
    journal: Journal, resolutions: Mapping[Instrument, Revisions], *, as_of: datetime
) -> tuple[SettlementRow, ...]:
    """Return the rows that follow from what is resolved by an instant and are not in the journal yet.

    An instrument that pays by an earlier revision than the one that is known now
    is reversed, and settled again by that one. What is held of a resolved
    instrument is settled, whenever it was bought. What is not resolved, as where
    the winner is unknown, gives no row and stays as it is. Asked again, it gives
    no row.

    Args:
        journal: All of it.
        resolutions: By instrument, as that instrument is paid: of the NO side
            `Resolution.of_outcome(1)`, so that `payout_yes` is what one share of it
            pays. A payout of None pays back what the position cost.
        as_of: Revisions that were effective later are not seen; the rows are of
            this instant.
    """
    positions, standing = journal.account.positions, _standing(journal.rows)
    written: list[SettlementRow] = []
    for instrument in sorted(resolutions.keys() & (positions.keys() | standing.keys())):
        current = _current(resolutions[instrument], as_of)
        if current is None:
            continue
        revision, resolution = current
        ended = standing.get(instrument, [])
        is_as_paid = all(row.revision == revision for row in ended)
        cause = f"resolution {revision}"
        undone = [
            JournalRow("reversal", as_of, -row.cash_usd, instrument, -row.shares, cause, revision)
            for row in reversed(() if is_as_paid else ended)
        ]
        held = journal.with_rows(undone).account.held(instrument) if undone else positions.get(instrument)
        rows = undone
        if held is not None:
            # Where it was voided without a payout, what it cost is paid back.
            payout_usd = resolution.payout_yes
            kind: JournalKind = "refund" if payout_usd is None else "settlement"
            cash_usd = held.cost_usd if payout_usd is None else held.shares * payout_usd
            rows = [*undone, JournalRow(kind, as_of, cash_usd, instrument, -held.shares, cause, revision)]
        written += [SettlementRow(row, revision) for row in rows]
    return tuple(written)


def _current(revisions: Revisions, as_of: datetime) -> tuple[int, Resolution] | None:
    """Return the revision that counts at an instant."""
    known = as_known([resolution for _, resolution in revisions], as_of)
    return next(((number, resolution) for number, resolution in revisions if resolution is known), None)


def _standing(journal: Sequence[JournalRow]) -> dict[Instrument, list[JournalRow]]:
    """Return the settlements that were not reversed, by instrument, in their order."""
    standing: dict[Instrument, list[JournalRow]] = {}
    for row in journal:
        if row.instrument is not None and row.kind in SETTLING:
            standing.setdefault(row.instrument, []).append(row)
        elif row.instrument is not None and row.kind == "reversal":
            standing[row.instrument].pop()
    return standing
