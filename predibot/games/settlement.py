"""Settlements: the journal rows with which resolutions pay the positions of an account; pure."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from predibot.domain.account import JournalKind, JournalRow
from predibot.domain.price import Instrument
from predibot.domain.resolution import Resolution, latest_known
from predibot.games.accounts import SETTLING, Journal

Revisions = Sequence[tuple[int, Resolution]]


def settle(journal: Journal, resolutions: Mapping[Instrument, Revisions], *, as_of: datetime) -> tuple[JournalRow, ...]:
    """Return the journal rows, dated `as_of` and with the number of their revision, of resolutions known then and not
    booked; later revisions are not seen.

    If an instrument was paid by an older revision, that payment is reversed and the instrument is settled again. All
    shares are settled, whenever they were bought. Unresolved instruments, also those with an unknown winner, give no
    row. A resolution's `payout_yes` is the payout of a share of its instrument, on the NO side after
    `Resolution.of_outcome(1)`. None pays back what the position cost.
    """
    positions, standing = journal.account.positions, _standing(journal.rows)
    written: list[JournalRow] = []
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
        held = journal.with_rows(undone).account.position(instrument) if undone else positions.get(instrument)
        written += undone
        if held is not None:
            # A voided market pays back the cost.
            payout_usd = resolution.payout_yes
            kind: JournalKind = "refund" if payout_usd is None else "settlement"
            cash_usd = held.cost_usd if payout_usd is None else held.shares * payout_usd
            written.append(JournalRow(kind, as_of, cash_usd, instrument, -held.shares, cause, revision))
    return tuple(written)


def _current(revisions: Revisions, as_of: datetime) -> tuple[int, Resolution] | None:
    """Return the revision in force at an instant, with its number."""
    known = latest_known([resolution for _, resolution in revisions], as_of)
    return next(((number, resolution) for number, resolution in revisions if resolution is known), None)


def _standing(journal: Sequence[JournalRow]) -> dict[Instrument, list[JournalRow]]:
    """Return the settlements without a reversal, by instrument, in order."""
    standing: dict[Instrument, list[JournalRow]] = {}
    for row in journal:
        if row.instrument is not None and row.kind in SETTLING:
            standing.setdefault(row.instrument, []).append(row)
        elif row.instrument is not None and row.kind == "reversal":
            standing[row.instrument].pop()
    return standing
