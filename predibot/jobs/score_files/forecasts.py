"""Forecast files: what anybody's forecasters said, row by row, and the rows that cannot be counted."""

import shlex
import sys
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache, partial
from math import nan
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from predibot.domain.spelling import did_you_mean, nearest
from predibot.domain.untrusted_text import one_line
from predibot.errors import UsageError
from predibot.jobs.score_files.cells import Cell, CellRefused, instant_of, payout_of, share_of, shown, text_of
from predibot.jobs.score_files.table import BadRow, Columns, FileRow, FileRows, InputTable
from predibot.scoring.records.forecasts import Forecasts

COLUMNS = Columns(
    required=("forecaster", "question", "probability", "outcome"),
    optional=("market_probability", "cluster", "date", "category"),
)
NO_CATEGORY = "no category"
_ALSO_CALLED = {
    "forecaster": ("model", "bot", "user", "user_id", "agent", "name", "llm", "team"),
    "question": ("id", "question_id", "qid", "market_id", "market", "event", "title"),
    "probability": (
        "forecast",
        "prediction",
        "prob",
        "p",
        "p_yes",
        "probability_yes",
        "predicted_probability",
        "pred",
        "predicted_prob",
    ),
    "outcome": ("resolution", "resolved_to", "y", "label", "target", "actual", "answer", "result"),
}
"""What others call the columns that must be there, for a proposal."""


@dataclass(frozen=True, slots=True)
class Layout:
    """What somebody's file calls its columns, and whether each forecaster has one of its own."""

    named: Mapping[str, str] = field(default_factory=dict)
    """What a column of the file is, by its name there: one of `COLUMNS`."""
    wide: bool = False
    """Whether a row is a question and each forecaster has a column: those named `probability`, else all others."""

    def __post_init__(self) -> None:
        """Refuse a column that there is not, or two of one kind.

        Raises:
            UsageError: If there is one.
        """
        for theirs, ours in self.named.items():
            if ours not in COLUMNS.names:
                raise UsageError(f"{theirs}={ours}: no column {ours!r}. {did_you_mean(ours, COLUMNS.names)}")
        for ours, n in Counter(self.named.values()).items():
            if n > 1 and not (self.wide and ours == "probability"):
                more = "; --wide takes a column a forecaster" if ours == "probability" else ""
                raise UsageError(f"{n} columns are said to be {ours}. Name one{more}")
        if self.wide and "forecaster" in self.named.values():
            raise UsageError("a wide file names its forecasters in the header. Leave forecaster or --wide out")

    def rows(self, file: InputTable) -> Iterator[FileRow | BadRow]:
        """Yield a row for each forecast, with the cells of `COLUMNS`; an empty cell of a forecaster's is none.

        Raises:
            UsageError: If the file is not what it is taken for, or a column is missing.
        """
        missing = [theirs for theirs in self.named if theirs not in file.names]
        if missing:
            known = [one_line(name)[:40] for name in file.names[:40]]
            raise UsageError(f"{file.label} has no column {missing[0][:80]!r}. {did_you_mean(missing[0], known)}")
        return self._wide_rows(file) if self.wide else self._long_rows(file)

    def _theirs(self, ours: str) -> str:
        return next((theirs for theirs, each in self.named.items() if each == ours), ours)

    def _check(self, file: InputTable, wanted: Iterable[str]) -> None:
        """Refuse a file without columns that it must have, and propose the option that names them if there is one."""
        missing = [ours for ours in wanted if self._theirs(ours) not in file.names]
        if not missing:
            return
        named = {**self.named, **self._proposed(file, missing)}
        # Of a lone forecaster the column of the probability is the name.
        lone = {"forecaster"} if "probability" in named.values() and not self.wide else set()
        if set(missing) <= {*named.values()} | lone:
            columns = ",".join(f"{theirs}={ours}" for theirs, ours in named.items())
            remedy = f"Say --columns {shlex.quote(columns)}"
        else:
            remedy = f"It has {file.seen_names()}. Say which of them it is with --columns NAME=COLUMN, or add it"
            if file.rows_name in ("forecasts", "resolutions", "questions"):
                remedy += ", or if it is a set of ForecastBench, say --format forecastbench"
        raise UsageError(f"{file.label} has no column {', '.join(missing)}. {remedy}")

    def _proposed(self, file: InputTable, missing: Sequence[str]) -> Mapping[str, str]:
        """Return what columns of a file could be, by their names there."""
        taken = {*self.named, *COLUMNS.names}
        # Others could not be typed.
        typed = (name for name in file.names if "," not in name and name == one_line(name))
        free = {name.casefold().replace(" ", "_"): name for name in typed if name not in taken}
        found: dict[str, str] = {}
        for ours in missing:
            if known := next((each for each in (ours, *_ALSO_CALLED[ours]) if each in free), None):
                found[free.pop(known)] = ours
        for ours in missing:
            if ours not in found.values() and (theirs := nearest(ours, free, likeness=0.7)):
                found[free.pop(theirs)] = ours
        return found

    def _long_rows(self, file: InputTable) -> Iterator[FileRow | BadRow]:
        # A file of one forecaster need not name it on each row: its column does.
        lone = self._theirs("probability") if self._theirs("forecaster") not in file.names else None
        lone = None if lone == "probability" else lone
        required = [ours for ours in COLUMNS.required if lone is None or ours != "forecaster"]
        self._check(file, required)
        for row in file.rows(Columns(tuple(map(self._theirs, required)), tuple(map(self._theirs, COLUMNS.optional)))):
            yield row if isinstance(row, BadRow) or lone is None else FileRow(row.number, (lone, *row.cells))

    def _wide_rows(self, file: InputTable) -> Iterator[FileRow | BadRow]:
        shared = tuple(name for name in COLUMNS.names if name not in ("forecaster", "probability"))
        of_all = [self._theirs(ours) for ours in shared]
        named = [theirs for theirs, ours in self.named.items() if ours == "probability"]
        forecasters = named or [name for name in file.names if name not in of_all]
        if not forecasters:
            raise UsageError(f"{file.label} has no column of a forecaster beside {', '.join(of_all)}. Add one")
        required = tuple(self._theirs(ours) for ours in ("question", "outcome"))
        self._check(file, ("question", "outcome"))
        optional = tuple(name for name in of_all if name not in required)
        for row in file.rows(Columns(required, (*optional, *forecasters))):
            if isinstance(row, BadRow):
                yield row
                continue
            question, outcome, *others = row.cells
            rest, probabilities = others[: len(optional)], others[len(optional) :]
            for name, probability in zip(forecasters, probabilities, strict=True):
                if probability is not None:
                    yield FileRow(row.number, (name, question, probability, outcome, *rest))


class FileForecast(NamedTuple):
    """One forecast of the file."""

    number: int
    forecaster: str
    question: str
    at: datetime | None
    probability: float
    outcome: float | None
    """1 or 0; between them it is void, and None is open."""
    market_probability: float
    """NaN where none is stated."""
    cluster: str | None
    """None: the question alone."""
    category: str | None

    @property
    def is_void(self) -> bool:
        """Return whether the question ended, but neither with YES nor with NO."""
        return self.outcome is not None and 0.0 < self.outcome < 1.0


@dataclass(frozen=True, slots=True)
class ForecastFile:
    """What a file says."""

    file: FileRows
    said: tuple[FileForecast, ...]
    """The rows that are not bad, in the file's order."""
    n_open: Mapping[str, int]
    """How many forecasts of a forecaster are on questions without an outcome."""
    n_void: Mapping[str, int]
    """How many are on questions that ended neither with YES nor with NO."""

    @property
    def forecasters(self) -> tuple[str, ...]:
        """Return everybody who said something, in the order they appear."""
        return tuple(dict.fromkeys(said.forecaster for said in self.said))

    def settled(self) -> Forecasts:
        """Return the forecasts on questions that came out YES or NO, as arrays.

        Forecasters are compared where question and date are the same. Without a
        cluster a question stands for itself, on all its dates.
        """
        settled = [said for said in self.said if said.outcome is not None and not said.is_void]

        def numbers(things: Iterable[Hashable], of: Callable[[FileForecast], Hashable]) -> NDArray[np.int64]:
            """Return which of some things each forecast is of, by its place among them."""
            places = {thing: place for place, thing in enumerate(dict.fromkeys(things))}
            return np.array([places[of(said)] for said in settled], dtype=np.int64)

        forecasters = self.forecasters
        categories = tuple(dict.fromkeys(_category(said) for said in settled))
        has_categories = any(said.category is not None for said in settled)
        return Forecasts(
            forecasters=forecasters,
            forecaster=numbers(forecasters, lambda said: said.forecaster),
            question=numbers(map(_question, settled), _question),
            # In an order that is theirs, whatever that of the rows: draws go through clusters in it.
            cluster=numbers(sorted({_cluster(said) for said in settled}), _cluster),
            probability=np.array([said.probability for said in settled], dtype=np.float64),
            outcome=np.array([said.outcome for said in settled], dtype=np.float64),
            market_probability=np.array([said.market_probability for said in settled], dtype=np.float64),
            category=numbers(categories, _category) if has_categories else None,
            categories=categories if has_categories else (),
        )


def read_forecasts(table: InputTable, layout: "Layout | None" = None) -> ForecastFile:
    """Return what a file of forecasts says; bad rows are told, never fixed.

    Args:
        table: With the columns of `COLUMNS`, or what the layout says of them.
        layout: What its columns are called; None for the names of `COLUMNS`.

    Raises:
        UsageError: If the file is not what it is taken for, a column is missing, or it is too much.
    """
    said: list[FileForecast] = []
    file = FileRows(table.label, table.place)
    # As with names, a date comes again and again.
    instant = cache(partial(instant_of, "date"))
    last: BadRow | None = None
    for row in (layout or Layout()).rows(table):
        if isinstance(row, BadRow):
            file.add(row)
            continue
        try:
            said.append(_said(row, instant))
        except CellRefused as error:
            wrong = BadRow(row.number, str(error))
            # What is wrong for every forecaster of a line is said once.
            if wrong != last:
                file.add(wrong)
            last = wrong
    file.rows = len(said) + file.n_bad_rows
    kept = file.sifted(said, _contradicted(said, file.place))
    good = tuple(file.sifted(kept, _repeated(kept, file.place)))
    return ForecastFile(
        file=file,
        said=good,
        n_open=Counter(each.forecaster for each in good if each.outcome is None),
        n_void=Counter(each.forecaster for each in good if each.is_void),
    )


def _name(column: str, cell: Cell) -> str:
    # Names come again and again, and are kept once.
    return sys.intern(text_of(column, cell))


def _said(row: FileRow, instant: Callable[[str], datetime]) -> FileForecast:
    """Return the forecast of a row, with the cells of `COLUMNS`."""
    forecaster, question, probability, outcome, market, cluster, at, category = row.cells
    return FileForecast(
        number=row.number,
        forecaster=_name("forecaster", forecaster),
        question=_name("question", question),
        at=None if at is None else instant(at) if isinstance(at, str) else instant_of("date", at),
        probability=share_of("probability", probability),
        outcome=None if outcome is None else payout_of("outcome", outcome),
        market_probability=nan if market is None else share_of("market_probability", market),
        cluster=None if cluster is None else _name("cluster", cluster),
        category=None if category is None else _name("category", category),
    )


def _contradicted(said: Sequence[FileForecast], place: str) -> Iterator[tuple[FileForecast, BadRow]]:
    """Yield every row of a question that ended in two ways, and in which: nobody can say which of them is right."""
    first: dict[str, FileForecast] = {}
    other: dict[str, FileForecast] = {}
    for each in said:
        if each.outcome is None:
            continue
        before = first.setdefault(each.question, each)
        if before.outcome != each.outcome:
            other.setdefault(each.question, each)
    if not other:
        return
    for each in said:
        if each.question in other and each.outcome is not None:
            one = first[each.question]
            against = other[each.question] if each.outcome == one.outcome else one
            why = (
                f"outcome of question {shown(each.question)} is {each.outcome:g} here and "
                f"{against.outcome:g} in {place} {against.number}; write one outcome a question"
            )
            yield each, BadRow(each.number, why)


def _repeated(said: Iterable[FileForecast], place: str) -> Iterator[tuple[FileForecast, BadRow]]:
    """Yield every row whose forecaster spoke of the same before, and where: the first counts."""
    seen: dict[tuple[str, str, datetime | None], int] = {}
    for each in said:
        before = seen.setdefault((each.forecaster, each.question, each.at), each.number)
        if before != each.number:
            said_twice = f"forecaster {shown(each.forecaster)} answered question {shown(each.question)}"
            why = f"{said_twice} in {place} {before} already; keep one, or give each its date"
            yield each, BadRow(each.number, why)


def _question(said: FileForecast) -> tuple[str, datetime | None]:
    return said.question, said.at


def _cluster(said: FileForecast) -> tuple[bool, str]:
    # A cluster and a question may have the same name.
    return (False, said.question) if said.cluster is None else (True, said.cluster)


def _category(said: FileForecast) -> str:
    return said.category or NO_CATEGORY
