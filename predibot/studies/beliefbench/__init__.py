"""BeliefBench: how related bots find two questions, from their words alone."""

from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from predibot.reports import figures
from predibot.reports.study import Study, StudyCommand, StudyItem, StudyParameter, StudyReport, StudyTables
from predibot.reports.table import Column, table_of

if TYPE_CHECKING:
    from predibot.jobs.caller import Caller
    from predibot.ledger.store import Store


def _collect(caller: "Caller", *, source: str, folder: Path, **options: Any) -> StudyReport:
    from predibot.reports.terminal.terminal import plain
    from predibot.studies.beliefbench.collect import collect_pairs
    from predibot.studies.beliefbench.pairs import LABELS
    from predibot.studies.data_set import funnel_lines

    about = collect_pairs(source, folder, caller, **options)
    columns = (
        Column("domain", "0", kind="name"),
        *(Column(label, str(place), figures.count) for place, label in enumerate(LABELS, start=1)),
        Column("all", "", lambda row: figures.count(sum(row[1:]))),
    )
    rows = [(name, *counts.values()) for name, counts in about.pairs.items()]
    return StudyReport(
        {"folder": str(folder), **asdict(about)},
        (f"{plain(str(folder))}: as of {about.as_of}", *funnel_lines(about.funnel)),
        (table_of("Pairs by how related they are", columns, rows),),
    )


def _read(
    store: "Store",
    *,
    run_key: str | None = None,
    people: Path | None = None,
    sheet: Path | None = None,
    votes: Path | None = None,
    reasons_sheet: Path | None = None,
) -> StudyTables | StudyReport:
    from predibot.studies.beliefbench.readings import pair_tables, read_run
    from predibot.studies.beliefbench.sheets import write_reasons_sheet, write_sheet

    path = sheet or reasons_sheet
    if path is None:
        return pair_tables(store, run_key=run_key, people=people, votes=votes)
    pairs = (write_sheet if sheet else write_reasons_sheet)(read_run(store, run_key), path)
    return StudyReport({"sheet": str(path), "pairs": pairs}, (f"{path}: {pairs} pairs",))


def _item(payload: str) -> StudyItem:
    from predibot.studies.beliefbench.pairs import PairItem

    item = PairItem.from_json(payload)
    truth = item.truth
    texts = tuple(f"{title}\n\n{description}".strip() for title, description in item.texts)
    title = " / ".join(title for title, _ in item.texts)
    if truth is None:
        return StudyItem(title, "how related they are", texts, "")
    return StudyItem(
        title, f"how related they are, of {truth.domain}", texts, truth.label, (("S", f"{truth.score:.3f}"),)
    )


def _runs(store: "Store") -> tuple[str, ...]:
    from predibot.studies.answers import run_keys

    return run_keys(store, STUDY.name)


_COLUMNS = (
    Column("Acc", meaning="answers that are right, of all"),
    Column("F1", meaning="the mean over labels of how well each is found"),
    Column("QWK", meaning="Cohen's kappa weighted by the square of the steps between labels; 0 is chance"),
    Column("Spearman", meaning="the labels' rank correlation with S"),
    Column("MSE", meaning="the mean square of the distance between the middles of both labels"),
    Column("MAE", meaning="the mean distance between the middles of both labels"),
    Column("change", meaning="of MSE after the cutoff: 0.5 for half more"),
    Column("MSE to S", meaning="the same from the label's middle to S itself", drop=1),
    Column("MAE to S", drop=2),
    Column("events", kind="text"),
    Column("chain", kind="text", drop=0),
    Column("groups", drop=2),
    Column("in chain", drop=3),
    Column("hops", kind="key"),
    Column("against", kind="name"),
    *(Column(header, kind="key") for header in ("true", "without", "with")),
    Column("S", drop=3),
    Column("kind", kind="key", drop=2),
    Column("reasons", kind="text", drop=1),
    Column("remark", kind="text", drop=3),
    Column("unread", drop=4),
    *(Column(header, kind="key") for header in ("bot", "judge", "domain", "part", "cutoff")),
)
STUDY = Study(
    name="beliefbench",
    help="print how bots relate questions, as BeliefBench does",
    data_set="pairs",
    commands={
        "collect": StudyCommand(
            "label pairs of questions by how their markets moved together",
            (
                StudyParameter("source", "archive:FOLDER of recorded markets, or the address of a ledger", "SOURCE"),
                StudyParameter("folder", "where the data set goes", "FOLDER", Path),
                StudyParameter("as_of", "see nothing later than this", "INSTANT", datetime, None),
                StudyParameter("seed", "of the draw of the pairs that are kept", "N", int, 42),
                StudyParameter("most", "keep at most N pairs of each domain and label", "N", int, 1_000, least=1),
                StudyParameter("score", "how S is made: tuned, or paper", "FORM", str, "tuned"),
                StudyParameter(
                    "weights",
                    "of synchrony, tags, nearness and text; left out: those of the form",
                    "W,W,W,W",
                    str,
                    None,
                ),
                StudyParameter(
                    "people",
                    "fit the weights to people's ratings: a CSV of pair, rater and label",
                    "FILE",
                    Path,
                    None,
                    excludes=("weights",),
                    exclusion="--people fits the weights; give it without --weights",
                ),
                StudyParameter(
                    "model", "compare texts by this sentence-transformer, not by TF-IDF", "MODEL", str, None
                ),
            ),
            _collect,
        )
    },
    read=_read,
    runs=_runs,
    item=_item,
    full="also domains, cutoffs, labels that were given, case studies and graphs",
    heading="How related questions are",
    menu="Related questions",
    columns={column.header: column for column in _COLUMNS},
    parameters=(
        StudyParameter("people", "people's labels: a CSV of pair, rater and label", "FILE", Path, None),
        StudyParameter(
            "sheet",
            "write a CSV for people to label instead of printing",
            "FILE",
            Path,
            None,
            excludes=("people", "votes", "csv", "reasons_sheet"),
            exclusion="--sheet writes a sheet instead of tables; give it alone",
        ),
        StudyParameter(
            "votes", "people's votes on reasons: a CSV of pair, candidate, rater and vote", "FILE", Path, None
        ),
        StudyParameter(
            "reasons_sheet",
            "write a CSV of candidate reasons for people to vote on, without their authors",
            "FILE",
            Path,
            None,
            excludes=("people", "votes", "csv"),
            exclusion="--reasons-sheet writes a sheet instead of tables; give it alone",
        ),
    ),
)
