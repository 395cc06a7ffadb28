"""The pages of a study's items: a list of those of a run, and one with the answers of all bots."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

from sqlalchemy import Connection, Row

from predibot.errors import UsageError
from predibot.ledger.read.labels import frozen_items, item_answers, labelled_items, runs_of_game
from predibot.ledger.write.runs import StoredRun
from predibot.reports.study import Study, StudyItem, studies
from predibot.web.cache import LedgerCache
from predibot.web.pages.page import PAGE, WebPage, pagination


def items_page(cache: LedgerCache, run: str, page_: int = 1) -> WebPage:
    """Return a part of the list of the items of a run, in frozen order; raise `UsageError` if no study shows them."""
    study, show, of_run = _run_of_study(cache, run)
    ids = cache.read(labelled_items, of_run.id)
    shown = pagination(len(ids), page_, "/items", run=run)
    some = ids[(shown["page"] - 1) * PAGE : shown["page"] * PAGE]
    payloads = dict(cache.store.run_read(lambda connection: tuple(frozen_items(connection, of_run.id, some))))
    answers = cache.store.run_read(lambda connection: item_answers(connection, of_run.id, some))
    rows = [
        (id, item, _label_counts(answers[id]), sum(each.label == item.truth for each in answers[id]))
        for id in some
        for item in [show(payloads[id])]
    ]
    return WebPage("items", {**shown, "run": run, "study_path": f"/{study.data_set}", "rows": rows})


def item_page(cache: LedgerCache, run: str, subject: str) -> WebPage:
    """Return an item of a run with the answers of all bots; raise `UsageError` if there is none, or it is not shown."""
    _, show, of_run = _run_of_study(cache, run)

    def read(connection: Connection) -> tuple[str | None, Sequence[Row[Any]]]:
        payload = next((payload for _, payload in frozen_items(connection, of_run.id, [subject])), None)
        return payload, item_answers(connection, of_run.id, [subject])[subject]

    payload, answers = cache.store.run_read(read)
    if payload is None or not answers:
        raise UsageError(f"no bot of run {run[:80]!r} answered on {subject[:60]!r}")
    item = show(payload)
    return WebPage(
        "item", {"run": run, "subject": subject, "item": item, "answers": answers, "counts": _label_counts(answers)}
    )


def item_ids(cache: LedgerCache, run: str) -> tuple[str, ...]:
    """Return the ids of the items of a run, in the order in which it froze them; none where no study shows any."""
    try:
        return cache.read(labelled_items, _run_of_study(cache, run)[2].id)
    except UsageError:
        return ()


def _run_of_study(cache: LedgerCache, run: str) -> tuple[Study, Callable[[str], StudyItem], StoredRun]:
    """Return the study of a run, how it shows a payload, and the run."""
    for study in studies().values():
        if study.item is not None:
            found = next((each for each in cache.read(runs_of_game, study.name) if each.key == run), None)
            if found is not None:
                return study, partial(_shown, study.item), found
    raise UsageError(f"no run {run[:80]!r} of a study that shows its texts")


def _shown(show: Callable[[str], StudyItem], payload: str) -> StudyItem:
    try:
        return show(payload)
    except ValueError as error:
        raise UsageError(f"an item of the run cannot be shown: {error}") from None


def _label_counts(answers: Iterable[Any]) -> str:
    counted = Counter(each.label or each.status for each in answers)
    return ", ".join(f"{label} {n}" for label, n in sorted(counted.items(), key=lambda each: (-each[1], each[0])))
