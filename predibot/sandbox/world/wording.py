"""The wording of an event: title, questions, description, tags, made from a few uniform draws."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeVar

from predibot.sandbox.world.vocabulary import CATEGORIES, WORDS, Category, Quantity

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Wording:
    """What an event and its markets say; questions and names correspond by index."""

    category: str
    title: str
    description: str
    questions: tuple[str, ...]
    names: tuple[str, ...]
    """The short name of each market within its event; empty for a single one."""
    outcomes: tuple[str, str] = ("Yes", "No")

    @property
    def tags(self) -> tuple[tuple[str, str], ...]:
        """Return label and slug of each tag."""
        return CATEGORIES[self.category].tags

    @property
    def fee_rate(self) -> float:
        """Return the taker fee rate of the category."""
        return CATEGORIES[self.category].fee_rate


def choose(uniforms: Iterator[float], items: Sequence[Item]) -> Item:
    """Return one of the items, each as likely."""
    return items[int(next(uniforms) * len(items))]


def choose_category(uniforms: Iterator[float]) -> str:
    """Return the name of a category, by the shares of the vocabulary."""
    left = next(uniforms)
    for name, category in CATEGORIES.items():
        left -= category.share
        if left < 0.0:
            return name
    return next(iter(CATEGORIES))


def word_single(uniforms: Iterator[float], category: str, *, date: str) -> Wording:
    """Return an event of one market; a match between two teams has the teams as its outcomes."""
    template = choose(uniforms, CATEGORIES[category].singles)
    words = _words(uniforms)
    title = template.format(date=date, **words)
    is_match = " vs. " in template
    if is_match:
        rules = f"This market resolves to the side that wins the match on {date}."
    else:
        rules = f'This market resolves to "Yes" if the event named in the title has happened by {date}.'
    outcomes = (words["team"], words["rival"]) if is_match else ("Yes", "No")
    return Wording(category, title, _described(rules), (title,), ("",), outcomes)


def word_ladder(uniforms: Iterator[float], category: str, *, date: str, rungs: int) -> Wording:
    """Return an event that asks whether a quantity is above each of several levels, lowest first."""
    phrase, levels = _levels(uniforms, CATEGORIES[category], count=rungs)
    return Wording(
        category,
        title=f"{_capital(phrase)} above ___ on {date}?",
        description=_described(f"Each market asks whether {phrase} is above its level on {date}."),
        questions=tuple(f"Will {phrase} be above {level} on {date}?" for level in levels),
        names=tuple(levels),
    )


def word_dates(uniforms: Iterator[float], category: str, *, dates: Sequence[str]) -> Wording:
    """Return an event that asks whether a quantity is above one level on each of several dates."""
    phrase, (level,) = _levels(uniforms, CATEGORIES[category], count=1)
    return Wording(
        category,
        title=f"{_capital(phrase)} above {level} on...?",
        description=_described(f"Each market asks whether {phrase} is above {level} on its date."),
        questions=tuple(f"Will {phrase} be above {level} on {date}?" for date in dates),
        names=tuple(dates),
    )


def word_brackets(uniforms: Iterator[float], category: str, *, date: str, count: int) -> Wording:
    """Return an event of mutually exclusive markets: contenders where there are enough, else ranges of a quantity."""
    contests = [contest for contest in CATEGORIES[category].contests if len(WORDS[contest[2]]) >= count]
    if contests:
        title, question, listed = choose(uniforms, contests)
        words = _words(uniforms)
        start = int(next(uniforms) * len(WORDS[listed]))
        names = [WORDS[listed][(start + place) % len(WORDS[listed])] for place in range(count)]
        return Wording(
            category,
            title=title.format(**words),
            description=_described(f"Exactly one of the markets resolves to Yes, not later than {date}."),
            questions=tuple(question.format(contender=name, **words) for name in names),
            names=tuple(names),
        )
    phrase, edges = _levels(uniforms, CATEGORIES[category], count=count - 1)
    names = [f"below {edges[0]}"]
    names += [f"between {low} and {high}" for low, high in pairwise(edges)]
    names += [f"{edges[-1]} or more"]
    return Wording(
        category,
        title=f"{_capital(phrase)} on {date}?",
        description=_described(f"Exactly one of the markets resolves to Yes: the range {phrase} is in on {date}."),
        questions=tuple(f"Will {phrase} be {name} on {date}?" for name in names),
        names=tuple(names),
    )


def _words(uniforms: Iterator[float]) -> dict[str, str]:
    """Return one word of each list, and a rival that is not the team."""
    words = {name: choose(uniforms, items) for name, items in WORDS.items()}
    words["rival"] = choose(uniforms, [team for team in WORDS["team"] if team != words["team"]])
    return words


def _levels(uniforms: Iterator[float], category: Category, *, count: int) -> tuple[str, list[str]]:
    """Return a quantity's phrase and so many of its levels, lowest first."""
    quantity: Quantity = choose(uniforms, category.quantities)
    words = _words(uniforms)
    lowest = quantity.base + quantity.step * round(8 * (next(uniforms) - 0.5))
    levels = [quantity.form.format(lowest + quantity.step * place) for place in range(count)]
    return quantity.phrase.format(**words), levels


def _capital(phrase: str) -> str:
    """Return a phrase as a title begins it: without its article, with a capital."""
    bare = phrase.removeprefix("the ").removeprefix("a ")
    return bare[0].upper() + bare[1:]


def _described(rules: str) -> str:
    """Return the rules text of an event."""
    return (
        f"{rules}\n\nIf the event is cancelled or its result cannot be determined, the market resolves 50-50."
        "\n\nThe resolution source is the official announcement; places and names are invented."
    )
