"""PrediBench's files: the events and answers of a day, checked and converted."""

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from math import fsum
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import AfterValidator, BeforeValidator, FailFast, Field, ValidationError, model_validator

from predibot.domain.decision import Decision, MarketDecision, Source
from predibot.domain.event import Event, Market, MarketRef, Tag
from predibot.domain.price import PricePoint, Quote
from predibot.domain.untrusted_text import MAX_JSON_VALUES, has_too_many_values
from predibot.errors import UsageError
from predibot.games.dollar_per_event.rules import STAKE_TOLERANCE_USD
from predibot.net.json_client import Wire
from predibot.plain_file import names_in, plain_bytes
from predibot.venues import fields

EVENTS_FILE = "events.json"
MAX_FILE_BYTES = 16 * 2**20
"""In memory a character may take eight times as much."""
MAX_BET_USD = 1e6
"""Bets above the dollar are scaled; above this they are refused."""
MAX_FOLDERS = 100_000
_DEEPEST_DAY = 3
"""The most folders between the given one and a day's."""
_MAX_SOURCES = 1_000
_FIRST_INSTANT, _LAST_INSTANT = datetime(2000, 1, 1, tzinfo=UTC), datetime(3000, 1, 1, tzinfo=UTC)
_REPLICATE = re.compile(r"(.+)_run_([0-9]{1,6})")
_BOT = re.compile(r"[A-Za-z0-9._-]{1,80}")
# `FailFast` below: the errors of millions of malformed entries would take more memory than the entries.


class MalformedFile(ValueError):
    """A file has a mistake; the message says where in it, and what was seen."""


@dataclass(frozen=True, slots=True)
class DayEvent:
    """An event of a day with its recorded prices."""

    event: Event
    """With markets quoted at their last price."""
    prices: Mapping[str, tuple[PricePoint, ...]]
    """Prices of YES by market, oldest first; a market without any is absent."""

    def quotes(self, at: datetime) -> dict[str, Quote]:
        """Return the last price of each market by the instant."""
        found = {market_id: [point for point in points if point.at <= at] for market_id, points in self.prices.items()}
        return {
            market_id: Quote(points[-1].at, history=points[-1].price) for market_id, points in found.items() if points
        }


@dataclass(frozen=True, slots=True)
class Answer:
    """A bot's answer on one event."""

    place: str
    """File and event, for messages."""
    event_id: str
    started_at: datetime
    decided_at: datetime
    decision: Decision
    """Includes the stated remaining money, and a note if that differs from what the bets leave."""
    sources: tuple[Source, ...]


@dataclass(frozen=True, slots=True)
class Replicate:
    """One file: a model's answers on a day; it may have been asked several times."""

    label: str
    number: int
    model: str
    bot: str
    target_on: date
    arguments: Mapping[str, str | bool]
    """The file's statements about the model."""
    sha256: str
    answers: tuple[Answer, ...]


@dataclass(frozen=True, slots=True)
class Day:
    """A folder with one `events.json`."""

    label: str
    events: Mapping[str, DayEvent]
    replicates: tuple[Replicate, ...]
    """By number, then by bot."""
    n_trace_folders: int
    """Folders without `_run_`, which hold traces and no decisions."""


def read_days(folder: Path) -> tuple[Day, ...]:
    """Return the days in a folder, or the folder as a day, by name; UsageError has a sentence for each mistake."""
    days, refused = list[Day](), list[str]()
    try:
        for each in _day_folders(folder):
            _read_day(folder, each, days, refused)
    except OSError as error:
        raise UsageError(f"{folder} cannot be read: {error.strerror}. Name another folder") from None
    if refused:
        more = f"; and {len(refused) - 20:,} more" if len(refused) > 20 else ""
        raise UsageError(f"nothing is imported, fix or remove what is wrong: {'; '.join(refused[:20])}{more}")
    if not days:
        raise UsageError(
            f"{folder} holds no {EVENTS_FILE}. Name the folder of a day, such as model_results/2025-09-18, or one that "
            "holds such folders"
        )
    return tuple(days)


def _day_folders(folder: Path, depth: int = 0) -> Iterator[Path]:
    if (folder / EVENTS_FILE).is_file():
        yield folder
        return
    if depth < _DEEPEST_DAY:
        for each in _subfolders(folder):
            yield from _day_folders(each, depth + 1)


def _subfolders(folder: Path) -> list[Path]:
    try:
        return sorted(each for name in names_in(folder, MAX_FOLDERS) if (each := folder / name).is_dir())
    except OSError as error:
        raise UsageError(f"{folder} cannot be read: {error.strerror}. Name a folder, or a part of one") from None


def _read_day(root: Path, folder: Path, days: list[Day], refused: list[str]) -> None:
    """Read a day, and note a sentence for each file with a mistake."""

    def label(path: Path) -> str:
        return str(path.relative_to(root))

    try:
        events = _parse_events(label(folder / EVENTS_FILE), _load(label(folder / EVENTS_FILE), folder / EVENTS_FILE)[0])
    except MalformedFile as error:
        refused.append(str(error))
        return
    found: dict[tuple[int, str], Replicate] = {}
    n_traces = 0
    for each in _subfolders(folder):
        named = _REPLICATE.fullmatch(each.name)
        if named is None:
            n_traces += 1
            continue
        try:
            path = _answers_file(label(each), each)
            replicate = _make_replicate(label(path), *_load(label(path), path), int(named[2]), events)
            first = found.setdefault((replicate.number, replicate.bot), replicate)
            if first is not replicate:
                raise MalformedFile(f"{replicate.label}: run {named[2]} of {replicate.bot} is in {first.label} already")
        except MalformedFile as error:
            refused.append(str(error))
    replicates = tuple(found[key] for key in sorted(found))
    days.append(Day(label(folder), events, replicates, n_traces))


def _answers_file(label: str, folder: Path) -> Path:
    """Return the file of a replicate, by name or as the only JSON file."""
    named = folder / "model_investment_decisions.json"
    listed = (
        [named]
        if named.is_file()
        else [path for path in map(folder.joinpath, names_in(folder, MAX_FOLDERS)) if path.suffix == ".json"]
    )
    if len(listed) != 1:
        raise MalformedFile(f"{label} holds {len(listed)} JSON files, and none is model_investment_decisions.json")
    return listed[0]


def _load(label: str, path: Path) -> tuple[Any, str]:
    try:
        content = plain_bytes(path, MAX_FILE_BYTES)
    except OSError as error:
        raise MalformedFile(f"{label} cannot be read: {error.strerror}") from None
    if has_too_many_values(content):
        raise MalformedFile(f"{label} holds more than {MAX_JSON_VALUES:,} values")
    try:
        return fields.loads(content), hashlib.sha256(content).hexdigest()
    except ValueError as error:
        raise MalformedFile(f"{label} is no JSON that can be read: {error}") from None


def _text_list(value: object) -> list[object]:
    return [] if value is None else fields.json_list(value)


def _unix_instant(value: object) -> datetime:
    at = fields.unix_instant(value)
    if at < _FIRST_INSTANT:
        raise ValueError(f"{fields.short_repr(value)} is long before there were such files; give seconds since 1970")
    return at


def _check_date(day: date) -> date:
    return _check_instant(datetime(day.year, day.month, day.day, tzinfo=UTC)).date()


def _check_instant(at: datetime | None) -> datetime:
    if at is None:
        raise ValueError("an instant is missing")
    if not _FIRST_INSTANT <= at < _LAST_INSTANT:
        raise ValueError(f"{at.date()} is not in the years 2000 to 2999, in which there are such files")
    return at


def _refuse_repeated(noun: str, names: Iterable[str], what: str) -> None:
    if repeated := next((name for name, n in Counter(names).items() if n > 1), None):
        raise ValueError(f"{noun} {repeated} is {what}")


_UnixInstant = Annotated[datetime, BeforeValidator(_unix_instant)]
_Texts = Annotated[list[fields.StatedText], FailFast(), BeforeValidator(_text_list), Field(max_length=_MAX_SOURCES)]


class _OutcomeWire(Wire):
    name: fields.StatedText
    token_id: str = Field(default="", alias="clob_token_id")


def _optional_prices(value: object) -> list[float | None]:
    return [fields.optional_price(each) for each in fields.json_list(value)]


def _parse_instants(value: object) -> list[datetime]:
    return [_check_instant(fields.optional_instant(each)) for each in fields.json_list(value)]


class _PricesWire(Wire):
    values: Annotated[list[float | None], BeforeValidator(_optional_prices)]
    index: Annotated[list[datetime], BeforeValidator(_parse_instants)]

    @model_validator(mode="after")
    def _check(self) -> Self:
        if len(self.values) != len(self.index):
            raise ValueError(f"{len(self.values)} values stand beside {len(self.index)} instants")
        if any(later <= earlier for earlier, later in zip(self.index, self.index[1:], strict=False)):
            raise ValueError("the instants of the index are not in order of time")
        return self

    def points(self) -> tuple[PricePoint, ...]:
        pairs = zip(self.index, self.values, strict=True)
        return tuple(PricePoint(at, price) for at, price in pairs if price is not None)


class _MarketWire(Wire):
    id: fields.VenueId
    question: fields.StatedText
    description: fields.LongText = ""
    closes_at: fields.KnownEnd = Field(default=None, alias="end_datetime")
    volume_1wk_usd: fields.OptionalAmount = Field(default=None, alias="volume1wk")
    outcomes: Annotated[list[_OutcomeWire], FailFast(), Field(min_length=2, max_length=100)]
    yes_name: str | None = Field(default=None, alias="price_outcome_name")
    prices: _PricesWire | None = None

    @model_validator(mode="after")
    def _check(self) -> Self:
        names = [each.name for each in self.outcomes]
        if self.yes_name is not None and names.count(self.yes_name) != 1:
            raise ValueError(f"price_outcome_name {fields.short_repr(self.yes_name)} is not one of the outcomes")
        if self.yes_name is None and self.prices is not None and self.prices.points():
            raise ValueError("price_outcome_name is missing, so nobody knows whose the prices are")
        return self

    def points(self) -> tuple[PricePoint, ...]:
        return () if self.prices is None else self.prices.points()

    def to_domain(self) -> Market:
        """Return our market, whose first outcome, YES, is the one that has prices."""
        ordered = sorted(self.outcomes, key=lambda each: each.name != self.yes_name) if self.yes_name else self.outcomes
        tokens = [each.token_id for each in ordered]
        if any(tokens):
            tokens = [fields.token_id(each) for each in tokens]
        points = self.points()
        return Market(
            ref=MarketRef(self.id, None, tuple(tokens) if any(tokens) else ()),
            question=self.question,
            outcomes=tuple(each.name for each in ordered),
            description=self.description,
            closes_at=self.closes_at,
            volume_1wk_usd=self.volume_1wk_usd,
            quote=Quote(points[-1].at, history=points[-1].price) if points else None,
        )


class _EventWire(Wire):
    id: fields.VenueId
    title: fields.StatedText
    slug: fields.ShortText = ""
    description: fields.LongText = ""
    tags: _Texts = Field(default=[])
    closes_at: fields.KnownEnd = Field(default=None, alias="end_datetime")
    volume_24h_usd: fields.OptionalAmount = Field(default=None, alias="volume24hr")
    volume_1wk_usd: fields.OptionalAmount = Field(default=None, alias="volume1wk")
    markets: Annotated[list[_MarketWire], FailFast(), Field(max_length=5_000)]

    def to_domain(self, payload: object) -> DayEvent:
        _refuse_repeated("market", (market.id for market in self.markets), "listed twice")
        event = Event(
            id=self.id,
            title=self.title,
            markets=tuple(market.to_domain() for market in self.markets),
            slug=self.slug,
            description=self.description,
            tags=tuple(Tag(tag, tag.lower().replace(" ", "-")) for tag in self.tags),
            closes_at=self.closes_at,
            volume_24h_usd=self.volume_24h_usd,
            volume_1wk_usd=self.volume_1wk_usd,
            payload=fields.dumps(payload),
        )
        return DayEvent(event, {market.id: points for market in self.markets if (points := market.points())})


def _parse_events(label: str, content: object) -> dict[str, DayEvent]:
    if not isinstance(content, list):
        raise MalformedFile(f"{label} is {fields.short_repr(content)}, no list of events")
    found: dict[str, DayEvent] = {}
    for number, payload in enumerate(content, start=1):
        try:
            each = _EventWire.model_validate(payload).to_domain(payload)
        except ValidationError as error:
            raise MalformedFile(f"{label}, event {number}: {fields.reason_of(error)}") from None
        except ValueError as error:
            raise MalformedFile(f"{label}, event {number}: {error}") from None
        if each.event.id in found:
            raise MalformedFile(f"{label}, event {number}: {each.event.id} is listed before")
        found[each.event.id] = each
    return found


class _MarketForecastWire(Wire):
    rationale: fields.LongText = ""
    probability: fields.Price = Field(alias="estimated_probability")
    bet_usd: Annotated[fields.Number, Field(ge=-MAX_BET_USD, le=MAX_BET_USD)] = Field(alias="bet")
    confidence: Annotated[fields.OptionalAmount, Field(le=10.0)] = None


class _MarketAnswerWire(Wire):
    market_id: fields.VenueId
    decision: _MarketForecastWire

    def to_domain(self) -> MarketDecision:
        said = self.decision
        return MarketDecision(self.market_id, said.probability, said.bet_usd, said.confidence, said.rationale)


class _TimingWire(Wire):
    """In Unix seconds."""

    start_time: _UnixInstant | None = None
    end_time: _UnixInstant


class _EventAnswerWire(Wire):
    event_id: fields.VenueId
    markets: Annotated[list[_MarketAnswerWire], FailFast(), Field(max_length=5_000)] = Field(
        alias="market_investment_decisions"
    )
    unallocated_usd: Annotated[float | None, BeforeValidator(fields.optional_number)] = Field(
        default=None, alias="unallocated_capital"
    )
    timing: _TimingWire
    found: _Texts = Field(default=[], alias="sources_google")
    read: _Texts = Field(default=[], alias="sources_visit_webpage")

    @model_validator(mode="after")
    def _check(self) -> Self:
        _refuse_repeated("market", (each.market_id for each in self.markets), "decided on twice")
        return self

    def to_domain(self, label: str) -> Answer:
        decided_at = self.timing.end_time
        started_at = decided_at if self.timing.start_time is None else min(self.timing.start_time, decided_at)
        return Answer(
            place=f"{label}, event {self.event_id}",
            event_id=self.event_id,
            started_at=started_at,
            decided_at=decided_at,
            decision=Decision(
                tuple(each.to_domain() for each in self.markets),
                unallocated_usd=self.unallocated_usd,
                notes=tuple(self._money_notes()),
            ),
            sources=(
                # The file does not say which queries found them.
                *(Source("search", "", final_url=address) for address in self.found),
                *(Source("page", address) for address in self.read),
            ),
        )

    def _money_notes(self) -> Iterator[str]:
        """Yield the contradictions between the stated remaining money and the bets."""
        staked_usd = fsum(abs(each.decision.bet_usd) for each in self.markets)
        left_usd = 1.0 - staked_usd
        stated = "nothing" if self.unallocated_usd is None else f"{self.unallocated_usd:.6g}"
        if left_usd < -STAKE_TOLERANCE_USD:
            scale = 1.0 / staked_usd
            yield f"the bets add up to {staked_usd:.6g} dollars, scaled by {scale:.6g}; {stated} is stated as left"
        elif self.unallocated_usd is not None and abs(self.unallocated_usd - left_usd) > STAKE_TOLERANCE_USD:
            yield f"{stated} is stated as unallocated, the bets leave {left_usd:.6g}"


class _ModelWire(Wire):
    model_pretty_name: fields.ShortText = ""
    inference_provider: fields.ShortText = ""
    company_pretty_name: fields.ShortText = ""
    agent_type: fields.ShortText = ""
    open_weights: fields.OptionalFlag = None


class _AnswersWire(Wire):
    model_id: fields.StatedText
    model_info: _ModelWire | None = None
    target_on: Annotated[date, AfterValidator(_check_date)] = Field(alias="target_date")
    events: Annotated[list[_EventAnswerWire], FailFast(), Field(max_length=10_000)] = Field(
        alias="event_investment_decisions"
    )

    @property
    def bot(self) -> str:
        """Return the model's name as part of a key, as PrediBench writes it in names of folders."""
        return self.model_id.replace("/", "--")

    @model_validator(mode="after")
    def _check(self) -> Self:
        if _BOT.fullmatch(self.bot) is None:
            raise ValueError(
                f"model_id {fields.short_repr(self.model_id)} has other characters than letters, digits and ./_-"
            )
        _refuse_repeated("event", (each.event_id for each in self.events), "decided on twice")
        return self


def _make_replicate(label: str, content: object, sha256: str, number: int, events: Mapping[str, DayEvent]) -> Replicate:
    try:
        file = _AnswersWire.model_validate(content)
    except ValidationError as error:
        raise MalformedFile(f"{label}: {fields.reason_of(error)}") from None
    answers = tuple(each.to_domain(label) for each in file.events)
    for answer in answers:
        _check_subject(answer, events)
    info = file.model_info.model_dump() if file.model_info is not None else {}
    return Replicate(
        label=label,
        number=number,
        model=file.model_id,
        bot=file.bot,
        target_on=file.target_on,
        arguments={name: value for name, value in info.items() if value not in ("", None)},
        sha256=sha256,
        answers=answers,
    )


def _check_subject(answer: Answer, events: Mapping[str, DayEvent]) -> None:
    if answer.event_id not in events:
        raise MalformedFile(f"{answer.place} is not in {EVENTS_FILE}")
    event = events[answer.event_id].event
    for forecast in answer.decision.forecasts:
        if event.market(forecast.market_id) is None:
            raise MalformedFile(f"{answer.place}: market {forecast.market_id} is not one of it in {EVENTS_FILE}")
