"""StakeBench: what bots read out of comments about what their writers hold and do."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from predibot.reports.study import Study, StudyCommand, StudyItem, StudyParameter, StudyReport, StudyTables
from predibot.reports.table import Column

if TYPE_CHECKING:
    from predibot.jobs.caller import Caller
    from predibot.ledger.store import Store


def _collect(caller: "Caller", *, platform: str, folder: Path, **options: Any) -> StudyReport:
    from predibot.studies.data_set import funnel_lines
    from predibot.studies.stakebench.collecting.collect import collect_platform

    funnel, asked = collect_platform(platform, folder, caller, **options)
    said = f"{folder}: {asked:,} answers were asked for, the others were there"
    return StudyReport({"folder": str(folder), "funnel": funnel, "asked": asked}, (said, *funnel_lines(funnel)))


def _describe(caller: "Caller", *, folder: str) -> StudyReport:
    from predibot.reports.terminal.study_tables import table_grid, tables_document
    from predibot.studies.data_set import DataSet
    from predibot.studies.stakebench.statistics import describe
    from predibot.studies.stakebench.venues.comments import COMMENTS

    tables = describe(DataSet(COMMENTS.folders(folder), COMMENTS).rows)
    document = tables_document(StudyTables("", tables, (), (), ""))["tables"]
    return StudyReport({"tables": document}, (), tuple(table_grid(STUDY, each) for each in tables))


def _read(store: "Store", **options: Any) -> StudyTables:
    from predibot.studies.stakebench.readings import run_tables

    return run_tables(store, **options)


def _item(payload: str) -> StudyItem:
    from predibot.studies.stakebench.readings import show_item

    return show_item(payload)


def _runs(store: "Store") -> tuple[str, ...]:
    from predibot.studies.answers import run_keys

    return run_keys(store, STUDY.name)


_AGGREGATE = "the mean of G1 Acc, G2 DA, G3 Acc_act and Acc_f, each from 0 for guessing to 1, and of n+ over splits"
_GAPS = "the mean of the gaps; CG(2) to the side most was staked on, CG(3) to 1, CG(4) to the stakes"
_TEXTS = ("question", "begins", "truth", "labels", "platform", "tier", "month", "topic", "what", "from", "to")
_COLUMNS = (
    Column("Agg", meaning=_AGGREGATE),
    Column("G1 Acc", meaning="who holds a position"),
    Column("G2 DA", meaning="on which side, of the answers that name one"),
    Column("G2 CCA", meaning="the same weighted by the logarithm of the stake", drop=5),
    Column("G2 CSD", meaning="DA of the largest quarter of stakes less that of the smallest", drop=4),
    Column("G3 Acc_f", meaning="flip or hold"),
    Column("G3 Acc_d", meaning="decrease or hold", drop=6),
    Column("G4 PLA", meaning="where the odds go", drop=10),
    Column("G4 lead", meaning="G4 PLA less that of the side with most at stake"),
    Column("n+", meaning="in how many splits G4 lead is above zero"),
    Column("following", meaning="how often the side that lost and was held is named"),
    Column("MCG", meaning=_GAPS),
    *(Column(each, kind="text") for each in _TEXTS),
    Column("bot", kind="key"),
    Column("split", kind="text"),
    Column("remark", kind="text", drop=1),
    Column("G1 F1", drop=2),
    Column("G2 strict", drop=3),
    Column("G3 Acc_act", drop=7),
    Column("unread", drop=8),
    Column("splits", drop=9),
)
STUDY = Study(
    name="stakebench",
    help="print what bots read out of comments, as StakeBench does",
    data_set="comments",
    commands={
        "collect": StudyCommand(
            "join comments with what their writers held, and label them",
            (
                StudyParameter(
                    "platform",
                    "polymarket or manifold; sandbox:polymarket and sandbox:manifold are simulated",
                    "PLATFORM",
                ),
                StudyParameter("folder", "where raw answers and the data set go; it is resumed", "FOLDER", Path),
                StudyParameter("markets", "take at most N markets; left out: all", "N", int, None, least=1),
                StudyParameter("into", "also put the rows into a data set of several platforms", "DIR", Path, None),
                StudyParameter(
                    "salt", "the salt of exported ids; left out: runs/out/comments.salt", "FILE", Path, None
                ),
            ),
            _collect,
        ),
        "describe": StudyCommand(
            "print what a data set of comments is made of",
            (StudyParameter("folder", "the folder of a data set, or several with commas", "FOLDER"),),
            _describe,
        ),
    },
    read=_read,
    runs=_runs,
    item=_item,
    full="also intervals, tests, audits and gaps",
    heading="What comments reveal",
    columns={column.header: column for column in _COLUMNS},
    parameters=(
        StudyParameter("pairs", "compare two bots; may be repeated", "A:B", list[str], None),
        StudyParameter("families", "a CSV of bot, family and billions of parameters", "FILE", Path, None),
    ),
    menu="Comments",
)
