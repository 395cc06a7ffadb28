"""Recorded resolutions: the revisions in `resolutions.json`, as of an instant."""

from collections.abc import Mapping
from datetime import datetime

from predibot.domain.resolution import Resolution
from predibot.venues import fields

PAYOUT_TOLERANCE = 1e-6
MAX_PAYOUTS = 100
REFUND = "refund"
"""Written in place of payouts for a market that was voided without any."""


def revisions_as_of(stored: object, *, as_of: datetime) -> tuple[Resolution, ...]:
    """Return the revisions of a market that were effective by an instant, oldest first; raise `ValueError` if one is
    malformed.

    `stored` is a row of `resolutions.json`, or a list of them. Later ones are not read, so that a malformed future
    changes nothing. Of two at one instant the later written one counts.
    """
    rows = stored if isinstance(stored, list) else [stored]
    known: dict[datetime, Resolution] = {}
    for row in rows:
        fields = _check_object(row)
        resolved_at, effective_at = _parse_instants(fields)
        if max(effective_at, resolved_at) <= as_of:
            payouts = _parse_payouts(fields.get("payouts"))
            known[effective_at] = (
                Resolution(None, resolved_at, "venue", effective_at)
                if payouts is None
                else Resolution.of_payouts(payouts, resolved_at, "venue", effective_at)
            )
    return tuple(known[instant] for instant in sorted(known))


def revision_instant(row: object) -> datetime:
    """Return the first instant at which a revision is effective and its market resolved; raise `ValueError` if there is
    none.
    """
    return max(_parse_instants(_check_object(row)))


def _check_object(row: object) -> Mapping[str, object]:
    if not isinstance(row, Mapping):
        raise ValueError(f"{fields.short_repr(row)} is not a resolution")
    return row


def _parse_instants(row: Mapping[str, object]) -> tuple[datetime, datetime]:
    """Return when a revision's market resolved, and when the revision became effective; each defaults to the other."""
    resolved, effective = row.get("resolved_at"), row.get("effective_at")
    resolved_at = fields.unix_instant(effective if resolved is None else resolved)
    return resolved_at, resolved_at if effective is None else fields.unix_instant(effective)


def _parse_payouts(payouts: object) -> tuple[float, ...] | None:
    if payouts == REFUND:
        return None
    if not isinstance(payouts, list) or not 2 <= len(payouts) <= MAX_PAYOUTS:
        raise ValueError(f"{fields.short_repr(payouts)} is not the payouts of 2 to {MAX_PAYOUTS} outcomes")
    paid = tuple(fields.require_price(payout) for payout in payouts)
    if abs(sum(paid) - 1.0) > PAYOUT_TOLERANCE:
        raise ValueError(f"the payouts {fields.short_repr(payouts)} do not add up to 1")
    return paid
