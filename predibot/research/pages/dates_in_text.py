"""Days that a text names, as people write them, and whether they show that the text is younger than stated."""

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache
from importlib import import_module
from itertools import product

_LANGUAGES = (
    "fa", "hi", "bn", "bg", "hr", "sk", "sl", "sr", "lt", "lv", "et", "ca",
    "en", "de", "fr", "es", "it", "pt", "nl", "sv", "da", "nb", "fi", "pl", "cs", "ro", "hu", "tr", "ru", "uk", "el",
    "id", "ar", "he",
)  # fmt: skip
_MONTHS = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip
_LONG_NAME = 4
_SHORT_NAMES = frozenset({"mai", "maj", "mei", "май", "мая"})
_SOON = timedelta(days=92)
"""A day without a year is in this year, or in the next if that is so near."""
_DAY, _MONTH, _YEAR = r"(?P<day>0?[1-9]|[12]\d|3[01])", r"(?P<month>0?[1-9]|1[0-2])", r"(?P<year>(?:19|20)\d\d)"
_NAME = r"(?<!\w)(?P<name>(?:[^\W\d_]|[\u0900-\u0dff]){3,14})"
_FORMS = tuple(
    (signs.split(), re.compile(form))
    for signs, form in (
        # 2026-03-03, 2026/3/3, 2026. 3. 3.
        ("", rf"(?<!\d){_YEAR}(?P<mark>\s?[-/.]\s?){_MONTH}(?P=mark){_DAY}(?!\d)"),
        # 2026年3月3日, 3월 3일, 2026年3月
        (
            "日 号 號 일",
            rf"(?<!\d)(?=\d)(?:{_YEAR}\s?[年년]\s?)?(?<!\d){_MONTH}\s?[月월]\s?{_DAY}\s?[日号號일]",
        ),
        ("年 년", rf"(?<!\d){_YEAR}\s?[年년]\s?{_MONTH}\s?[月월](?!\s?\d)"),
        # in Japan, with the day of the week
        ("月 火 水 木 金 土 日", rf"(?<![\w/.]){_MONTH}/{_DAY}\s?\([月火水木金土日]\)"),
        # 3/4/2026, 03.04.26: day and month in either order
        (
            "",
            r"(?<![\w.,/$€£-])(?P<first>\d\d?)(?P<mark>[-/.])(?P<second>\d\d?)(?P=mark)(?P<short>(?:20)?\d\d)"
            r"(?![\w/-]|[.,]\d)",
        ),
        # 3 March 2026, 3rd of March, 3. März, 3 de marzo de 2026
        (
            "",
            rf"(?<![\w.,:$€£]){_DAY}(?:st|nd|rd|th|er|º|ª|\.|-)?[\s-]{{0,2}}(?:of\s|de\s)?{_NAME}(?!\w)\.?"
            rf"(?:[,\s-]{{1,2}}(?:del?\s)?{_YEAR}(?!\d))?",
        ),
        # 3 tháng 3, 2026
        ("tháng", rf"(?<!\w){_DAY}\stháng\s{_MONTH}(?:,?\s(?:năm\s)?{_YEAR})?(?!\d)"),
        # March 3, 2026; Mar. 3rd
        ("", rf"{_NAME}\.?[\s-]{_DAY}(?:st|nd|rd|th)?(?![\w%]|[:.,]\d)(?:\s?,?[\s-]{_YEAR}(?!\d))?"),
        # March 2026, marzo de 2026
        ("", rf"{_NAME}\.?,?\s(?:of\s|del?\s)?{_YEAR}(?!\d)"),
    )
)
"""Signs, and the form that only a text with one of these signs can contain; no signs where any text can."""
_CHANGED = re.compile(
    r"(?:updat|modif|edited|correct|amend|revis|refresh|actuali[sz]|aktuali[sz]|korrigiert|geändert|\bstand:?\s|"
    r"mise? à jour|aggiornat|atualizad|bijgewerkt|uppdatera|opdatere|oppdater|päivitet|обновл|оновлен|изменен|güncelle|"
    r"更新|修正|업데이트|수정|cập nhật|ažurir|posodob|atnaujin|تحديث|به‌روز|עודכן|अपडेट|আপডেট)"
)
_CHANGED_WITHIN = 50
"""The word that says that a text was changed stands so many characters before the day."""
_ANNOUNCED = re.compile(
    r"\b(?:will|until|upcoming|deadline|closer to|ahead of|(?<!as )(?:scheduled|planned|slated)|"
    r"(?<!as )(?<!than )expected|expects? to|plans? to|due (?:on|by|for|in)|set (?:for|to)|expires?|"
    r"takes? place|aura lieu|auront lieu|celebrarán?|tendrán? lugar|avrà luogo|acontecerá|"
    r"wird|werden|soll(?:en)?|geplant|sera|seront|prévue?s?|será|serán|prevista?|sarà|saranno|будет|будут|состоится|запланирован\w*)\b|予定|예정|将于|將於",
    re.IGNORECASE,
)
_HAPPENED = re.compile(
    r"(?<!be )(?<!been )(?<!being )\b(?:(?!need|proceed|speed|exceed|succeed|planned|scheduled|expected|slated)"
    r"[a-zA-Z]{2,}ed|said|told|won|lost|was|were|had|has|have|became|took|made|met|held|gave|went|came|fell|rose|"
    r"beat|left|saw|began|led|over|wurden?|hat|haben|war|waren|fand|fanden|été|fue|fueron|ha|han)\b"
)
_TO_DO = re.compile(r"\bto [a-z]+\b[^,;]{0,30}$")
_LASTED = re.compile(
    r"\b(?:was|were|lasted|served|ran|remained|stayed|lived|continued|led|ruled)\b"
    r"(?! (?:\w+ )?(?:extended|postponed|delayed|adjourned|suspended|given|pushed))[^,;]{0,60}\buntil\b[^,;]{0,20}$"
)
_AGO = re.compile(r"\b(?:\d+|an?|few) (?:sec|min|hour|hr|day|week|month)\w* ago\b|\bjust now\b", re.IGNORECASE)
_DATELINE = re.compile(r"\s*(?:\([^)\n]{0,40}\))?\s*(?:--|[-\u2013\u2014:|])\s")
_ENDS = re.compile(r"\n|[!?。！？]|(?<=[a-z\d)”\"'])(?<!\b[A-Z][a-z])(?<!Mrs|Sen|Gov|Rep|Gen)\.(?=\s+\D)")
_OTHER_DIGIT = re.compile(r"(?![0-9])\d")
_DIGITS = re.compile(r"\d+")
_ROOM = 40
"""No form of a day has so many letters before its first digit, after its last, or between two."""
_SENTENCE = 400
_MAX_LATER = 1_000
"""After so many later days a text counts as younger."""


@dataclass(frozen=True, slots=True)
class NamedDay:
    """A day that a text names; the first of a month that it names."""

    start: int
    end: int
    on: date
    is_month: bool
    """Whether the text names a month without a day."""


def find_days(text: str, today: date | None = None) -> Iterator[NamedDay]:
    """Yield the days that a text names, in any of two dozen languages.

    `today` is when the text was written; without it, days without a year are left out. 3/4 means `today` if either
    reading does, else the later reading.

    Examples:
        >>> [str(named.on) for named in find_days("From 3. März 2026 until May 4, 2026 (05/31/2026)")]
        ['2026-05-31', '2026-03-03', '2026-05-04']
    """
    months, english = _months()
    # A form without its signs is in no part of a text, and most texts lack those of half the forms.
    forms = [form for signs, form in _FORMS if not signs or any(sign in text for sign in signs)]
    ends: set[int] = set()
    for (begin, until), form in product(_around_digits(text), forms):
        is_month = form.groupindex.keys().isdisjoint(("day", "first"))
        for match in form.finditer(text, begin, until):
            days = _possible_days(match.groupdict(), months, english, today)
            # A day that ends here includes the month.
            if days and match.end() not in ends:
                ends.add(match.end())
                yield NamedDay(match.start(), match.end(), today if today in days else max(days), is_month)


def _around_digits(text: str) -> Iterator[tuple[int, int]]:
    """Yield the parts of a text around its digits: few words have any, and every form needs one."""
    begin = until = 0
    for digits in _DIGITS.finditer(text):
        if digits.start() - _ROOM > until:
            if until:
                yield begin, until
            begin = digits.start() - _ROOM
        until = digits.end() + _ROOM
    if until:
        yield begin, until


def is_younger(text: str, day: date) -> bool:
    """Return whether a text names a later day as past. Announced days (will, until, scheduled) do not count, nor do
    lines of nothing but such days.
    """
    text = _normalise(text)
    announced, bare = set(), set()
    later = (named for named in find_days(text, day) if named.on > day)
    for number, named in enumerate(later):
        before = text[max(0, named.start - _SENTENCE) : named.start]
        before = _ENDS.split(before)[-1]
        end = _ENDS.search(text[named.end : named.end + _SENTENCE])
        after = text[named.end : named.end + (_SENTENCE if end is None else end.start())]
        # A question is about the future: "Will it happen by 3 March?"
        is_asked = end is not None and end[0] in "?？"
        if is_asked or _is_announced(before, after):
            announced.add(named.on)
        elif not _without_days(before + text[named.start : named.end] + after):
            bare.add(named.on)
        else:
            return True
        if number == _MAX_LATER:
            return True
    return not bare <= announced


def was_changed(text: str, day: date, *, is_known: bool = False) -> bool:
    """Return whether a text says that it was changed on a later day, or some time ago. With `is_known`, `day` is when
    it was changed, so that some time ago may be that day.
    """
    text = _normalise(text)
    # A search in lower case excludes most pages in a twentieth of the time.
    if not _CHANGED.search(text.lower()):
        return False
    later = (named for named in find_days(text, day) if named.on > day)
    found = [named.start for named in later] + [ago.start() for ago in _AGO.finditer(text) if not is_known]
    return any(says_changed(text[max(0, start - _CHANGED_WITHIN) : start]) for start in found)


def says_changed(before: str) -> bool:
    """Return whether the last words before a day say that a text was changed on it."""
    before = before[-_CHANGED_WITHIN:].lower()
    changed = [word.end() for word in _CHANGED.finditer(before)]
    return bool(changed) and _ANNOUNCED.search(before, changed[-1]) is None


def _normalise(text: str) -> str:
    return _OTHER_DIGIT.sub(lambda digit: str(unicodedata.digit(digit[0])), unicodedata.normalize("NFKC", text))


def _is_announced(before: str, after: str) -> bool:
    """Return whether a day is announced, by the sentence before and after it."""
    if _HAPPENED.search(after) or says_changed(before) or _LASTED.search(before):
        return False
    announced = [word.end() for word in _ANNOUNCED.finditer(before)]
    if announced:
        return _HAPPENED.search(before, announced[-1]) is None
    if _TO_DO.search(before):
        return _HAPPENED.search(before) is None
    return _ANNOUNCED.search(after) is not None and _DATELINE.match(after) is None


def _without_days(sentence: str) -> str:
    """Return the letters and digits of a sentence that belong to no day."""
    for _, form in _FORMS:
        sentence = form.sub("", sentence)
    return "".join(filter(str.isalnum, sentence))


@cache
def _months() -> tuple[Mapping[str, int], frozenset[str]]:
    """Return the numbers of months by lower-case name, and the English names."""
    # The library behind htmldate; its import takes 0.1 s.
    from dateparser.data import date_translation_data

    found: dict[str, int] = {}
    english: set[str] = set()
    for language in _LANGUAGES:
        info = import_module(f"{date_translation_data.__name__}.{language}").info
        names = {name.lower(): number for number, month in enumerate(_MONTHS, 1) for name in info[month]}
        found |= names
        if language == "en":
            english |= set(names)
    return found, frozenset(english)


def _possible_days(
    groups: Mapping[str, str | None], months: Mapping[str, int], english: frozenset[str], today: date | None
) -> list[date]:
    """Return the days that a match of a form can mean."""
    day, year = int(groups.get("day") or 1), groups.get("year") or groups.get("short")
    if name := groups.get("name"):
        lower = name.lower()
        is_sure = name[0].isupper() if lower in english else len(name) >= _LONG_NAME or lower in _SHORT_NAMES
        pairs = [(months[lower], day)] if lower in months and (year or is_sure) else []
    elif first := groups.get("first"):
        second = groups.get("second") or ""
        pairs = [(int(first), int(second)), (int(second), int(first))]
    else:
        pairs = [(int(groups.get("month") or 0), day)]
    return [on for month, day in pairs if (on := _make_date(year, month, day, today)) is not None]


def _make_date(year: str | None, month: int, day: int, today: date | None) -> date | None:
    """Return the day, or None if there is none; without a year it is in today's, or in the next if that is soon."""
    try:
        if year is not None:
            return date(int(year) if len(year) == 4 else 2000 + int(year), month, day)
        if today is None:
            return None
        this = date(today.year, month, day)
        following = date(today.year + 1, month, day)
    except ValueError:
        return None
    return following if following - today <= _SOON else this
