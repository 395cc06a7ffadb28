"""Views of schedules: what became of slots, and what is to come."""

from predibot.domain.clock import format_instant
from predibot.ledger.write.slots import StoredSlot
from predibot.reports.views.decide import Document


def slot_document(row: StoredSlot) -> Document:
    """Return the JSON document of what became of a slot."""
    return {
        "recipe": row.recipe,
        "slot": format_instant(row.slot_at),
        "status": row.status,
        "tries": row.tries,
        "started_at": format_instant(row.started_at) if row.started_at else None,
        "late_seconds": row.late.total_seconds() if row.late is not None else None,
        "ended_at": format_instant(row.ended_at) if row.ended_at else None,
        "next_try_at": format_instant(row.next_try_at) if row.next_try_at else None,
        "run": row.run_key,
        "reason": row.reason,
    }
