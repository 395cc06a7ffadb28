"""The words of the task on pairs: what a model is told, with the same information as the paper's prompts."""

from collections.abc import Callable

from predibot.domain.untrusted_text import bounded, paragraph, title_line
from predibot.games.answers import Words, words_of_label
from predibot.studies.beliefbench.pairs import LABELS, REASONINGS, PairItem

MAX_DESCRIPTION_CHARACTERS = 8_000
MAX_JUDGED_CHARACTERS = 8_000
_MEANINGS = (
    "nothing connects them: neither what they are about, nor when, nor any influence",
    "they touch on the same field a little; neither has a bearing on the other, by cause or by time",
    "they have actors or circumstances in common, and go mostly their own ways",
    "one bears on the other, or is likely to be moved by it",
    "one plainly follows from the other, brings it about, or says the same again",
)
_REASONS = (
    "one answer follows from the other by rules, definitions or arithmetic",
    "one event is said to bring about the other, or to make it more or less likely",
    "something third is said to be behind both: a common actor, field, time or circumstance",
    "a loose story, a likeness or a feeling connects them, and none of the above",
)


def pair_words(item: PairItem, *, untrusted: Callable[[str], str]) -> Words:
    """Return what a model is told about a pair.

    Args:
        item: As it is shown.
        untrusted: Puts foreign words inside the fence.
    """
    meanings = _listed(LABELS, _MEANINGS)
    ask = (
        "Say how related the two events are, by any link of cause, time or subject that there may be. "
        f"Choose one label:\n{meanings}"
    )
    return words_of_label(
        "You know how real events hang together, such as those that prediction markets ask about. You read two "
        "of them, and say how related they are.",
        f"# The events\n\n{_pair(item, untrusted)}",
        ask,
        LABELS,
        report_about="on these two events",
        extract_about="about two events",
    )


def judge_words(item: PairItem, reasons: str, *, untrusted: Callable[[str], str]) -> Words:
    """Return what a judge is told about somebody's reasons for how related two events are."""
    ask = (
        "Say what these reasons mainly rest on. Judge the reasons, not whether they are right. "
        f"Choose one label:\n{_listed(REASONINGS, _REASONS)}"
    )
    told = untrusted(bounded(reasons, MAX_JUDGED_CHARACTERS))
    return words_of_label(
        "Somebody read two events and gave reasons for how related they are. You say of what kind the reasons are.",
        f"# The events\n\n{_pair(item, untrusted)}\n\n# The reasons\n\n{told}",
        ask,
        REASONINGS,
        report_about="on these reasons",
        extract_about="about somebody's reasons",
    )


def _listed(labels: tuple[str, ...], meanings: tuple[str, ...]) -> str:
    return "\n".join(f'- "{label}": {meaning}' for label, meaning in zip(labels, meanings, strict=True))


def _pair(item: PairItem, untrusted: Callable[[str], str]) -> str:
    told = []
    for number, (title, description) in enumerate(item.texts, start=1):
        body = paragraph(description, MAX_DESCRIPTION_CHARACTERS)
        told.append(f"event {number}: {title_line(title)}" + (f"\n  {body}" if body else ""))
    return untrusted("\n\n".join(told))
