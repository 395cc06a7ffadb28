"""Writing a market archive: snapshots once and whole; histories and resolutions merge with earlier ones.

Every file is written under another name and renamed when it is whole, so that a reader never sees half of one. Writers
merge one after the other, as two at once would overwrite each other's merge.
"""

import uuid
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from datetime import UTC, datetime, timedelta
from pathlib import Path

from predibot.domain.resolution import Resolution
from predibot.errors import UsageError, VenueChanged
from predibot.plugins.venues import default_venue
from predibot.venues import fields
from predibot.venues.archive import layout
from predibot.venues.archive.resolutions import REFUND, revisions_as_of
from predibot.whole_file import lock_folder, whole_file

LAST_INSTANT = datetime.max.replace(tzinfo=UTC)
_UNFINISHED = ".unfinished-"


def write_snapshot(folder: Path, instant: datetime, raw_events: Iterable[object]) -> Path:
    """Write the events read at an instant, and return the snapshot's folder.

    Its name has whole seconds, rounded up: a snapshot must not claim to have been known before it was. Raises
    `UsageError` if there is a snapshot of this instant, or the folder cannot be written.
    """
    whole = instant.replace(microsecond=0) + timedelta(seconds=1 if instant.microsecond else 0)
    place = layout.snapshot_file(folder, whole).parent
    if place.exists():
        raise UsageError(
            f"{place} exists already and is not overwritten; record later, or name another folder. "
            "A sandbox stands at one instant: give it another with --as-of"
        )
    unfinished = place.with_name(f"{_UNFINISHED}{uuid.uuid4().hex}")
    try:
        unfinished.mkdir(parents=True)
        layout.check_inside(folder, unfinished)
        _write(unfinished / layout.EVENTS_FILE, list(raw_events))
        unfinished.rename(place)
    except OSError as error:
        raise UsageError(f"{place} cannot be written: {error}; name a folder that can") from error
    return place


def write_venue(folder: Path, name: str) -> None:
    """Write the recorded venue's name, unless it is the default.

    Raises `UsageError` if the archive records another venue, or cannot be written.
    """
    known = layout.read_venue_name(folder) if folder.is_dir() else default_venue()
    if known == name:
        return
    if layout.snapshot_instants(folder):
        raise UsageError(f"{folder} is a recording of {known}, and not of {name}; name another folder")
    _replace_file(folder, folder / layout.VENUE_FILE, {"venue": name})


def merge_history(folder: Path, token_id: str, points: Sequence[Mapping[str, object]]) -> int:
    """Add points, `{"t": unix seconds, "p": price}`, to a token's prices, and return how many are new.

    A recorded point is never replaced, so that a replay does not change. Raises `UsageError` if the id is no token id
    or the file cannot be written, and `VenueChanged` if a point, or the present file, is malformed.
    """
    path = layout.price_file(folder, token_id)
    if path is None:
        raise UsageError(f"{token_id[:100]!r} is not a token id; letters, digits, - and _ name a price file")
    with _one_at_a_time(folder):
        stored = {at.timestamp(): price for at, price in layout.read_series(folder, path)}
        fresh = {at: price for at, price in map(_parse_point, points) if at not in stored}
        if fresh:
            rows = [{"t": _whole_seconds(at), "p": price} for at, price in sorted({**stored, **fresh}.items())]
            _replace_file(folder, path, {"history": rows})
    return len(fresh)


def merge_resolutions(folder: Path, rows: Mapping[str, Resolution], *, seen_at: datetime) -> int:
    """Add resolutions by `resolution_key`, and return how many are new or corrected.

    A payout that differs from the last one becomes a further revision, effective from `seen_at`; the earlier ones stay.
    Raises `UsageError` if a key is none or the file cannot be written, and `VenueChanged` if the present file is
    malformed.
    """
    with _one_at_a_time(folder):
        return _merge_resolutions(folder, rows, seen_at)


def _merge_resolutions(folder: Path, rows: Mapping[str, Resolution], seen_at: datetime) -> int:
    path = folder / layout.RESOLUTIONS_FILE
    stored = layout.read_json(folder, path)
    stored = {} if stored is None else stored
    if not isinstance(stored, dict):
        raise VenueChanged(f"{path} is not an object of condition ids; take it out of the archive")
    changed = 0
    for name, resolution in rows.items():
        if layout.price_file(folder, name) is None:
            raise UsageError(f"{name[:100]!r} is not the id of a condition or a market; only those name a resolution")
        revisions = _revise(stored.get(name), resolution, seen_at)
        if revisions is not None:
            stored[name] = revisions
            changed += 1
    if changed:
        _replace_file(folder, path, stored)
    return changed


def _one_at_a_time(folder: Path) -> AbstractContextManager[None]:
    # Without a folder there is nothing to lose; whoever writes the first file makes it.
    return lock_folder(folder) if folder.is_dir() else nullcontext()


def _revise(stored: object, resolution: Resolution, seen_at: datetime) -> object | None:
    if stored is None:
        return _resolution_row(resolution, resolution.effective_at)
    rows = stored if isinstance(stored, list) else [stored]
    try:
        last = revisions_as_of(rows, as_of=LAST_INSTANT)[-1]
    except (ValueError, IndexError) as error:
        raise VenueChanged(f"a resolution of the archive cannot be corrected: {error}; fix it by hand") from error
    if (last.payout_yes, last.payouts) == (resolution.payout_yes, resolution.payouts):
        return None
    dated = [{"effective_at": row.get("resolved_at"), **row} for row in rows if isinstance(row, dict)]
    effective_at = max(seen_at, last.effective_at).timestamp()
    return [*dated, {**_resolution_row(resolution, seen_at), "effective_at": _whole_seconds(effective_at)}]


def _resolution_row(resolution: Resolution, effective_at: datetime) -> dict[str, object]:
    paid = resolution.payout_yes
    payouts = list(resolution.payouts) or ([] if paid is None else [paid, 1.0 - paid])
    row: dict[str, object] = {
        "resolved_at": _whole_seconds(resolution.settled_at.timestamp()),
        "payouts": payouts or REFUND,
    }
    if effective_at != resolution.settled_at:
        row["effective_at"] = _whole_seconds(effective_at.timestamp())
    return row


def _parse_point(point: Mapping[str, object]) -> tuple[float, float]:
    try:
        return fields.unix_instant(point.get("t")).timestamp(), fields.require_price(point.get("p"))
    except ValueError as error:
        raise VenueChanged(f"a price point cannot be recorded: {error}") from error


def _whole_seconds(seconds: float) -> int | float:
    """Return whole seconds without a decimal point, as venues write them."""
    return int(seconds) if seconds == int(seconds) else seconds


def _replace_file(folder: Path, path: Path, value: object) -> None:
    layout.check_inside(folder, path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _write(path, value)
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error}; name a folder that can") from error


def _write(path: Path, value: object) -> None:
    with whole_file(path, durable=True) as file:
        file.write(fields.dumps(value).encode())
