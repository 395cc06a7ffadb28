"""ForecastBench's sets: forecasts joined with the resolutions of their questions, as its own code joins them.

Source: `src/resolve/_prepare.py`, `src/resolve/_impute.py` and `src/leaderboard/main.py` of
forecastingresearch/forecastbench, and the sets of forecastingresearch/forecastbench-datasets. Differs for missing data:
they put 0.5 where a question has no forecast, and drop unreadable rows.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from math import fsum
from typing import NamedTuple, TextIO

from predibot.domain.spelling import first_of
from predibot.errors import UsageError
from predibot.jobs.score_files.forecasts import COLUMNS
from predibot.jobs.score_files.table import (
    BadRow,
    Cell,
    Columns,
    FileRow,
    InputTable,
    InvalidCell,
    parse_cell_instant,
    parse_payout,
    parse_share,
    parse_text,
)
from predibot.jobs.score_files.table_file import open_table_file

FORMAT = "forecastbench"
MARKET_SOURCES = frozenset(("infer", "kalshi", "manifold", "metaculus", "polymarket"))
"""Sources whose questions have one outcome; those of all others, series of data, have one for each date."""
_COLUMNS = {
    "forecasts": Columns(
        ("id", "forecast"),
        ("source", "resolution_date", "user_id", "imputed", "resolved", "resolved_to", "market_value_on_due_date"),
    ),
    "resolutions": Columns(("id", "resolved", "resolved_to"), ("source", "resolution_date")),
    "questions": Columns(("id",), ("source", "question", "freeze_datetime", "freeze_datetime_value")),
}
_MOST_NAMED = 10
_UNANSWERED = 0.5
"""ForecastBench's replacement for a missing forecast."""


class QuestionKey(NamedTuple):
    """A question: a market in a set of questions, or a series on a date."""

    due_on: str
    """The date when forecasts of the set were due, as 2026-07-19."""
    source: str
    id: str
    resolves_on: str
    """Empty for a market."""

    @property
    def kind(self) -> str:
        """Return `market` or `dataset`, as on ForecastBench's boards."""
        return "market" if self.source in MARKET_SOURCES else "dataset"

    @property
    def cluster(self) -> str:
        """Return the name of the question, shared by all its dates and sets."""
        return f"{self.source} {self.id}"

    @property
    def question(self) -> str:
        """Return the name of a single outcome: a market, or a series from a date to another."""
        dates = f", {self.due_on} to {self.resolves_on}" if self.resolves_on else ""
        return f"{self.cluster}{dates}"


class ForecastBenchRow(NamedTuple):
    """A forecast with its question's outcome."""

    key: QuestionKey
    forecaster: str
    probability: float
    outcome: float | None
    """None where it is not resolved."""
    settled_on: str
    """The date of resolution, as 2026-08-01."""
    price: float | None
    priced_at: str
    """The date or instant of the price."""


@dataclass(slots=True)
class _SetFile:
    label: str
    kind: str
    due_on: str
    """Empty where it is missing."""
    model: str
    organization: str
    rows: list[tuple[int, dict[str, Cell]]]


@dataclass(slots=True)
class ForecastSet:
    """A forecast set joined with its questions' outcomes."""

    label: str
    name: str
    of_users: bool
    """Whether it holds forecasts of several people, whom ForecastBench's boards do not show one by one."""
    rows: list[tuple[int, ForecastBenchRow | str]] = field(default_factory=list)
    """Row numbers, each with a forecast or the reason why it is none."""
    combinations: int = 0
    imputed: int = 0
    squares: dict[str, list[float]] = field(default_factory=lambda: {"market": [], "dataset": []})
    """Squared errors by kind of question as ForecastBench counts: a question's first forecast, or its replacement."""
    answered: set[QuestionKey] = field(default_factory=set)


@dataclass(slots=True)
class Sets:
    """Forecast sets with what resolution sets and question sets say of their questions."""

    joined: list[ForecastSet] = field(default_factory=list)
    outcomes: dict[QuestionKey, tuple[float | None, str]] = field(default_factory=dict)
    """Outcome, None where a question is not resolved, and date of resolution."""
    prices: dict[QuestionKey, tuple[float | None, str]] = field(default_factory=dict)
    """Price and its instant, when the question was chosen: some days before forecasts were due."""
    titles: dict[QuestionKey, str] = field(default_factory=dict)
    resolved_on: set[str] = field(default_factory=set)
    asked_on: set[str] = field(default_factory=set)
    unread: list[str] = field(default_factory=list)
    sources: dict[tuple[str, str], set[str]] = field(default_factory=dict)
    """The sources of an id in a set, for forecasts without one."""

    def take(self, found: _SetFile) -> None:
        """Add a resolution set or a question set; combinations of questions are skipped."""
        (self.resolved_on if found.kind == "resolutions" else self.asked_on).add(found.due_on)
        for number, row in found.rows:
            if isinstance(row["id"], list):
                continue
            try:
                key = _question_key(found.due_on, row, {})
                if found.kind == "questions":
                    question = key._replace(resolves_on="")
                    price = _price(row["freeze_datetime_value"], key)
                    self.prices[question] = price, str(row["freeze_datetime"] or "")
                    self.titles[question] = str(row["question"] or "")
                elif self.outcomes.get(key, (None, ""))[0] is None:
                    self.outcomes[key] = _outcome(row), _day(row["resolution_date"])
            except InvalidCell as error:
                self.unread.append(f"{found.label}, row {number}: {error}")
                continue
            self.sources.setdefault((key.due_on, key.id), set()).add(key.source)

    def table(self) -> InputTable:
        """Return the forecasts as a table with the columns of a forecast file."""
        several = len(self.joined) > 1
        rows = [
            FileRow(number, _cells(found))
            if isinstance(found, ForecastBenchRow)
            else BadRow(number, f"{each.label}: {found}" if several else found)
            for each in self.joined
            for number, found in each.rows
        ]
        remarks = [remark for each in self.joined for remark in _remarks(each, self)]
        if self.unread:
            unread = first_of(self.unread, _MOST_NAMED)
            remarks.insert(0, f"Rows of resolution and question sets that cannot be read: {unread}.")
        label = f"{len(self.joined)} forecast sets" if several else self.joined[0].label
        return InputTable(COLUMNS.names, "row", lambda _: rows, label=label, remarks=tuple(remarks))


def read_sets(arguments: Sequence[str], standard_input: TextIO | None) -> Sets:
    """Return forecasts with their outcomes.

    Args:
        arguments: In any order: forecast sets, question sets for prices, and the resolution sets of the same dates
            unless the forecast sets are processed ones.

    Raises:
        UsageError: If one of them is no such set, or forecasts come without their resolutions.
    """
    sets = [_read_set(argument, standard_input) for argument in arguments]
    found = Sets()
    for each in sets:
        if each.kind != "forecasts":
            found.take(each)
    forecasts = [each for each in sets if each.kind == "forecasts"]
    if not forecasts:
        raise UsageError("no forecast set is among the files. Give one beside its resolution set")
    of_model = Counter(each.model for each in forecasts)
    for each in forecasts:
        name = f"{each.organization} {each.model}".strip() if of_model[each.model] > 1 else each.model
        found.joined.append(_join(each, found, name))
    return found


def _cells(item: ForecastBenchRow) -> list[Cell]:
    key = item.key
    cells = [item.forecaster, key.question, item.probability, item.outcome]
    return [*cells, item.price, key.cluster, key.due_on, key.kind, None]


def _read_set(argument: str, standard_input: TextIO | None) -> _SetFile:
    with open_table_file(argument, "json", standard_input) as table:
        label, kind, about = table.label, table.rows_name, table.beside
        if kind not in _COLUMNS:
            raise UsageError(f"{label} is no set of ForecastBench: it has no forecasts, resolutions or questions")
        columns = _COLUMNS[kind]
        if table.names:
            table.require(columns)
        found = [row for row in table.rows(Columns((), columns.names)) if isinstance(row, FileRow)]
        rows = [(row.number, dict(zip(columns.names, row.cells, strict=True))) for row in found]
    question_set = about.get("question_set") or about.get("question-set") or ""
    due_on = str(about.get("forecast_due_date") or question_set)[:10]
    return _SetFile(label, kind, due_on, str(about.get("model") or label), str(about.get("organization") or ""), rows)


def _join(found: _SetFile, known: Sets, name: str) -> ForecastSet:
    # A set without a date belongs to the only resolution set.
    due_on = found.due_on or next(iter(known.resolved_on), "")
    processed = any(row["resolved"] is not None for _, row in found.rows)
    if not processed and (due_on not in known.resolved_on or (not found.due_on and len(known.resolved_on) > 1)):
        day = due_on or "DATE"
        raise UsageError(f"{found.label} comes without resolutions. Give {day}_resolution_set.json beside it")
    joined = ForecastSet(found.label, name, any(row["user_id"] is not None for _, row in found.rows))
    for number, row in found.rows:
        if isinstance(row["id"], list):
            joined.combinations += 1
            continue
        try:
            key = _question_key(due_on, row, known.sources)
            if due_on in known.asked_on and key._replace(resolves_on="") not in known.prices:
                raise InvalidCell(f"{key.cluster} is not in the question set")
            outcome, settled_on = known.outcomes.get(key, (None, ""))
            if processed:
                outcome, settled_on = _outcome(row), _day(row["resolution_date"])
            price, priced_at = _price(row["market_value_on_due_date"], key), due_on
            if price is None:
                price, priced_at = known.prices.get(key._replace(resolves_on=""), (None, ""))
            forecaster = name if (user := row["user_id"]) is None else parse_text("user_id", user)
            probability, put_in = parse_share("probability", row["forecast"]), _is_true("imputed", row)
        except InvalidCell as error:
            joined.rows.append((number, str(error)))
            continue
        if outcome is not None and key not in joined.answered:
            joined.squares[key.kind].append((probability - outcome) ** 2)
        joined.answered.add(key)
        if put_in:
            joined.imputed += 1
            continue
        joined.rows.append(
            (number, ForecastBenchRow(key, forecaster, probability, outcome, settled_on, price, priced_at))
        )
    return joined


def _question_key(due_on: str, row: Mapping[str, Cell], sources: Mapping[tuple[str, str], set[str]]) -> QuestionKey:
    name = parse_text("id", row["id"])
    if (stated := row["source"]) is not None:
        source = parse_text("source", stated).lower()
    elif len(of := sources.get((due_on, name), set())) == 1:
        (source,) = of
    else:
        raise InvalidCell(f"source of {name} is missing")
    if source in MARKET_SOURCES:
        return QuestionKey(due_on, source, name, "")
    date = row.get("resolution_date")
    if date is None and "resolution_date" in row:
        raise InvalidCell(f"resolution_date of {source} {name} is missing; write the date it is for")
    return QuestionKey(due_on, source, name, _day(date))


def _day(cell: Cell) -> str:
    """Return a date; processed sets write it as an instant."""
    return "" if cell is None else f"{parse_cell_instant('resolution_date', cell):%Y-%m-%d}"


def _outcome(row: Mapping[str, Cell]) -> float | None:
    """Return the outcome of a row; None if it is not final, because then the column holds the market's price."""
    to = row["resolved_to"]
    return parse_payout("resolved_to", to) if to is not None and _is_true("resolved", row) else None


def _is_true(name: str, row: Mapping[str, Cell]) -> bool:
    return (cell := row[name]) is not None and parse_payout(name, cell) == 1.0


def _price(cell: Cell, key: QuestionKey) -> float | None:
    """Return the price of a market; for a series the same column holds its last value."""
    if key.kind == "market" and cell is not None:
        with suppress(InvalidCell):
            return parse_share("price", cell)
    return None


def _remarks(joined: ForecastSet, known: Sets) -> Iterator[str]:
    if joined.combinations:
        yield f"{joined.name}: {joined.combinations:,} on combinations of questions left out."
    if joined.imputed:
        yield f"{joined.name}: {joined.imputed:,} left out that ForecastBench put in where there was no forecast."
    if joined.of_users:
        return
    due_on = {key.due_on for key in joined.answered}
    unanswered = Counter[str]()
    for key, (outcome, _) in known.outcomes.items():
        is_asked = key.due_on not in known.asked_on or key._replace(resolves_on="") in known.prices
        if outcome is not None and key.due_on in due_on and is_asked and key not in joined.answered:
            unanswered[key.kind] += 1
            joined.squares[key.kind].append((_UNANSWERED - outcome) ** 2)
    means = {kind: fsum(squares) / len(squares) for kind, squares in joined.squares.items() if squares}
    parts = [f"{means[kind]:.4f} on {len(joined.squares[kind]):,} {kind} questions" for kind in means]
    overall = f", overall {fsum(means.values()) / 2:.4f} (their mean)" if len(means) == 2 else ""
    filled = unanswered.total() + joined.imputed
    if parts:
        yield (
            f"{joined.name}: as ForecastBench counts, the Brier score is {' and '.join(parts)}{overall}"
            f"{f', where {filled:,} without an answer count as 0.5' if filled else ''}."
        )
