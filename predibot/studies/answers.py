"""Answers of a run of a study: the labels of bots, and their unreadable answers."""

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TypeVar

from sqlalchemy import Connection

from predibot.domain.spelling import did_you_mean
from predibot.errors import UsageError
from predibot.games.answers import abstention_note
from predibot.ledger.read.labels import list_labels, runs_of_game
from predibot.ledger.store import Store
from predibot.ledger.write.runs import StoredRun

T = TypeVar("T")
_SILENT = (("abstained", "bot"), ("failed", "answer"))
"""Status and reason of a model that refused, or whose answer could not be read."""


def run_keys(store: Store, game: str) -> tuple[str, ...]:
    """Return the keys of the runs of a game, the latest first."""
    return tuple(run.key for run in reversed(store.run_read(lambda connection: runs_of_game(connection, game))))


def find_run(connection: Connection, game: str, run_key: str | None, *, venue: str) -> StoredRun:
    """Return the run of a game that has a key, or the latest; a UsageError without one names the venue to run on."""
    known = runs_of_game(connection, game)
    if not known:
        raise UsageError(
            f"this ledger has no run of {game}. Make one with `predibot decide {game} --venue {venue}:FOLDER`"
        )
    run = known[-1] if run_key is None else next((each for each in known if each.key == run_key), None)
    if run is None:
        raise UsageError(f"no run of {game} {run_key!r}. {did_you_mean(str(run_key), [each.key for each in known])}")
    return run


@dataclass
class RunAnswers:
    """The answers of a run."""

    labels: dict[str, dict[str, str | None]]
    """By bot and item; None for an unreadable answer."""
    lenient: dict[str, set[str]]
    """By bot, the items whose label did not stand alone."""
    silent: dict[str, Counter[str]]
    """By bot, the reasons for missing answers."""
    abstained: dict[str, set[str]]
    """By bot, the items on which its model refused an answer; their label is None."""
    models: dict[str, str]
    """By bot that asked one."""


def read_answers(connection: Connection, run_id: int, judges: Collection[str] = ()) -> RunAnswers:
    """Return the answers of a run, with bots in order of entry; an unreadable answer of a judge is a missing one."""
    found = RunAnswers({}, {}, {}, {}, {})
    for each in list_labels(connection, run_id):
        labels = found.labels.setdefault(each.bot, {})
        if each.model is not None:
            found.models[each.bot] = each.model
        is_of_model = each.model is not None and (each.status, each.reason_kind) in _SILENT
        is_unread = each.status == "refused" or is_of_model
        if each.status != "recorded" and (each.bot in judges or not is_unread):
            found.silent.setdefault(each.bot, Counter())[each.message or each.status] += 1
            continue
        labels[each.subject_id] = each.label
        if each.status == "abstained" and each.message.startswith(abstention_note("")):
            found.abstained.setdefault(each.bot, set()).add(each.subject_id)
        if each.is_lenient:
            found.lenient.setdefault(each.bot, set()).add(each.subject_id)
    return found


def add_strict(labels: dict[str, dict[str, T]], lenient: Mapping[str, Collection[str]], unread: T) -> list[str]:
    """Add a bot `NAME (strict)` for each bot that put words around labels, and return a note about them.

    `lenient` are, by bot, the items whose label did not stand alone: for the strict bot they are `unread`, like an
    answer without a label.
    """
    for bot, items in lenient.items():
        labels[f"{bot} (strict)"] = {item: unread if item in items else label for item, label in labels[bot].items()}
    if not lenient:
        return []
    counts = ", ".join(f"{bot} {len(items):,}" for bot, items in lenient.items())
    return [f"labels read leniently, with marks or words around them, and unread in 'NAME (strict)': {counts}"]
