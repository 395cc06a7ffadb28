"""What every renderer makes of one made-up evaluation: names, keys, order and layout."""

import json
from dataclasses import replace

from predibot.reports.terminal.evaluation_grids import TABLES
from predibot.reports.terminal.evaluation_screen import ScreenOptions, print_evaluation, print_file_scores
from predibot.reports.views.evaluation import evaluation_csv, evaluation_document
from predibot.scoring.evaluation.evaluation import PARTINGS, Evaluation
from tests.golden import Golden
from tests.reports.made_evaluation import joined, made_evaluation, not_finite
from tests.reports.terminal.test_terminal import screen, shown

FULL = ScreenOptions(full=True)


def printed(found: Evaluation, width: int, how: ScreenOptions | None = None) -> str:
    """Return what is seen on a screen of some width, lines without the blanks that fill them."""
    console = screen(width)
    print_evaluation(console, found, how)
    lines = [line.rstrip() for line in shown(console).splitlines()]
    assert max(map(len, lines)) <= width
    return "\n".join([f"==== {width} columns", *lines, ""])


def folded(document: object, indent: str = "") -> str:
    """Return a document as JSON in which what is short, or holds numbers alone, stands on one line."""
    text = json.dumps(document, allow_nan=False)
    parts = document.values() if isinstance(document, dict) else document if isinstance(document, list) else ()
    if len(text) < 110 or not any(isinstance(each, dict | list) for each in parts):
        return text
    inside = [folded(each, f"{indent} ") for each in parts]
    if isinstance(document, dict):
        inside = [f"{json.dumps(name)}: {each}" for name, each in zip(document, inside, strict=True)]
    begin, end = text[0], text[-1]
    return f"{begin}\n" + ",\n".join(f"{indent} {each}" for each in inside) + f"\n{indent}{end}"


def test_the_document(golden: Golden) -> None:
    found = not_finite(made_evaluation())
    found = replace(found, cards=found.cards[:3], evidence=found.evidence[:3])
    small = replace(found, cards=found.cards[:1], evidence=found.evidence[:1], apart=None, by_category=())
    golden("evaluation.json", f"{folded(evaluation_document(replace(found, joined=joined(small))))}\n")


def test_all_tables_of_a_screen(golden: Golden) -> None:
    found = made_evaluation()
    golden("full-80.txt", printed(found, 80, FULL))
    golden("full-200.txt", printed(replace(found, joined=joined(found)), 200, FULL))


def test_single_tables_of_a_narrow_screen(golden: Golden) -> None:
    found = replace(made_evaluation(None), apart=None)
    golden("tables-60.txt", "\n".join(printed(found, 60, ScreenOptions(table=table)) for table in TABLES))


def test_the_summary(golden: Golden) -> None:
    found = made_evaluation(None)
    bare = replace(found, delays=(), sizings=(), parts=(), apart=None)
    golden("summary.txt", "\n".join(printed(bare, width) for width in (40, 80, 99, 100)))


def test_parts(golden: Golden) -> None:
    found = [replace(made_evaluation(each), delays=(), sizings=(), apart=None) for each in PARTINGS]
    of_parts = (printed(each, 100).partition("the worst\ndecisions.\n")[2] for each in found)
    golden("parts.txt", "\n".join(f"==== {name}\n{said}" for name, said in zip(PARTINGS, of_parts, strict=True)))


def test_tables_for_programs(golden: Golden) -> None:
    found = made_evaluation(None)
    tables = {name or "scores": evaluation_csv(not_finite(found), name) for name in (None, *TABLES)}
    tables |= {f"by {each}": evaluation_csv(made_evaluation(each)) for each in PARTINGS}
    golden("evaluation.csv", "\n".join(f"==== {name}\n{text}" for name, text in tables.items()))


def test_scores_that_come_from_no_ledger(golden: Golden) -> None:
    console = screen(100)
    found = made_evaluation(None)
    brier = tuple(
        replace(each, first=each.first.replace("sharp", "market")) for each in found.pairs if each.metric == "brier"
    )
    print_file_scores(console, replace(found, as_of=None, pairs=brier, apart=None), every_row=False)
    golden("scored.txt", shown(console))
