"""Forecast files: the forecasts in a user's table, row by row, and its bad rows."""

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
from predibot.jobs.score_files.table import (
    BadRow,
    Cell,
    Columns,
    FileRow,
    FileRows,
    InputTable,
    parse_cell_instant,
    parse_payout,
    parse_share,
    parse_text,
    show_cell,
)
from predibot.scoring.records.track_record import Forecasts

COLUMNS = Columns(
    required=("forecaster", "question", "probability", "outcome"),
    optional=("market_probability", "cluster", "date", "category", "earlier_price"),
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
"""Other common names of the required columns, for suggestions."""


@dataclass(frozen=True, slots=True)
class Layout:
    """The columns of a user's file, and whether each forecaster has one."""

    named: Mapping[str, str] = field(default_factory=dict)
    """The meaning of a column, one of `COLUMNS`, by its name in the file."""
    wide: bool = False
    """Whether a row is a question with a column for each forecaster: those named `probability`, else all others."""

    def __post_init__(self) -> None:
        """Refuse an unknown column, or two of one meaning."""
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
        """Yield a row for each forecast, with the cells of `COLUMNS`; in a wide file an empty cell is no forecast."""
        missing = [theirs for theirs in self.named if theirs not in file.names]
        if missing:
            known = [one_line(name)[:40] for name in file.names[:40]]
            raise UsageError(f"{file.label} has no column {missing[0][:80]!r}. {did_you_mean(missing[0], known)}")
        return self._wide_rows(file) if self.wide else self._long_rows(file)

    def _their_name(self, ours: str) -> str:
        return next((theirs for theirs, each in self.named.items() if each == ours), ours)

    def _check_columns(self, file: InputTable, wanted: Iterable[str]) -> None:
        """Refuse a file without a required column; suggest the option that would name it."""
        missing = [ours for ours in wanted if self._their_name(ours) not in file.names]
        if not missing:
            return
        named = {**self.named, **self._suggest_columns(file, missing)}
        # With a single forecaster the name of the probability column is its name.
        lone = {"forecaster"} if "probability" in named.values() and not self.wide else set()
        if set(missing) <= {*named.values()} | lone:
            columns = ",".join(f"{theirs}={ours}" for theirs, ours in named.items())
            remedy = f"Say --columns {shlex.quote(columns)}"
        else:
            remedy = f"It has {file.list_names()}. Say which of them it is with --columns NAME=COLUMN, or add it"
            if file.rows_name in ("forecasts", "resolutions", "questions"):
                remedy += ", or if it is a set of ForecastBench, say --format forecastbench"
        raise UsageError(f"{file.label} has no column {', '.join(missing)}. {remedy}")

    def _suggest_columns(self, file: InputTable, missing: Sequence[str]) -> Mapping[str, str]:
        taken = {*self.named, *COLUMNS.names}
        # Other names could not be typed in the option.
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
        # A file of one forecaster may have its name as the column's instead of on each row.
        lone = self._their_name("probability") if self._their_name("forecaster") not in file.names else None
        lone = None if lone == "probability" else lone
        required = [ours for ours in COLUMNS.required if lone is None or ours != "forecaster"]
        self._check_columns(file, required)
        for row in file.rows(
            Columns(tuple(map(self._their_name, required)), tuple(map(self._their_name, COLUMNS.optional)))
        ):
            yield row if isinstance(row, BadRow) or lone is None else FileRow(row.number, (lone, *row.cells))

    def _wide_rows(self, file: InputTable) -> Iterator[FileRow | BadRow]:
        shared = tuple(name for name in COLUMNS.names if name not in ("forecaster", "probability"))
        of_all = [self._their_name(ours) for ours in shared]
        named = [theirs for theirs, ours in self.named.items() if ours == "probability"]
        forecasters = named or [name for name in file.names if name not in of_all]
        if not forecasters:
            raise UsageError(f"{file.label} has no column of a forecaster beside {', '.join(of_all)}. Add one")
        required = tuple(self._their_name(ours) for ours in ("question", "outcome"))
        self._check_columns(file, ("question", "outcome"))
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
    """A forecast in the file."""

    number: int
    forecaster: str
    question: str
    at: datetime | None
    probability: float
    outcome: float | None
    """1 or 0; a number between is void, and None is open."""
    market_probability: float
    """NaN without one."""
    cluster: str | None
    """None: the question alone."""
    category: str | None
    earlier_price: float = nan
    """NaN without one."""

    @property
    def is_void(self) -> bool:
        """Return whether the question ended neither with YES nor with NO."""
        return self.outcome is not None and 0.0 < self.outcome < 1.0


@dataclass(frozen=True, slots=True)
class ForecastFile:
    """The content of a forecast file."""

    file: FileRows
    forecasts: tuple[FileForecast, ...]
    """The good rows, in the file's order."""
    n_open: Mapping[str, int]
    """Forecasts on questions without an outcome, by forecaster."""
    n_void: Mapping[str, int]
    """Forecasts on questions that ended neither with YES nor with NO, by forecaster."""

    @property
    def forecasters(self) -> tuple[str, ...]:
        """Return all forecasters in order of appearance."""
        return tuple(dict.fromkeys(forecast.forecaster for forecast in self.forecasts))

    @property
    def settled(self) -> list[FileForecast]:
        """Return the forecasts on questions that ended with YES or NO."""
        return [forecast for forecast in self.forecasts if forecast.outcome is not None and not forecast.is_void]

    def to_arrays(self) -> Forecasts:
        """Return the forecasts on questions that ended with YES or NO, as arrays.

        Forecasters are compared where question and date are the same. Without a cluster a question stands for itself,
        on all its dates.
        """
        settled = self.settled

        def numbers(things: Iterable[Hashable], of: Callable[[FileForecast], Hashable]) -> NDArray[np.int64]:
            """Return which of some things each forecast is of, by its place among them."""
            places = {thing: place for place, thing in enumerate(dict.fromkeys(things))}
            return np.array([places[of(forecast)] for forecast in settled], dtype=np.int64)

        forecasters = self.forecasters
        categories = tuple(dict.fromkeys(_category(forecast) for forecast in settled))
        has_categories = any(forecast.category is not None for forecast in settled)
        return Forecasts(
            forecasters=forecasters,
            forecaster=numbers(forecasters, lambda forecast: forecast.forecaster),
            question=numbers(map(_question, settled), _question),
            # Sorted, so that random draws of clusters do not depend on the order of rows.
            cluster=numbers(sorted({_cluster(forecast) for forecast in settled}), _cluster),
            probability=np.array([forecast.probability for forecast in settled], dtype=np.float64),
            outcome=np.array([forecast.outcome for forecast in settled], dtype=np.float64),
            market_probability=np.array([forecast.market_probability for forecast in settled], dtype=np.float64),
            category=numbers(categories, _category) if has_categories else None,
            categories=categories if has_categories else (),
        )


def read_forecasts(table: InputTable, layout: "Layout | None" = None) -> ForecastFile:
    """Return the content of a file of forecasts with the columns of `COLUMNS`, unless a layout names others.

    Bad rows are reported, never fixed. UsageError is raised if it has another format, lacks a column, or is too large.
    """
    file = FileRows(table.label, table.place)
    # Cached, because dates repeat.
    parse = partial(_parse_row, instant=cache(partial(parse_cell_instant, "date")))
    forecasts = file.parse((layout or Layout()).rows(table), parse)
    kept = file.drop_refused(forecasts, _contradictions(forecasts, file.place))
    good = tuple(file.drop_refused(kept, _repetitions(kept, file.place)))
    return ForecastFile(
        file=file,
        forecasts=good,
        n_open=Counter(each.forecaster for each in good if each.outcome is None),
        n_void=Counter(each.forecaster for each in good if each.is_void),
    )


def _name(column: str, cell: Cell) -> str:
    # Interned, because names repeat.
    return sys.intern(parse_text(column, cell))


def _parse_row(row: FileRow, instant: Callable[[str], datetime]) -> FileForecast:
    forecaster, question, probability, outcome, market, cluster, at, category, earlier = row.cells
    return FileForecast(
        number=row.number,
        forecaster=_name("forecaster", forecaster),
        question=_name("question", question),
        at=None if at is None else instant(at) if isinstance(at, str) else parse_cell_instant("date", at),
        probability=parse_share("probability", probability),
        outcome=None if outcome is None else parse_payout("outcome", outcome),
        market_probability=nan if market is None else parse_share("market_probability", market),
        cluster=None if cluster is None else _name("cluster", cluster),
        category=None if category is None else _name("category", category),
        earlier_price=nan if earlier is None else parse_share("earlier_price", earlier),
    )


def _contradictions(forecasts: Sequence[FileForecast], place: str) -> Iterator[tuple[FileForecast, BadRow]]:
    """Yield every row of a question with two different outcomes: nobody knows which is right."""
    first: dict[str, FileForecast] = {}
    other: dict[str, FileForecast] = {}
    for each in forecasts:
        if each.outcome is None:
            continue
        before = first.setdefault(each.question, each)
        if before.outcome != each.outcome:
            other.setdefault(each.question, each)
    if not other:
        return
    for each in forecasts:
        if each.question in other and each.outcome is not None:
            one = first[each.question]
            against = other[each.question] if each.outcome == one.outcome else one
            why = (
                f"outcome of question {show_cell(each.question)} is {each.outcome:g} here and "
                f"{against.outcome:g} in {place} {against.number}; write one outcome a question"
            )
            yield each, BadRow(each.number, why)


def _repetitions(forecasts: Iterable[FileForecast], place: str) -> Iterator[tuple[FileForecast, BadRow]]:
    """Yield every row that repeats a forecaster's earlier answer: the first counts."""
    seen: dict[tuple[str, str, datetime | None], int] = {}
    for each in forecasts:
        before = seen.setdefault((each.forecaster, each.question, each.at), each.number)
        if before != each.number:
            said_twice = f"forecaster {show_cell(each.forecaster)} answered question {show_cell(each.question)}"
            why = f"{said_twice} in {place} {before} already; keep one, or give each its date"
            yield each, BadRow(each.number, why)


def _question(forecast: FileForecast) -> tuple[str, datetime | None]:
    return forecast.question, forecast.at


def _cluster(forecast: FileForecast) -> tuple[bool, str]:
    # The flag keeps a cluster and a question of the same name apart.
    return (False, forecast.question) if forecast.cluster is None else (True, forecast.cluster)


def _category(forecast: FileForecast) -> str:
    return forecast.category or NO_CATEGORY
