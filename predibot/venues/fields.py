"""The forms in which venues write values: numbers as text, lists inside strings, many shapes of time.

Each function takes a field's JSON and returns one plain value, or raises a `ValueError` with what was seen. Absent,
null and "" mean "not stated"; anything else that cannot be read is refused, never guessed.
"""

import json
import math
import re
from collections.abc import Callable, Collection
from datetime import UTC, datetime
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BeforeValidator, ValidationError

from predibot.domain.clock import parse_instant
from predibot.domain.untrusted_text import why_no_json

MAX_TITLE_CHARACTERS = 1_000
MAX_DESCRIPTION_CHARACTERS = 20_000
MAX_LIST_TEXT_CHARACTERS = 100_000
MAX_SEEN_CHARACTERS = 60
MAX_NAME_CHARACTERS = 100
MAX_REASON_CHARACTERS = 300
EARLIEST_END, LATEST_END = datetime(2020, 1, 1, tzinfo=UTC), datetime(2200, 1, 1, tzinfo=UTC)
"""Servers write the year 1 or 9999 for an unknown end."""
LATEST_UNIX_SECONDS = 32_503_680_000
"""The year 3000: later instants are milliseconds taken for seconds."""

TOKEN_ID = re.compile(r"[0-9]{1,80}")
CONDITION_ID = re.compile(r"0x[0-9a-f]{64}")
_VENUE_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:-]{0,99}")
_T = TypeVar("_T")
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_DECODER = json.JSONDecoder(parse_constant=str)
"""Made once, because a list of events contains a hundred thousand texts of JSON."""


def loads(text: str | bytes) -> object:
    """Return the value of a JSON text, NaN and Infinity as text.

    Raises `ValueError` if it is not JSON, not UTF-8, or nested too deeply.
    """
    try:
        value: object = _DECODER.decode(text) if isinstance(text, str) else json.loads(text, parse_constant=str)
    except (ValueError, RecursionError) as error:
        raise ValueError(why_no_json(error)) from None
    return value


def dumps(value: object) -> str:
    """Return the canonical compact JSON text of a value that came from JSON."""
    try:
        return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
    except ValueError:
        # 1e999 is read as infinity; text can be stored, and no parser takes it for a number.
        return json.dumps(loads(json.dumps(value)), sort_keys=True, separators=(",", ":"))


def strip_fields(payload: object, names: Collection[str]) -> object:
    """Return a copy of a payload without the fields of these names, at any depth."""
    whole: list[Any] = [payload]
    # A stack of its own: a payload may be deeper than Python's recursion limit.
    holders: list[Any] = [whole]
    while holders:
        holder = holders.pop()
        for key, value in holder.items() if isinstance(holder, dict) else enumerate(holder):
            # Exact types, as it comes from JSON, and most values are neither.
            if type(value) is dict:
                holder[key] = {name: each for name, each in value.items() if name not in names}
            elif type(value) is list:
                holder[key] = value.copy()
            else:
                continue
            holders.append(holder[key])
    return whole[0]


def strip_stored_payload(payload: str, names: Collection[str]) -> str:
    """Return a stored payload without the fields of these names; older versions kept them."""
    if re.search(f'"(?:{"|".join(sorted(names))})":', payload) is None:
        return payload
    return dumps(strip_fields(loads(payload), names))


def short_repr(value: object) -> str:
    """Return a short harmless text of an unexpected value."""
    text = repr(value)
    return text if len(text) <= MAX_SEEN_CHARACTERS else text[:MAX_SEEN_CHARACTERS] + "…"


def reason_of(error: ValidationError) -> str:
    """Return the first complaint of a boundary model in one line."""
    first = error.errors(include_url=False, include_context=False)[0]
    field = ".".join(str(part) for part in first["loc"])
    said = first["msg"].removeprefix("Value error, ")
    if first["type"] in ("model_type", "dict_type"):
        said = "it is no object"
    text = f"{field}: {said}" if field else said
    return text[:MAX_REASON_CHARACTERS]


def optional_number(value: object) -> float | None:
    """Return a finite number, or None where none is stated."""
    if value is None or value == "":
        return None
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError(f"{short_repr(value)} is not a number")
    try:
        number = float(value)
    except (ValueError, OverflowError):
        raise ValueError(f"{short_repr(value)} is not a number") from None
    if not math.isfinite(number):
        raise ValueError(f"{short_repr(value)} is not a finite number")
    return number


def require_number(value: object) -> float:
    """Return a finite number; it must be stated."""
    number = optional_number(value)
    if number is None:
        raise ValueError("no number is stated")
    return number


def optional_amount(value: object) -> float | None:
    """Return a number that cannot be negative, or None."""
    number = optional_number(value)
    if number is not None and number < 0.0:
        raise ValueError(f"{short_repr(value)} is below zero")
    return number


def optional_price(value: object) -> float | None:
    """Return a price in [0, 1], or None."""
    return None if value is None or value == "" else require_price(value)


def require_price(value: object) -> float:
    """Return a price in [0, 1]; it must be stated."""
    number = require_number(value)
    if not 0.0 <= number <= 1.0:
        raise ValueError(f"{number!r} is not a price in [0, 1]")
    return number


def optional_flag(value: object) -> bool | None:
    """Return a truth value, or None where none is stated."""
    if value is None or value == "":
        return None
    if isinstance(value, bool):
        return value
    if value in ("true", "false"):
        return value == "true"
    raise ValueError(f"{short_repr(value)} is neither true nor false")


def optional_instant(value: object) -> datetime | None:
    """Return the instant of a text, or None where none is stated."""
    if value is None or value == "":
        return None
    if not isinstance(value, str):
        raise ValueError(f"{short_repr(value)} is not an instant")
    return parse_instant(value)


def unix_instant(value: object) -> datetime:
    """Return the instant of seconds since 1970."""
    seconds = require_number(value)
    if not 0 <= seconds <= LATEST_UNIX_SECONDS:
        raise ValueError(f"{short_repr(value)} is not a time in seconds since 1970")
    return datetime.fromtimestamp(seconds, UTC)


def json_list(value: object) -> list[object]:
    """Return a list, written as JSON or as JSON inside a string; empty where none is stated."""
    value = None if value == "" else _decode_text(value, "a list")
    if value is None:
        return []
    if not isinstance(value, list):
        raise ValueError(f"{short_repr(value)} is not a list")
    return value


def json_object(value: object) -> object:
    """Return an object, written as JSON or as JSON inside a string, or None."""
    return None if value == "" else _decode_text(value, "an object")


def _decode_text(value: object, what: str) -> object:
    if not isinstance(value, str):
        return value
    if len(value) > MAX_LIST_TEXT_CHARACTERS:
        raise ValueError(f"{what} of {len(value):,} characters is too long")
    try:
        return loads(value)
    except ValueError:
        raise ValueError(f"{short_repr(value)} is not {what} written as JSON") from None


def optional_text(value: object) -> str:
    """Return a text without characters that a database refuses; "" where none is stated."""
    if value is None:
        return ""
    if isinstance(value, int | float) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str):
        raise ValueError(f"{short_repr(value)} is not a text")
    return _UNSTORABLE.sub("\ufffd", value)


def short_text(value: object) -> str:
    """Return a title or label, cut to 1,000 characters with an ellipsis."""
    return _cut(optional_text(value).strip(), MAX_TITLE_CHARACTERS)


def require_text(value: object) -> str:
    """Return a title; it must be stated."""
    text = short_text(value)
    if not text:
        raise ValueError("it is missing or empty")
    return text


def long_text(value: object) -> str:
    """Return a description, cut to 20,000 characters with an ellipsis."""
    return _cut(optional_text(value), MAX_DESCRIPTION_CHARACTERS)


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else text[: length - 1] + "…"


def matching(value: object, pattern: re.Pattern[str], what: str) -> str:
    """Return a text that matches a pattern; the error says that it is not `what`."""
    if not isinstance(value, str) or not pattern.fullmatch(value):
        raise ValueError(f"{short_repr(value)} is not {what}")
    return value


def venue_id(value: object) -> str:
    """Return a venue's id, which may be written as a number."""
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    return matching(value, _VENUE_ID, "an id")


def token_id(value: object) -> str:
    """Return a CLOB token id: up to 80 digits."""
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value) if abs(value) < 10**80 else "too long"
    return matching(value, TOKEN_ID, "a token id")


def condition_id(value: object) -> str | None:
    """Return a condition id, or None where none is stated."""
    return None if value is None or value == "" else matching(value, CONDITION_ID, "a condition id")


def or_none(read: Callable[[object], _T | None]) -> Callable[[object], _T | None]:
    """Return a reader that takes what cannot be read for what is not stated."""

    def read_leniently(value: object) -> _T | None:
        try:
            return read(value)
        except ValueError:
            return None

    return read_leniently


volume_or_none = or_none(optional_amount)
"""Returns a volume; None where none is stated, or a venue states one below zero, "NaN" or "12,345"."""
OptionalAmount = Annotated[float | None, BeforeValidator(optional_amount)]
KnownVolume = Annotated[float | None, BeforeValidator(volume_or_none)]
KnownSize = Annotated[KnownVolume, AfterValidator(lambda number: number or None)]
KnownFlag = Annotated[bool | None, BeforeValidator(or_none(optional_flag))]
OptionalPrice = Annotated[float | None, BeforeValidator(optional_price)]
Price = Annotated[float, BeforeValidator(require_price)]


def end_or_none(instant: datetime | None) -> datetime | None:
    """Return an end, or None for one that stands for "unknown"."""
    return instant if instant is not None and EARLIEST_END <= instant < LATEST_END else None


Number = Annotated[float, BeforeValidator(require_number)]
OptionalFlag = Annotated[bool | None, BeforeValidator(optional_flag)]
OptionalInstant = Annotated[datetime | None, BeforeValidator(optional_instant)]
KnownEnd = Annotated[OptionalInstant, AfterValidator(end_or_none)]
KnownOpening = Annotated[datetime | None, BeforeValidator(or_none(lambda value: end_or_none(optional_instant(value))))]
ShortText = Annotated[str, BeforeValidator(short_text)]
StatedText = Annotated[str, BeforeValidator(require_text)]
LongText = Annotated[str, BeforeValidator(long_text)]
VenueId = Annotated[str, BeforeValidator(venue_id)]
TokenId = Annotated[str, BeforeValidator(token_id)]
ConditionId = Annotated[str | None, BeforeValidator(condition_id)]


def name_of(answer: object, field: str) -> str:
    """Return a name in an object as one bounded line; empty where it is no text, or there is no object.

    Examples:
        >>> name_of({"name": " Exxon\\nMobil "}, "name"), name_of([], "name")
        ('Exxon Mobil', '')
    """
    said = answer.get(field) if isinstance(answer, dict) else None
    return " ".join(said.split())[:MAX_NAME_CHARACTERS] if isinstance(said, str) else ""
