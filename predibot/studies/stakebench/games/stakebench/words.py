"""The words of the tasks on comments: what a model is told, with the same information as the paper's prompts."""

from collections.abc import Callable
from typing import NamedTuple

from predibot.domain.untrusted_text import paragraph, title_line
from predibot.games.answers import Words, words_of_label
from predibot.studies.stakebench.cleaning import MONEY_SIGNS
from predibot.studies.stakebench.tasks import NEUTRAL, Item

MAX_COMMENT_CHARACTERS = 4_000
MAX_WINDOW_CHARACTERS = 60_000
"""Of all comments of a window; what is longer is cut, each comment alike."""


class _Asked(NamedTuple):
    task: str
    ask: str


_SIDE = _Asked(
    "You read a comment from below a question on a prediction market, and say on which side its writer has put money.",
    f"""Say which side of the question the writer's words show them to hold. What counts is what they hold, not who
will turn out right, and not whether the tone is friendly.
- YES: they speak as somebody who gains if the question is answered YES.
- NO: they speak as somebody who gains if it is answered NO.
- {NEUTRAL}: the words lean neither way, weigh both, or only pass on information.
Where the question is about a price, expecting it to rise is YES and expecting it to fall is NO; slang for a rise or a
fall counts as saying so.""",
)
_ACTION = (
    "You read a comment from below a question on a prediction market, know what its writer holds there, and say what "
    "they do next."
)
_ACTIONS = {
    "flip": "they change over to the other side",
    "increase": "they add to what they hold",
    "decrease": "they sell a part of it, or all of it",
    "hold": "they change nothing that counts",
}
_TASKS = {
    "G1": _Asked(
        "You read a comment from below a question on a prediction market, and say whether its writer has money on it.",
        """Say whether the writer held a position in this very market when they wrote the comment: YES or NO.

An example. Comment: "Bought more this morning, I'm in until the vote." Answer: YES""",
    ),
    "G2": _SIDE,
    "G2before": _SIDE,
    "G4": _Asked(
        "You read what holders of positions wrote below a question on a prediction market, and say where its price "
        "goes.",
        f"""Say where the mean price of YES goes from the stretch in which these comments were written to the next one,
which is as long: UP, DOWN, or {NEUTRAL} if the comments do not tell.""",
    ),
}


def label_words(item: Item, labels: tuple[str, ...], *, price_blind: bool, untrusted: Callable[[str], str]) -> Words:
    """Return what a model is told about a text.

    Args:
        item: As it is shown.
        labels: That may be answered.
        price_blind: Whether the price is left out, where one belongs to the task.
        untrusted: Puts foreign words inside the fence.
    """
    asked = _TASKS.get(item.task) or _Asked(_ACTION, _ask_action(labels))
    view = _view(item, price_blind=price_blind, untrusted=untrusted)
    return words_of_label(
        asked.task, view, asked.ask, labels, report_about="on this text", extract_about="about a text"
    )


def _ask_action(labels: tuple[str, ...]) -> str:
    listed = "\n".join(f"- {label}: {_ACTIONS[label]}" for label in labels)
    return f"Say what the writer does first within the 48 hours after the comment:\n{listed}"


def _view(item: Item, *, price_blind: bool, untrusted: Callable[[str], str]) -> str:
    parts = ["# The comments" if item.price is not None else "# The comment"]
    told = [f"question: {title_line(item.question)}"]
    if item.task in ("G2", "G2before"):
        parts.append(f"Topic of the market: {item.topic}")
    if item.price is not None and not price_blind:
        parts.append(f"Mean price of YES while these were written: {item.price:.2f}")
    if item.side is not None and item.size is not None:
        parts.append(f"What the writer holds: {item.side}, staked {MONEY_SIGNS[item.platform]}{item.size:,.0f}")
    if len(item.texts) == 1:
        told.append(f"comment: {paragraph(item.texts[0], MAX_COMMENT_CHARACTERS)}")
    else:
        most = min(MAX_COMMENT_CHARACTERS, MAX_WINDOW_CHARACTERS // max(1, len(item.texts)))
        told += [f"comment {n}: {paragraph(text, most)}" for n, text in enumerate(item.texts, start=1)]
    return "\n\n".join([*parts, untrusted("\n\n".join(told))])
