"""The wording of a question: facts that duplicates share, and words whose spelling may differ."""

import re
import unicodedata
from collections import Counter
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import NamedTuple


def _word_set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = (
    r"(jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)"
)
_DAY = r"(\d{1,2})(?:st|nd|rd|th)?"
_WEEKDAYS = {"mon": "mon", "tue": "tue", "tues": "tue", "wed": "wed", "thu": "thu", "thur": "thu", "thurs": "thu"}
_WEEKDAYS |= {"fri": "fri", "sat": "sat", "sun": "sun"}
_WEEKDAYS |= {f"{day}day": day[:3] for day in ("mon", "tues", "wednes", "thurs", "fri", "satur", "sun")}
_ONES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen"
)
_NUMBERS = {word: str(number) for number, word in enumerate((*_ONES.split(), "eighteen", "nineteen", "twenty"))}
_TENS = ("thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_NUMBERS |= dict(zip(_TENS, map(str, range(30, 100, 10)), strict=True))
_ORDINALS = "zeroth first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth"
_NUMBERS |= {word: f"#{number}" for number, word in enumerate(_ORDINALS.split())}
_SCALES = {"k": 3, "thousand": 3, "m": 6, "mm": 6, "mn": 6, "million": 6, "b": 9, "bn": 9, "billion": 9, "t": 12}
_SCALES |= {"tn": 12, "trillion": 12}
_NUMBER = re.compile(
    r"(?<![\w.,])([-+]?(?:us)?[$€£¥]?[-+]?)(\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d*\.\d+|\d+)(st|nd|rd|th)?"
    r"(?: ?(k|mm|mn|bn|tn|m|b|t|thousand|million|billion|trillion))?(?![^\W_])"
    r"( ?(?:%|percentage points?|percent|per cent|pct|bps|basis points?))?(\+)?"
)
_TOGETHER = re.compile(r"(?<![^\W_])\d+(?:[/:.-]\d+)+(?![^\W_])")
"""Scores, times and ranges: their parts have an order."""
_FIRST_FACT = 0xF0000
"""First of the private characters that stand for facts while a text is split."""
_PRIVATE = re.compile("[\U000f0000-\U0010ffff]")
_TOKEN = re.compile("([\U000f0000-\U0010ffff])|[^\\W_]+")
_YEAR = re.compile(r"(?:19|20)\d\d")
_APOSTROPHES = str.maketrans({"’": "'", "‘": "'", "ʼ": "'", "`": "'", "–": "-", "—": "-", "−": "-", "‑": "-"})
_SIGNS = {"≥": " least ", ">=": " least ", "≤": " most ", "<=": " most ", ">": " above ", "<": " below "}
_SIGNS |= {"&": " and ", "≠": " not ", "€ ": "€", "$ ": "$", "£ ": "£"}

_FACTS = _word_set("""
    not no never none nobody nothing neither nor without cannot fail fails failed failing failure refuse refuses refused
    refusing avoid avoids avoided deny denies denied lack lacks except unless instead
    and or either both all any every each some only another other least most more less fewer exactly half quarter dozen
    double triple twice once single majority minority hundred thousand million billion trillion
    by before after until till since within during through between from
    above below over under up down high higher highest low lower lowest top bottom increase increases increased decrease
    decreases decreased rise rises rose fall falls fell gain gains lose loses lost loss losses win wins won begin begins
    start starts end ends stop stops enter enters leave leaves left remain remains stay stays join joins exit exits
    accept accepts accepted reject rejects rejected approve approves approved pass passes passed block blocks blocked
    open opens close closes closed buy buys sell sells hire hires fire fires resign resigns yes
    first last next previous early earlier late later mid final semifinal quarterfinal
    today tomorrow tonight yesterday week weeks weekend day days month months year years hour hours minute minutes
    decade century spring summer autumn winter morning noon midnight evening
    north south east west northern southern eastern western new old
    man men woman women male female
    """)
"""Words that change the question: negations, opposites, quantities, and origins of dates."""
FREE_WORDS = _word_set("""
    a an the will would shall should can could may might is are was were be been being do does did has have had
    of in on at to for with as that this these those it its he she they his her their there
    who whom whose what which when where whether how if so s
    """)
"""Words without a meaning of their own; at the start of a sentence they are no names."""
CALENDAR_WORDS = _word_set("""
    january february march april may june july august september october november december jan feb mar apr jun jul aug
    sep sept oct nov dec am pm et est edt eastern utc time date day days week weeks month months year years
    """)
"""Words that say when, and nothing of a subject."""
_DIRECTED = _word_set("""
    beat beats defeat defeats outperform outperforms outscore outscores overtake overtakes surpass surpasses exceed
    exceeds acquire acquires buy buys sue sues invade invades attack attacks strike strikes bomb bombs replace replaces
    succeed succeeds endorse endorses pardon pardons fire fires sanction sanctions recognize recognizes annex annexes
    ban bans arrest arrests indict indicts kill kills than over above below under ahead against before after to
    """)
"""Words whose two sides cannot be exchanged."""
_MUTUAL = _word_set("""
    meet meets marry marries divorce divorces face faces fight fights play plays debate debates merge merges reunite
    reunites vs versus v
    """)
"""Words whose two sides can be exchanged. Around any other word of a sentence, names cannot be."""
_AUXILIARIES = _word_set("will would shall should can could may might is are was were do does did has have had")
"""Words that mark a sentence; in a headline the order of names says little."""
_PREFIXES = ("un", "in", "im", "il", "ir", "non", "dis", "de", "mis", "anti", "counter", "a", "re", "ex", "pre", "post")
_MIN_LETTERS = 5
"""Shorter words that differ by a letter are different words."""
_SPELLINGS = (
    (re.compile(r"is(e|ed|es|er|ers|ing|ation|ations)$"), r"iz\1"),
    (re.compile(r"ys(e|ed|es|er|ers|ing)$"), r"yz\1"),
    (re.compile(r"^(\w{3,})our(s|ed|ing|ite|ites|able|er|ers|ly|al|hood|hoods)?$"), r"\1or\2"),
    (re.compile(r"^(\w{2,})tre(s?)$"), r"\1ter\2"),
    (re.compile(r"^(\w{3,})ll(ed|ing|er|ers|ation|ations)$"), r"\1l\2"),
    (re.compile(r"^(def|off|lic|pret)ence(s?)$"), r"\1ense\2"),
    (re.compile(r"^(\w{3,})ogue(s?)$"), r"\1og\2"),
    (re.compile(r"^(\w*gram)me(s?)$"), r"\1\2"),
    (re.compile(r"yy$"), "y"),
)
"""British endings and their American forms; folding too much does no harm, as both texts are folded."""
_SPELT: Mapping[str, str] = dict(
    pair.split("/")
    for pair in _word_set("""
    grey/gray cheque/check cheques/checks tyre/tire tyres/tires kiev/kyiv aluminium/aluminum judgement/judgment
    plough/plow mould/mold sceptic/skeptic sceptical/skeptical ageing/aging enrol/enroll fulfil/fulfill
    instalment/installment skilful/skillful manoeuvre/maneuver paediatric/pediatric anaemia/anemia cosy/cozy
    pyjamas/pajamas moustache/mustache storey/story catalogue/catalog artefact/artifact towards/toward whilst/while
    amongst/among afterwards/afterward ok/okay
    """)
)


class Token(NamedTuple):
    """A word of a text, or a number or date in a normal form."""

    word: str
    is_fact: bool
    is_name: bool


@dataclass(frozen=True, slots=True)
class QuestionWording:
    """The words of a question by their roles."""

    tokens: tuple[Token, ...]

    facts: frozenset[tuple[str, int]] = field(init=False)
    """Numbers, dates, negations and opposites with their counts; duplicates share all."""
    words: Counter[str] = field(init=False)
    """Other meaningful words, folded."""
    names: frozenset[str] = field(init=False)
    """Words that may be names."""

    def __post_init__(self) -> None:
        """Count what every comparison needs."""
        facts = Counter(token.word for token in self.tokens if token.is_fact)
        words = Counter(token.word for token in self.tokens if not token.is_fact and token.word not in FREE_WORDS)
        object.__setattr__(self, "facts", frozenset(facts.items()))
        object.__setattr__(self, "words", words)
        object.__setattr__(self, "names", frozenset(token.word for token in self.tokens if token.is_name))

    @property
    def telling(self) -> str:
        """Return all meaningful words, facts too, as one text."""
        return " ".join(token.word for token in self.tokens if token.word not in FREE_WORDS)


def parse_wording(text: str) -> QuestionWording:
    """Return the wording of a text.

    Case, accents, punctuation and British or American spelling do not matter. A capital letter marks a name; where all
    words have one, or none has, any but the commonest words may be names.

    Examples:
        >>> [token.word for token in parse_wording("Will the Labour Party NOT win 1,000 seats by 5th March?").tokens]
        ['will', 'the', 'labor', 'party', 'not', 'win', '1000', 'seats', 'by', '3/5']
    """
    text = _PRIVATE.sub(" ", unicodedata.normalize("NFKC", text).translate(_APOSTROPHES))
    for sign, word in _SIGNS.items():
        text = text.replace(sign, word)
    text = re.sub(r"\bwon't\b", "will not", text, flags=re.I)
    text = re.sub(r"\b(?:can't|cannot)\b", "can not", text, flags=re.I)
    text = re.sub(r"n't\b", " not", text, flags=re.I)
    text = re.sub(r"'s\b|(?<=s)'(?!\w)", "", text, flags=re.I)
    # Abbreviations lose their full stops.
    text = re.sub(r"\b(?:[^\W\d_]\.){2,}", lambda found: found[0].replace(".", ""), text)
    text = re.sub(r"(?<=[^\W\d_])-(?=[^\W\d_])", "", text)
    facts: list[str] = []

    def put(fact: str) -> str:
        facts.append(fact)
        return f" {chr(_FIRST_FACT + len(facts) - 1)} "

    def numbered(found: re.Match[str]) -> str:
        sign, digits, ordinal, scale, unit, more = found.groups()
        value = Decimal(digits.replace(",", "")).scaleb(_SCALES[scale.casefold()] if scale else 0)
        plain = f"{value.normalize():f}"
        unit = "" if not unit else "bps" if "b" in unit.casefold() else "pp" if "point" in unit.casefold() else "%"
        sign = sign.casefold().removeprefix("us")
        return put(f"{'#' if ordinal else ''}{sign}{plain}{unit}{more or ''}")

    def dated(month: str, day: str | None, year: str | None = None) -> str:
        number = _MONTHS.index(month[:3].casefold()) + 1
        return (put(f"{number}/{int(day)}") if day else put(f"month {number}")) + (put(year) if year else "")

    text = re.sub(
        r"\b((?:19|20)\d\d)-(\d\d?)-(\d\d?)\b",
        lambda found: put(f"{int(found[2])}/{int(found[3])}") + put(found[1]),
        text,
    )
    year = r"(?:,? ((?:19|20)\d\d))?(?![^\W_])"
    text = re.sub(rf"\b{_MONTH}\.? {_DAY}(?![\d:.]\d){year}", lambda f: dated(f[1], f[2], f[3]), text, flags=re.I)
    text = re.sub(rf"\b{_DAY}(?: of)? {_MONTH}\b\.?{year}", lambda f: dated(f[2], f[1], f[3]), text, flags=re.I)
    text = _TOGETHER.sub(lambda found: found[0] if re.fullmatch(r"\d+\.\d+", found[0]) else put(found[0]), text)
    return QuestionWording(tuple(_tokens(re.sub(_NUMBER.pattern, numbered, text, flags=re.I), facts)))


def _tokens(text: str, facts: list[str]) -> Iterator[Token]:
    found = list(_TOKEN.finditer(text))
    words = [each[0] for each in found if each[1] is None]
    plain = [word for word in words if word.casefold() not in FREE_WORDS | _FACTS]
    # Capitals mark names only in a sentence, where most words have none.
    telling = not words[0].islower() and any(word.islower() for word in plain) if words else False
    for each in found:
        if each[1] is not None:
            yield Token(facts[ord(each[1]) - _FIRST_FACT], is_fact=True, is_name=False)
            continue
        written, word = each[0], _fold(each[0])
        if word in _WEEKDAYS:
            yield Token(_WEEKDAYS[word], is_fact=True, is_name=False)
        elif re.fullmatch(_MONTH, word) and not (word == "may" and written.islower() and telling):
            yield Token(f"month {_MONTHS.index(word[:3]) + 1}", is_fact=True, is_name=False)
        elif word in _NUMBERS or word in _FACTS or any(letter.isdigit() for letter in word):
            yield Token(_NUMBERS.get(word, word), is_fact=True, is_name=False)
        elif word == "us" and not written.islower():
            yield Token(word, is_fact=False, is_name=True)
        else:
            is_name = word not in FREE_WORDS and not (telling and written.islower())
            yield Token(word, is_fact=False, is_name=is_name)


def _fold(written: str) -> str:
    plain = "".join(
        letter for letter in unicodedata.normalize("NFKD", written.casefold()) if not unicodedata.combining(letter)
    )
    plain = _SPELT.get(plain, plain)
    for ending, other in _SPELLINGS:
        plain = ending.sub(other, plain)
    return plain


def differences(
    first: QuestionWording, second: QuestionWording, known: Counter[str]
) -> tuple[Counter[str], Counter[str]] | None:
    """Return the words that only one of two questions has, or None where they ask different things.

    Questions ask different things where a fact or a possible name differs, where one word is the other with a prefix,
    or where the sides of a word such as `beat`, or the numbers of two things, are exchanged. A difference of one letter
    does not count, unless both spellings are known.
    """
    if first.facts != second.facts:
        return None
    apart = first.words.keys() ^ second.words.keys()
    # Most pairs end here; the others may differ by a compound, two words in one text.
    if not apart.isdisjoint(first.names | second.names) and not any(_halves(word, apart) for word in apart):
        return None
    ours, theirs = first.words - second.words, second.words - first.words
    _match_compounds(ours, theirs)
    _match_compounds(theirs, ours)
    names = first.names | second.names
    for word in list(ours):
        for other in list(theirs):
            if _negates(word, other) or _negates(other, word):
                return None
            both_known = known[word] > 1 and known[other] > 1
            if word not in names and other not in names and not both_known and _is_slip(word, other):
                del ours[word], theirs[other]
                break
    if any(word in names for word in (*ours, *theirs)):
        return None
    return None if _have_swapped(first, second) else (ours, theirs)


def _match_compounds(whole: Counter[str], parts: Counter[str]) -> None:
    """Remove compounds that one text writes as two words: `ceasefire` and `cease-fire`."""
    for word in list(whole):
        if halves := _halves(word, parts):
            del whole[word]
            for half in halves:
                parts.pop(half, None)


def _halves(word: str, parts: Container[str]) -> tuple[str, ...]:
    cuts = range(1, len(word))
    return next(((word[:cut], word[cut:]) for cut in cuts if word[:cut] in parts and word[cut:] in parts), ())


def _negates(word: str, other: str) -> bool:
    return any(other == prefix + word for prefix in _PREFIXES)


def _is_slip(word: str, other: str) -> bool:
    """Return whether two long words with the same start differ by one edit or one swap of letters."""
    short, long = sorted((word, other), key=len)
    if len(short) < _MIN_LETTERS or len(long) - len(short) > 1 or short[0] != long[0]:
        return False
    at = next((place for place in range(len(short)) if short[place] != long[place]), len(short))
    if len(short) < len(long):
        return short[at:] == long[at + 1 :]
    swapped = short[at : at + 2] == long[at : at + 2][::-1] and short[at + 2 :] == long[at + 2 :]
    return swapped or short[at + 1 :] == long[at + 1 :]


def _have_swapped(first: QuestionWording, second: QuestionWording) -> bool:
    """Return whether two names changed sides of a word, or two things their numbers."""
    ours, theirs = (
        [token.word for token in each.tokens if token.word not in FREE_WORDS - _DIRECTED] for each in (first, second)
    )
    names = first.names & second.names
    plain: set[str] = set()
    if all(any(token.word in _AUXILIARIES for token in each.tokens) for each in (first, second)):
        plain = set(ours) - names - _MUTUAL - {token.word for token in first.tokens if token.is_fact}
    for word in (plain | _DIRECTED) & set(ours):
        if ours.count(word) == theirs.count(word) == 1:
            before, after = set(ours[: ours.index(word)]), set(ours[ours.index(word) + 1 :])
            then, now = set(theirs[: theirs.index(word)]), set(theirs[theirs.index(word) + 1 :])
            there, back = (before - after) & (now - then), (after - before) & (then - now)
            if word not in _DIRECTED:
                there, back = there & names, back & names
            if there and back:
                return True
    of_ours, of_theirs = _numbers_of(first), _numbers_of(second)
    return len({number for _, number in of_ours}) > 1 and of_ours != of_theirs


def _numbers_of(wording: QuestionWording) -> frozenset[tuple[str, str]]:
    """Return each number with the word before it, but no years and dates."""
    found, last = [], ""
    for token in wording.tokens:
        if token.is_fact and token.word.lstrip("#$€£¥+-")[:1].isdigit():
            if not _YEAR.fullmatch(token.word) and "/" not in token.word:
                found.append((last, token.word))
        elif not token.is_fact and token.word not in FREE_WORDS:
            last = token.word
    return frozenset(found)
